#ifndef FAIRLEAD_DIRECTORY_PICK_H_
#define FAIRLEAD_DIRECTORY_PICK_H_

#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/pick_trace.h"
#include "fairlead/directory/plan_builder.h"
#include "fairlead/directory/trace_recorder.h"
#include "fairlead/routing/wish.h"

namespace fairlead::internal {

// How a pick tells what it does. Select uses NoTracer, which compiles to nothing; Explain records with the same
// code, so that the explanation cannot drift from the decision.
struct NoTracer {
  static constexpr bool kRecords = false;
};
struct RecordingTracer {
  static constexpr bool kRecords = true;
  TraceRecorder& recorder;
};

// Draws of a balancer before the pick looks through the leaf itself.
inline constexpr int kMostDraws = 5;

// The plan of a call; nullptr when there is none yet, and for rare wishes. `key` is the caller's to keep its cases in.
inline const Plan* FindPlan(const DirectoryCore& core, const DirectorySnapshot& snapshot, const Invocation& invocation,
                            PlanKey& key) {
  auto id = static_cast<std::size_t>(invocation.method);
  if (id >= snapshot.class_of.size()) {
    // Named after this snapshot was built.
    if (!snapshot.IsLikeAny(core.methods().Name(invocation.method))) return nullptr;
    id = 0;
  }
  const std::uint32_t class_index = snapshot.class_of[id];
  const MethodClass& of = snapshot.classes[class_index];
  if (snapshot.minds_wishes && HasWish(invocation)) return nullptr;
  if (of.plan != nullptr) return of.plan.get();
  if (of.bare_plan != nullptr && invocation.attachments.empty()) return of.bare_plan.get();
  if (snapshot.runtime.size() > kMaxRuntimeRouters) return nullptr;
  const RouteCall call{core.methods().Name(invocation.method), invocation};
  key.method_class = class_index;
  key.count = 0;
  for (const std::uint32_t link : snapshot.runtime) key.cases[key.count++] = snapshot.chain[link].Classify(call);
  const PlanTable* plans = snapshot.plans.load(std::memory_order_acquire);
  const Plan* plan = plans == nullptr ? nullptr : plans->Find(key);
  if (plan != nullptr && !plan->hit.load(std::memory_order_relaxed)) {
    plan->hit.store(true, std::memory_order_relaxed);
  }
  return plan;
}

// A choice by a policy's own code, which may be the host's: what it throws, and a slot that is nobody's, end here.
template <class Choose>
absl::StatusOr<Slot> ChooseByPolicy(const DirectorySnapshot& snapshot, std::string_view policy, Choose&& choose) {
  const char* why = "chose a provider that is not there";
  try {
    absl::StatusOr<Slot> slot = choose();
    const auto& states = snapshot.table->states;
    if (!slot.ok() || (*slot < states.size() && states[*slot] != nullptr)) return slot;
  } catch (...) {
    why = "threw";
  }
  return absl::InternalError(absl::StrCat("the policy ", Shortened(policy), " ", why));
}

// The policy's choice by its own code; kNoSlot when it fails, which Picker tells.
[[gnu::noinline]] inline Slot AskSelector(const DirectoryCore& core, const DirectorySnapshot& snapshot,
                                          const Leaf& leaf, const Invocation& invocation) noexcept {
  const std::uint32_t thread = ThreadSlotInSection();
  Random random(core.LoadRandom(ThreadCell(thread)));
  PickContext context{random, thread};
  const absl::StatusOr<Slot> slot = ChooseByPolicy(
      snapshot, leaf.policy, [&]() -> absl::StatusOr<Slot> { return leaf.selector->Select(invocation, context); });
  core.StoreRandom(ThreadCell(thread), random.state());
  return slot.ok() ? *slot : kNoSlot;
}

// REQUIRES: draw.random(). The generator stays in registers.
[[gnu::always_inline]] inline Slot PickRandomly(const DirectoryCore& core, const DrawTable& draw) {
  const ThreadCell thread = ThreadCell::Own();
  Random random(core.LoadRandom(thread));
  const Slot slot = draw.PickRandomly(random);
  core.StoreRandom(thread, random.state());
  return slot;
}

// What a pick gives: the invoker to look at, or the state with a lease counted. `Take` answers nullptr for a provider
// that it cannot have.
struct Looking {
  using Result = Invoker;
  static Invoker* const* BySlot(const DirectorySnapshot& snapshot) { return snapshot.usual.invokers; }
  static Invoker* Take(Invoker* invoker) { return invoker; }
};
struct Leasing {
  using Result = InvokerState;
  static InvokerState* const* BySlot(const DirectorySnapshot& snapshot) { return snapshot.usual.states; }
  static InvokerState* Take(InvokerState* state) { return state->TryAcquire() ? state : nullptr; }
};

// A pick of an unusual kind of table, one whose leaf depends on the call, or one that the table leaves to the selector;
// nullptr when the plan is not built, draws, or says no. Apart, and the last thing that the usual pick may do, so that
// that one needs no stack.
template <class For>
[[gnu::noinline]] typename For::Result* PickOtherwise(const DirectoryCore& core, const DirectorySnapshot& snapshot,
                                                      const DrawTable& direct,
                                                      const Invocation& invocation) noexcept {
  const ThreadCell thread = ThreadCell::Own();
  if (!direct.turns()) {
    const Slot slot = direct.PickOtherwise(thread, invocation.hash_key);
    if (slot != kNoSlot) [[likely]] return For::Take(For::BySlot(snapshot)[slot]);
  }
  PlanKey key;
  const Plan* plan = FindPlan(core, snapshot, invocation, key);
  if (plan == nullptr || plan->only == nullptr) return nullptr;
  const DrawTable& draw = plan->draw;
  Slot slot;
  if (draw.random()) {
    slot = PickRandomly(core, draw);
  } else {
    slot = draw.turns() ? draw.PickByTurns(thread) : draw.PickOtherwise(thread, invocation.hash_key);
  }
  if (slot == kNoSlot) slot = AskSelector(core, snapshot, *plan->only, invocation);
  return slot != kNoSlot ? For::Take(For::BySlot(snapshot)[slot]) : nullptr;
}

template <class For>
[[gnu::always_inline]] inline typename For::Result* PickWithoutWish(const DirectoryCore& core,
                                                                    const Invocation& invocation) {
  const DirectorySnapshot& snapshot = core.Current();
  const auto method = static_cast<std::size_t>(invocation.method);
  if (method >= snapshot.usual.methods) [[unlikely]] return nullptr;
  if (!snapshot.usual.NobodyWentDown()) [[unlikely]] return nullptr;
  const DrawTable& draw = snapshot.usual.draws[method];
  if (draw.random()) [[likely]] return For::Take(For::BySlot(snapshot)[PickRandomly(core, draw)]);
  if (draw.turns()) {
    const Slot slot = draw.PickByTurns(ThreadCell::Own());
    if (slot != kNoSlot) [[likely]] return For::Take(For::BySlot(snapshot)[slot]);
  }
  return PickOtherwise<For>(core, snapshot, draw, invocation);
}

// Apart for the same reason as PickOtherwise.
template <class For>
[[gnu::noinline]] typename For::Result* PickWithAttachments(const DirectoryCore& core,
                                                            const Invocation& invocation) noexcept {
  return HasWish(invocation) ? nullptr : PickWithoutWish<For>(core, invocation);
}

// A pick that ends in one leaf where nobody is down: nearly all picks. nullptr when it is none of those: Picker decides.
// REQUIRES: inside a ReadSection
template <class For>
[[gnu::always_inline]] inline typename For::Result* PickDirectly(const DirectoryCore& core,
                                                                 const Invocation& invocation) {
  if (!invocation.attachments.empty()) return PickWithAttachments<For>(core, invocation);
  return PickWithoutWish<For>(core, invocation);
}

// One pick over one snapshot. Lives on the stack, inside a ReadSection.
template <class Tracer>
class Picker {
 public:
  Picker(const DirectoryCore& core, const DirectorySnapshot& snapshot, const Invocation& invocation,
         std::span<const ProviderId> tried, Tracer tracer)
      : core_(core),
        snapshot_(snapshot),
        invocation_(invocation),
        tried_(tried),
        tracer_(tracer),
        thread_(ThreadSlot()),
        random_(core.LoadRandom(ThreadCell(thread_))),
        context_{random_, thread_, Tracer::kRecords} {}
  ~Picker() {
    if constexpr (!Tracer::kRecords) core_.StoreRandom(ThreadCell(thread_), random_.state());
  }

