#include "fairlead/routing/condition/condition_router.h"

#include <gmock/gmock.h>

#include "fairlead/base/random.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/tests/routing/routing_fixture.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Argument kA[] = {{"a"}}, kNull[] = {{"", true}}, kWithheld[] = {{"", false, false}};

class ConditionRouterTest : public RoutingFixture {
 protected:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const std::string& params,
                                                       Compat compat = Compat::kStrict) {
    return MakeConditionRouterFactory()->Create(Parse("route://0.0.0.0/s.A?category=routers&" + params),
                                                compat);
  }
  std::shared_ptr<const Router> Make(const std::string& rule, const std::string& params = "force=true",
                                     Compat compat = Compat::kStrict) {
    auto router = Create(params + "&rule=" + PercentEncode(rule), compat);
    EXPECT_TRUE(router.ok()) << router.status();
    return *router;
  }
  // A forced rule's result for one call.
  std::vector<Slot> Run(const std::string& rule, std::string_view method = "find",
                        const Invocation& call = {}, Compat compat = Compat::kStrict) {
    return Route(*Compile(*Make(rule, "force=true", compat)), method, call);
  }
  // Does the *when* side hold?
  bool Applies(const std::string& when, const Invocation& call = {}, std::string_view method = "find",
               Compat compat = Compat::kStrict) {
    return Run(when + " => false", method, call, compat).empty();
  }
  void TwoProviders() { Provide({"dubbo://10.0.0.1:1/s.A", "dubbo://10.0.0.2:1/s.A"}); }
};

TEST_F(ConditionRouterTest, ReadsWhatTheRuleReadsAndNoMore) {
  EXPECT_EQ(Make("region=hz => host=x")->reads(), Reads::kConsumer);
  EXPECT_EQ(Make("=> host=x")->reads(), Reads::kConsumer);
  EXPECT_EQ(Make("method=find => host=x")->reads(), Reads::kMethod);
  EXPECT_EQ(Make("methods!=find => host=x")->reads(), Reads::kMethod);
  EXPECT_EQ(Make("arguments[0]=x => host=x")->reads(), Reads::kArguments);
  EXPECT_EQ(Make("attachments[a]=x & methods=y => host=x")->reads(), Reads::kAttachments | Reads::kMethod);
  EXPECT_EQ(Make("=> method=x & arguments[0]=y")->reads(), Reads::kConsumer) << "the then side sees no call";
  EXPECT_EQ(Make("arguments[x]!=1 & attachments!=1 => host=x")->reads(), Reads::kConsumer) << "unreadable";
  EXPECT_EQ(Make("arguments[0]=x & host => host=x")->reads(), Reads::kConsumer)
      << "a key without values: never";
  EXPECT_EQ(Make("arguments[0]=x => host=x", "enabled=false")->reads(), Reads::kConsumer);
}

