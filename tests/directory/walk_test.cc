// Picks without a plan: their memory, their counts, and that they choose as those with a plan do.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/directory/walk_scratch.h"
#include "fairlead/tests/directory/directory_fixture.h"
#include "fairlead/tests/support/effort.h"

namespace fairlead {
namespace {

using internal::WalkScratch;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(WalkScratchTest, NobodySharesAndWhatWasMadeStays) {
  WalkScratch scratch(1000);
  scratch.Provide(2);
  std::set<const InvokerSet*> seen;
  {
    // Of one thread, as picks nest, and of two with one home; the third is made.
    const WalkScratch::Claim a(scratch, 3), b(scratch, 3), c(scratch, 3 + 64);
    for (const WalkScratch::Claim* claim : {&a, &b, &c}) {
      EXPECT_EQ(claim->first().capacity(), 1024u);
      seen.insert(&claim->first());
      seen.insert(&claim->second());
    }
    EXPECT_EQ(seen.size(), 6u);
  }
  const WalkScratch::Claim a(scratch, 0), b(scratch, 1), c(scratch, 2);
  for (const WalkScratch::Claim* claim : {&a, &b, &c}) EXPECT_TRUE(seen.contains(&claim->first()));
}

TEST(WalkScratchTest, MoreThanItKeeps) {
  WalkScratch scratch(10);
  scratch.Provide(1000);
  std::vector<std::unique_ptr<WalkScratch::Claim>> claims;
  std::set<const InvokerSet*> seen;
  for (std::uint32_t i = 0; i < WalkScratch::kMost + 10; ++i) {
    claims.push_back(std::make_unique<WalkScratch::Claim>(scratch, i % 5));
    EXPECT_TRUE(seen.insert(&claims.back()->first()).second);
  }
}

class WalkTest : public DirectoryFixture {
 protected:
  static std::vector<std::string> List(int n, const std::string& parameters = "") {
    std::vector<std::string> list;
    for (int i = 0; i < n; ++i) {
      list.push_back("10.0." + std::to_string(i / 200) + "." + std::to_string(i % 200) + "?weight=" + std::to_string(1 + i % 7) +
                     "&region=r" + std::to_string(i % 3) + parameters);
    }
    return list;
  }
  void Provide(int n, const std::string& parameters = "") { Open(List(n, parameters)); }
};

TEST_F(WalkTest, WalksAreCountedAndUsualPicksAreNot) {
  Provide(10);
  for (int i = 0; i < 5; ++i) (void)PickAddress();
  EXPECT_EQ(handle_->Stats().walked, 0u);
  EXPECT_THAT(handle_->Explain({}).ToString(), Not(HasSubstr("so far")));
  Rules({RuleUrl("arguments[0]=x => region=r1")});
  executor_.RunReady();
  for (int i = 0; i < 3; ++i) (void)PickAddress();
  (void)handle_->WithSelected({}, [](const Invoker&) noexcept {});
  (void)handle_->Explain({});
  (void)handle_->List({});
  DirectoryStats stats = handle_->Stats();
  EXPECT_EQ(stats.walked, 4u) << "an explanation is none";
  EXPECT_EQ(stats.plans_built, 0u);
  EXPECT_EQ(stats.wishes_dropped, 0u) << "the same wish again";
  executor_.Advance(milliseconds(25));
  for (int i = 0; i < 3; ++i) (void)PickAddress();
  stats = handle_->Stats();
  EXPECT_EQ(stats.walked, 4u);
  EXPECT_EQ(stats.plans_built, 1u);
  EXPECT_EQ(stats.redrawn, 0u);
  const PickTrace trace = handle_->Explain({});
  EXPECT_EQ(trace.stats.walked, 4u);
  EXPECT_THAT(trace.ToString(), HasSubstr("so far: 4 picks walked, 1 plans built"));
}

TEST_F(WalkTest, WishesThatFindNoRoomAreCountedAndComeAgain) {
  Provide(10);
  std::vector<Url> rules;
  for (int bit = 0; bit < 6; ++bit) rules.push_back(RuleUrl("attachments[b" + std::to_string(bit) + "]=1 => region=r1", "force=false"));
  Rules(rules);
  executor_.RunReady();
  static constexpr std::string_view kNames[] = {"b0", "b1", "b2", "b3", "b4", "b5"};
  const auto call_all = [&] {
    for (unsigned bits = 1; bits < 64; ++bits) {
      std::vector<Attachment> attachments;
      for (unsigned bit = 0; bit < 6; ++bit) {
        if (bits >> bit & 1) attachments.push_back({kNames[bit], "1"});
      }
      ASSERT_TRUE(handle_->Select({.attachments = attachments}).ok());
    }
  };
  call_all();
  DirectoryStats stats = handle_->Stats();
  EXPECT_EQ(stats.walked, 63u);
  EXPECT_GE(stats.wishes_dropped, 63u - 16u);
  EXPECT_LT(stats.wishes_dropped, 63u);
  for (int round = 0; round < 40; ++round) {
    executor_.Advance(milliseconds(25));
    call_all();
  }
  stats = handle_->Stats();
  EXPECT_EQ(stats.plans_built, 63u);
  const std::uint64_t walked = stats.walked;
  call_all();
  EXPECT_EQ(handle_->Stats().walked, walked) << "all have their plan";
}

TEST_F(WalkTest, DrawsThatAreRefusedAreCounted) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=roundrobin&roundrobin.scope=global");
  Open({"10.0.0.1", "10.0.0.2"});
  const absl::StatusOr<Lease> first = handle_->Select({});
  const ProviderId tried = first->provider_id();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(handle_->Select({}, {&tried, 1}).ok());
  const std::uint64_t redrawn = handle_->Stats().redrawn;
  EXPECT_GE(redrawn, 5u);
  EXPECT_LE(redrawn, 10u);
  protocol_->reports.at("10.0.0.1:20880").Down();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(PickAddress(), "10.0.0.2:20880");
  EXPECT_GT(handle_->Stats().redrawn, redrawn);
}

// A draw among so many sets that there is no plan for it.
class OneOfAllRouter final : public Router {
 public:
  std::string_view name() const override { return "one-of-all"; }
  int order() const override { return 1; }
  Reads reads() const override { return Reads::kArguments; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput&, const RouteTable*) const override {
    class Table final : public RouteTable {
     public:
      std::uint32_t cases() const override { return 1; }
      RouteCase Classify(const RouteCall&) const override { return 0; }
      void Route(RouteCase, const InvokerSet& in, Outcomes& out) const override {
        in.ForEach([&](Slot slot) {
          InvokerSet one;
          one.Add(slot);
          out.Add(1 + slot % 2, one);
        });
      }
      std::string Describe(RouteCase) const override { return "one of all"; }
    };
    return std::make_shared<const Table>();
  }
};
class OneOfAllFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return std::make_shared<const OneOfAllRouter>();
  }
};

