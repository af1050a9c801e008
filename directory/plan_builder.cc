#include "fairlead/directory/plan_builder.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/loadbalance/weighted_draw.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kMostBranches = 64;
// Between two routers there may be more sets, of which later ones make fewer again.
constexpr std::size_t kMostEnds = 1024;

// One candidate: Dubbo returns it without asking any policy, so that a policy's own errors (a ring without
// points) cannot hide the only provider.
class SoleSelector final : public Selector {
 public:
  SoleSelector(Slot slot, std::string policy) : slot_(slot), policy_(std::move(policy)) {}
  Slot Select(const Invocation&, PickContext&) const override { return slot_; }
  DrawTable table() const override { return DrawTable::Uniform({&slot_, 1}); }
  std::string Describe() const override { return policy_ + ", not asked: the only candidate"; }

 private:
  const Slot slot_;
  const std::string policy_;
};

std::uint64_t LeafHash(const std::vector<Member>& members, std::string_view policy, std::string_view method) {
  std::uint64_t hash = HashBytes(policy, HashBytes(method));
  for (const Member& member : members) {
    hash = Mix64(hash ^ member.slot ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(member.weight)) << 32));
  }
  return hash;
}

// Those of one table's list: all of it, mostly, and then it is that list.
SlotList LeafSlots(const std::vector<Member>& members, const SlotList& listed) {
  if (members.size() == listed.size()) return listed;
  std::vector<Slot> slots;
  slots.reserve(members.size());
  for (const Member& member : members) slots.push_back(member.slot);
  return SlotList(slots);
}

std::vector<std::int32_t> LeafWeights(const std::vector<Member>& members) {
  const std::int32_t first = members.front().weight;
  const auto alike = [&](const Member& member) { return member.weight == first; };
  if (std::all_of(members.begin(), members.end(), alike)) return {first};
  return WeightsOf(Members(members));
}

