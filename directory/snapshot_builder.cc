#include "fairlead/directory/snapshot_builder.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "fairlead/base/read_domain.h"
#include "fairlead/directory/plan_builder.h"

namespace fairlead::internal {
namespace {

// Calls beyond this many different combinations of cases walk the chain.
constexpr std::size_t kMostPlans = 1024;
// How long a new snapshot waits for the plans in use.
constexpr std::chrono::milliseconds kPrebuild{2};

void CompileChain(DirectorySnapshot& snapshot, const std::vector<std::shared_ptr<const GuardedRouter>>& routers,
                  const InvokerSet& changed, const DirectorySnapshot* previous) {
  const RouteInput input{snapshot.table->providers, snapshot.table->by_rank, &changed, snapshot.consumer,
                         snapshot.consumer_as_given};
  // What a router compiled for another consumer url says nothing about this one.
  const bool same_consumer = previous != nullptr && previous->consumer == snapshot.consumer &&
                             previous->consumer_as_given == snapshot.consumer_as_given;
  for (const auto& router : routers) {
    const ChainLink* before = nullptr;
    if (same_consumer) {
      for (const ChainLink& link : previous->chain) {
        if (link.router == router) before = &link;
      }
    }
    ChainLink link(router, input, before);
    snapshot.minds_wishes |= link.wishes;
    snapshot.rules_read_methods |= Has(router->reads(), Reads::kMethod);
    if (link.runtime) {
      snapshot.runtime.push_back(static_cast<std::uint32_t>(snapshot.chain.size()));
      snapshot.only_attachments &= !Has(router->reads(), Reads::kArguments);
    }
    snapshot.chain.push_back(std::move(link));
  }
}

std::vector<RouteCase> CachedCases(const DirectorySnapshot& snapshot, std::string_view method) {
  const Invocation any;
  std::vector<RouteCase> cases(snapshot.chain.size(), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!snapshot.chain[i].runtime) cases[i] = snapshot.chain[i].Classify({method, any});
  }
  return cases;
}

void ClassifyMethods(DirectorySnapshot& snapshot, const MethodTable& methods, bool per_method) {
  std::map<std::pair<std::vector<RouteCase>, std::string>, std::uint32_t> classes;
  const std::size_t count = methods.size();
  for (std::size_t id = 0; id < count; ++id) {
    const std::string method(methods.Name(static_cast<MethodId>(id)));
    std::vector<RouteCase> cases = CachedCases(snapshot, method);
    const std::string own = per_method ? method : std::string(ParameterMethod(snapshot, method));
    const auto [at, fresh] = classes.try_emplace({cases, own}, static_cast<std::uint32_t>(snapshot.classes.size()));
    if (fresh) snapshot.classes.push_back({own, std::move(cases), nullptr, nullptr, nullptr});
    snapshot.class_of.push_back(at->second);
  }
}

std::vector<RouteCase> CasesOf(const DirectorySnapshot& snapshot, const PlanKey& key) {
  std::vector<RouteCase> cases = snapshot.classes[key.method_class].cases;
  for (std::uint32_t i = 0; i < key.count; ++i) cases[snapshot.runtime[i]] = key.cases[i];
  return cases;
}

// A key from an older snapshot may name cases that the table of today does not have.
bool Fits(const DirectorySnapshot& snapshot, const PlanKey& key) {
  if (key.method_class >= snapshot.classes.size() || key.count != snapshot.runtime.size()) return false;
  for (std::uint32_t i = 0; i < key.count; ++i) {
    if (key.cases[i] >= snapshot.chain[snapshot.runtime[i]].cases) return false;
  }
  return true;
}

// The previous snapshot's plans that were used, and those it still had to build, in this snapshot's numbering of classes.
std::vector<PlanWish> WishesOf(const DirectorySnapshot& snapshot, const DirectorySnapshot& previous) {
  std::vector<PlanWish> wishes;
  const auto add = [&](const PlanWish& wish) {
    const std::string& method = previous.classes[wish.key.method_class].method;
    for (std::size_t i = 0; i < snapshot.classes.size(); ++i) {
      if (snapshot.classes[i].method != method) continue;
      wishes.push_back(wish);
      wishes.back().key.method_class = static_cast<std::uint32_t>(i);
    }
  };
  if (const PlanTable* plans = previous.plans.load(std::memory_order_relaxed)) {
    for (const auto& plan : plans->plans()) {
      if (plan->hit.load(std::memory_order_relaxed)) add({plan->key, plan});
    }
  }
  for (const PlanWish& wish : previous.wishes) {
    if (wish.key.method_class < previous.classes.size()) add(wish);
  }
  return wishes;
}

// Appends the plans of `snapshot.wishes` that fit and are not there yet, until `deadline`.
PlanCount BuildWishes(DirectorySnapshot& snapshot, PlanBuilder& builder, const Clock& clock, Clock::SteadyTime deadline,
                      std::vector<std::shared_ptr<const Plan>>& plans) {
  PlanCount count;
  std::size_t done = 0;
  for (const PlanWish& wish : snapshot.wishes) {
    const PlanKey& key = wish.key;
    const Plan* const before = wish.before.get();
    ++done;
    const bool known = std::any_of(plans.begin(), plans.end(), [&](const auto& plan) { return plan->key == key; });
    if (known || !Fits(snapshot, key)) continue;
    std::shared_ptr<const Plan> plan;
    if (plans.size() < kMostPlans) {
      plan = builder.Build(key, snapshot.classes[key.method_class].method, CasesOf(snapshot, key), before);
    }
    if (before == nullptr) ++(plan != nullptr ? count.built : count.refused);
    if (plan != nullptr) plans.push_back(std::move(plan));
    if (clock.SteadyNow() >= deadline) break;
  }
  snapshot.wishes.erase(snapshot.wishes.begin(), snapshot.wishes.begin() + static_cast<std::ptrdiff_t>(done));
  return count;
}

// Memory for picks without a plan: those of a snapshot that has rules for each call do without often, those of another
// now and then, before a new method is known.
void ProvideScratch(DirectorySnapshot& snapshot, const DirectorySnapshot* previous) {
  const std::size_t needed = snapshot.valid.capacity();
  snapshot.scratch = previous == nullptr ? nullptr : previous->scratch;
  if (snapshot.scratch == nullptr || snapshot.scratch->capacity() < needed ||
      snapshot.scratch->capacity() / 4 > needed + 1024) {
    snapshot.scratch = std::make_shared<WalkScratch>(needed + needed / 4);
  }
  // Twice as many as can run at one time: a pick may be interrupted, or nest in another.
  static const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const bool walked = std::any_of(snapshot.classes.begin(), snapshot.classes.end(),
                                  [](const MethodClass& of) { return of.plan == nullptr; });
  snapshot.scratch->Provide(walked ? 2 * cores : 2);
}

// Methods whose calls all end in one leaf need nothing looked up. After the plans are built.
void MarkDirect(DirectorySnapshot& snapshot) {
  if (!snapshot.status.ok()) return;
  for (const std::uint32_t class_index : snapshot.class_of) {
    const Plan* plan = snapshot.classes[class_index].plan.get();
    snapshot.direct.push_back(plan != nullptr ? plan->draw : DrawTable());
  }
  snapshot.usual.methods = snapshot.direct.size();
  snapshot.usual.draws = snapshot.direct.data();
}

}  // namespace

