#ifndef FAIRLEAD_TESTS_REGISTRY_MULTICAST_FAKE_GROUP_H_
#define FAIRLEAD_TESTS_REGISTRY_MULTICAST_FAKE_GROUP_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/multicast/multicast_link.h"
#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead {

// A network with one group, in the test's own time. Datagrams arrive in tasks of their own, in order, unless they are lost.
class FakeGroup {
 public:
  struct Sent {
    std::string from, to;  // to the group: empty
    std::string text;      // without its line feed
    bool operator==(const Sent&) const = default;
  };

  explicit FakeGroup(ManualExecutor& executor) : executor_(executor) {}

  // Links of a process on `host`.
  internal::MulticastOpener opener(std::string host = "10.0.0.1") {
    return [this, host](const internal::MulticastOptions&,
                        internal::MulticastLink::Events& events) -> absl::StatusOr<std::unique_ptr<internal::MulticastLink>> {
      ++opened;
      if (!open_error.ok()) return open_error;
      return std::make_unique<Link>(*this, host, events);
    };
  }

  // From somebody who is no link: to the group, or to one host.
  void Inject(const std::string& text, const std::string& from = "10.0.0.99", const std::string& to = "") {
    Deliver(text, from, to, nullptr);
    executor_.RunReady();
  }
  void LoseAll() {
    for (Link* const link : links_) link->events_.OnLost(absl::UnavailableError("the interface is down"));
    executor_.RunReady();
  }
  // What was sent since the last call, subscribe questions left out or alone.
  std::vector<std::string> Take() {
    std::vector<std::string> texts;
    for (const Sent& one : std::exchange(sent, {})) texts.push_back((one.to.empty() ? "" : one.to + " <- ") + one.text);
    return texts;
  }
  int CountSent(std::string_view prefix) const {
    return static_cast<int>(
        std::count_if(sent.begin(), sent.end(), [&](const Sent& one) { return one.text.starts_with(prefix); }));
  }

  absl::Status open_error, send_error;
  std::function<bool(const Sent&)> loses;  // null: nothing gets lost
  std::set<std::string> listening;         // host:port that take connections
  std::vector<Sent> sent;
  std::vector<std::string> probed;
  int opened = 0;

 private:
  class Link final : public internal::MulticastLink {
   public:
    Link(FakeGroup& group, std::string host, Events& events) : group_(group), host_(std::move(host)), events_(events) {
      group_.links_.push_back(this);
    }
    ~Link() override { std::erase(group_.links_, this); }
    absl::Status Multicast(const std::string& text) override { return group_.Send(text, host_, "", this); }
    absl::Status Unicast(const std::string& text, const std::string& to) override {
      return group_.Send(text, host_, to, this);
    }
    void Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) override {
      const std::string address = absl::StrCat(host, ":", port);
      group_.probed.push_back(address);
      probes_.push_back(std::make_unique<Timer>(group_.executor_.After(
          std::chrono::milliseconds(10),
          [lives = group_.listening.contains(address), told = std::move(told)]() mutable { told(lives); })));
    }
    const std::string& local_address() const override { return host_; }

    FakeGroup& group_;
    const std::string host_;
    Events& events_;
    std::vector<std::unique_ptr<Timer>> probes_;
  };

  absl::Status Send(const std::string& text, const std::string& from, const std::string& to, Link* sender) {
    if (!send_error.ok()) return send_error;
    Sent one{from, to, text.substr(0, text.size() - 1)};
    sent.push_back(one);
    if (!loses || !loses(one)) Deliver(text, from, to, sender);
    return absl::OkStatus();
  }
  void Deliver(const std::string& text, const std::string& from, const std::string& to, const Link* sender) {
    std::vector<Link*> receivers;
    for (Link* const link : links_) {
      if (to.empty() || link->host_ == to) receivers.push_back(link);
    }
    // Of several on one port the system takes the one that came last.
    if (!to.empty() && receivers.size() > 1) receivers.erase(receivers.begin(), receivers.end() - 1);
    for (Link* const link : receivers) {
      internal::Datagram datagram{text, from, link == sender, link->host_ == from, !to.empty()};
      executor_.Post([this, link, datagram = std::move(datagram)] {
        if (std::find(links_.begin(), links_.end(), link) != links_.end()) link->events_.OnDatagrams({datagram}, 0);
      });
    }
  }

  ManualExecutor& executor_;
  std::vector<Link*> links_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_MULTICAST_FAKE_GROUP_H_
