#ifndef FAIRLEAD_DIRECTORY_PLAN_BUILDER_H_
#define FAIRLEAD_DIRECTORY_PLAN_BUILDER_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/directory.h"
#include "fairlead/directory/snapshot.h"

namespace fairlead::internal {

// The members of `set` by rank, weighed for `method`. Linear in the list.
std::vector<Member> MembersOf(const DirectorySnapshot& snapshot, const InvokerSet& set, std::string_view method);

// The method whose parameters count for a class: its own name, or "".
std::string_view ParameterMethod(const DirectorySnapshot& snapshot, std::string_view method);

// The policy of a list: `loadbalance` of its first member, method form first.
std::string_view PolicyOf(const Members& members, std::string_view method);

// The reason a pick gives when routing left nobody.
absl::Status NobodyLeft(const DirectorySnapshot& snapshot, std::string_view method, std::string_view emptied_by);

// Which link left nobody, and why, in words.
std::string EmptiedBy(const ChainLink& link, RouteCase which, const Outcomes& outcomes);

// What the rules and policies of `snapshot` read of a call of `method`.
CallNeeds NeedsOf(const DirectorySnapshot& snapshot, std::string_view method);

// Builds the plans of one snapshot under construction (or already published: only its plan table and leaf cache
// are touched). Executor only. `previous`, when given, lends unchanged leaves and round-robin positions.
class PlanBuilder {
 public:
  PlanBuilder(DirectorySnapshot& snapshot, const DirectorySnapshot* previous)
      : snapshot_(snapshot), previous_(previous) {}

  // The leaf of all live providers that the class should keep as MethodClass::whole; nullptr when its policy wants
  // none. Before the plans of the class, which are made quicker with it.
  std::shared_ptr<const Leaf> BuildWhole(std::uint32_t method_class);
  // `cases` has one entry per chain link. `before`: the plan that served such calls until now, or nullptr.
  std::shared_ptr<const Plan> Build(const PlanKey& key, const std::string& method, const std::vector<RouteCase>& cases,
                                    const Plan* before);
  // A set that the rules lead to, and how likely; who left nobody, when it is empty.
  struct End {
    InvokerSet set;
    double probability;
    std::string emptied_by;
  };
  // A link of the chain, by its place, and which of its cases calls are.
  struct LinkCase {
    std::uint32_t link;
    RouteCase which;
    auto operator<=>(const LinkCase&) const = default;
  };
  // Where calls of these cases end when they start from `from`. `cases` is in the chain's order; links that are not in it
  // let everybody through. Equal sets are one. nullopt when the rules draw among too many sets on the way.
  std::optional<std::vector<End>> Ends(InvokerSet from, std::span<const LinkCase> cases) const;
  // The plan that served calls of a class without attachments; nullptr when there was none.
  const Plan* UsualPlanBefore(const std::string& method) const;

 private:
  // `replaced()` gives the leaf that served before, or nullptr.
  std::shared_ptr<const Leaf> MakeLeaf(const End& draft, std::uint32_t method_class, const std::string& method,
                                       const std::function<const Leaf*()>& replaced);
  const MethodClass* ClassBefore(const std::string& method) const;

  DirectorySnapshot& snapshot_;
  const DirectorySnapshot* const previous_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_PLAN_BUILDER_H_
