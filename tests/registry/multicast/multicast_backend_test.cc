// What a registry in a group says and tells, in the test's own time.
#include "fairlead/tests/registry/multicast/multicast_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class MulticastBackendTest : public MulticastFixture {};

TEST_F(MulticastBackendTest, RegisteringSaysSo) {
  const auto provider = Join();
  EXPECT_THAT(provider->sessions_, ElementsAre(Session::kConnected));
  EXPECT_EQ(provider->Put(P(1)), absl::OkStatus());
  EXPECT_THAT(group_.Take(), ElementsAre("register " + P(1)));
  EXPECT_EQ(provider->Remove(P(1)), absl::OkStatus());
  EXPECT_THAT(group_.Take(), ElementsAre("unregister " + P(1)));
}

TEST_F(MulticastBackendTest, TheQuestionAsksForAllThereIs) {
  const auto consumer = Join();
  consumer->backend_->Watch("a.B", Category::kProviders, [](const ChildrenAnswer&) {});
  consumer->backend_->Watch("a.B", Category::kRouters, [](const ChildrenAnswer&) {});
  Run();
  EXPECT_THAT(group_.Take(),
              ElementsAre("subscribe consumer://10.0.0.1/a.B?category=providers,routers&check=false&classifier=*&enabled=*"
                          "&group=*&interface=a.B&unicast=true&version=*"));
}

TEST_F(MulticastBackendTest, AFirstListIsToldWhenTheAnswersAreQuiet) {
  const auto one = Join("", "10.0.0.1"), two = Join("", "10.0.0.2");
  one->Put(P(1, "?group=g&version=2"));
  two->Put(P(2));
  const auto consumer = Join("", "10.0.0.9");
  consumer->Watch();
  EXPECT_THAT(consumer->told_, IsEmpty());
  Advance(milliseconds(249));
  EXPECT_THAT(consumer->told_, IsEmpty());
  Advance(milliseconds(1));
  EXPECT_THAT(consumer->told_, SizeIs(1));
  EXPECT_THAT(consumer->last(), UnorderedElementsAre(P(1, "?group=g&version=2"), P(2)));
  EXPECT_FALSE(consumer->told_.back().missing);
}

TEST_F(MulticastBackendTest, AnswersGoToTheHostThatAskedOrToTheGroup) {
  const auto provider = Join("", "10.0.0.1");
  provider->Put(P(1));
  group_.Take();
  const std::string question = "consumer://10.0.0.9/a.B?category=providers";
  group_.Inject("subscribe " + question + "\n", "10.0.0.9");
  EXPECT_THAT(group_.Take(), ElementsAre("10.0.0.9 <- register " + P(1)));
  group_.Inject("subscribe " + question + "&unicast=false\n", "10.0.0.9");
  Advance(milliseconds(100));
  EXPECT_THAT(group_.Take(), ElementsAre("register " + P(1)));
  // To its own host it cannot say it to one process.
  group_.Inject("subscribe " + question + "\n", "10.0.0.1");
  Advance(milliseconds(200));
  EXPECT_THAT(group_.Take(), ElementsAre("register " + P(1)));
}

TEST_F(MulticastBackendTest, AnswersAreThoseThatMatch) {
  const auto provider = Join("", "10.0.0.1");
  provider->Put(P(1, "?group=g"));
  provider->Put("override://0.0.0.0/a.B?category=configurators&weight=1", true, Category::kConfigurators);
  group_.Take();
  for (const char* other : {"consumer://h/a.C?category=providers&group=*", "consumer://h/a.B?category=providers",
                            "consumer://h/a.B?category=routers&group=*"}) {
    group_.Inject(std::string("subscribe ") + other);
  }
  Advance(milliseconds(200));
  EXPECT_THAT(group_.Take(), IsEmpty());
  group_.Inject("subscribe admin://h?interface=*&group=*&version=*&classifier=*&category=providers,configurators&enabled=*");
  EXPECT_THAT(group_.Take(), SizeIs(2));
}

