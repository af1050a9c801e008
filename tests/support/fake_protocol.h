#ifndef FAIRLEAD_TESTS_SUPPORT_FAKE_PROTOCOL_H_
#define FAIRLEAD_TESTS_SUPPORT_FAKE_PROTOCOL_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/rpc/invoker.h"

namespace fairlead {

// A transport that is its url, and remembers what was done to it. Thread-safe where picks and leases need it.
class FakeProtocol final : public Protocol {
 public:
  class FakeInvoker final : public Invoker {
   public:
    FakeInvoker(FakeProtocol& owner, Url url, Availability report)
        : owner_(owner), url_(std::move(url)), address_(url_.Address()), report_(std::move(report)) {}
    ~FakeInvoker() override {
      poison_ = 0xdead;
      ++owner_.deleted;
    }
    const Url& url() const override { return url_; }
    bool IsAvailable() const noexcept override {
      ++owner_.asked;
      return !owner_.unavailable.contains(address());
    }
    void Updated(const Url& effective) override {
      ++owner_.updated;
      url_ = effective;
    }
    void Destroy() override {
      ++owner_.destroyed;
      destroyed_ = true;
    }
    const Availability& report() const { return report_; }
    // Stays what it was made with, also while Updated runs: any thread.
    const std::string& address() const { return address_; }
    bool alive() const { return poison_ == 0xbeef; }
    bool was_destroyed() const { return destroyed_; }

   private:
    FakeProtocol& owner_;
    Url url_;
    const std::string address_;
    Availability report_;
    std::atomic<int> poison_{0xbeef};
    std::atomic<bool> destroyed_{false};
  };

  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability report) override {
    ++referred;
    const std::string address = effective.Address();
    if (failing.contains(address)) return absl::UnavailableError("refused by the test");
    if (throwing.contains(address)) throw std::runtime_error("thrown by the test");
    reports[address] = report;
    if (born_down.contains(address)) report.Down();
    return std::make_unique<FakeInvoker>(*this, effective, std::move(report));
  }
  bool Speaks(std::string_view protocol) const override {
    if (protocol == "throwing") throw std::runtime_error("thrown by the test");
    return protocol != "foo";
  }

  std::set<std::string> failing, throwing;       // addresses
  std::set<std::string> born_down;               // addresses that report it while they are made
  std::set<std::string> unavailable;             // addresses whose IsAvailable says no
  std::map<std::string, Availability> reports;   // by address, the last one
  mutable std::atomic<int> asked{0};  // IsAvailable
  std::atomic<int> referred{0}, updated{0}, destroyed{0}, deleted{0};
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_FAKE_PROTOCOL_H_
