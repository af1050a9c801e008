// What a registry holds and cannot be used is skipped alone, named once, and the last good state stays.
#include <gmock/gmock.h>

#include "fairlead/loadbalance/consistent_hash.h"
#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";

class BadInputTest : public DirectoryFixture {
 protected:
  static std::string Override(const std::string& params, const std::string& host = "0.0.0.0") {
    return "override://" + host + "/com.acme.Orders?category=configurators&dynamic=false&" + params;
  }
  Url Named(const std::string& name, const std::string& rule) { return RuleUrl(rule, "force=true&name=" + name); }
  std::string PolicyOf(const std::string& method = "") {
    const MethodId id = method.empty() ? MethodId::kAny : handle_->Method(method);
    executor_.RunReady();
    return handle_->Explain({.method = id}).policy;
  }
};

TEST_F(BadInputTest, AValueOfAnOverrideThatCannotBeUsedHasNoEffect) {
  struct Case {
    std::string key, value, expected;
  };
  const std::vector<Case> cases = {{"hash.nodes", "abc", "an integer from 4 to 65536"},
                                   {"hash.nodes", "8000000", "an integer from 4 to 65536"},
                                   {"hash.nodes", "3", "an integer from 4 to 65536"},
                                   {"find.hash.nodes", "1.5", "an integer from 4 to 65536"},
                                   {"hash.arguments", "x", "a comma list of argument indices"},
                                   {"find.hash.arguments", "0,y", "a comma list of argument indices"},
                                   {"loadbalance", "nope", "no policy nope"},
                                   {"find.loadbalance", "nope", "no policy nope"},
                                   {"weight", "heavy", "an integer of 32 bits"},
                                   {"find.weight", "99999999999", "an integer of 32 bits"},
                                   {"warmup", "10m", "an integer of 32 bits"},
                                   {"timestamp", "today", "milliseconds since 1970"}};
  const std::string own = "?loadbalance=consistenthash&hash.nodes=320&hash.arguments=1&weight=50&warmup=5&timestamp=7"
                          "&find.loadbalance=consistenthash&find.hash.nodes=8&find.hash.arguments=0&find.weight=60";
  Open({"10.0.0.1" + own, "10.0.0.2" + own});
  for (const Case& one : cases) {
    SCOPED_TRACE(one.key + "=" + one.value);
    const Url before = handle_->List({})[0];
    lines_.clear();
    const std::uint64_t counted = log_.Count("FL-3-4");
    Overrides({Override(one.key + "=" + one.value + "&timeout=77")});
    executor_.RunReady();

    const Url now = handle_->List({})[0];
    EXPECT_EQ(now.Param(one.key), before.Param(one.key));
    EXPECT_EQ(now.timestamp_ms(), before.timestamp_ms());
    EXPECT_EQ(now.Param("timeout"), "77") << "the rest of the override applies";
    EXPECT_THAT(PolicyOf(), HasSubstr("consistenthash, 2 providers with 320 points"));
    EXPECT_THAT(PolicyOf("find"), HasSubstr("consistenthash, 2 providers with 8 points"));
    EXPECT_TRUE(handle_->Select({}).ok());
    EXPECT_EQ(lines_.count("FL-3-4"), 1u) << "for two providers and the consumer";
    EXPECT_EQ(log_.Count("FL-3-4"), counted + 1);
    EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr(one.key + "=" + one.value), HasSubstr(one.expected),
                                             HasSubstr("override://0.0.0.0/com.acme.Orders"), HasSubstr("timeout=77"))));
    Overrides({});
    executor_.RunReady();
    EXPECT_THAT(Skipped(), IsEmpty());
  }
  EXPECT_EQ(log_.Count("FL-3-9"), 0u);
  EXPECT_EQ(protocol_->referred, 2);
}