TEST_F(WalkTest, PlansThatAreTooMuchAreCountedAndTheCallsGoOnWalking) {
  more_routers_["one-of-all"] = std::make_shared<OneOfAllFactory>();
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Provide(100);
  Rules({Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=one-of-all&rule=x")});
  executor_.RunReady();
  ASSERT_TRUE(handle_->Select({}).ok());
  executor_.Advance(milliseconds(25));
  EXPECT_EQ(handle_->Stats().plans_refused, 1u);
  EXPECT_EQ(handle_->Stats().plans_built, 0u);
  // Slots of odd number have twice the weight, whatever the providers' own.
  int odd = 0;
  const auto shares = Shares(6000);
  EXPECT_EQ(shares.size(), 100u);
  for (const auto& [address, count] : shares) {
    if ((address[address.find(':') - 1] - '0') % 2 == 1) odd += count;
  }
  EXPECT_NEAR(odd, 4000, 200);
  EXPECT_EQ(handle_->Stats().walked, 6001u);
}

TEST_F(WalkTest, MoreRulesThanPlansHaveIsSaid) {
  Provide(10);
  std::vector<Url> rules;
  for (int i = 0; i < 41; ++i) rules.push_back(RuleUrl("arguments[0]!=x" + std::to_string(i) + " => region!=r2"));
  Rules(rules);
  executor_.RunReady();
  (void)PickAddress();
  executor_.Advance(milliseconds(25));
  const PickTrace trace = handle_->Explain({});
  EXPECT_THAT(trace.plan, HasSubstr("walk, more than 40 rules"));
  EXPECT_EQ(trace.candidates, 7u);
  EXPECT_EQ(handle_->Stats().wishes_dropped, 0u);
}

// Whom a key belongs to does not change when the plan is there, nor with rules, nor when somebody is down.
TEST_F(WalkTest, ConsistentHashHasTheSameOwnerWithAPlan) {
  for (const std::string parameters : {"", "&hash.nodes=40", "&get.hash.nodes=80&get.loadbalance=consistenthash"}) {
    SCOPED_TRACE(parameters);
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop&loadbalance=consistenthash");
    Provide(60, parameters);
    Rules({RuleUrl("arguments[0]!=x => region!=r2"), RuleUrl("attachments[zone]=a => host!=10.0.0.1*")});
    const MethodId get = handle_->Method("get");
    executor_.RunReady();
    protocol_->reports.at("10.0.0.4:20880").Down();
    const Attachment attachments[] = {{"zone", "a"}};
    const auto owners = [&] {
      std::vector<std::string> all;
      for (int i = 0; i < 300; ++i) {
        const std::string text = std::to_string(i);
        const Argument arguments[] = {{.text = text}};
        all.push_back(PickAddress({.method = i % 2 == 0 ? get : MethodId::kAny, .arguments = arguments, .attachments = attachments}));
      }
      return all;
    };
    const std::vector<std::string> walked = owners();
    EXPECT_EQ(handle_->Stats().walked, 300u);
    executor_.Advance(milliseconds(60));
    EXPECT_EQ(owners(), walked);
    EXPECT_EQ(handle_->Stats().walked, 300u);
    EXPECT_GT(std::set<std::string>(walked.begin(), walked.end()).size(), 15u);
  }
}

// Threads walk, more of them than have a home of their own, while lists grow and shrink.
TEST_F(WalkTest, FromManyThreadsWhileTheListChanges) {
  Provide(10);
  std::vector<Url> rules;
  for (int i = 0; i < 41; ++i) rules.push_back(RuleUrl("arguments[0]!=x" + std::to_string(i) + " => region!=r2"));
  Rules(rules);
  executor_.RunReady();
  constexpr int kThreads = 70;
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, picked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      do {
        const absl::StatusOr<Lease> lease = handle_->Select({});
        failed += !lease.ok() || lease->invoker().url().Param("region") == "r2";
        ++picked;
      } while (!stop.load());
    });
  }
  for (int round = 0; round < Effort(20); ++round) {
    Providers(List(round % 3 == 0 ? 700 : 10 + round));
    executor_.Advance(milliseconds(5));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(handle_->Stats().walked, static_cast<std::uint64_t>(picked));
}

