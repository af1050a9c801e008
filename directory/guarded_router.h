#ifndef FAIRLEAD_DIRECTORY_GUARDED_ROUTER_H_
#define FAIRLEAD_DIRECTORY_GUARDED_ROUTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "fairlead/routing/router.h"

namespace fairlead::internal {

// A router as the directory uses it: what the host's code throws ends here. A router that throws lets every
// provider through where it did, and is counted. Its name, order and reads are asked once. Thread-safe.
class GuardedRouter {
 public:
  // `on_first_fault` is called with what was thrown, once, on the thread where it happened, maybe in a pick.
  // kInternal when the factory throws.
  static absl::StatusOr<std::shared_ptr<const GuardedRouter>> Create(
      RouterFactory& factory, const Url& rule, Compat compat, std::function<void(std::string)> on_first_fault);
  // Of a router that is there, which is not null.
  static std::shared_ptr<const GuardedRouter> Of(std::shared_ptr<const Router> router,
                                                 std::function<void(std::string)> on_first_fault);

  std::string_view name() const { return name_; }
  int order() const { return order_; }
  Reads reads() const { return reads_; }
  // nullptr when the router threw or gave none: everything passes.
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const;

  // To be called while an exception is handled.
  void CountFault(std::string_view where) const;
  std::uint64_t faults() const { return faults_.load(std::memory_order_relaxed); }
  std::string first_fault() const;

 private:
  GuardedRouter() = default;

  std::shared_ptr<const Router> router_;
  std::string name_;
  int order_ = 0;
  Reads reads_ = Reads::kConsumer;
  std::function<void(std::string)> on_first_fault_;
  mutable std::atomic<std::uint64_t> faults_{0};
  mutable std::mutex mutex_;  // guards first_fault_
  mutable std::string first_fault_;
};

// One router compiled for one snapshot. Immutable; thread-safe; nothing throws but for want of memory.
struct ChainLink {
  // REQUIRES: `by` stays the same for the table's life.
  ChainLink(std::shared_ptr<const GuardedRouter> by, const RouteInput& input, const ChainLink* previous);

  // Data plane. 0, which lets everything through, when the router throws or names a case it does not have.
  RouteCase Classify(const RouteCall& call) const {
    try {
      const RouteCase which = table->Classify(call);
      return which < cases ? which : 0;
    } catch (...) {
      router->CountFault("Classify");
      return 0;
    }
  }
  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const;
  std::string Describe(RouteCase which) const;

  std::shared_ptr<const GuardedRouter> router;
  std::shared_ptr<const RouteTable> table;
  std::uint32_t cases = 1;
  bool runtime = false;  // classified at each call
  bool wishes = false;   // about the calls that HasWish only, which have no plan; cached for the others
  bool broken = false;   // `table` is not the router's own: it could not compile
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_GUARDED_ROUTER_H_
