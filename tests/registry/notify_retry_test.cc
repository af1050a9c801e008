// Listeners that throw out of Notify: told again, with what is known by then, and never with what failed.
#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B";
constexpr Category kProviders = Category::kProviders;
constexpr Category kRouters = Category::kRouters;
constexpr std::string_view kRule = "condition://0.0.0.0/a.B?category=routers&rule=x";

std::string P(std::string_view host) { return "dubbo://" + std::string(host) + ":1/a.B"; }

class NotifyRetryTest : public RegistryFixture {
 protected:
  // A listener that throws at its first `failures` calls.
  std::shared_ptr<RecordingListener> Subscribe(int failures, std::string_view consumer = kConsumer) {
    auto listener = std::make_shared<RecordingListener>();
    listener->then = [this, left = failures]() mutable {
      called_at_.push_back(clock_.SteadyNow());
      if (left-- > 0) throw std::runtime_error("host bug");
    };
    registry_->Subscribe(U(consumer), listener, [this](absl::Status status) { first_ = std::move(status); });
    Run();
    return listener;
  }
  std::size_t pending() { return registry_->status().retries_pending; }

  std::vector<Clock::SteadyTime> called_at_;
  std::optional<absl::Status> first_;
};

TEST_F(NotifyRetryTest, OneFailureIsOneMoreCall) {
  Open();
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(recorder_.count("FL-1-3"), 1u);
  EXPECT_TRUE(first_ && first_->ok()) << "the registry has answered";
  Advance(milliseconds(199));
  EXPECT_EQ(listener->lines.size(), 1u) << "not at once";
  Advance(milliseconds(5000 - 199));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.B/providers list p1:1"));
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(registry_->status().counters.retries, 1u);
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->Take(), IsEmpty()) << "the timer is gone";
  // A repetition of what was told at last is no news.
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(NotifyRetryTest, ANewerListThatSucceedsEndsTheRetry) {
  Open();
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  Push("a.B", kProviders, {P("p1"), P("p2")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.B/providers list p1:1 p2:1"));
  EXPECT_EQ(pending(), 0u);
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->Take(), IsEmpty()) << "the list that failed is not told over the newer one";
}

TEST_F(NotifyRetryTest, TheRetryTellsTheLatestList) {
  Open();
  const auto listener = Subscribe(2);
  Push("a.B", kProviders, {P("p1")});
  Push("a.B", kProviders, {P("p1"), P("p2")});
  listener->Take();
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1"));
}

TEST_F(NotifyRetryTest, TriedWithoutEndAtTheRegistrysPace) {
  Open("fake://h:1?retry.period=1000");
  Subscribe(30);
  Push("a.B", kProviders, {P("p1")});
  Advance(std::chrono::hours(2));
  ASSERT_EQ(called_at_.size(), 31u);
  milliseconds longest(1000);
  for (std::size_t i = 1; i < called_at_.size(); ++i) {
    const auto pause = called_at_[i] - called_at_[i - 1];
    EXPECT_GE(pause, milliseconds(200));
    EXPECT_LE(pause, longest);
    longest = std::min(longest * 2, milliseconds(60'000));
  }
}

TEST_F(NotifyRetryTest, RetryTimesEndsItUntilTheNextList) {
  Open();
  const auto listener = Subscribe(4, "consumer://10.0.0.9/a.B?retry.times=3");
  Push("a.B", kProviders, {P("p1")});
  Advance(std::chrono::hours(1));
  EXPECT_EQ(listener->Take().size(), 4u) << "three retries after the first call";
  EXPECT_EQ(pending(), 0u);
  Push("a.B", kProviders, {P("p2")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p2:1"));
}

TEST_F(NotifyRetryTest, OtherCategoriesAndListenersAreToldMeanwhile) {
  Open();
  const auto bad = Subscribe(1, "consumer://10.0.0.9/a.B?category=providers,routers");
  const auto good = Subscribe(0, "consumer://10.0.0.9/a.B?category=providers,routers");
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(good->Take(), ElementsAre("a.B/providers list p1:1"));
  Push("a.B", kRouters, {std::string(kRule)});
  EXPECT_THAT(bad->Take(), ElementsAre("a.B/providers list p1:1", "a.B/routers list 0.0.0.0"))
      << "Dubbo leaves the other categories out; and their news does not shorten the pause of the failed one";
  Advance(milliseconds(5000));
  EXPECT_THAT(bad->Take(), ElementsAre("a.B/providers list p1:1"));
  EXPECT_THAT(good->lines, ElementsAre("a.B/routers list 0.0.0.0"));
}

TEST_F(NotifyRetryTest, StaleListsComeInTheirOrderAlsoAfterAFailure) {
  Open();
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  PushError("a.B", kProviders);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
  Advance(milliseconds(5000));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.B/providers unknown"));
}

TEST_F(NotifyRetryTest, UnsubscribeTakesTheRetryBack) {
  Open("fake://h:1?resync.period=0");
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  registry_->Unsubscribe(U(kConsumer), listener);
  EXPECT_EQ(pending(), 0u);
  listener->Take();
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->lines, IsEmpty());
  EXPECT_EQ(executor_->pending_timers(), 0u);
}

TEST_F(NotifyRetryTest, TheSamePairAgainStartsAnew) {
  Open();
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  registry_->Subscribe(U(kConsumer), listener, nullptr);
  Run();
  EXPECT_EQ(listener->Take().size(), 2u) << "the replay of a new subscription";
  EXPECT_EQ(pending(), 0u);
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(NotifyRetryTest, AServiceThatWentIsToldToAListenerThatFailed) {
  Open();
  auto listener = std::make_shared<RecordingListener>();
  registry_->Subscribe(U("admin://10.0.0.9/*?category=providers"), listener, nullptr);
  Run();
  backend_->PushNames(std::vector<std::string>{"a.B"});
  Run();
  Push("a.B", kProviders, {P("p1")});
  listener->Take();
  listener->then = [left = 1]() mutable {
    if (left-- > 0) throw std::runtime_error("host bug");
  };
  backend_->PushNames(std::vector<std::string>{});
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  Advance(milliseconds(5000));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
}

TEST_F(NotifyRetryTest, DestroyEndsRetries) {
  Open();
  const auto listener = Subscribe(1);
  Push("a.B", kProviders, {P("p1")});
  listener->Take();
  registry_->Destroy(nullptr);
  FinishStop();
  Advance(std::chrono::minutes(5));
  EXPECT_THAT(listener->lines, IsEmpty());
}

}  // namespace
}  // namespace fairlead
