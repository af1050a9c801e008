#include "fairlead/routing/condition/condition_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/base/random.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConditionRouterTest : public ::testing::Test {
 protected:
  Url Parse(const std::string& text) { return *Url::Parse(text, pool_); }
  void Provide(const std::vector<std::string>& texts) {
    providers_.clear();
    by_rank_.clear();
    all_ = InvokerSet();
    for (const std::string& text : texts) Put(static_cast<Slot>(providers_.size()), text);
  }
  void Put(Slot slot, const std::string& text) {
    if (slot >= providers_.size()) providers_.resize(slot + 1);
    if (providers_[slot] == nullptr) by_rank_.push_back(slot);
    auto provider = std::make_shared<Provider>();
    provider->slot = slot;
    provider->original = provider->effective = Parse(text);
    providers_[slot] = std::move(provider);
    all_.Add(slot);
  }
  std::shared_ptr<const Router> Make(const std::string& rule, const std::string& params = "force=true") {
    auto router = MakeConditionRouterFactory()->Create(Parse("route://0.0.0.0/s.A?category=routers&" + params + "&rule=" + PercentEncode(rule)));
    EXPECT_TRUE(router.ok()) << router.status();
    return *router;
  }
  std::shared_ptr<const RouteTable> Compile(const Router& router, const InvokerSet* changed = nullptr, const RouteTable* previous = nullptr) {
    return router.Compile({providers_, by_rank_, changed == nullptr ? &all_ : changed, consumer_, consumer_}, previous);
  }
  std::vector<Slot> Route(const RouteTable& table, std::string_view method = "find", const Invocation& invocation = {}) {
    Outcomes outcomes;
    table.Route(table.Classify({method, invocation}), all_, outcomes);
    std::vector<Slot> slots;
    for (const auto& split : outcomes.splits()) split.set.ForEach([&](Slot slot) { slots.push_back(slot); });
    return slots;
  }
  std::vector<Slot> Route(const std::string& rule, std::string_view method = "find", const Invocation& invocation = {}) {
    return Route(*Compile(*Make(rule)), method, invocation);
  }

  UrlPool pool_;
  Url consumer_ = Parse("consumer://10.0.0.9/s.A?application=shop&region=hz");
  std::vector<std::shared_ptr<const Provider>> providers_;
  std::vector<Slot> by_rank_;
  InvokerSet all_;
};

TEST_F(ConditionRouterTest, ReadsWhatItSaysAndNoMore) {
  EXPECT_EQ(Make("region=hz => host=x")->reads(), Reads::kConsumer);
  EXPECT_EQ(Make("method=find => host=x")->reads(), Reads::kMethod);
  EXPECT_EQ(Make("arguments[0]=x => host=x")->reads(), Reads::kArguments);
  EXPECT_EQ(Make("attachments[a]=x & methods=y => host=x")->reads(), Reads::kAttachments | Reads::kMethod);
  EXPECT_EQ(Make("=> method=x & arguments[0]=y")->reads(), Reads::kConsumer) << "the then side sees no call";
}

TEST_F(ConditionRouterTest, ForceDecidesWhatAnEmptyResultMeansAndABlacklistDoesNotAsk) {
  Provide({"dubbo://10.0.0.1:1/s.A", "dubbo://10.0.0.2:1/s.A"});
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.0.0.2", "force=false"))), ElementsAre(1));
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.9.9.9", "force=false"))), ElementsAre(0, 1));
  EXPECT_THAT(Route(*Compile(*Make("=> host=10.9.9.9", "force=true"))), IsEmpty());
  EXPECT_THAT(Route(*Compile(*Make("region=hz =>", "force=false"))), IsEmpty());
  EXPECT_THAT(Route(*Compile(*Make("region=sh => host=10.0.0.2"))), ElementsAre(0, 1)) << "not this consumer";
  EXPECT_THAT(Route(*Compile(*Make("a==b", "enabled=false"))), ElementsAre(0, 1)) << "a disabled rule is not even parsed";
}

TEST_F(ConditionRouterTest, TheMethodIsTheInvokedOneUnderBothKeys) {
  Provide({"dubbo://10.0.0.1:1/s.A?methods=find,save", "dubbo://10.0.0.2:1/s.A"});
  EXPECT_THAT(Route("method=find* => host=10.0.0.1", "findAll"), ElementsAre(0));
  EXPECT_THAT(Route("methods=find* => host=10.0.0.1", "findAll"), ElementsAre(0));
  EXPECT_THAT(Route("method=find* => host=10.0.0.1", "save"), ElementsAre(0, 1));
  EXPECT_THAT(Route("=> methods=find,save"), IsEmpty()) << "a list on the then side is one text";
  EXPECT_THAT(Route("=> methods=find*"), ElementsAre(0));
}

