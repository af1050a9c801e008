// What one registry does or fails to do never hurts the providers of another, in any mode.
#include "fairlead/tests/multi_registry/world.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FailureTest : public ::testing::TestWithParam<RegistryMode>, protected MultiRegistryWorld {
 protected:
  void SetUp() override {
    Put("a", 1);
    Put("b", 2);
  }
  // Those that calls may reach while both registries have providers.
  std::set<int> Both() const { return GetParam() == RegistryMode::kFailover ? std::set<int>{1} : std::set<int>{1, 2}; }
};

TEST_P(FailureTest, ARegistryThatIsDeadAtTheStartIsWaitedForOnceAndHealsLater) {
  store("a").Suspend();
  Made made;
  Begin({"memory://a", "memory://b"}, GetParam(), &made);
  executor->Advance(milliseconds(2900));
  EXPECT_FALSE(made.has_value());
  executor->Advance(milliseconds(200));
  ASSERT_TRUE(made.has_value()) << "rules.wait after the other had answered";
  const auto orders = **made;
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  EXPECT_THAT(orders->Explain({}).ToString(), HasSubstr("memory://a"));
  store("a").Resume();
  executor->Advance(seconds(5));
  EXPECT_EQ(Picked(*orders), Both());
}

TEST_P(FailureTest, TheWaitIsTheConsumersToSay) {
  store("a").HoldAnswers(true);
  Made made;
  Begin({"memory://a", "memory://b"}, GetParam(), &made, "&rules.wait=100");
  executor->Advance(milliseconds(150));
  ASSERT_TRUE(made.has_value() && made->ok());
  EXPECT_THAT(Picked(***made), ElementsAre(2));
}

TEST_P(FailureTest, ARegistryThatDiesLaterKeepsItsListAndTheOtherItsOwn) {
  const auto orders = *Refer({"memory://a", "memory://b"}, GetParam());
  EXPECT_EQ(Picked(*orders), Both());
  store("a").Expire();
  store("a").Suspend();
  executor->Advance(minutes(20));
  EXPECT_EQ(Picked(*orders), Both());
  Put("b", 3);
  Remove("b", 2);
  EXPECT_EQ(Picked(*orders).contains(3), GetParam() != RegistryMode::kFailover);
  EXPECT_FALSE(Picked(*orders).contains(2));
  store("a").Resume();
  Put("a", 4);
  executor->Advance(seconds(30));
  EXPECT_TRUE(Picked(*orders).contains(4));
  EXPECT_EQ(protocol->destroyed, 1) << "2 alone was ever dropped";
}

TEST_P(FailureTest, ARegistryThatRefusesDoesNotMatter) {
  store("a").FailNext(MemoryStore::Operation::kRead, absl::PermissionDeniedError("no"), 1000000);
  const auto orders = Refer({"memory://a", "memory://b"}, GetParam());
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_THAT(Picked(**orders), ElementsAre(2));
}

TEST_P(FailureTest, OneThatAnswersIsEnoughUnlessTheUrlSaysMore) {
  store("a").Suspend();
  EXPECT_TRUE(Refer({"memory://a", "memory://b"}, GetParam()).ok());
  const absl::Status missing = Refer({"memory://a?check=true&timeout=4000", "memory://b"}, GetParam()).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(missing.message()), AllOf(HasSubstr("memory://a"), HasSubstr("4000 ms"), HasSubstr("check=true")));
  store("b").Suspend();
  const absl::Status all = Refer({"memory://a", "memory://b"}, GetParam()).status();
  EXPECT_EQ(all.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(all.message()), AllOf(HasSubstr("memory://a"), HasSubstr("memory://b"), HasSubstr("5000 ms")));
}

TEST_P(FailureTest, WithoutCheckItReturnsAtOnceAndHeals) {
  store("a").Suspend();
  store("b").Suspend();
  for (const auto& [registries, params] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"memory://a", "memory://b"}, "&check=false"}, {{"memory://a?check=false", "memory://b?check=false"}, ""}}) {
    Made made;
    Begin(registries, GetParam(), &made, params);
    ASSERT_TRUE(made.has_value() && made->ok());
    EXPECT_EQ((**made)->Select({}).status().code(), absl::StatusCode::kFailedPrecondition);
    store("b").Resume();
    executor->Advance(seconds(20));
    EXPECT_THAT(Picked(***made), ElementsAre(2));
    store("b").Suspend();
  }
}

TEST_P(FailureTest, CheckTrueOfTheConsumerWantsAProviderOfAny) {
  EXPECT_TRUE(Refer({"memory://empty", "memory://b"}, GetParam(), "&check=true").ok());
  const absl::Status none = Refer({"memory://empty", "memory://empty2"}, GetParam(), "&check=true").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(none.message()), HasSubstr("leave check=true out"));
  EXPECT_TRUE(Refer({"memory://empty", "memory://empty2"}, GetParam()).ok());
}

TEST_P(FailureTest, RegistriesThatAreNotSubscribedOrNamedTwiceAreLeftOut) {
  const auto orders = *Refer({"memory://a?subscribe=false", "memory://b", "memory://b?zone=x"}, GetParam());
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  EXPECT_THAT(orders->Explain({}).skipped, AllOf(Contains(HasSubstr("memory://a has subscribe=false")),
                                                 Contains(HasSubstr("memory://b is named twice"))));
  EXPECT_EQ(Refer({"memory://a?subscribe=false"}, GetParam()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Refer({"memory://a", "nosuch://b"}, GetParam()).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(FailureTest, AShutdownEndsAReferThatWaits) {
  store("a").Suspend();
  store("b").Suspend();
  Made made;
  Begin({"memory://a", "memory://b"}, GetParam(), &made);
  EXPECT_FALSE(made.has_value());
  runtime->Shutdown(milliseconds(0), nullptr);
  Settle();
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->status().code(), absl::StatusCode::kCancelled);
}

TEST_P(FailureTest, AShutdownEndsAReferThatWaitsForTheRequiredRegistry) {
  store("a").Suspend();
  Made made;
  Begin({"memory://a?check=true&timeout=60000", "memory://b"}, GetParam(), &made);
  executor->Advance(seconds(10));
  EXPECT_FALSE(made.has_value());
  runtime->Shutdown(milliseconds(0), nullptr);
  Settle();
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->status().code(), absl::StatusCode::kCancelled);
}

TEST_P(FailureTest, ListsOfTheCacheFileStandInForTheRegistryThatDoesNotAnswer) {
  TempDirectory dir;
  const std::string a = "memory://a?file=" + (dir / "a.cache"), b = "memory://b";
  (void)*Refer({a, b}, GetParam());
  executor->Advance(seconds(15));
  MultiRegistryWorld cold;
  cold.Put("b", 3);
  cold.store("a").Suspend();
  const auto orders = *cold.Refer({a, b}, GetParam());
  EXPECT_EQ(Picked(*orders), (GetParam() == RegistryMode::kFailover ? std::set<int>{1} : std::set<int>{1, 3}));
  cold.store("a").Resume();
  cold.Put("a", 4);
  cold.executor->Advance(seconds(10));
  EXPECT_EQ(Picked(*orders), (GetParam() == RegistryMode::kFailover ? std::set<int>{4} : std::set<int>{3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Modes, FailureTest,
                         ::testing::Values(RegistryMode::kMerge, RegistryMode::kZoneAware, RegistryMode::kFailover),
                         [](const auto& one) {
                           std::string name(RegistryModeName(one.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace fairlead