TEST_F(BadInputTest, WhatIsWrittenForOlderReadersIsPassedOver) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({Override("timeout=77&compatible_config=true"), Override("retries=3")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "");
  EXPECT_EQ(handle_->List({})[0].Param("retries"), "3");
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(BadInputTest, ABetterOverrideUnderABadOneStays) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({Override("loadbalance=roundrobin&weight=20"), Override("loadbalance=nope&weight=x&priority=5")});
  executor_.RunReady();
  EXPECT_THAT(PolicyOf(), HasSubstr("roundrobin"));
  EXPECT_EQ(handle_->List({})[0].Param("weight"), "20");
  EXPECT_EQ(lines_.count("FL-3-4"), 2u) << "a line for each bad value";
  EXPECT_THAT(Skipped(), SizeIs(2));
  // Empty values are as good as none, and what only looks like a policy parameter is none.
  Overrides({Override("loadbalance=&weight=&hash.nodes="), Override("my.own.weight=x&weights=y&loadbalance.x=z")});
  executor_.RunReady();
  EXPECT_THAT(Skipped(), IsEmpty());
  EXPECT_EQ(handle_->List({})[0].Param("my.own.weight"), "x");
}

TEST_F(BadInputTest, AnAbsentRuleAndOneThatIsNotEnabled) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({"absent://0.0.0.0/com.acme.Orders?category=configurators&loadbalance=nope&timeout=3",
             Override("loadbalance=nope&enabled=false")});
  executor_.RunReady();
  EXPECT_THAT(PolicyOf(), HasSubstr("random"));
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "3");
  EXPECT_EQ(lines_.count("FL-3-4"), 1u);
}

TEST_F(BadInputTest, APolicyThatAProviderNamesAndNobodyKnowsIsLeftOut) {
  Open({"10.0.0.1?loadbalance=nope&find.loadbalance=adaptive&weight=30", "10.0.0.2?loadbalance=roundrobin"});
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_THAT(PolicyOf(), HasSubstr("random"));
  EXPECT_THAT(PolicyOf("find"), HasSubstr("random"));
  ASSERT_THAT(Skipped(), SizeIs(1));
  EXPECT_THAT(Skipped()[0], AllOf(HasSubstr("loadbalance=nope"), HasSubstr("find.loadbalance=adaptive"), HasSubstr(kA)));
  EXPECT_EQ(lines_.count("FL-3-9"), 1u);
  // The method's bad form falls back to the good general one.
  Providers({"10.0.0.1?loadbalance=roundrobin&find.loadbalance=nope", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(PolicyOf("find"), HasSubstr("roundrobin"));
  // An override's word counts as ever.
  Providers({"10.0.0.1?loadbalance=nope", "10.0.0.2"});
  Overrides({Override("loadbalance=leastactive")});
  executor_.RunReady();
  EXPECT_THAT(PolicyOf(), HasSubstr("leastactive"));
  Overrides({});
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(BadInputTest, ARingThatAProviderAsksForAndCannotBeMadeIsTheDefaultOne) {
  Open({});
  for (const std::string bad : {"hash.nodes=zz", "hash.nodes=1", "hash.arguments=q", "find.hash.nodes=-1"}) {
    SCOPED_TRACE(bad);
    lines_.clear();
    Providers({"10.0.0.1?loadbalance=consistenthash&" + bad, "10.0.0.2?loadbalance=consistenthash"});
    executor_.RunReady();
    EXPECT_TRUE(handle_->Select({.hash_key = 7u}).ok());
    EXPECT_THAT(PolicyOf("find"), HasSubstr("160 points each"));
    EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr(bad), HasSubstr(kA))));
    EXPECT_EQ(lines_.count("FL-3-9"), 1u);
  }
}

TEST_F(BadInputTest, TheConsumersPolicyIsTheNextLevel) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=roundrobin");
  Open({"10.0.0.1?loadbalance=nope", "10.0.0.2"});
  EXPECT_THAT(PolicyOf(), HasSubstr("roundrobin"));
  EXPECT_THAT(Skipped(), IsEmpty()) << "the provider's word would not have counted";
}

