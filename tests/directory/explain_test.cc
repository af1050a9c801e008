#include <gmock/gmock.h>

#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880", kD[] = "10.0.0.4:20880";
constexpr auto kAll = PickTrace::Detail::kAll;

// A rule that leads to one provider in one of ten calls and to the others in the rest.
class SplittingRouter final : public Router {
 public:
  std::string_view name() const override { return "split"; }
  int order() const override { return 1; }
  Reads reads() const override { return Reads::kMethod; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput&, const RouteTable*) const override {
    class Table final : public RouteTable {
     public:
      std::uint32_t cases() const override { return 2; }
      RouteCase Classify(const RouteCall&) const override { return 1; }
      void Route(RouteCase, const InvokerSet& in, Outcomes& out) const override {
        InvokerSet one, rest = in;
        one.Add(in.Nth(0));
        rest.Remove(in.Nth(0));
        out.Add(1, one);
        out.Add(9, rest);
      }
      std::string Describe(RouteCase) const override { return "one in ten"; }
    };
    return std::make_shared<const Table>();
  }
};

class SplittingFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return std::make_shared<const SplittingRouter>();
  }
};

class ExplainTest : public DirectoryFixture {};

TEST_F(ExplainTest, AllSaysWhoWasRemovedByWhom) {
  Open({"10.0.0.1?region=hz&zone=1", "10.0.0.2?region=hz&zone=2&weight=30", "10.0.0.3?region=sh", "10.0.0.4?region=hz"});
  Rules({RuleUrl("=> region=hz", "force=true&priority=1"), RuleUrl("=> zone=1,2", "force=false&priority=2")});
  executor_.RunReady();
  protocol_->unavailable = {kD};
  protocol_->reports.at(kD).Down();
  executor_.Advance(milliseconds(11));
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());

  const PickTrace trace = handle_->Explain({}, kAll);
  ASSERT_EQ(trace.routers.size(), 2u);
  EXPECT_THAT(trace.routers[0].what, HasSubstr("\"=> region=hz\" applies, force=true"));
  EXPECT_THAT(trace.routers[1].what, HasSubstr("applies, force=false"));
  EXPECT_THAT(trace.routers[0].removed, ElementsAre(kC));
  EXPECT_THAT(trace.routers[1].removed, IsEmpty());
  ASSERT_EQ(trace.all.size(), 4u);
  EXPECT_EQ(trace.all[0].removed_by, "");
  EXPECT_EQ(trace.all[1].weight, 30);
  EXPECT_EQ(trace.all[0].active + trace.all[1].active, 1u);
  EXPECT_EQ(trace.all[2].removed_by, "condition");
  EXPECT_TRUE(trace.all[3].down);
  EXPECT_EQ(trace.all[3].removed_by, "availability");
  const std::string text = trace.ToString();
  EXPECT_THAT(text, HasSubstr("4 providers, 3 live"));
  EXPECT_THAT(text, HasSubstr("    removed: 10.0.0.3:20880\n"));
  EXPECT_THAT(text, HasSubstr("  dubbo://10.0.0.3:20880 (id 3)  weight 100 active 0  removed by condition\n"));
  EXPECT_THAT(text, HasSubstr("  dubbo://10.0.0.4:20880 (id 4)  weight 100 active 0 down  removed by availability\n"));

  EXPECT_THAT(handle_->Explain({}).all, IsEmpty());
  EXPECT_THAT(handle_->Explain({}).routers[0].removed, IsEmpty());
}

TEST_F(ExplainTest, ProvidersOfOneAddressAreToldApart) {
  Open({});
  const auto at = [&](const char* text) { return Parse(text); };
  Notify(Category::kProviders, ListKind::kList,
         {at("dubbo://10.0.0.1:20880/com.acme.Orders?interface=com.acme.Orders&region=hz"),
          at("tri://10.0.0.1:20880/com.acme.Orders?interface=com.acme.Orders"),
          at("tri://10.0.0.2:20880/com.acme.Orders?interface=com.acme.Orders&group=g&version=1"),
          at("tri://10.0.0.2:20880/other/path?interface=com.acme.Orders"),
          at("rest://10.0.0.3:20880/com.acme.Orders?interface=com.acme.Orders")});
  Rules({RuleUrl("=> region=hz")});
  executor_.RunReady();
  const PickTrace trace = handle_->Explain({}, kAll);
  std::vector<std::string> urls;
  for (const auto& line : trace.all) urls.push_back(line.url);
  EXPECT_THAT(urls, ElementsAre("dubbo://10.0.0.1:20880", "tri://10.0.0.1:20880",
                                "tri://10.0.0.2:20880/com.acme.Orders?group=g&version=1",
                                "tri://10.0.0.2:20880/other/path", "rest://10.0.0.3:20880"));
  EXPECT_THAT(trace.routers[0].removed,
              ElementsAre("tri://10.0.0.1:20880", "tri://10.0.0.2:20880/com.acme.Orders?group=g&version=1",
                          "tri://10.0.0.2:20880/other/path", "10.0.0.3:20880"));
  EXPECT_EQ(trace.chosen, kA);
  EXPECT_EQ(trace.protocol, "dubbo");
  EXPECT_EQ(trace.provider, trace.all[0].id);
  EXPECT_THAT(handle_->Explain({}).ToString(), HasSubstr("-> dubbo://10.0.0.1:20880 (id 1)  weight 100"));
  EXPECT_THAT(trace.ToString(), HasSubstr("  tri://10.0.0.1:20880 (id 2)  weight 100 active 0  removed by condition\n"));
}

