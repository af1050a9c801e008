// Property 13, incremental = full: after any edits, a directory that followed them step by step is the same as one
// that is told the final lists only.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<const char*, 3> kMethods = {"find", "save", "get"};

// Random edits of one service.
class Edits {
 public:
  Edits(DirectoryWorld& world, std::uint64_t seed, std::string policies, bool runtime_rules)
      : world_(world), random_(Mix64(seed)), policies_(std::move(policies)), runtime_rules_(runtime_rules) {}

  void One(Feed& feed) {
    auto& providers = feed.providers;
    switch (random_.Below(13)) {
      case 0:
      case 1:
      case 2:
        providers.insert(providers.begin() + static_cast<std::ptrdiff_t>(random_.Below(providers.size() + 1)), Provider());
        break;
      case 3:
      case 4:
        Drop(providers);
        break;
      case 5:
        Shuffle(providers);
        break;
      case 6:  // the same address, other parameters
        if (!providers.empty()) {
          Url& one = providers[random_.Below(providers.size())];
          one = world_.ProviderAt(std::string(one.host()) + "?" + Parameters());
        }
        break;
      case 7:
      case 8:
        feed.rules.push_back(Rule());
        break;
      case 9:
        Drop(feed.rules);
        break;
      case 10:
        feed.overrides.push_back(Override());
        break;
      case 11:
        Drop(feed.overrides);
        break;
      default:  // everybody leaves and others take their slots
        if (random_.Below(4) == 0) providers.clear();
        for (std::uint64_t n = random_.Below(5); n > 0; --n) providers.push_back(Provider());
    }
  }

  Random& random() { return random_; }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }

 private:
  template <class T>
  void Drop(std::vector<T>& from) {
    if (!from.empty()) from.erase(from.begin() + static_cast<std::ptrdiff_t>(random_.Below(from.size())));
  }
  template <class T>
  void Shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_.Below(i)]);
  }
  std::string Number(int n) { return std::to_string(random_.Below(static_cast<std::uint64_t>(n))); }

  std::string Parameters() {
    std::string text = "region=r" + Number(3);
    if (Chance(60)) text += "&weight=" + Number(6);
    if (Chance(30)) text += "&find.weight=" + Number(4);
    if (Chance(30)) text += "&timestamp=" + std::to_string(world_.clock_.SystemMillis() - 1000 * static_cast<std::int64_t>(random_.Below(700)));
    if (Chance(20)) text += "&warmup=" + Number(60) + "000";
    if (Chance(40)) text += "&loadbalance=" + Policy();
    if (Chance(15)) text += "&save.loadbalance=" + Policy();
    if (Chance(30)) text += "&hash.nodes=" + std::to_string(4 * (1 + random_.Below(8)));
    if (Chance(8)) text += "&disabled=true";
    if (Chance(10)) text += "&serialization=s" + Number(2);  // another connection
    return text;
  }
  std::string Policy() {
    const std::size_t words = static_cast<std::size_t>(std::count(policies_.begin(), policies_.end(), ' ')) + 1;
    std::size_t skip = random_.Below(words), begin = 0;
    for (; skip > 0; --skip) begin = policies_.find(' ', begin) + 1;
    return policies_.substr(begin, policies_.find(' ', begin) - begin);
  }
  Url Provider() { return world_.ProviderAt("10.0.0." + Number(10) + "?" + Parameters()); }
  Url Rule() {
    static constexpr std::array<const char*, 11> kRules = {
        "=> region != r0",
        "method=find => region=r1",
        "method=save,get => host != 10.0.0.3",
        "application=shop => region=$region",
        "=> weight=1~5",
        "method=get =>",
        "=> host=10.0.0.*",
        "arguments[0]=a => region=r2",
        "arguments[1]!=b & method=find => host=10.0.0.1,10.0.0.2,10.0.0.4",
        "attachments[user]=vip => region=r0,r1",
        "attachments[user]!=vip =>"};
    constexpr std::size_t kCached = 7;
    return world_.RuleUrl(kRules[random_.Below(runtime_rules_ ? kRules.size() : kCached)],
                          std::string("force=") + (Chance(30) ? "true" : "false") + "&priority=" + Number(4));
  }
  Url Override() {
    static constexpr std::array<const char*, 5> kSettings = {"weight=3", "region=r1", "loadbalance=random", "disabled=true",
                                                             "find.weight=9"};
    return world_.Parse("override://" + std::string(Chance(40) ? "0.0.0.0" : "10.0.0." + Number(10) + ":20880") +
                        "/com.acme.Orders?category=configurators&dynamic=false&side=" + (Chance(30) ? "consumer" : "provider") +
                        "&configVersion=v2.7&" + kSettings[random_.Below(kSettings.size())]);
  }

  DirectoryWorld& world_;
  Random random_;
  const std::string policies_;
  const bool runtime_rules_;
};