TEST_F(ConditionRouterTest, ForceDecidesWhatAnEmptyResultMeansAndABlacklistDoesNotAsk) {
  TwoProviders();
  const auto run = [this](const char* rule, const char* params) {
    return Route(*Compile(*Make(rule, params)));
  };
  EXPECT_THAT(run("=> host=10.0.0.2", "force=false"), ElementsAre(1));
  EXPECT_THAT(run("=> host=10.0.0.2", "force=true"), ElementsAre(1));
  EXPECT_THAT(run("=> host=10.9.9.9", "force=false"), ElementsAre(0, 1));
  EXPECT_THAT(run("=> host=10.9.9.9", "force=true"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("none of 2 providers"));
  EXPECT_THAT(run("=> &", "force=false"), ElementsAre(0, 1));
  EXPECT_THAT(run("=> &", "force=true"), IsEmpty());
  EXPECT_THAT(run("region=hz =>", "force=false"), IsEmpty());
  EXPECT_THAT(run("region=hz => false", "force=false"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("allows no provider"));
  EXPECT_THAT(run("region=sh => host=10.0.0.2", "force=true"), ElementsAre(0, 1));
  EXPECT_THAT(run("region=sh =>", "force=true"), ElementsAre(0, 1));
}

TEST_F(ConditionRouterTest, AnEmptyInputStaysEmptyWithoutBeingBlocked) {
  TwoProviders();
  for (const char* rule : {"=> host=10.0.0.1", "=> false"}) {
    const auto table = Compile(*Make(rule));
    const InvokerSet nobody;
    Outcomes outcomes(nobody);
    table->Route(table->Classify({"find", {}}), nobody, outcomes);
    ASSERT_EQ(outcomes.splits().size(), 1u);
    EXPECT_TRUE(outcomes.splits()[0].set.empty());
  }
}

// What an unforced rule falls back to is what it was given, not the whole list.
TEST_F(ConditionRouterTest, FallsBackToItsInput) {
  Provide({"dubbo://10.0.0.1:1/s.A", "dubbo://10.0.0.2:1/s.A", "dubbo://10.0.0.3:1/s.A"});
  InvokerSet in;
  in.Add(0);
  in.Add(2);
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.0.0.2", "force=false")), in, "find"), ElementsAre(0, 2));
  EXPECT_THAT(Route(*Compile(*Make("=> host!=10.0.0.1", "force=false")), in, "find"), ElementsAre(2));
}

// Field report 70: the defaults, and `runtime` never changes a decision.
TEST_F(ConditionRouterTest, DefaultsOfTheUrlForm) {
  TwoProviders();
  EXPECT_FALSE(ConditionOptions().force);
  EXPECT_TRUE(ConditionOptions().enabled);
  const auto plain = Make("method=find => host=10.9.9.9", "a=b");
  EXPECT_THAT(Route(*Compile(*plain)), ElementsAre(0, 1)) << "not forced";
  EXPECT_EQ(plain->order(), router_order::UrlRule(0));
  EXPECT_EQ(plain->name(), "condition");
  for (const char* runtime : {"runtime=true", "runtime=false", "runtime=x", "force=false"}) {
    const auto router = Make("method=find => host=10.0.0.2", runtime);
    EXPECT_EQ(router->reads(), Reads::kMethod);
    EXPECT_THAT(Route(*Compile(*router), "find"), ElementsAre(1)) << runtime;
    EXPECT_THAT(Route(*Compile(*router), "save"), ElementsAre(0, 1)) << runtime;
  }
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.9.9.9", "force=TRUE"))), IsEmpty());
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.9.9.9", "force=yes"))), ElementsAre(0, 1));
}

TEST_F(ConditionRouterTest, ADisabledRuleIsNotEvenParsed) {
  TwoProviders();
  const auto router = Make("a==b", "enabled=false");
  EXPECT_THAT(Route(*Compile(*router)), ElementsAre(0, 1));
  EXPECT_THAT(Compile(*router)->Describe(0), HasSubstr("is disabled"));
  EXPECT_TRUE(Create("enabled=false").ok());
}

TEST_F(ConditionRouterTest, RejectedRules) {
  EXPECT_EQ(Create("force=true").status().code(), absl::StatusCode::kInvalidArgument) << "no rule";
  EXPECT_EQ(Create("rule=").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Create("rule=a%3D%3Db").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Create("rule=%zz").status().code(), absl::StatusCode::kInvalidArgument) << "no percent-encoding";
}

// Field report 68: the smaller number decides first; rule urls come after every rule document.
TEST_F(ConditionRouterTest, AscendingPriority) {
  const int first = Make("=> port=1", "priority=0")->order(),
            second = Make("=> port=2", "priority=4")->order();
  EXPECT_LT(first, second);
  EXPECT_LT(Make("=> port=1", "priority=-3")->order(), first);
  EXPECT_GT(Make("=> port=1", "priority=-2147483648")->order(), router_order::kScript);
  EXPECT_GT(Make("=> port=1", "priority=2147483647")->order(), second);
  EXPECT_EQ(Make("=> port=1", "priority=soon")->order(), first);
}

// Field report 65: both keys mean the invoked method, however many methods the interface has.
TEST_F(ConditionRouterTest, TheMethodIsTheInvokedOneUnderBothKeys) {
  Provide({"dubbo://10.0.0.1:1/s.A?methods=find,save", "dubbo://10.0.0.2:1/s.A"});
  consumer_ = Parse("consumer://10.0.0.9/s.A?methods=setFoo,getFoo,findFoo&method=other");
  for (const char* rule : {"method=getFoo => host=10.0.0.1", "methods=getFoo => host=10.0.0.1"}) {
    EXPECT_THAT(Run(rule, "getFoo"), ElementsAre(0)) << rule;
    EXPECT_THAT(Run(rule, "setFoo"), ElementsAre(0, 1)) << rule;
  }
  EXPECT_THAT(Run("method=find*,get* => host=10.0.0.1", "findAll"), ElementsAre(0));
  EXPECT_THAT(Run("method!=get* => host=10.0.0.1", "getFoo"), ElementsAre(0, 1));
  EXPECT_THAT(Run("=> methods=find,save"), IsEmpty())
      << "a list on the then side is one text, split by the comma";
  EXPECT_THAT(Run("=> methods=find*"), ElementsAre(0));
  EXPECT_THAT(Run("=> method=find"), IsEmpty()) << "a provider parameter, absent";
  EXPECT_THAT(Run("method!=x => host=10.0.0.1", ""), ElementsAre(0, 1)) << "a call that names no method";
}

// Field report 67: a generic call is described by its real method.
TEST_F(ConditionRouterTest, GenericCallsAreRoutedByTheirRealMethod) {
  Provide({"dubbo://10.0.0.1:20882/s.A", "dubbo://10.0.0.1:21882/s.A"});
  EXPECT_THAT(Run("method=listUser => address=*:20882", "listUser"), ElementsAre(0));
}

TEST_F(ConditionRouterTest, ArgumentsBelowAtAndAboveTheCount) {
  TwoProviders();
  struct Row {
    const char* when;
    bool below, at, above, null, withheld;  // the index against the count; the last two at index 0
  };
  for (const Row& row :
       {Row{"=a", true, false, false, false, false}, Row{"!=a", false, true, true, true, true},
        Row{"=*", true, true, true, true, true}, Row{"!=*", false, false, false, false, false},
        Row{"=null", false, false, false, true, false}, Row{"=1~9", false, false, false, false, false},
        Row{"=~9", true, true, true, true, true}, Row{"=dubbo_internal*", false, true, true, false, true}}) {
    const std::string values = row.when;
    EXPECT_EQ(Applies("arguments[0]" + values, {.arguments = kA}), row.below) << values;
    EXPECT_EQ(Applies("arguments[1]" + values, {.arguments = kA}), row.at) << values;
    EXPECT_EQ(Applies("arguments[9]" + values, {.arguments = kA}), row.above) << values;
    EXPECT_EQ(Applies("arguments[0]" + values), row.above) << values << ", no arguments";
    EXPECT_EQ(Applies("arguments[0]" + values, {.arguments = kNull}), row.null) << values;
    EXPECT_EQ(Applies("arguments[0]" + values, {.arguments = kWithheld}), row.withheld) << values;
  }
}

TEST_F(ConditionRouterTest, ArgumentKeysOfOddForm) {
  TwoProviders();
  for (const char* key : {"arguments[0].inner", "arguments[00]", "arguments[0]x", "argumentsarguments[0]",
                          "arguments[x]arguments[0]", "arguments[[]arguments[0]"}) {
    EXPECT_TRUE(Applies(std::string(key) + "=a", {.arguments = kA})) << key;
  }
  for (const char* key : {"arguments", "arguments[]", "arguments[x]", "arguments[0", "arguments[-1]",
                          "arguments.[0]", "arguments[0 ]", "arguments[99999999999]", "arguments[+0]"}) {
    EXPECT_FALSE(Applies(std::string(key) + "=a", {.arguments = kA})) << key;
    if (std::string_view(key) != "arguments[0 ]") {  // two keys, the second without values
      EXPECT_TRUE(Applies(std::string(key) + "!=a", {.arguments = kA})) << key;
    }
  }
}

TEST_F(ConditionRouterTest, AttachmentsPresentAbsentAndDotted) {
  TwoProviders();
  const Attachment given[] = {
      {"user", "vip"}, {"dubbo.tag", "gray"}, {"foo[", "x"}, {"id", "42"}, {"empty", ""}};
  const Invocation call{.attachments = given};
  EXPECT_TRUE(Applies("attachments[user]=vip", call));
  EXPECT_TRUE(Applies("attachments[user]=v*", call));
  EXPECT_FALSE(Applies("attachments[user]!=vip", call));
  EXPECT_TRUE(Applies("attachments[id]=1~100", call));
  EXPECT_TRUE(Applies("attachments[foo[]=x", call));
  EXPECT_TRUE(Applies("attachments[user]$=vip", call));
  EXPECT_TRUE(Applies("attachments[empty]=*", call));
  EXPECT_FALSE(Applies("attachments[empty]=e*", call));
  EXPECT_FALSE(Applies("attachments[none]=*", call)) << "absent is false, also for * and !=";
  EXPECT_FALSE(Applies("attachments[none]!=vip", call));
  EXPECT_FALSE(Applies("attachments[user]=vip & attachments[id]=7", call));
  for (const char* key : {"attachments", "attachments[]", "attachments[user", "attachments[dubbo.tag]"}) {
    EXPECT_FALSE(Applies(std::string(key) + "=gray", call)) << key;
    EXPECT_TRUE(Applies(std::string(key) + "!=gray", call)) << key << " reads a text that is no one's";
  }
  EXPECT_TRUE(Applies("attachments[dubbo.tag]=gray", call, "find", Compat::kFixed));
  EXPECT_FALSE(Applies("attachments[dubbo.tag]!=gray", call, "find", Compat::kFixed));
}

TEST_F(ConditionRouterTest, TheLastOfEqualAttachmentsCounts) {
  TwoProviders();
  const Attachment twice[] = {{"k", "1"}, {"k", "2"}};
  EXPECT_TRUE(Applies("attachments[k]=2", {.attachments = twice}));
  EXPECT_FALSE(Applies("attachments[k]=1", {.attachments = twice}));
}

TEST_F(ConditionRouterTest, ConsumerKeys) {
  TwoProviders();
  consumer_ = Parse(
      "consumer://joe:secret@10.0.0.9:33/s.A?application=shop&region=hz&host=param&empty=&default.timeout=5");
  for (const char* when :
       {"protocol=consumer", "username=joe", "password=secret", "host=10.0.0.9", "port=33", "path=s.A",
        "address=10.0.0.9:33", "application=shop", "region=h*", "region=sh,hz", "region!=sh",
        "region=hz & application=shop", "consumer.region=hz", "port=30~40"}) {
    EXPECT_TRUE(Applies(when)) << when;
  }
  for (const char* when : {"host=param", "nosuch=*", "nosuch!=x", "region=$region",
                           "region=hz & application=x", "region", "true=true"}) {
    EXPECT_FALSE(Applies(when)) << when;
  }
  consumer_ = Parse("consumer://10.0.0.9/s.A?port=param");
  EXPECT_TRUE(Applies("port=param")) << "an absent part hides no parameter";
  EXPECT_TRUE(Applies("address=10.0.0.9"));
}

TEST_F(ConditionRouterTest, ProviderKeysReadTheOriginalUrl) {
  Provide({"dubbo://10.0.0.1:20880/s.A?region=hz&application=p", "tri://u:w@10.0.0.2:50051/s.B?region=sh",
           "dubbo://10.0.0.3:20880/s.A"});
  EXPECT_THAT(Run("=> protocol=tri"), ElementsAre(1));
  EXPECT_THAT(Run("=> username=u & password=w"), ElementsAre(1));
  EXPECT_THAT(Run("=> port=20880"), ElementsAre(0, 2));
  EXPECT_THAT(Run("=> address=*:50051"), ElementsAre(1));
  EXPECT_THAT(Run("=> path=s.B"), ElementsAre(1));
  EXPECT_THAT(Run("=> application=p"), ElementsAre(0)) << "the provider's own, not the consumer's";
  EXPECT_THAT(Run("=> region!=sh"), ElementsAre(0)) << "no region: false whatever the operator";
  EXPECT_THAT(Run("=> region=effective"), IsEmpty());
  EXPECT_THAT(Run("=> host=10.0.0.* & host!=10.0.0.2"), ElementsAre(0, 2));
  EXPECT_THAT(Run("=> port=~30000"), ElementsAre(0, 2));
  EXPECT_THAT(Run("=> port=x~"), ElementsAre(0, 1, 2)) << "no range: true on this side";
  EXPECT_THAT(Run("=> region=x~"), ElementsAre(0, 1)) << "but the key must be there";
}

TEST_F(ConditionRouterTest, CallKeysOnTheThenSideReadATextThatIsNoOnes) {
  TwoProviders();
  const Attachment foo[] = {{"foo", "a"}};
  const Invocation call{.arguments = kA, .attachments = foo};
  EXPECT_THAT(Run("=> arguments[0]=a", "f", call), IsEmpty());
  EXPECT_THAT(Run("=> arguments[0]!=a", "f", call), ElementsAre(0, 1));
  EXPECT_THAT(Run("=> attachments[foo]=a", "f", call), IsEmpty());
  EXPECT_THAT(Run("=> attachments[foo]=* & host=10.0.0.2", "f", call), ElementsAre(1));
}

// Field report 74, as a condition: the tag of a provider never becomes the consumer's.
TEST_F(ConditionRouterTest, ReferencesReadTheConsumer) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz", "dubbo://10.0.0.2:1/s.A?region=sh&dubbo.tag=grey",
           "dubbo://10.0.0.9:1/s.A"});
  EXPECT_THAT(Run("=> region=$region"), ElementsAre(0));
  EXPECT_THAT(Run("=> region!=$region"), ElementsAre(1));
  EXPECT_THAT(Run("=> region=$nosuch"), IsEmpty());
  EXPECT_THAT(Run("=> region!=$nosuch"), ElementsAre(0, 1));
  EXPECT_THAT(Run("=> dubbo.tag=$dubbo.tag"), IsEmpty());
  EXPECT_THAT(Run("=> host=$host"), ElementsAre(2));
  EXPECT_THAT(Run("=> path=$path & protocol!=$protocol"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Run("=> host=$address"), IsEmpty()) << "no such reference";
  consumer_ = Parse("consumer://10.0.0.9/s.A?region=s*");
  EXPECT_THAT(Run("=> region=$region"), ElementsAre(1)) << "what it refers to may be a glob";
  EXPECT_EQ(ResolveReference(consumer_.parts(), "port"), "0");
  EXPECT_EQ(ResolveReference(consumer_.parts(), ""), "");
}