  // `take(InvokerState*)` says whether the provider may be used, and takes it if so.
  template <class Take>
  absl::StatusOr<InvokerState*> Run(Take&& take) {
    if (!snapshot_.status.ok()) return snapshot_.status;
    PlanKey key;
    const Plan* plan = FindPlan(core_, snapshot_, invocation_, key);
    if constexpr (Tracer::kRecords) tracer_.recorder.Planned(plan, key.count == 0 ? "class" : "hit");
    if (plan != nullptr) {
      const Leaf& leaf = DrawLeaf(*plan);
      if (leaf.selector == nullptr) return leaf.error;
      if constexpr (Tracer::kRecords) tracer_.recorder.Candidates(leaf.by_rank.size(), leaf.selector->Describe());
      return Choose(
          leaf.by_rank.size(),
          [&](auto&& visit) {
            for (const Slot slot : leaf.by_rank) {
              if (visit(slot)) return;
            }
          },
          [&] {
            return ChooseByPolicy(snapshot_, leaf.policy, [&]() -> absl::StatusOr<Slot> {
              return leaf.selector->Select(invocation_, context_);
            });
          },
          take);
    }
    if constexpr (!Tracer::kRecords) {
      core_.CountWalk(thread_, key.count > 0 && !core_.Want(key));
    }
    return Walk(take);
  }