TEST_F(MulticastBackendTest, ManyWhoAskAtOnceAreAnsweredOnce) {
  const auto provider = Join();
  provider->Put(P(1));
  group_.Take();
  for (int i = 0; i < 100; ++i) group_.Inject("subscribe consumer://h/a.B?category=providers&unicast=false");
  Advance(milliseconds(50));
  for (int i = 0; i < 100; ++i) group_.Inject("subscribe consumer://h/a.B?category=providers&unicast=false");
  Advance(seconds(1));
  EXPECT_THAT(group_.Take(), SizeIs(2));
}

TEST_F(MulticastBackendTest, AnswersToSingleHostsAreLimited) {
  const auto provider = Join();
  provider->Put(P(1));
  group_.Take();
  for (int i = 0; i < 3000; ++i) group_.Inject("subscribe consumer://h/a.B?category=providers", "10.0.0.66");
  EXPECT_THAT(group_.Take(), SizeIs(2000));
  EXPECT_EQ(log_.count("FL-7-4"), 1u);
  Advance(seconds(1));
  group_.Inject("subscribe consumer://h/a.B?category=providers", "10.0.0.66");
  EXPECT_THAT(group_.Take(), SizeIs(1));
}

TEST_F(MulticastBackendTest, ListsFollowMessages) {
  const auto consumer = Consumer();
  EXPECT_TRUE(consumer->told_.back().missing) << "nobody has said that there is none";
  Advance(seconds(1));
  const auto provider = Join();
  provider->Put(P(1));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
  Advance(seconds(2));
  provider->Put(P(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1), P(2)));
  Advance(seconds(2));
  provider->Remove(P(1));
  Advance(seconds(2));
  provider->Remove(P(2));
  EXPECT_THAT(consumer->last(), IsEmpty());
  EXPECT_FALSE(consumer->told_.back().missing) << "its owner said so";
}

// Dubbo puts an empty:// into the set when the last url leaves, and delivers it with all that come later.
TEST_F(MulticastBackendTest, NoMarkOfEmptinessStaysInTheList) {
  const auto consumer = Consumer();
  group_.Inject("register " + P(1));
  group_.Inject("unregister " + P(1));
  group_.Inject("register empty://0.0.0.0/a.B?category=providers");
  Advance(seconds(2));
  group_.Inject("register " + P(2));
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(2)));
}

TEST_F(MulticastBackendTest, BurstsAreToldTogetherRulesAtOnce) {
  const auto consumer = Consumer();
  consumer->Watch(Category::kRouters);
  Advance(seconds(1));
  consumer->told_.clear();
  for (int n = 1; n <= 50; ++n) group_.Inject("register " + P(n));
  Advance(seconds(3));
  EXPECT_LE(consumer->told_.size(), 3u);
  EXPECT_THAT(consumer->last(), SizeIs(50));
  consumer->told_.clear();
  for (int n = 1; n <= 3; ++n) {
    group_.Inject("register route://0.0.0.0/a.B?category=routers&rule=r" + std::to_string(n));
    EXPECT_THAT(consumer->last(), SizeIs(n));
  }
}

TEST_F(MulticastBackendTest, ARuleForAllServicesIsInEveryListOfRules) {
  const std::string rule = "route://0.0.0.0/*?category=routers&rule=x";
  const auto consumer = Consumer();
  consumer->Watch(Category::kRouters);
  Advance(seconds(1));
  group_.Inject("register " + rule);
  EXPECT_THAT(consumer->last(), ElementsAre(rule));
}

TEST_F(MulticastBackendTest, TheLaterLifeOfAProviderCounts) {
  const auto consumer = Consumer();
  const std::string old_life = P(1, "?pid=1&timestamp=100"), new_life = P(1, "?pid=2&timestamp=200");
  group_.Inject("register " + old_life);
  group_.Inject("register " + new_life);
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(new_life));
  // Messages of the old one that come late.
  group_.Inject("unregister " + old_life);
  group_.Inject("register " + old_life);
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(new_life));
  group_.Inject("unregister " + new_life);
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), IsEmpty());
}

