#ifndef FAIRLEAD_DIRECTORY_SNAPSHOT_H_
#define FAIRLEAD_DIRECTORY_SNAPSHOT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/base/clock.h"
#include "fairlead/directory/availability_feed.h"
#include "fairlead/directory/guarded_router.h"
#include "fairlead/directory/plan.h"
#include "fairlead/directory/protection.h"
#include "fairlead/directory/walk_scratch.h"
#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/rpc/invoker_table.h"

namespace fairlead::internal {

// Finds a policy by its `loadbalance` name. Kept by snapshots, so it must be thread-safe.
using PolicyLookup = std::function<absl::StatusOr<std::shared_ptr<const LoadBalance>>(std::string_view)>;

// What all methods have in common that neither a rule nor a parameter tells apart.
struct MethodClass {
  std::string method;                      // the first of them; "" = those without anything of their own
  std::vector<RouteCase> cases;            // by chain link; of runtime links unused
  std::shared_ptr<const Plan> plan;        // when the chain has no runtime link
  std::shared_ptr<const Plan> bare_plan;   // for calls without attachments, when runtime links read only those
  // Of all live providers, when their policy wants one and there are runtime links; nullptr otherwise.
  std::shared_ptr<const Leaf> whole;

  // The selector of `whole` for a list of that policy and method; nullptr when it is none of theirs.
  const Selector* WholeFor(std::string_view policy_name, std::string_view parameter_method) const {
    const bool fits = whole != nullptr && whole->policy == policy_name && whole->method == parameter_method;
    return fits ? whole->selector.get() : nullptr;
  }
};

// Everything a pick reads, immutable but for the plan table, which only grows by being replaced. Made by
// SnapshotBuilder on the executor, reached by picks through DirectoryCore::current.
struct DirectorySnapshot {
  DirectorySnapshot() = default;
  DirectorySnapshot(const DirectorySnapshot&) = delete;
  DirectorySnapshot& operator=(const DirectorySnapshot&) = delete;
  ~DirectorySnapshot() { delete plans.load(std::memory_order_relaxed); }

  // All that nearly every pick reads, on one line; views of what stands below.
  struct alignas(64) Usual {
    std::size_t methods = 0;               // size of `draws`
    const DrawTable* draws = nullptr;      // `direct`
    const DownCount* downs = nullptr;      // while it stands at `downs_seen`, nobody in a leaf is down
    std::uint64_t downs_seen = 0;          // read before `valid`
    Invoker* const* invokers = nullptr;    // table->invokers
    InvokerState* const* states = nullptr;  // table->states

    bool NobodyWentDown() const { return downs->count.load(std::memory_order_relaxed) == downs_seen; }
  } usual;

  std::uint64_t version = 0;
  Clock::SteadyTime built_at;
  // Not OK: what every pick answers (not ready, no provider, all down, closed).
  absl::Status status;

  std::string service;  // service key, for texts
  Url consumer;         // with overrides
  Url consumer_as_given;
  Compat compat = Compat::kStrict;
  std::uint64_t seed = 0;
  std::int64_t wall_ms = 0;  // the wall clock the weights were computed with

  std::shared_ptr<const DownCount> downs = std::make_shared<const DownCount>();
  std::shared_ptr<const InvokerTable> table = std::make_shared<const InvokerTable>();
  InvokerSet valid;  // listed, up and not draining when this was built
  std::vector<ChainLink> chain;
  std::vector<std::uint32_t> runtime;  // indices of the runtime links
  bool only_attachments = true;        // no runtime link reads arguments
  std::vector<MethodClass> classes;
  std::vector<std::uint32_t> class_of;  // by MethodId, as far as methods were known
  std::vector<DrawTable> direct;  // by MethodId: that of the leaf where all calls of the method end; empty = it depends
  std::vector<std::string> own_methods;  // method names with parameters of their own, sorted
  bool rules_read_methods = false;       // some link of the chain does
  bool minds_wishes = false;             // some link is only about the calls that HasWish
  // A call of that method, which had no number yet, ends where one of no method does. A policy that keeps a table for
  // each method (round robin) lets it take turns in that one's until it has its own.
  bool IsLikeAny(std::string_view method) const {
    return !class_of.empty() && !rules_read_methods && !std::binary_search(own_methods.begin(), own_methods.end(), method);
  }
  PolicyLookup policy;
  std::int32_t most_weight = 0;             // of `valid` in table->weights; 0 = not known
  std::shared_ptr<WalkScratch> scratch;     // for any of `valid`; shared by the snapshots that it is big enough for

  mutable std::atomic<const PlanTable*> plans{nullptr};  // owned
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Leaf>> leaves;  // builder only
  std::vector<PlanWish> wishes;  // builder only: what is still to be built

  std::optional<ProtectedList> protection;  // the list stays though the registry has none
  bool protects_all = true;                 // `protection` is of the whole list
  // For Explain: input that could not be used, each a url and what is wrong with it, say.
  static constexpr std::size_t kMostSkippedBytes = 1000;
  std::vector<std::string> skipped;
  std::size_t scripts = 0;           // script rules, which are not run
  std::vector<Url> unused;           // listed, but for some reason not used: disabled, shadowed, refused
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_SNAPSHOT_H_