TEST_F(WalkTest, AMethodThatIsNewAndLikeAnyOtherNeedsNoWalk) {
  Open({"10.0.0.1?loadbalance=roundrobin", "10.0.0.2?loadbalance=roundrobin", "10.0.0.3?own.weight=1"});
  const MethodId fresh = handle_->Method("fresh"), own = handle_->Method("own");
  std::map<std::string, int> shares;
  for (int i = 0; i < 30; ++i) ++shares[std::string(handle_->Select({.method = fresh})->invoker().url().host())];
  EXPECT_EQ(shares.size(), 3u);
  for (const auto& [host, picks] : shares) EXPECT_EQ(picks, 10) << host;
  EXPECT_EQ(handle_->Stats().walked, 0u);
  ASSERT_TRUE(handle_->Select({.method = own}).ok());
  EXPECT_EQ(handle_->Stats().walked, 1u) << "it has parameters of its own";
  Rules({RuleUrl("method=other => host=10.0.0.2")});
  executor_.RunReady();
  const MethodId other = handle_->Method("other");
  EXPECT_EQ(handle_->Select({.method = other})->invoker().url().host(), "10.0.0.2") << "a rule reads its name";
  EXPECT_EQ(handle_->Stats().walked, 2u);
}

}  // namespace
}  // namespace fairlead