struct Call {
  std::vector<Argument> arguments;
  std::vector<Attachment> attachments;
};

std::vector<Call> Calls() {
  std::vector<Call> calls = {{}, {{{"a"}, {"b"}}, {}}, {{{"x"}}, {{"user", "vip"}}}, {{}, {{"user", "guest"}}}};
  return calls;
}

// Everything a caller can see of one kind of call, and the tables behind it; slots and ids left aside.
std::string Picture(const FedDirectory& directory, const Invocation& invocation, bool positions) {
  std::string text = "list:";
  for (const Url& url : directory.handle->List(invocation)) {
    text += " " + url.ToFullString() + " @" + std::to_string(url.timestamp_ms());
  }
  const PickTrace trace = directory.handle->Explain(invocation);
  text += "\nproviders " + std::to_string(trace.providers) + ", live " + std::to_string(trace.live);
  for (const PickTrace::RouterStep& step : trace.routers) {
    text += "\n  " + step.what + " " + std::to_string(step.in) + " -> " + std::to_string(step.out);
  }
  if (!trace.status.ok()) return text + "\n" + trace.status.ToString();
  const internal::Plan* plan = directory.PlanOf(invocation);
  if (plan == nullptr) return text + "\nno plan";
  for (const auto& branch : plan->branches) {
    const internal::Leaf& leaf = *branch.leaf;
    text += "\nleaf below " + std::to_string(branch.below) + ": " + leaf.policy + " of \"" + leaf.method + "\"";
    for (std::size_t i = 0; i < leaf.by_rank.size(); ++i) {
      text += " " + directory.ProviderIn(leaf.by_rank[i]).address() + "*" + std::to_string(leaf.weight(i));
    }
    if (leaf.selector == nullptr) {
      text += " " + leaf.error.ToString();
      continue;
    }
    text += "\n" + leaf.selector->Describe() + ":";
    if (!positions && leaf.policy == "roundrobin") continue;
    // The shares of a draw, the owners of a ring and the order of turns, by the same random numbers.
    Random random(11);
    for (int i = 0; i < 24; ++i) {
      PickContext context{random, 0, true};
      Invocation one = invocation;
      one.hash_key = static_cast<std::uint32_t>(Mix64(static_cast<std::uint64_t>(i)));
      text += " " + directory.ProviderIn(leaf.selector->Select(one, context)).address();
    }
  }
  return text;
}