std::unique_ptr<DirectorySnapshot> BuildSnapshot(SnapshotInput input, const MethodTable& methods,
                                                 const DirectorySnapshot* previous) {
  auto snapshot = std::make_unique<DirectorySnapshot>();
  snapshot->version = input.version;
  snapshot->built_at = input.now;
  snapshot->wall_ms = input.wall_ms;
  snapshot->status = std::move(input.status);
  snapshot->service = std::move(input.service);
  snapshot->consumer = std::move(input.consumer);
  snapshot->consumer_as_given = std::move(input.consumer_as_given);
  snapshot->compat = input.compat;
  snapshot->seed = input.seed;
  snapshot->table = std::move(input.table);
  snapshot->valid = std::move(input.valid);
  snapshot->downs = std::move(input.downs);
  snapshot->usual.downs = snapshot->downs.get();
  snapshot->usual.downs_seen = input.downs_seen;
  snapshot->usual.invokers = snapshot->table->invokers.data();
  snapshot->usual.states = snapshot->table->states.data();
  snapshot->own_methods = std::move(input.own_methods);
  snapshot->policy = std::move(input.policy);
  snapshot->skipped = std::move(input.skipped);
  snapshot->scripts = input.scripts;
  snapshot->unused = std::move(input.unused);

  CompileChain(*snapshot, input.routers, input.changed, previous);
  ClassifyMethods(*snapshot, methods, input.per_method);

  PlanBuilder builder(*snapshot, previous);
  if (snapshot->runtime.empty()) {
    for (std::size_t i = 0; i < snapshot->classes.size(); ++i) {
      MethodClass& of = snapshot->classes[i];
      PlanKey key;
      key.method_class = static_cast<std::uint32_t>(i);
      of.plan = builder.Build(key, of.method, of.cases, builder.UsualPlanBefore(of.method));
    }
    MarkDirect(*snapshot);
    ProvideScratch(*snapshot, previous);
    return snapshot;
  }
  ProvideScratch(*snapshot, previous);
  snapshot->valid.ForEach([&](Slot slot) {
    snapshot->most_weight = std::max(snapshot->most_weight, snapshot->table->weights[slot]);
  });
  for (std::size_t i = 0; i < snapshot->classes.size(); ++i) {
    snapshot->classes[i].whole = builder.BuildWhole(static_cast<std::uint32_t>(i));
  }
  if (snapshot->runtime.size() > kMaxRuntimeRouters) return snapshot;

  std::vector<std::shared_ptr<const Plan>> plans;
  if (previous != nullptr) snapshot->wishes = WishesOf(*snapshot, *previous);
  if (snapshot->only_attachments) {
    const Invocation bare;
    for (std::size_t i = 0; i < snapshot->classes.size(); ++i) {
      MethodClass& of = snapshot->classes[i];
      PlanKey key;
      key.method_class = static_cast<std::uint32_t>(i);
      for (const std::uint32_t link : snapshot->runtime) {
        key.cases[key.count++] = snapshot->chain[link].Classify({of.method, bare});
      }
      of.bare_plan = builder.Build(key, of.method, CasesOf(*snapshot, key), builder.UsualPlanBefore(of.method));
      if (of.bare_plan) plans.push_back(of.bare_plan);
    }
  }
  BuildWishes(*snapshot, builder, *input.clock, input.clock->SteadyNow() + kPrebuild, plans);
  snapshot->plans.store(new PlanTable(std::move(plans)), std::memory_order_relaxed);
  MarkDirect(*snapshot);
  return snapshot;
}

PlanCount AddPlans(DirectorySnapshot& snapshot, const Clock& clock, std::chrono::nanoseconds budget) {
  const PlanTable* table = snapshot.plans.load(std::memory_order_relaxed);
  if (table == nullptr) {
    snapshot.wishes.clear();
    return {};
  }
  PlanBuilder builder(snapshot, nullptr);
  std::vector<std::shared_ptr<const Plan>> plans = table->plans();
  const std::size_t before = plans.size();
  const PlanCount count = BuildWishes(snapshot, builder, clock, clock.SteadyNow() + budget, plans);
  if (plans.size() == before) return count;
  snapshot.plans.store(new PlanTable(std::move(plans)), std::memory_order_release);
  ReadDomain::Global().Retire([table] { delete table; });
  return count;
}

}  // namespace fairlead::internal
