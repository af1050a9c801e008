#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fairlead/tests/support/member_list.h"

// What happens to shares when tables are rebuilt faster than a thread walks through them.
namespace fairlead {
namespace {

using Weights = std::vector<std::int32_t>;

class RebuildFairnessTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Selector> Build(const SelectorInput& input,
                                        const std::shared_ptr<const Selector>& replaced) {
    return *policy_->Build(input, replaced.get());
  }
  const std::shared_ptr<const LoadBalance> policy_ = PolicyNamed("roundrobin");
};

// A light host must not starve, nor a heavy one, because a thread always begins at one place: weights 99 and
// 1, and a table that differs each time, every 20 picks of every thread.
TEST_F(RebuildFairnessTest, ALightHostGetsItsShareOnEveryThread) {
  const MemberList ways[] = {MemberList(Weights{99, 1, 0}), MemberList(Weights{99, 1})};
  constexpr int kRebuilds = 4000, kPicks = 20;
  constexpr std::uint32_t kThreads = 8;
  std::vector<int> light(kThreads);
  std::vector<Random> random;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) random.emplace_back(Mix64(thread));
  std::shared_ptr<const Selector> selector;
  for (int i = 0; i < kRebuilds; ++i) {
    selector = Build(ways[i % 2].Input(), selector);
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      PickContext context{random[thread], thread};
      for (int pick = 0; pick < kPicks; ++pick) light[thread] += selector->Select({}, context) == 1;
    }
  }
  // Each stretch of 20 holds the light host's turn with probability 1/5, on its own: 800 of 4000, sigma 25.
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) EXPECT_NEAR(light[thread], 800, 130) << thread;
}

// A thousand providers, of which one leaves or comes all the time: a slow thread reaches every one of them.
TEST_F(RebuildFairnessTest, ASlowThreadReachesEveryMember) {
  const MemberList ways[] = {MemberList(Weights(1000, 100)), MemberList(Weights(999, 100))};
  std::vector<int> counts(1000);
  Random random(5);
  std::shared_ptr<const Selector> selector;
  for (int i = 0; i < 1000; ++i) {
    selector = Build(ways[i % 2].Input(), selector);
    PickContext first{random, 0}, slow{random, 1};
    selector->Select({}, first);
    for (int pick = 0; pick < 10; ++pick) ++counts[selector->Select({}, slow)];
  }
  int never = 0;
  for (const int count : counts) never += count == 0;
  // 10 000 picks over 1000: nobody missed but by chance e^-10.
  EXPECT_LE(never, 5);
}

// Consumers that start together, each with one call: the calls spread by weight, they do not all meet the
// first.
TEST_F(RebuildFairnessTest, ManyFreshConsumersDoNotMeetOnOneProvider) {
  const MemberList members(Weights{5, 3, 2});
  std::vector<int> counts(3);
  constexpr int kConsumers = 10000;
  for (int i = 0; i < kConsumers; ++i) {
    SelectorInput input = members.Input();
    input.seed = Mix64(static_cast<std::uint64_t>(i));
    Random random(Mix64(input.seed));
    PickContext context{random, 0};
    ++counts[Build(input, nullptr)->Select({}, context)];
  }
  const double shares[] = {0.5, 0.3, 0.2};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(counts[i], kConsumers * shares[i], 5 * std::sqrt(kConsumers * shares[i] * (1 - shares[i])))
        << i;
  }
}

}  // namespace
}  // namespace fairlead