void ExpectSameAsFromScratch(DirectoryWorld& world, FedDirectory& stepwise, const Feed& feed, const std::string& consumer,
                             bool positions) {
  FedDirectory scratch(world, consumer);
  for (const char* method : kMethods) scratch.handle->Method(method);
  scratch.Tell(feed);
  // What a host reported is not part of the feed.
  std::map<std::string, int> down;
  for (const Slot slot : stepwise.snapshot().table->by_rank) {
    if (stepwise.snapshot().table->states[slot]->down()) ++down[stepwise.ProviderIn(slot).effective.ToFullString()];
  }
  for (const Slot slot : scratch.snapshot().table->by_rank) {
    if (down.contains(scratch.ProviderIn(slot).effective.ToFullString())) scratch.Down(slot);
  }
  world.executor_.Advance(milliseconds(15));
  ASSERT_EQ(stepwise.snapshot().valid.count(), scratch.snapshot().valid.count());
  const std::vector<Call> calls = Calls();
  const auto for_each_call = [&](auto&& visit) {
    for (std::size_t method = 0; method <= kMethods.size(); ++method) {
      for (const Call& call : calls) visit(Invocation{static_cast<MethodId>(method), call.arguments, call.attachments, {}});
    }
  };
  // Plans are built for calls that were made. The table of wishes is lossy, so some calls have to be made again.
  bool missing = true;
  for (int round = 0; std::exchange(missing, false); ++round) {
    ASSERT_LT(round, 100) << "plans are built for what is called";
    for (FedDirectory* one : {&stepwise, &scratch}) {
      if (one->snapshot().runtime.empty() || !one->snapshot().status.ok()) continue;
      for_each_call([&](const Invocation& invocation) {
        missing |= one->PlanOf(invocation) == nullptr;
        (void)one->handle->Select(invocation);
      });
    }
    if (missing) world.executor_.Advance(milliseconds(25));
  }
  // A new name makes a new snapshot of either, at the same time of day.
  const std::string name = "at" + std::to_string(world.clock_.SystemMillis());
  stepwise.handle->Method(name);
  scratch.handle->Method(name);
  world.executor_.RunReady();
  for_each_call([&](const Invocation& invocation) {
    ASSERT_EQ(Picture(stepwise, invocation, positions), Picture(scratch, invocation, positions))
        << "method " << static_cast<int>(invocation.method) << ", " << invocation.arguments.size() << " arguments, "
        << invocation.attachments.size() << " attachments";
  });
}

// `picks`: calls are made in between, with rules that look at them.
void RunEdits(std::uint64_t seed, bool picks) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  DirectoryWorld world;
  Edits edits(world, seed, "random consistenthash leastactive roundrobin", picks);
  const std::string consumer = std::string(FedDirectory::kUnprotected) + "&region=r1&roundrobin.scope=global";
  FedDirectory stepwise(world, consumer);
  for (const char* method : kMethods) stepwise.handle->Method(method);
  const std::vector<Call> calls = Calls();
  Feed feed;
  for (int step = 0; step < 40; ++step) {
    for (std::uint64_t n = 1 + edits.random().Below(3); n > 0; --n) edits.One(feed);
    stepwise.Tell(feed);
    const auto& table = *stepwise.snapshot().table;
    if (!table.by_rank.empty() && edits.Chance(40)) {
      const Slot slot = table.by_rank[edits.random().Below(table.by_rank.size())];
      table.states[slot]->down() ? stepwise.Up(slot) : stepwise.Down(slot);
      if (edits.Chance(50)) world.executor_.Advance(milliseconds(12));
    }
    if (edits.Chance(20)) world.executor_.Advance(seconds(edits.random().Below(20)));
    for (std::size_t i = 0; picks && i < calls.size(); ++i) {
      const auto method = static_cast<MethodId>(edits.random().Below(4));
      (void)stepwise.handle->Select({method, calls[i].arguments, calls[i].attachments, {}});
    }
    if (edits.Chance(15)) {
      world.executor_.Advance(seconds(2));  // what is due has run
      ExpectSameAsFromScratch(world, stepwise, feed, consumer, !picks);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

class IncrementalTest : public ::testing::TestWithParam<int> {};

// With calls in between. Round robin owes credits then, so of it the list and the loop only.
TEST_P(IncrementalTest, Property13SetsSharesAndOwnersAreThoseFromScratch) {
  for (int i = 0; i < Effort(60); ++i) {
    RunEdits(static_cast<std::uint64_t>(1000 * GetParam() + i), true);
    if (HasFatalFailure()) return;
  }
}

// Without, the order of turns too.
TEST_P(IncrementalTest, Property13SequencesAreThoseFromScratchWhenNoCreditsAreOwed) {
  for (int i = 0; i < Effort(60); ++i) {
    RunEdits(static_cast<std::uint64_t>(1000 * GetParam() + i), false);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, IncrementalTest, ::testing::Range(0, 2));

}  // namespace
}  // namespace fairlead