// Dubbo takes the two urls for one, and would drop it.
TEST_F(MulticastBackendTest, AUrlThatIsRegisteredAnewIsNotTakenBack) {
  const auto provider = Join();
  const auto consumer = Consumer();
  provider->Put(P(1, "?timestamp=100"));
  provider->Put(P(1, "?timestamp=200"));
  group_.Take();
  provider->Remove(P(1, "?timestamp=100"));
  EXPECT_THAT(group_.Take(), ElementsAre("register " + P(1, "?timestamp=200")));
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1, "?timestamp=200")));
}

TEST_F(MulticastBackendTest, OwnUrlsAreInOwnLists) {
  const auto both = Join();
  both->Put(P(1));
  both->Watch();
  Advance(seconds(1));
  EXPECT_THAT(both->last(), ElementsAre(P(1)));
  Advance(seconds(1));
  both->Remove(P(1));
  Advance(seconds(1));
  EXPECT_THAT(both->last(), IsEmpty());
}

TEST_F(MulticastBackendTest, WhoIsSaidToBeGoneAndIsNotSaysSo) {
  const auto provider = Join();
  const auto consumer = Consumer();
  provider->Put(P(1));
  group_.Take();
  group_.Inject("unregister " + P(1));
  Advance(seconds(2));
  EXPECT_THAT(group_.Take(), ElementsAre("register " + P(1)));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
  EXPECT_EQ(log_.count("FL-7-5"), 1u);
}

TEST_F(MulticastBackendTest, AUrlThatIsTooLongIsRefused) {
  const auto provider = Join();
  const auto status = provider->Put(P(1, "?x=" + std::string(2100, 'y')));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status->message()), HasSubstr("2036"));
  EXPECT_THAT(group_.Take(), IsEmpty());
}

TEST_F(MulticastBackendTest, AServiceWhoseQuestionWouldBeTooLongFails) {
  const auto consumer = Join();
  consumer->Watch(Category::kProviders, std::string(2000, 'a'));
  ASSERT_THAT(consumer->told_, SizeIs(1));
  EXPECT_EQ(consumer->told_.back().status.code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MulticastBackendTest, HostileDatagramsAreSkippedCountedAndSaidOnce) {
  const auto consumer = Consumer();
  group_.Inject("register " + P(1));
  Advance(seconds(2));
  const std::string junk[] = {"hello", std::string(2049, 'x'), "register dubbo://h:x/a.B", "register \xff\xfe",
                              std::string("\0\0\0", 3), "subscribe ://", "unregister", "register dubbo://h:1/a.B?category=zz",
                              "register " + std::string(2040, 'y'), std::string(2048, '\0'), "register " + std::string(2039, '\0'),
                              std::string(2048, ' ')};
  for (const std::string& text : junk) group_.Inject(text);
  group_.Inject("unsubscribe consumer://h/a.B");  // what it says is nothing, but it is no junk
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
  EXPECT_EQ(log_.count("FL-7-2"), 1u);
  EXPECT_THAT(consumer->backend_->Describe(), HasSubstr(absl::StrCat(std::size(junk), " datagrams skipped")));
}

TEST_F(MulticastBackendTest, WhatNobodyAsksForIsNotKept) {
  const auto consumer = Consumer();
  group_.Inject("register dubbo://10.0.0.1:1/other.Service");
  EXPECT_THAT(consumer->backend_->Describe(), HasSubstr(", 0 heard"));
  group_.Inject("register " + P(1));
  EXPECT_THAT(consumer->backend_->Describe(), HasSubstr(", 1 heard"));
  consumer->backend_->Unwatch("a.B", Category::kProviders);
  EXPECT_THAT(consumer->backend_->Describe(), HasSubstr(", 0 heard"));
}

TEST_F(MulticastBackendTest, TheNumberOfUrlsIsBounded) {
  const auto consumer = Consumer();
  for (std::size_t n = 0; n < internal::HeardUrls::kMost + 10; ++n) {
    group_.Inject("register dubbo://h:1/a.B?n=" + std::to_string(n));
  }
  EXPECT_THAT(consumer->backend_->Describe(), HasSubstr(absl::StrCat(", ", internal::HeardUrls::kMost, " heard")));
  EXPECT_EQ(log_.count("FL-7-6"), 1u);
}

TEST_F(MulticastBackendTest, ALostQuestionIsAskedAgain) {
  const auto provider = Join();
  provider->Put(P(1));
  int lost = 0;
  group_.loses = [&](const FakeGroup::Sent& sent) { return sent.text.starts_with("subscribe") && lost++ == 0; };
  for (const char* parameters : {"", "unicast=false"}) {
    lost = 0;
    const auto consumer = Consumer(parameters);
    EXPECT_THAT(consumer->last(), ElementsAre(P(1))) << parameters;
  }
}

// What is sent to a host reaches one of its processes.
TEST_F(MulticastBackendTest, SeveralConsumersOnOneHostGetTheirListsWithUnicastToo) {
  const auto provider = Join("", "10.0.0.1");
  provider->Put(P(1));
  const auto first = Join("", "10.0.0.9"), second = Join("", "10.0.0.9");
  first->Watch();
  Advance(seconds(1));
  EXPECT_THAT(group_.Take(), Contains(HasSubstr("unicast=false"))) << "its answers went to the second";
  EXPECT_THAT(first->last(), ElementsAre(P(1)));
  second->Watch();
  Advance(milliseconds(250));
  EXPECT_THAT(second->last(), ElementsAre(P(1)));
}

TEST_F(MulticastBackendTest, ReadingAsksOnceAndKeepsNothing) {
  const auto provider = Join();
  provider->Put(P(1));
  const auto reader = Join("", "10.0.0.9");
  std::optional<ChildrenAnswer> answer;
  reader->backend_->Read("a.B", Category::kProviders, [&](ChildrenAnswer one) { answer = std::move(one); });
  Advance(seconds(1));
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->children, ElementsAre(P(1)));
  EXPECT_THAT(reader->backend_->Describe(), HasSubstr(", 0 heard"));
  reader->Watch();
  Advance(seconds(1));
  answer.reset();
  reader->backend_->Read("a.B", Category::kProviders, [&](ChildrenAnswer one) { answer = std::move(one); });
  Run();
  EXPECT_TRUE(answer) << "the list is there";
}

