#include "fairlead/bench/baselines.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "fairlead/bench/bed.h"
#include "fairlead/bench/draws.h"
#include "fairlead/tests/support/member_list.h"

namespace fairlead::bench {
namespace {

struct List {
  explicit List(int n) {
    std::vector<std::int32_t> weights;
    for (int i = 0; i < n; ++i) weights.push_back(WeightOf(i));
    members = MemberList(weights);
  }
  MemberList members;
};

// Weights are read from the urls at each call.
std::int32_t WeightNow(const Member& member) {
  return EffectiveWeight(member.provider->effective, "get", MemberList::kNowMs);
}

Body DubboRandom(int n) {
  auto list = std::make_shared<List>(n);
  return Repeat([list](int thread) {
    return [&members = list->members.members(), random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      std::vector<std::int64_t> below(members.size());
      std::int64_t total = 0;
      for (std::size_t i = 0; i < members.size(); ++i) below[i] = total += WeightNow(members[i]);
      const auto draw = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total)));
      Keep(std::upper_bound(below.begin(), below.end(), draw) - below.begin());
    };
  });
}

Body DubboLeastActive(int n) {
  auto list = std::make_shared<List>(n);
  return Repeat([list](int thread) {
    return [&members = list->members.members(), random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      std::vector<std::size_t> equals;
      std::uint32_t least = ~0u;
      std::int64_t total = 0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::uint32_t active = members[i].state->active();
        const std::int32_t weight = WeightNow(members[i]);
        if (active < least) {
          least = active;
          equals.clear();
          total = 0;
        }
        if (active == least) {
          equals.push_back(i);
          total += weight;
        }
      }
      auto left = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total)));
      std::size_t at = 0;
      while ((left -= members[equals[at]].weight) >= 0) ++at;
      Keep(equals[at]);
    };
  });
}

Body DubboRoundRobin(int n) {
  struct Turns {
    std::atomic<std::int64_t> current{0};
  };
  struct State : List {
    using List::List;
    std::vector<std::string> identities;
    std::unordered_map<std::string, Turns> turns;  // by identity text
  };
  auto state = std::make_shared<State>(n);
  for (const Member& member : state->members.members()) {
    state->identities.push_back(member.provider->effective.ToIdentityString());
    state->turns[state->identities.back()];
  }
  return Repeat([state](int) {
    return [state] {
      const auto& members = state->members.members();
      std::int64_t most = -1, total = 0;
      Turns* picked = nullptr;
      for (std::size_t i = 0; i < members.size(); ++i) {
        Turns& at = state->turns.find(state->identities[i])->second;
        const std::int32_t weight = WeightNow(members[i]);
        const std::int64_t current = at.current.fetch_add(weight) + weight;
        total += weight;
        if (picked == nullptr || current > most) {
          most = current;
          picked = &at;
        }
      }
      picked->current.fetch_sub(total);
      Keep(picked);
    };
  });
}

// Dubbo hashes the list at each call, to see whether its tree is still the right one.
Body DubboConsistentHash(int n) {
  struct State : List {
    using List::List;
    std::map<std::uint32_t, std::uint32_t> tree;
  };
  auto state = std::make_shared<State>(n);
  std::vector<std::string> addresses;
  for (const Member& member : state->members.members()) addresses.push_back(member.provider->address());
  const HashRing ring(std::vector<std::string_view>(addresses.begin(), addresses.end()), 160);
  for (const HashRing::Point& point : ring.points()) state->tree[point.value] = point.member;
  return Repeat([state](int thread) {
    return [state, random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      std::uint64_t hash = 1;
      for (const Member& member : state->members.members()) {
        hash = hash * 31 + reinterpret_cast<std::uintptr_t>(member.provider);
      }
      Keep(hash);
      const auto at = state->tree.lower_bound(static_cast<std::uint32_t>(random.Next()));
      Keep(at == state->tree.end() ? state->tree.begin()->second : at->second);
    };
  });
}

struct Snapshot {
  explicit Snapshot(int n) : list(n), table(list.slots, list.weights) {
    for (const std::int32_t weight : list.weights) below.push_back(total += static_cast<std::uint64_t>(weight));
  }
  BareList list;
  AliasTable table;
  std::vector<std::uint64_t> below;
  std::uint64_t total = 0;
};

Body AtomicSharedPtr(int n) {
  auto current = std::make_shared<std::atomic<std::shared_ptr<const Snapshot>>>(std::make_shared<const Snapshot>(n));
  return Repeat([current](int thread) {
    return [current, random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      const std::shared_ptr<const Snapshot> now = current->load(std::memory_order_acquire);
      Keep(now->list.pointers[now->table.Pick(random.Next())]);
    };
  });
}

Body PrefixSums(int n) {
  auto snapshot = std::make_shared<const Snapshot>(n);
  return Repeat([snapshot](int thread) {
    return [&now = *snapshot, random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      const ReadSection section;
      const auto at = std::upper_bound(now.below.begin(), now.below.end(), random.Below(now.total));
      Keep(now.list.pointers[static_cast<std::size_t>(at - now.below.begin())]);
    };
  });
}

Body MutexList(int n) {
  struct Guarded {
    explicit Guarded(int size) : snapshot(size) {}
    std::mutex mutex;
    Snapshot snapshot;
  };
  auto guarded = std::make_shared<Guarded>(n);
  return Repeat([guarded](int thread) {
    return [guarded, random = Random(static_cast<std::uint64_t>(thread))]() mutable {
      const std::lock_guard<std::mutex> lock(guarded->mutex);
      Keep(guarded->snapshot.list.pointers[guarded->snapshot.table.Pick(random.Next())]);
    };
  });
}

}  // namespace

Body MakeBaseline(const std::string& name, int n) {
  static const std::map<std::string, Body (*)(int)> known = {
      {"dubbo_random", DubboRandom},           {"dubbo_roundrobin", DubboRoundRobin},
      {"dubbo_leastactive", DubboLeastActive}, {"dubbo_consistenthash", DubboConsistentHash},
      {"atomic_shared_ptr", AtomicSharedPtr},  {"prefix_sums", PrefixSums},
      {"mutex_list", MutexList},
  };
  return known.at(name)(n);
}

}  // namespace fairlead::bench