TEST_F(BadInputTest, EachBadProviderHasLinesOfItsOwn) {
  protocol_->failing = {kA, kB};
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3?weight=a", "10.0.0.4?weight=b"});
  EXPECT_EQ(lines_.count("FL-3-1"), 2u);
  EXPECT_EQ(lines_.count("FL-3-9"), 2u);
  executor_.Advance(seconds(20));
  EXPECT_GT(log_.Count("FL-3-1"), 4u);
  EXPECT_EQ(lines_.count("FL-3-1"), 2u) << "repeats are held back";
}

TEST_F(BadInputTest, OfVeryManyBadProvidersTheFirstHundredAreNamed) {
  std::vector<std::string> list;
  for (int i = 0; i < 2000; ++i) {
    const std::string ip = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    protocol_->failing.insert(ip + ":20880");
    list.push_back(ip);
  }
  Open(list);
  EXPECT_EQ(lines_.count("FL-3-1"), Logger::kMostOfEach + 1);
  EXPECT_EQ(log_.Count("FL-3-1"), 2000u);
}

TEST_F(BadInputTest, ABrokenRuleLeavesItsLastGoodVersionInForce) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({Named("x", "=> host=10.0.0.1"), Named("y", "=> host=10.0.0.1,10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));

  Rules({Named("x", "host == x => host=10.0.0.2"), Named("y", "=> host=10.0.0.1,10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_EQ(lines_.count("FL-3-5"), 1u);
  EXPECT_EQ(lines_.count("FL-3-12"), 1u);
  EXPECT_THAT(Skipped(), Contains(AllOf(HasSubstr("stays in force"), HasSubstr("name=x"))));
  // Other rules follow the registry; the line is not said again.
  executor_.Advance(seconds(100));
  Rules({Named("x", "host == x => host=10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_EQ(log_.Count("FL-3-12"), 1u);

  Rules({Named("x", "=> host=10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(BadInputTest, AnEmptyListClearsWhatWasKept) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({Named("x", "=> host=10.0.0.1")});
  Rules({Named("x", "host == x => host=10.0.0.2")});  // in one update: nothing was ever in force
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  Rules({Named("x", "=> host=10.0.0.1")});
  executor_.RunReady();
  Rules({Named("x", "host == x => host=10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  Rules({});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  // Also when the broken one is back before the directory looks.
  Rules({Named("x", "=> host=10.0.0.1")});
  executor_.RunReady();
  Rules({});
  Rules({Named("x", "host == x => host=10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(BadInputTest, AnUnreadableChildKeepsTheRulesThatWentWithIt) {
  Open({"10.0.0.1", "10.0.0.2"});
  const Url first = RuleUrl("=> host=10.0.0.1"), other = RuleUrl("=> host=10.0.0.1,10.0.0.2");
  Rules({first, other});
  executor_.RunReady();
  Notify(Category::kRouters, ListKind::kList, {other}, {"route://0.0.0.0:port/x: no port"});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_THAT(Skipped(), Contains(AllOf(HasSubstr("stays in force"), HasSubstr("no port"))));
  EXPECT_EQ(lines_.count("FL-3-12"), 1u);
  Notify(Category::kRouters, ListKind::kList, {other});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(BadInputTest, ARuleThatWasNotEnabledStaysSo) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("=> host=10.0.0.1", "force=true&enabled=false&name=x"), Named("y", "=> host=10.0.0.1,10.0.0.2")});
  executor_.RunReady();
  Rules({Named("x", "host == x => host=10.0.0.2"), Named("y", "=> host=10.0.0.1,10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  ASSERT_THAT(handle_->Explain({}).routers, SizeIs(2));
  EXPECT_THAT(handle_->Explain({}).routers[0].what + handle_->Explain({}).routers[1].what, HasSubstr("is disabled"));
}

TEST_F(BadInputTest, ABrokenOverrideLeavesItsLastGoodVersionInForce) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({Override("timeout=5"), Override("retries=7")});
  executor_.RunReady();
  Overrides({Override("timeout=6&priority=high"), Override("retries=7")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "5");
  EXPECT_EQ(handle_->List({})[0].Param("retries"), "7");
  EXPECT_EQ(lines_.count("FL-3-4"), 1u);
  EXPECT_EQ(lines_.count("FL-3-12"), 1u);
  EXPECT_THAT(Skipped(), Contains(AllOf(HasSubstr("override stays in force"), HasSubstr("timeout=5"))));
  Overrides({Override("timeout=6&priority=high")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "5");
  EXPECT_EQ(handle_->List({})[0].Param("retries"), "") << "it went later";
  Overrides({Override("timeout=6&priority=9")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "6");
  // A child that is no url.
  Notify(Category::kConfigurators, ListKind::kList, {Parse(Override("retries=1"))}, {"override://h:x/y: no port"});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "6");
  EXPECT_EQ(handle_->List({})[0].Param("retries"), "1");
  Overrides({});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "");
}

TEST_F(BadInputTest, RulesThatStayInForceAreAsFewAsTheBrokenOnesListed) {
  Open({"10.0.0.1", "10.0.0.2"});
  const auto broken = [](int i) { return "route://broken:x" + std::to_string(i) + "/s.G: no port"; };
  for (int i = 0; i < 300; ++i) {
    Notify(Category::kRouters, ListKind::kList, {RuleUrl("=> host=10.0.0.1," + std::to_string(i))},
           {broken(i - 1), broken(i - 2), broken(i - 3)});
    executor_.RunReady();
    Notify(Category::kRouters, ListKind::kList, {}, {broken(i), broken(i - 1), broken(i - 2)});
    executor_.RunReady();
    ASSERT_LE(handle_->Explain({}).routers.size(), 3u);
  }
  EXPECT_THAT(handle_->Explain({}).routers, SizeIs(3));
}

TEST_F(BadInputTest, MoreThanMayStayInForceAreCountedInOneLine) {
  Open({"10.0.0.1", "10.0.0.2"});
  std::vector<std::string> list;
  for (std::size_t i = 0; i < internal::LastGood::kMostKept + 5; ++i) list.push_back(Override("p" + std::to_string(i) + "=1"));
  Overrides(list);
  executor_.RunReady();
  Notify(Category::kConfigurators, ListKind::kList, {}, {"override://h:x/y: no port"});
  executor_.RunReady();
  const Url now = handle_->List({})[0];
  EXPECT_EQ(now.Param("p0"), "1");
  EXPECT_EQ(now.Param("p999"), "1");
  EXPECT_EQ(now.Param("p1000"), "");
  EXPECT_THAT(lines_.lines(), Contains(Field(&LogRecorder::Line::text, HasSubstr("override: 5 that broken ones took"))));
}

TEST_F(BadInputTest, AFlagOfARuleThatCannotBeReadIsNamed) {
  struct Case {
    std::string key, value, expected, instead;
  };
  const std::vector<Case> cases = {{"force", "ture", "true or false", "false"},
                                   {"enabled", "x", "true or false", "false"},
                                   {"runtime", "x", "true or false", "false"},
                                   {"priority", "x", "a decimal integer of 32 bits", "0"},
                                   {"priority", "1.5", "a decimal integer of 32 bits", "0"},
                                   {"priority", "99999999999", "a decimal integer of 32 bits", "0"}};
  Open({"10.0.0.1", "10.0.0.2"});
  for (const Case& one : cases) {
    SCOPED_TRACE(one.key + "=" + one.value);
    lines_.clear();
    const std::uint64_t counted = log_.Count("FL-3-13");
    Rules({RuleUrl("=> host=10.0.0.1", one.key + "=" + one.value + "&password=secret")});
    executor_.RunReady();
    if (one.key == "enabled") {
      EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
    } else {
      EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA))) << "the rule applies";
    }
    EXPECT_EQ(log_.Count("FL-3-13"), counted + 1);
    EXPECT_EQ(lines_.count("FL-3-13"), 1u);
    EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("rule: route://0.0.0.0"), HasSubstr(": " + one.key + "=" + one.value + ": expected " +
                                             one.expected + "; " + one.instead + " holds instead"), Not(HasSubstr("secret")))));
    // Still shown, and not said again, when another rule comes.
    Rules({RuleUrl("=> host=10.0.0.1", one.key + "=" + one.value + "&password=secret"), RuleUrl("=> host != 9.9.9.9")});
    executor_.RunReady();
    EXPECT_THAT(Skipped(), SizeIs(1));
    EXPECT_EQ(log_.Count("FL-3-13"), counted + 2);
    EXPECT_EQ(lines_.count("FL-3-13"), 1u);
  }
  Rules({RuleUrl("=> host=10.0.0.1", "force=TRUE&enabled=true&priority=-3&runtime=")});
  executor_.RunReady();
  EXPECT_THAT(Skipped(), IsEmpty());
  Rules({RuleUrl("=> host=10.0.0.1", "force=ture&priority=x")});
  executor_.RunReady();
  EXPECT_THAT(Skipped(), SizeIs(2)) << "a line for each";
}

TEST_F(BadInputTest, AFlagOfAnOverrideThatCannotBeReadIsNamed) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({Override("timeout=5&enabled=abc"), Override("retries=7&disabled=xx")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "") << "abc is false";
  EXPECT_EQ(handle_->List({}).size(), 2u) << "xx is false";
  EXPECT_EQ(handle_->List({})[0].Param("retries"), "7");
  EXPECT_EQ(lines_.count("FL-3-13"), 2u);
  EXPECT_EQ(log_.Count("FL-3-13"), 2u);
  EXPECT_THAT(Skipped(), Contains(HasSubstr("(enabled=abc), expected true or false; false holds instead: override://0.0.0.0")));
  EXPECT_THAT(lines_.lines(), Contains(Field(&LogRecorder::Line::text,
                                             AllOf(HasSubstr("override: override://0.0.0.0/com.acme.Orders"),
                                                   HasSubstr(": enabled=abc: expected true or false; false holds instead")))));
  EXPECT_THAT(Skipped(), Contains(HasSubstr(": disabled=xx: expected true or false; false holds instead")));
  // An unreadable priority makes it a broken one, which is said already.
  Overrides({Override("timeout=5&priority=q")});
  executor_.RunReady();
  EXPECT_EQ(lines_.count("FL-3-4"), 1u);
  EXPECT_EQ(log_.Count("FL-3-13"), 2u);
}

// A value that cannot be used has no effect, in an override whose last version had one too: that is no broken override.
TEST_F(BadInputTest, ABadValueInAnOverrideBringsBackNoEarlierVersionsValue) {
  Open({"10.0.0.1?weight=50", "10.0.0.2"});
  Overrides({Override("weight=7&timeout=5")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("weight"), "7");
  Overrides({Override("weight=zz&timeout=6")});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("weight"), "50");
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "6");
  EXPECT_EQ(log_.Count("FL-3-12"), 0u);
}

// A registry must not take a consumer's memory: 8 000 000 points a provider would be a gigabyte here.
TEST_F(BadInputTest, AProvidersOwnHashNodesAreBounded) {
  std::vector<std::string> list;
  for (int i = 1; i <= 10; ++i) list.push_back("10.0.0." + std::to_string(i) + "?loadbalance=consistenthash&hash.nodes=8000000");
  Open(list);
  EXPECT_THAT(PolicyOf(), HasSubstr("10 providers with 65536 points each, not the 8000000 asked for"));
  EXPECT_TRUE(handle_->Select({}).ok());
}

}  // namespace
}  // namespace fairlead