TEST_F(MulticastBackendTest, AllServicesAreKnownToWhoAsksForThem) {
  const auto provider = Join();
  provider->Put(P(1));
  const auto console = Join("", "10.0.0.9");
  console->WatchServices();
  EXPECT_THAT(group_.Take(), Contains(StartsWith("subscribe admin://10.0.0.9?category=providers,")));
  Advance(seconds(1));
  EXPECT_THAT(console->services_, ElementsAre(ElementsAre("a.B")));
  console->Watch();
  EXPECT_THAT(console->last(), ElementsAre(P(1))) << "without another question";
  EXPECT_EQ(group_.CountSent("subscribe"), 0);
  group_.Inject("register dubbo://10.0.0.1:1/c.D");
  Advance(seconds(2));
  EXPECT_THAT(console->services_.back(), ElementsAre("a.B", "c.D"));
  group_.Inject("unregister dubbo://10.0.0.1:1/c.D");
  Advance(seconds(2));
  EXPECT_THAT(console->services_.back(), ElementsAre("a.B"));
  console->backend_->UnwatchServices();
  group_.Inject("register dubbo://10.0.0.1:1/c.D");
  Advance(seconds(2));
  EXPECT_THAT(console->services_, SizeIs(3));
}

TEST_F(MulticastBackendTest, NoDocuments) {
  const auto client = Join();
  int told = 0;
  client->backend_->WatchConfig("dubbo", "x", [&](const absl::StatusOr<std::optional<std::string>>& value) {
    ASSERT_TRUE(value.ok());
    EXPECT_FALSE(value->has_value());
    ++told;
  });
  client->backend_->WatchConfig("dubbo", "y", [&](const absl::StatusOr<std::optional<std::string>>&) { ++told; });
  client->backend_->UnwatchConfig("dubbo", "y");
  Run();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace fairlead