TEST_F(ConditionRouterTest, ArgumentsBelowAtAndAboveTheCount) {
  Provide({"dubbo://10.0.0.1:1/s.A", "dubbo://10.0.0.2:1/s.A"});
  const Argument one[] = {{"a"}}, null[] = {{"", true}}, withheld[] = {{"", false, false}};
  EXPECT_THAT(Route("arguments[0]=a => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0));
  EXPECT_THAT(Route("arguments[0]!=a => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0, 1));
  EXPECT_THAT(Route("arguments[1]=a => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0, 1));
  EXPECT_THAT(Route("arguments[1]!=a => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0)) << "unreadable, not absent";
  EXPECT_THAT(Route("arguments[9]=* => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0));
  EXPECT_THAT(Route("arguments[x]!=a => host=10.0.0.1", "f", {.arguments = one}), ElementsAre(0));
  EXPECT_THAT(Route("arguments[0]=null => host=10.0.0.1", "f", {.arguments = null}), ElementsAre(0));
  EXPECT_THAT(Route("arguments[0]!=a => host=10.0.0.1", "f", {.arguments = withheld}), ElementsAre(0));
}

TEST_F(ConditionRouterTest, AttachmentsPresentAbsentAndDotted) {
  Provide({"dubbo://10.0.0.1:1/s.A", "dubbo://10.0.0.2:1/s.A"});
  const Attachment user[] = {{"user", "vip"}, {"dubbo.tag", "gray"}};
  EXPECT_THAT(Route("attachments[user]=vip => host=10.0.0.1", "f", {.attachments = user}), ElementsAre(0));
  EXPECT_THAT(Route("attachments[user]=vip => host=10.0.0.1"), ElementsAre(0, 1));
  EXPECT_THAT(Route("attachments[user]!=vip => host=10.0.0.1"), ElementsAre(0, 1)) << "absent is false also for !=";
  EXPECT_THAT(Route("attachments[dubbo.tag]=gray => host=10.0.0.1", "f", {.attachments = user}), ElementsAre(0, 1));
  EXPECT_THAT(Route("attachments[dubbo.tag]!=x => host=10.0.0.1", "f", {.attachments = user}), ElementsAre(0));
}

TEST_F(ConditionRouterTest, SpecialKeysAndReferences) {
  Provide({"dubbo://10.0.0.1:20880/s.A?region=hz", "tri://10.0.0.2:50051/s.B?region=sh", "dubbo://10.0.0.3:20880/s.A"});
  EXPECT_THAT(Route("=> protocol=tri"), ElementsAre(1));
  EXPECT_THAT(Route("=> port=20880"), ElementsAre(0, 2));
  EXPECT_THAT(Route("=> address=10.0.0.2:50051"), ElementsAre(1));
  EXPECT_THAT(Route("=> path=s.B"), ElementsAre(1));
  EXPECT_THAT(Route("=> region=$region"), ElementsAre(0));
  EXPECT_THAT(Route("=> region!=$nosuch"), ElementsAre(0, 1)) << "no region: false whatever the operator";
}

TEST_F(ConditionRouterTest, DescribesTheRule) {
  Provide({"dubbo://10.0.0.1:1/s.A"});
  const auto table = Compile(*Make("method=find => host=10.0.0.1"));
  EXPECT_THAT(table->Describe(1), HasSubstr("method=find => host=10.0.0.1"));
  EXPECT_THAT(table->Describe(0), HasSubstr("does not apply"));
}

// Compiling from the table before gives the same as compiling anew, whatever changed in between.
TEST_F(ConditionRouterTest, IncrementalIsFull) {
  const auto router = Make("=> region=hz & level!=3");
  Random random(17);
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz"});
  std::shared_ptr<const RouteTable> before = Compile(*router);
  for (int round = 0; round < 300; ++round) {
    InvokerSet changed;
    for (std::uint64_t edits = random.Below(4); edits > 0; --edits) {
      const auto slot = static_cast<Slot>(random.Below(70));
      changed.Add(slot);
      if (random.Below(3) == 0 && slot < providers_.size()) {
        providers_[slot] = nullptr;
        std::erase(by_rank_, slot);
        all_.Remove(slot);
      } else {
        Put(slot, "dubbo://10.0.1." + std::to_string(slot) + ":1/s.A?region=" + (random.Below(2) == 0 ? "hz" : "sh") + "&level=" +
                      std::to_string(random.Below(5)));
      }
    }
    const auto stepped = Compile(*router, &changed, before.get());
    const auto full = Compile(*router);
    ASSERT_EQ(Route(*stepped), Route(*full)) << "round " << round;
    before = stepped;
  }
}

}  // namespace
}  // namespace fairlead