TEST_F(ConditionRouterTest, AReferenceToNothingEqualsAnEmptyValueOnly) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=x", "dubbo://10.0.0.2:1/s.A"});
  UrlParts empty = providers_[1].original.parts();
  empty.params.insert_or_assign("region", "");
  Provider provider = providers_[1];
  provider.original = Url::Of(std::move(empty), pool_);
  providers_.Set(1, provider);
  EXPECT_THAT(Run("=> region=$nosuch"), ElementsAre(1));
}

TEST_F(ConditionRouterTest, DescribesTheRule) {
  TwoProviders();
  const auto table = Compile(*Make("method=find => host=10.0.0.1"));
  EXPECT_THAT(table->Describe(1), HasSubstr("\"method=find => host=10.0.0.1\" applies, force=true"));
  EXPECT_THAT(table->Describe(0), HasSubstr("does not apply to this call"));
  EXPECT_THAT(Compile(*Make("region=sh => host=1"))->Describe(0),
              HasSubstr("does not apply to this consumer"));
}

// A rule about another consumer costs its calls nothing.
TEST_F(ConditionRouterTest, ARuleForOtherConsumersHasOneCase) {
  TwoProviders();
  EXPECT_EQ(Compile(*Make("region=sh & arguments[0]=a => host=1"))->cases(), 1u);
  EXPECT_EQ(Compile(*Make("region=hz & arguments[0]=a => host=1"))->cases(), 2u);
}