TEST_F(ExplainTest, AForcedRuleShowsWhomItRemovedAndThatNobodyIsLeft) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("=> region=nowhere")});
  executor_.RunReady();
  const PickTrace trace = handle_->Explain({}, kAll);
  EXPECT_EQ(trace.status.code(), absl::StatusCode::kUnavailable);
  ASSERT_EQ(trace.routers.size(), 1u);
  EXPECT_THAT(trace.routers[0].removed, ElementsAre(kA, kB));
  EXPECT_THAT(trace.ToString(), HasSubstr("no provider"));
}

TEST_F(ExplainTest, DrawsThatWereRefusedAreShown) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=roundrobin&roundrobin.scope=global");
  Open({"10.0.0.1", "10.0.0.2"});
  protocol_->reports.at(kA).Down();  // the tables do not know yet
  int refused = 0;
  for (int i = 0; i < 10; ++i) {
    const PickTrace trace = handle_->Explain({}, kAll);
    EXPECT_EQ(trace.chosen, kB);
    EXPECT_TRUE(trace.all[0].down);
    EXPECT_EQ(trace.all[0].removed_by, "") << "it was still a candidate";
    for (const auto& one : trace.refused) {
      EXPECT_EQ(one.address, kA);
      EXPECT_EQ(one.why, "down");
      ++refused;
    }
    if (!trace.refused.empty()) {
      EXPECT_THAT(trace.ToString(), HasSubstr("drew dubbo://10.0.0.1:20880 (id 1), which is down"));
    }
    (void)PickAddress();
  }
  EXPECT_GT(refused, 0);
}

TEST_F(ExplainTest, AWeightedDrawIsOneStory) {
  more_routers_["split"] = std::make_shared<SplittingFactory>();
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  Rules({Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=split&rule=x")});
  executor_.RunReady();
  int alone = 0;
  for (int i = 0; i < 500; ++i) {
    const PickTrace trace = handle_->Explain({}, kAll);
    ASSERT_EQ(trace.routers.size(), 1u);
    EXPECT_THAT(trace.routers[0].note, HasSubstr("weighted"));
    EXPECT_EQ(trace.candidates, trace.routers[0].out) << "the leaf is where the steps lead";
    EXPECT_EQ(trace.chosen == kA, trace.candidates == 1);
    EXPECT_THAT(trace.branch, HasSubstr(trace.candidates == 1 ? "1 of 2, share 10.0 %" : "2 of 2, share 90.0 %"));
    alone += trace.candidates == 1;
    (void)PickAddress();  // moves the generator
  }
  EXPECT_NEAR(alone, 50, 35);
  EXPECT_THAT(handle_->Explain({}).ToString(), HasSubstr("draw: set"));
}

TEST_F(ExplainTest, OverridesWithoutEffectAreShown) {
  Open({"10.0.0.1"});
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&enabled=maybe&timeout=5",
             "override://0.0.0.0/com.acme.Orders?category=configurators&enabled=false&timeout=6",
             "override://0.0.0.0/com.acme.Orders?category=configurators&timeout=7"});
  executor_.RunReady();
  EXPECT_EQ(handle_->List({})[0].Param("timeout"), "7");
  const std::vector<std::string> skipped = handle_->Explain({}).skipped;
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_THAT(skipped[0], HasSubstr("not enabled (enabled=maybe)"));
  EXPECT_THAT(skipped[0], HasSubstr("timeout=5"));
  EXPECT_THAT(skipped[1], HasSubstr("not enabled (enabled=false)"));
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=7", "override://0.0.0.0/com.acme.Orders",
             "empty://0.0.0.0/com.acme.Orders?category=configurators"});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, Contains(HasSubstr("without parameters")));
  EXPECT_THAT(handle_->Explain({}).skipped, Contains(HasSubstr("cleared by: empty://")));
  Overrides({});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, IsEmpty());
}

TEST_F(ExplainTest, NumbersThatCannotBeReadAreShownAndLogged) {
  Open({"10.0.0.1?weight=heavy&get.weight=1.5", "10.0.0.2?warmup=10m&timestamp=yesterday", "10.0.0.3?weight=50"});
  const std::vector<std::string> skipped = handle_->Explain({}).skipped;
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_THAT(skipped[0], HasSubstr("weight=heavy"));
  EXPECT_THAT(skipped[0], HasSubstr("get.weight=1.5"));
  EXPECT_THAT(skipped[0], HasSubstr(kA));
  EXPECT_THAT(skipped[1], HasSubstr("warmup=10m"));
  EXPECT_THAT(skipped[1], HasSubstr("timestamp=yesterday"));
  EXPECT_EQ(handle_->Explain({}, kAll).all[0].weight, 100);
  EXPECT_EQ(log_.Count("FL-3-9"), 2u);
  Providers({"10.0.0.1?weight=10", "10.0.0.3?weight=50"});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, IsEmpty());
}

