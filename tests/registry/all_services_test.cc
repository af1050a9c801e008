#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/tests/registry/subscription_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AllServicesTest : public SubscriptionTest {
 protected:
  static constexpr std::string_view kEverything =
      "admin://10.0.0.9/*?category=providers&classifier=*&enabled=*&group=*&version=*";
  void Names(std::vector<std::string> names) {
    backend_->PushNames(std::move(names));
    Run();
  }
};

TEST_F(AllServicesTest, OneSubscriptionForEachService) {
  Open();
  const auto listener = Subscribe(kEverything, &first_);
  Names({"a.B", "a.C"});
  EXPECT_FALSE(first_.has_value());
  Push("a.B", kProviders, {P("p1", "?group=x&version=2")});
  Push("a.C", kProviders, {});
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.C/providers empty"));
  Names({"a.B", "a.C", "a.D"});
  Push("a.D", kProviders, {"dubbo://p2:1/a.D"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.D/providers list p2:1"));
}

TEST_F(AllServicesTest, AServiceThatGoesSaysSoAndMayComeBack) {
  Open();
  const auto listener = Subscribe(kEverything);
  Names({"a.B"});
  Push("a.B", kProviders, {P("p1")});
  listener->Take();
  Names({});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  EXPECT_THAT(backend_->watches, IsEmpty());
  Names({"a.B"});
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
}

TEST_F(AllServicesTest, NoServiceAtAllIsAnAnswer) {
  Open();
  Subscribe(kEverything, &first_);
  backend_->PushNames(absl::UnavailableError("broken"));
  Run();
  EXPECT_FALSE(first_.has_value());
  Names({});
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(AllServicesTest, ASecondListenerGetsAFullReplay) {
  Open();
  Subscribe(kEverything);
  Names({"a.B", "a.C"});
  Push("a.B", kProviders, {P("p1")});
  Push("a.C", kProviders, {});
  const auto late = Subscribe(kEverything, &first_);
  EXPECT_THAT(late->Take(), ElementsAre("a.B/providers list p1:1", "a.C/providers empty"));
  EXPECT_TRUE(first_ && first_->ok());
  const auto other = Subscribe(std::string(kEverything) + "&x=1", &second_);
  EXPECT_EQ(other->lines.size(), 2u);
  EXPECT_TRUE(second_ && second_->ok());
}

TEST_F(AllServicesTest, UnsubscribeEndsAllOfThem) {
  Open();
  const auto listener = Subscribe(kEverything);
  Names({"a.B", "a.C"});
  backend_->Push({"a.B", kProviders}, {1, {}, false, {P("p1")}});
  // The service goes and the subscription ends before anything was told.
  backend_->PushNames(std::vector<std::string>{"a.C"});
  executor_->Post([&] { registry_->Unsubscribe(U(kEverything), listener); });
  Run();
  listener->Take();
  EXPECT_THAT(backend_->watches, IsEmpty());
  EXPECT_EQ(backend_->names, nullptr);
  EXPECT_EQ(registry_->status().subscriptions, 0u);
}

TEST_F(AllServicesTest, TheTimeoutCountsUntilTheLastService) {
  Open("fake://h:1?timeout=1000");
  Subscribe(kEverything, &first_);
  Names({"a.B", "a.C"});
  Push("a.B", kProviders, {});
  Advance(milliseconds(1000));
  EXPECT_TRUE(first_ && absl::IsUnavailable(*first_));
  EXPECT_THAT(backend_->watches, IsEmpty());
}

}  // namespace
}  // namespace fairlead