// Only what changed is asked again: a provider that changed without being named keeps its old answer.
TEST_F(ConditionRouterTest, AsksOnlyChangedProvidersAgain) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz", "dubbo://10.0.0.2:1/s.A?region=hz"});
  const auto router = Make("=> region=hz");
  const auto before = Compile(*router);
  Put(0, "dubbo://10.0.0.1:1/s.A?region=sh");
  Put(1, "dubbo://10.0.0.2:1/s.A?region=sh");
  InvokerSet changed;
  changed.Add(0);
  EXPECT_THAT(Route(*Compile(*router, &changed, before.get())), ElementsAre(1));
}

// Property 13: compiling by steps gives what compiling anew gives, whatever happened in between: providers
// that come, go, change and take over slots, and a consumer whose parameters are overridden.
TEST_F(ConditionRouterTest, IncrementalIsFull) {
  for (const char* rule : {"=> region=hz & level!=3", "=> region=$region", "region=hz => level=$level, 1~2",
                           "=> level=$timestamp", "=> false", "=> host=10.0.1.1* & address!=*2:1"}) {
    const auto router = Make(rule);
    Random random(17);
    Provide({"dubbo://10.0.0.1:1/s.A?region=hz"});
    std::shared_ptr<const RouteTable> before = Compile(*router);
    for (int round = 0; round < 300; ++round) {
      InvokerSet changed;
      for (std::uint64_t edits = random.Below(4); edits > 0; --edits) {
        const auto slot = static_cast<Slot>(random.Below(70));
        changed.Add(slot);
        if (random.Below(3) == 0) {
          Take(slot);
        } else {
          Put(slot, "dubbo://10.0.1." + std::to_string(slot) + ":1/s.A?region=" +
                        (random.Below(2) == 0 ? "hz" : "sh") + "&level=" + std::to_string(random.Below(5)));
        }
      }
      if (random.Below(5) == 0) {
        // Urls that differ in the timestamp only are equal, but not to a rule that reads it.
        consumer_ = Parse(
            "consumer://10.0.0.9/s.A?region=" + std::string(random.Below(2) == 0 ? "hz" : "sh") +
            "&level=" + std::to_string(random.Below(3)) + "&timestamp=" + std::to_string(random.Below(4)));
      }
      const auto stepped = Compile(*router, &changed, before.get());
      const auto full = Compile(*router);
      ASSERT_EQ(Route(*stepped), Route(*full)) << rule << ", round " << round;
      before = stepped;
    }
  }
}

// A table may outlive its router.
TEST_F(ConditionRouterTest, TablesOutliveTheirRouter) {
  TwoProviders();
  auto router = Make("method=find => host=10.0.0.2");
  const auto table = Compile(*router);
  router.reset();
  EXPECT_THAT(Route(*table), ElementsAre(1));
  EXPECT_THAT(table->Describe(1), HasSubstr("host=10.0.0.2"));
}

TEST_F(ConditionRouterTest, ThousandsOfConditionsAndValues) {
  TwoProviders();
  std::string hosts = "10.0.0.2", keys;
  for (int i = 0; i < 20000; ++i) hosts += ",10.1." + std::to_string(i) + ".1";
  for (int i = 0; i < 5000; ++i) keys += "attachments[k" + std::to_string(i) + "]=v & ";
  const auto table = Compile(*Make("method=find," + hosts + " => host=" + hosts));
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(table->Classify({"find", {}}), 1u);
  EXPECT_THAT(Route(*table), ElementsAre(1));
  EXPECT_THAT(Run(keys + "=> host=10.0.0.2"), ElementsAre(0, 1));
}

}  // namespace
}  // namespace fairlead