std::shared_ptr<const Leaf> FindLeaf(const DirectorySnapshot& in, std::uint64_t hash, const Leaf& like) {
  const auto [begin, end] = in.leaves.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Leaf& leaf = *at->second;
    if (leaf.policy == like.policy && leaf.method == like.method && leaf.weights == like.weights &&
        leaf.by_rank == like.by_rank) {
      return at->second;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Member> MembersOf(const DirectorySnapshot& snapshot, const InvokerSet& set, std::string_view method) {
  std::vector<Member> members;
  members.reserve(set.count());
  for (const Slot slot : snapshot.table->by_rank) {
    if (!set.Contains(slot)) continue;
    const Provider* provider = &snapshot.table->providers[slot];
    members.push_back({slot, provider, snapshot.table->states[slot],
                       method.empty() ? snapshot.table->weights[slot]
                                      : EffectiveWeight(provider->effective, method, snapshot.wall_ms)});
  }
  return members;
}

std::string_view ParameterMethod(const DirectorySnapshot& snapshot, std::string_view method) {
  const auto own = std::lower_bound(snapshot.own_methods.begin(), snapshot.own_methods.end(), method);
  return own != snapshot.own_methods.end() && *own == method ? std::string_view(*own) : std::string_view();
}

std::string_view PolicyOf(const Members& members, std::string_view method) {
  return members.front().provider->effective.MethodParam(method, names::kLoadBalance, "random");
}

absl::Status NobodyLeft(const DirectorySnapshot& snapshot, std::string_view method, std::string_view emptied_by) {
  return absl::UnavailableError(absl::StrCat(
      "no provider for ", snapshot.service, method.empty() ? "" : ".", Shortened(method), ": ",
      snapshot.table->by_rank.size(), " in the list, ", snapshot.valid.count(), " live, none left by ",
      emptied_by.empty() ? "the rules" : Shortened(emptied_by, 2 * kShownBytes)));
}

std::string EmptiedBy(const ChainLink& link, RouteCase which, const Outcomes& outcomes) {
  return absl::StrCat(ToAbsl(link.router->name()), " (", link.Describe(which), ")", outcomes.why().empty() ? "" : ": ",
                      outcomes.why());
}

CallNeeds NeedsOf(const DirectorySnapshot& snapshot, std::string_view method) {
  CallNeeds needs;
  for (const std::uint32_t link : snapshot.runtime) {
    const Reads reads = snapshot.chain[link].router->reads();
    needs.arguments |= Has(reads, Reads::kArguments);
    needs.attachments |= Has(reads, Reads::kAttachments);
  }
  // Any provider may be first in some leaf, so each one's policy counts.
  const std::string_view of = ParameterMethod(snapshot, method);
  for (const Slot slot : snapshot.table->by_rank) {
    if (needs.arguments) break;
    const auto policy =
        snapshot.policy(snapshot.table->providers[slot].effective.MethodParam(of, names::kLoadBalance, "random"));
    needs.arguments = policy.ok() && (*policy)->reads_arguments();
  }
  return needs;
}

std::optional<std::vector<PlanBuilder::End>> PlanBuilder::Ends(InvokerSet from, std::span<const LinkCase> cases) const {
  std::vector<End> ends;
  ends.push_back({std::move(from), 1, {}});
  for (const LinkCase& one : cases) {
    const ChainLink& at = snapshot_.chain[one.link];
    std::vector<End> next;
    // Equal sets are one from here on: draws behind each other would be as many paths as their product.
    const auto add = [&next](End end) {
      const auto same = std::find_if(next.begin(), next.end(), [&](const End& other) { return other.set == end.set; });
      if (same == next.end()) return next.push_back(std::move(end));
      same->probability += end.probability;
    };
    for (End& end : ends) {
      if (end.set.empty()) {
        add(std::move(end));
        continue;
      }
      Outcomes outcomes(end.set);
      at.Route(one.which, end.set, outcomes);
      const auto describe = [&] { return EmptiedBy(at, one.which, outcomes); };
      if (outcomes.splits().empty()) {
        add({InvokerSet(), end.probability, describe()});
        continue;
      }
      double sum = 0;
      for (const auto& split : outcomes.splits()) sum += static_cast<double>(split.weight);
      for (const auto& split : outcomes.splits()) {
        const double share = sum == 0 ? 1.0 / static_cast<double>(outcomes.splits().size())
                                      : static_cast<double>(split.weight) / sum;
        add({split.set, end.probability * share, split.set.empty() ? describe() : std::string()});
      }
      if (next.size() > kMostEnds) return std::nullopt;
    }
    ends = std::move(next);
  }
  return ends;
}

const MethodClass* PlanBuilder::ClassBefore(const std::string& method) const {
  if (previous_ == nullptr) return nullptr;
  const auto same = std::find_if(previous_->classes.begin(), previous_->classes.end(),
                                 [&](const MethodClass& before) { return before.method == method; });
  return same == previous_->classes.end() ? nullptr : &*same;
}

const Plan* PlanBuilder::UsualPlanBefore(const std::string& method) const {
  const MethodClass* before = ClassBefore(method);
  if (before == nullptr) return nullptr;
  return before->plan != nullptr ? before->plan.get() : before->bare_plan.get();
}

std::shared_ptr<const Leaf> PlanBuilder::BuildWhole(std::uint32_t method_class) {
  if (snapshot_.valid.empty()) return nullptr;
  const std::string& method = snapshot_.classes[method_class].method;
  const std::string_view of = ParameterMethod(snapshot_, method);
  const auto policy = snapshot_.policy(PolicyOf(Members(*snapshot_.table, snapshot_.valid, of, snapshot_.wall_ms, 0), of));
  if (!policy.ok() || !(*policy)->wants_whole()) return nullptr;
  const MethodClass* before = ClassBefore(method);
  auto leaf = MakeLeaf({snapshot_.valid, 1, {}}, method_class, method,
                       [&] { return before == nullptr ? nullptr : before->whole.get(); });
  return leaf->selector == nullptr ? nullptr : leaf;
}

std::shared_ptr<const Leaf> PlanBuilder::MakeLeaf(const End& draft, std::uint32_t method_class,
                                                  const std::string& method,
                                                  const std::function<const Leaf*()>& replaced_leaf) {
  auto leaf = std::make_shared<Leaf>();
  if (draft.set.empty()) {
    leaf->error = NobodyLeft(snapshot_, method, draft.emptied_by);
    return leaf;
  }
  const std::string parameter_method(ParameterMethod(snapshot_, method));
  const std::vector<Member> members = MembersOf(snapshot_, draft.set, parameter_method);
  leaf->policy = PolicyOf(members, parameter_method);
  auto policy = snapshot_.policy(leaf->policy);
  if (!policy.ok()) {
    leaf->error = policy.status();
    return leaf;
  }
  leaf->method = (*policy)->per_method() ? method : parameter_method;
  leaf->by_rank = LeafSlots(members, snapshot_.table->by_rank);
  leaf->weights = LeafWeights(members);

  const std::uint64_t hash = LeafHash(members, leaf->policy, leaf->method);
  if (auto known = FindLeaf(snapshot_, hash, *leaf)) return known;
  // A leaf of the previous snapshot serves on only while what it was built from is the same: the members' urls
  // (their hash.* parameters) and the consumer.
  const auto unchanged = [&](const Member& member) {
    const Slot slot = member.slot;
    return slot < previous_->table->providers.size() && previous_->table->providers[slot].Is(*member.provider) &&
           previous_->table->states[slot] == member.state;
  };
  if (previous_ != nullptr && previous_->consumer == snapshot_.consumer) {
    auto known = FindLeaf(*previous_, hash, *leaf);
    if (known != nullptr && std::all_of(members.begin(), members.end(), unchanged)) {
      snapshot_.leaves.emplace(hash, known);
      return known;
    }
  }

  std::shared_ptr<const Selector> replaced;
  if (const Leaf* before = replaced_leaf(); before != nullptr && before->policy == leaf->policy) {
    replaced = before->position != nullptr ? before->position : before->selector;
  }
  if (members.size() == 1) {
    leaf->Use(std::make_shared<SoleSelector>(members.front().slot, leaf->policy));
    if ((*policy)->per_method()) leaf->position = std::move(replaced);
  } else {
    SelectorInput input;
    input.by_rank = members;
    input.slots = leaf->by_rank;
    input.method = leaf->method;
    input.consumer = snapshot_.consumer;
    input.compat = snapshot_.compat;
    input.seed = snapshot_.seed;
    input.now_ms = snapshot_.wall_ms;
    input.whole = snapshot_.classes[method_class].WholeFor(leaf->policy, leaf->method);
    absl::StatusOr<std::shared_ptr<const Selector>> selector =
        absl::InternalError(absl::StrCat("the policy ", Shortened(leaf->policy), " threw"));
    try {
      selector = (*policy)->Build(input, replaced.get());
    } catch (...) {
      // A host's policy: the calls it is for fail, the others go on.
    }
    if (selector.ok()) {
      leaf->Use(*std::move(selector));
    } else {
      leaf->error = selector.status();
    }
  }
  snapshot_.leaves.emplace(hash, leaf);
  return leaf;
}

std::shared_ptr<const Plan> PlanBuilder::Build(const PlanKey& key, const std::string& method,
                                               const std::vector<RouteCase>& cases, const Plan* served) {
  std::vector<LinkCase> links;
  for (std::uint32_t link = 0; link < snapshot_.chain.size(); ++link) {
    // No call with a plan is one that such a link is about.
    if (!snapshot_.chain[link].wishes) links.push_back({link, cases[link]});
  }
  const std::optional<std::vector<End>> ends = Ends(snapshot_.valid, links);
  if (!ends.has_value() || ends->size() > kMostBranches) return nullptr;  // such calls walk
  const std::vector<End>& drafts = *ends;
  std::vector<Plan::Branch> branches;
  double below = 0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    below += drafts[i].probability;
    const std::uint64_t bound = i + 1 == drafts.size()
                                    ? std::numeric_limits<std::uint64_t>::max()
                                    : static_cast<std::uint64_t>(std::min(below, 1.0) * 18446744073709549568.0);
    const auto before = [&]() -> const Leaf* {
      return served == nullptr || served->branches.size() != drafts.size() ? nullptr : served->branches[i].leaf.get();
    };
    branches.push_back({bound, MakeLeaf(drafts[i], key.method_class, method, before)});
  }
  return std::make_shared<const Plan>(key, std::move(branches));
}

}  // namespace fairlead::internal