  // The final set after routing, by walking the chain: one of the snapshot's, or one of `scratch`. What Run does on a
  // plan miss, and what List shows. Allocates nothing but the text of an error.
  absl::StatusOr<const InvokerSet*> Route(const WalkScratch::Claim& scratch) {
    const InvokerSet nobody;
    const InvokerSet* set = &snapshot_.valid;
    InvokerSet *spare = &scratch.first(), *used = &scratch.second();
    const std::string_view method = core_.methods().Name(invocation_.method);
    for (const ChainLink& link : snapshot_.chain) {
      if (set->empty()) break;
      const RouteCase which = link.Classify({method, invocation_});
      if (link.wishes && which == 0) continue;
      Outcomes outcomes(*set, *spare, random_, Tracer::kRecords, &scratch.spare());
      link.Route(which, *set, outcomes);
      const InvokerSet* out = outcomes.count() == 0 ? &nobody : &outcomes.drawn();
      if constexpr (Tracer::kRecords) tracer_.recorder.Step(link, which, *set, outcomes, *out);
      if (out->empty()) return NobodyLeft(snapshot_, method, EmptiedBy(link, which, outcomes));
      if (out == spare) std::swap(spare, used);
      set = out;
    }
    return set;
  }

 private:
  const Leaf& DrawLeaf(const Plan& plan) {
    if constexpr (Tracer::kRecords) {
      // The steps the plan was built from, taken again one by one; they lead to one of its leaves.
      const WalkScratch::Claim scratch(*snapshot_.scratch, thread_);
      const absl::StatusOr<const InvokerSet*> routed = Route(scratch);
      return tracer_.recorder.Branch(plan, routed.ok() ? *routed : nullptr, random_);
    } else {
      return plan.Draw(random_);
    }
  }

  template <class Take>
  absl::StatusOr<InvokerState*> Walk(Take&& take) {
    const WalkScratch::Claim scratch(*snapshot_.scratch, thread_);
    const absl::StatusOr<const InvokerSet*> routed = Route(scratch);
    if (!routed.ok()) return routed.status();
    const InvokerSet& set = **routed;
    const std::string_view name = core_.methods().Name(invocation_.method);
    const std::string_view method = ParameterMethod(snapshot_, name);
    SelectorInput input;
    input.by_rank = Members(*snapshot_.table, set, method, snapshot_.wall_ms, snapshot_.most_weight);
    const std::string_view policy_name = PolicyOf(input.by_rank, method);
    auto policy = snapshot_.policy(policy_name);
    if (!policy.ok()) return policy.status();
    if constexpr (Tracer::kRecords) {
      tracer_.recorder.Candidates(set.count(), absl::StrCat(ToAbsl(policy_name), ", without a table"));
    }
    input.method = (*policy)->per_method() ? name : method;
    input.consumer = snapshot_.consumer;
    input.compat = snapshot_.compat;
    input.seed = snapshot_.seed;
    input.whole = Whole(policy_name, input.method);
    return Choose(
        set.count(),
        [&](auto&& visit) {
          for (const Slot slot : snapshot_.table->by_rank) {
            if (set.Contains(slot) && visit(slot)) return;
          }
        },
        [&]() -> absl::StatusOr<Slot> {
          if (set.count() == 1) return input.by_rank.front().slot;
          return ChooseByPolicy(snapshot_, policy_name,
                                [&] { return (*policy)->SelectUnplanned(input, invocation_, context_); });
        },
        take);
  }

