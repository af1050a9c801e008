#ifndef FAIRLEAD_DIRECTORY_SNAPSHOT_BUILDER_H_
#define FAIRLEAD_DIRECTORY_SNAPSHOT_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "fairlead/directory/method_table.h"
#include "fairlead/directory/snapshot.h"

namespace fairlead::internal {

// All that a snapshot is made from.
struct SnapshotInput {
  std::uint64_t version = 0;
  const Clock* clock = nullptr;
  Clock::SteadyTime now;
  std::int64_t wall_ms = 0;
  std::string service;
  Url consumer, consumer_as_given;
  Compat compat = Compat::kStrict;
  std::uint64_t seed = 0;
  std::shared_ptr<const InvokerTable> table;
  InvokerSet valid;
  std::shared_ptr<const DownCount> downs;
  std::uint64_t downs_seen = 0;  // before `valid` was read
  InvokerSet changed;  // slots new or changed since the previous snapshot
  std::vector<std::string> own_methods;            // sorted
  bool per_method = false;                         // a policy in use keeps a position for each method
  std::vector<std::shared_ptr<const GuardedRouter>> routers;  // in the order of the chain
  PolicyLookup policy;
  absl::Status status;  // not OK: why there is nobody to pick
  std::vector<std::string> skipped;
  std::size_t scripts = 0;  // script rules, which are not run
  std::vector<Url> unused;
};

// Compiles the chain, classifies the known methods and builds the plans in use, as many as there is time for: a list must
// not wait for all of them. The others, and those that `previous` was still asked for, are left in
// DirectorySnapshot::wishes; their calls walk meanwhile. Work per provider is done for `changed` slots where the previous
// snapshot allows. Executor only.
std::unique_ptr<DirectorySnapshot> BuildSnapshot(SnapshotInput input, const MethodTable& methods,
                                                 const DirectorySnapshot* previous);

// What became of plans that picks asked for; those that were there already, or in use before, are neither.
struct PlanCount {
  std::size_t built = 0, refused = 0;
};

// Builds plans of `snapshot.wishes`, one at least, until `budget` is used up; what remains of them is for the next call.
// `snapshot` is the published one: its leaf cache is the executor's, its plan table is replaced and the old one retired.
PlanCount AddPlans(DirectorySnapshot& snapshot, const Clock& clock, std::chrono::nanoseconds budget);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_SNAPSHOT_BUILDER_H_