TEST_F(ExplainTest, TheStrictShortcutIsVisible) {
  Open({"10.0.0.1", "10.0.0.2?weight=1"});
  EXPECT_THAT(handle_->Explain({}).policy, HasSubstr("neither weight nor timestamp"));
  Providers({"10.0.0.1?weight=100", "10.0.0.2?weight=1"});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).policy, HasSubstr("total weight 101"));
}

TEST_F(ExplainTest, TextsOfAnyLengthAreCut) {
  const std::string huge(1 << 20, 'x');
  Open({"10.0.0.1?weight=" + huge, "10.0.0.2?loadbalance=" + huge});
  Rules({RuleUrl("=> region=" + huge), RuleUrl("a == " + huge), Parse("route://0.0.0.0/com.acme.Orders?router=" + huge)});
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&enabled=" + huge + "&timeout=5",
             "override://0.0.0.0/com.acme.Orders?category=configurators&priority=" + huge + "&timeout=5"});
  executor_.RunReady();
  const MethodId method = handle_->Method(huge);
  executor_.RunReady();
  PickTrace trace = handle_->Explain({.method = method}, kAll);
  EXPECT_EQ(trace.routers.size(), 1u);
  EXPECT_EQ(trace.skipped.size(), 6u);
  EXPECT_THAT(trace.ToString(), HasSubstr("bytes)"));
  EXPECT_LT(trace.ToString().size(), 20000u);
  EXPECT_LT(handle_->Select({.method = method}).status().message().size(), 4000u);
  Rules({});
  Providers({"10.0.0.2?loadbalance=" + huge, "10.0.0.1"});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, Contains(HasSubstr("no policy")));
  EXPECT_LT(handle_->Explain({}, kAll).ToString().size(), 20000u);
  // Before a method has its plan, calls walk.
  const MethodId other = handle_->Method("other");
  EXPECT_LT(handle_->Select({.method = other}).status().message().size(), 4000u);
  EXPECT_LT(handle_->Explain({.method = other}).ToString().size(), 20000u);
  for (const auto& line : lines_.lines()) EXPECT_LT(line.text.size(), 3000u);
  EXPECT_FALSE(lines_.lines().empty());
}

TEST_F(ExplainTest, AServiceNameOfAnyLengthIsCut) {
  const std::string huge(1 << 20, 'x');
  Start("consumer://10.0.0.9/com.acme.Orders?version=" + huge);
  EXPECT_LT(handle_->Select({}).status().message().size(), 2000u);
  Open({});
  EXPECT_LT(handle_->Select({}).status().message().size(), 2000u);
  EXPECT_LT(handle_->Explain({}).ToString().size(), 5000u);
  for (const auto& line : lines_.lines()) EXPECT_LT(line.subject.size(), 300u);
}

TEST_F(ExplainTest, TheRegistrysStateIsReadAgainWhenItChanges) {
  std::string state = "not connected";
  std::vector<std::string> unreadable;
  DirectoryConfig config = Config("consumer://10.0.0.9/com.acme.Orders?application=shop", protocol_);
  config.remarks = {"check=maybe: expected true or false"};
  config.registry_state = [&] { return state; };
  config.unreadable = [&] { return unreadable; };
  TearDown();
  directory_ = RegistryDirectory::Create(std::move(config));
  handle_ = directory_->MakeDirectory(nullptr);

  // Before there is a list, picks say it too.
  directory_->OnRegistryChange();
  EXPECT_THAT(PickAddress(), HasSubstr("not connected"));
  EXPECT_EQ(handle_->Explain({}).registry, "not connected");
  state = "connected";
  directory_->OnRegistryChange();
  EXPECT_THAT(PickAddress(), AllOf(HasSubstr("has arrived from the registry yet: connected"), Not(HasSubstr("not "))));

  Open({"10.0.0.1"});
  const std::uint64_t snapshot = handle_->Explain({}).snapshot;
  state = "suspended";
  unreadable = {"com.acme.Orders/providers: junk"};
  EXPECT_EQ(handle_->Explain({}).registry, "connected") << "nobody said that it changed";
  directory_->OnRegistryChange();
  const PickTrace trace = handle_->Explain({});
  EXPECT_EQ(trace.registry, "suspended");
  EXPECT_THAT(trace.skipped, ElementsAre(HasSubstr("check=maybe"), HasSubstr("junk")));
  EXPECT_THAT(trace.ToString(), HasSubstr("  registry: suspended\n"));
  EXPECT_EQ(trace.snapshot, snapshot) << "no table was built for it";
  EXPECT_EQ(PickAddress(), kA);
}

}  // namespace
}  // namespace fairlead