  // A method that was named after the snapshot was built is, for it, one of those that nobody names.
  const Selector* Whole(std::string_view policy_name, std::string_view method) const {
    const auto id = static_cast<std::size_t>(invocation_.method);
    if (snapshot_.class_of.empty()) return nullptr;
    const std::uint32_t method_class = snapshot_.class_of[id < snapshot_.class_of.size() ? id : 0];
    return snapshot_.classes[method_class].WholeFor(policy_name, method);
  }

  bool Tried(ProviderId id) const {
    for (const ProviderId one : tried_) {
      if (one == id) return true;
    }
    return false;
  }

  // Draws until a provider is usable; a dead one's share must not go to its neighbour, so after a few draws the
  // rest of the leaf decides by one fair draw: usable and untried, then untried, then any. `for_each` calls what it is
  // given with each slot by rank, until that says true.
  template <class ForEach, class Draw, class Take>
  absl::StatusOr<InvokerState*> Choose(std::size_t size, ForEach&& for_each, Draw&& draw, Take&& take) {
    for (int attempt = 0; attempt < kMostDraws; ++attempt) {
      absl::StatusOr<Slot> slot = draw();
      if (!slot.ok()) return slot.status();
      InvokerState* state = snapshot_.table->states[*slot];
      if (!state->down() && !Tried(state->id()) && take(state)) return Chosen(*slot);
      if constexpr (Tracer::kRecords) {
        tracer_.recorder.Refused(*slot, Tried(state->id()));
      } else {
        core_.CountRedraw(thread_);
      }
      if (size == 1) break;
    }
    for (int laxity = 0; laxity < 3; ++laxity) {
      const auto usable = [&](const InvokerState* state) {
        return !state->draining() && (laxity > 0 || !state->down()) && (laxity > 1 || !Tried(state->id()));
      };
      std::size_t count = 0;
      for_each([&](Slot slot) {
        count += usable(snapshot_.table->states[slot]);
        return false;
      });
      if (count == 0) continue;
      std::size_t skip = random_.Below(count);
      Slot taken = kNoSlot;
      for_each([&](Slot slot) {
        InvokerState* state = snapshot_.table->states[slot];
        if (!usable(state)) return false;
        if (skip > 0) {
          --skip;
          return false;
        }
        if (!take(state)) return false;
        taken = slot;
        return true;
      });
      if (taken != kNoSlot) return Chosen(taken);
    }
    return absl::UnavailableError("every candidate of " + snapshot_.service + " is draining");
  }

  InvokerState* Chosen(Slot slot) {
    InvokerState* state = snapshot_.table->states[slot];
    if constexpr (Tracer::kRecords) tracer_.recorder.Chosen(slot);
    return state;
  }

  const DirectoryCore& core_;
  const DirectorySnapshot& snapshot_;
  const Invocation& invocation_;
  const std::span<const ProviderId> tried_;
  Tracer tracer_;
  const std::uint32_t thread_;
  Random random_;
  PickContext context_;
};

// A pick that started before a new list was published may find all of its providers draining. That is no answer
// while there is a newer snapshot to ask.
inline constexpr int kMostSnapshots = 5;

template <class Take>
absl::StatusOr<InvokerState*> PickFromCurrent(const DirectoryCore& core, const Invocation& invocation,
                                              std::span<const ProviderId> tried, Take take) {
  for (int i = 1;; ++i) {
    const DirectorySnapshot& snapshot = core.Current();
    absl::StatusOr<InvokerState*> state = Picker<NoTracer>(core, snapshot, invocation, tried, {}).Run(take);
    if (state.ok() || i == kMostSnapshots || &core.Current() == &snapshot) return state;
  }
}

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_PICK_H_
