#include "fairlead/directory/guarded_router.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "fairlead/base/random.h"
#include "fairlead/routing/filter_router.h"
#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";

// What a host's router may do wrong, each at will.
struct Mischief {
  std::set<std::string> throwing;  // names of functions
  Random random{0};
  int one_in = 1;                  // a call throws with this chance
  RouteCase which = 1;
  bool no_table = false;
  Reads reads = Reads::kMethod;
  bool had_previous = false;       // when it compiled last

  void At(const char* function) {
    if (throwing.contains(function) && random.Below(static_cast<std::uint64_t>(one_in)) == 0) {
      throw std::runtime_error(std::string("mischief in ") + function);
    }
  }
};

// Case 1 keeps 10.0.0.1 only.
class MischievousTable final : public RouteTable {
 public:
  MischievousTable(Mischief& mischief, InvokerSet kept) : mischief_(mischief), kept_(std::move(kept)) {}
  std::uint32_t cases() const override { return mischief_.At("cases"), 2; }
  RouteCase Classify(const RouteCall&) const override { return mischief_.At("Classify"), mischief_.which; }
  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which > 1) std::abort();
    out.Keep(which == 0 ? in : in & kept_);
    mischief_.At("Route");
  }
  std::string Describe(RouteCase) const override { return mischief_.At("Describe"), "mischief"; }

 private:
  Mischief& mischief_;
  const InvokerSet kept_;
};

class MischievousRouter final : public Router {
 public:
  explicit MischievousRouter(Mischief& mischief) : mischief_(mischief) {}
  std::string_view name() const override { return mischief_.At("name"), "mischief"; }
  int order() const override { return mischief_.At("order"), 1; }
  Reads reads() const override { return mischief_.At("reads"), mischief_.reads; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override {
    mischief_.At("Compile");
    mischief_.had_previous = previous != nullptr;
    // A router may rely on it that this is its own.
    if (previous != nullptr && dynamic_cast<const MischievousTable*>(previous) == nullptr) std::abort();
    if (mischief_.no_table) return nullptr;
    InvokerSet kept;
    for (const Slot slot : input.by_rank) {
      if (input.providers[slot].original.host() == "10.0.0.1") kept.Add(slot);
    }
    return std::make_shared<MischievousTable>(mischief_, std::move(kept));
  }

 private:
  Mischief& mischief_;
};

class MischievousFactory final : public RouterFactory {
 public:
  explicit MischievousFactory(Mischief& mischief) : mischief_(mischief) {}
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    mischief_.At("Create");
    return std::make_shared<const MischievousRouter>(mischief_);
  }

 private:
  Mischief& mischief_;
};

class GuardedRouterTest : public DirectoryFixture {
 protected:
  void SetUp() override {
    more_routers_["mischief"] = std::make_shared<MischievousFactory>(mischief_);
    DirectoryFixture::SetUp();
  }
  void OpenWithRule() {
    Open({"10.0.0.1", "10.0.0.2"});
    Rules({Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=mischief&rule=x")});
    executor_.RunReady();
  }
  Mischief mischief_;
};

TEST_F(GuardedRouterTest, WhatItMadeForOtherConsumerParametersIsNotGivenToItAgain) {
  OpenWithRule();
  Providers({"10.0.0.1", "10.0.0.2?weight=3"});
  executor_.RunReady();
  EXPECT_TRUE(mischief_.had_previous);
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&side=consumer&region=hz"});
  executor_.RunReady();
  EXPECT_FALSE(mischief_.had_previous);
}

TEST_F(GuardedRouterTest, OneThatBehavesDecides) {
  OpenWithRule();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_EQ(log_.Count("FL-3-11"), 0u);
}

TEST_F(GuardedRouterTest, WhateverThrowsLetsEverybodyThroughIsLoggedOnceAndShown) {
  for (const Reads reads : {Reads::kMethod, Reads::kArguments, Reads::kAttachments}) {
    for (const char* function : {"Compile", "cases", "Classify", "Route"}) {
      SCOPED_TRACE(std::string(function) + " reads " + std::to_string(static_cast<int>(reads)));
      TearDown();
      mischief_ = Mischief{};
      mischief_.reads = reads;
      lines_.clear();
      const std::uint64_t logged = log_.Count("FL-3-11");
      clock_.Advance(std::chrono::minutes(2));  // the log says it again
      Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
      mischief_.throwing = {function};
      OpenWithRule();
      for (int round = 0; round < 3; ++round) {
        EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
        EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
        Providers({"10.0.0.1", "10.0.0.2?weight=" + std::to_string(round + 10)});
        executor_.Advance(milliseconds(30));
      }
      EXPECT_EQ(log_.Count("FL-3-11"), logged + 1);
      ASSERT_EQ(lines_.count("FL-3-11"), 1u);
      const PickTrace trace = handle_->Explain({});
      ASSERT_EQ(trace.routers.size(), 1u);
      EXPECT_GT(trace.routers[0].faults, 0u);
      EXPECT_THAT(trace.ToString(), HasSubstr(std::string("mischief in ") + function));
      // Whole again, it decides again.
      mischief_.throwing.clear();
      Providers({"10.0.0.1", "10.0.0.2?weight=50"});
      executor_.Advance(milliseconds(30));
      EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
    }
  }
}

TEST_F(GuardedRouterTest, ARuleWhoseRouterThrowsWhileItIsMadeIsLeftOut) {
  for (const char* function : {"Create", "name", "order", "reads"}) {
    SCOPED_TRACE(function);
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
    mischief_.throwing = {function};
    OpenWithRule();
    EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
    ASSERT_EQ(handle_->Explain({}).skipped.size(), 1u);
    EXPECT_THAT(handle_->Explain({}).skipped[0], HasSubstr(std::string("mischief in ") + function));
  }
}

TEST_F(GuardedRouterTest, NoTableAndACaseOutOfRangeLetEverybodyThrough) {
  mischief_.no_table = true;
  OpenWithRule();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  mischief_.no_table = false;
  for (const Reads reads : {Reads::kMethod, Reads::kAttachments}) {
    mischief_.reads = reads;
    mischief_.which = 2;
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
    OpenWithRule();
    EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  }
}

TEST_F(GuardedRouterTest, AThrowingDescriptionHurtsNoPick) {
  mischief_.throwing = {"Describe"};
  OpenWithRule();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_THAT(handle_->Explain({}).ToString(), HasSubstr("not described"));
  Providers({"10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(PickAddress(), HasSubstr("not described"));
}

TEST_F(GuardedRouterTest, ThrowingAtRandomConverges) {
  mischief_.reads = Reads::kAttachments;
  mischief_.throwing = {"Compile", "cases", "Classify", "Route", "Describe"};
  mischief_.one_in = 3;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    mischief_.random = Random(seed);
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
    OpenWithRule();
    const Attachment zone[] = {{"zone", "a"}};
    for (int i = 0; i < 50; ++i) {
      for (int n = 0; n < 10; ++n) {
        const std::string picked = PickAddress(n % 2 == 0 ? Invocation{} : Invocation{.attachments = zone});
        ASSERT_TRUE(picked == kA || picked == kB) << picked;
      }
      (void)handle_->Explain({.attachments = zone});
      Providers({"10.0.0.1", "10.0.0.2?weight=" + std::to_string(1 + i % 7)});
      executor_.Advance(milliseconds(7));
    }
  }
  mischief_.throwing.clear();
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.Advance(milliseconds(50));
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
}

// A filter that only throws for one provider takes nobody away either.
class ThrowingFilter final : public FilterRouter {
 public:
  std::string_view name() const override { return "filter"; }
  int order() const override { return 1; }
  Reads reads() const override { return Reads::kMethod; }
  std::uint32_t cases() const override { return 2; }
  RouteCase Classify(const RouteCall&) const override { return 1; }
  bool Filter(RouteCase, const Provider& provider) const override {
    if (provider.original.host() == "10.0.0.2") throw 7;
    return false;
  }
  OnEmpty on_empty() const override { return OnEmpty::kStayEmpty; }
};

class FilterFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return std::make_shared<const ThrowingFilter>();
  }
};

TEST_F(GuardedRouterTest, AFilterThatThrowsLetsEverybodyThrough) {
  more_routers_["filter"] = std::make_shared<FilterFactory>();
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=filter&rule=x")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_THAT(handle_->Explain({}).ToString(), HasSubstr("Compile threw"));
}

class ThrowingPolicy final : public LoadBalance {
 public:
  std::string_view name() const override { return "throwing"; }
  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput&, const Selector*) const override {
    throw std::runtime_error("no table today");
  }
  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation&, PickContext&) const override {
    return input.by_rank.front().slot;
  }
};

TEST_F(GuardedRouterTest, APolicyThatThrowsFailsItsOwnCallsOnly) {
  more_policies_ = {std::make_shared<ThrowingPolicy>()};
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1?get.loadbalance=throwing", "10.0.0.2?get.loadbalance=throwing"});
  const MethodId get = handle_->Method("get");
  executor_.RunReady();
  EXPECT_EQ(handle_->Select({.method = get}).status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
}

// Throws, or names nobody's slot, once its table is in use.
class StrayPolicy final : public LoadBalance {
 public:
  class Table final : public Selector {
   public:
    explicit Table(bool throws) : throws_(throws) {}
    Slot Select(const Invocation&, PickContext&) const override {
      if (throws_) throw std::runtime_error("no choice today");
      return 4711;
    }
    std::string Describe() const override { return "astray"; }

   private:
    const bool throws_;
  };

  explicit StrayPolicy(bool throws) : throws_(throws) {}
  std::string_view name() const override { return "stray"; }
  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput&, const Selector*) const override {
    return std::make_shared<Table>(throws_);
  }
  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput&, const Invocation& invocation,
                                       PickContext& context) const override {
    return Table(throws_).Select(invocation, context);
  }

 private:
  const bool throws_;
};

TEST_F(GuardedRouterTest, ASelectorThatGoesAstrayFailsItsOwnCallsOnly) {
  for (const bool throws : {true, false}) {
    SCOPED_TRACE(throws);
    more_policies_ = {std::make_shared<StrayPolicy>(throws)};
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
    Open({"10.0.0.1?get.loadbalance=stray", "10.0.0.2?get.loadbalance=stray"});
    const MethodId get = handle_->Method("get");
    // Before there is a table, and with one.
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = handle_->Select({.method = get}).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(throws ? "stray threw" : "not there"));
      EXPECT_EQ(handle_->WithSelected({.method = get}, [](const Invoker&) noexcept {}).code(), absl::StatusCode::kInternal);
      EXPECT_EQ(handle_->Explain({.method = get}).status.code(), absl::StatusCode::kInternal);
      executor_.RunReady();
    }
    EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  }
}

// Two sets without a weight, and one of them with a provider that an earlier rule had taken out.
class WeightlessTable final : public RouteTable {
 public:
  std::uint32_t cases() const override { return 2; }
  RouteCase Classify(const RouteCall&) const override { return 1; }
  void Route(RouteCase, const InvokerSet& in, Outcomes& out) const override {
    InvokerSet all;
    for (Slot slot = 0; slot < 3; ++slot) all.Add(slot);
    InvokerSet first;
    first.Add(in.Nth(0));
    out.Add(0, all - first);
    out.Add(0, first);
  }
  std::string Describe(RouteCase) const override { return "weightless"; }
};
class WeightlessRouter final : public Router {
 public:
  std::string_view name() const override { return "weightless"; }
  int order() const override { return 1000; }
  Reads reads() const override { return Reads::kMethod; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput&, const RouteTable*) const override {
    return std::make_shared<WeightlessTable>();
  }
};
class WeightlessFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return std::make_shared<WeightlessRouter>();
  }
};

TEST_F(GuardedRouterTest, SetsWithoutWeightsAreAlikeAndNobodyIsBroughtBack) {
  more_routers_["weightless"] = std::make_shared<WeightlessFactory>();
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  Rules({RuleUrl("=> host!=10.0.0.3", "force=true&priority=1"),
         Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=weightless&rule=x")});
  executor_.RunReady();
  const auto shares = Shares(400);
  EXPECT_THAT(shares, UnorderedElementsAre(Key(kA), Key(kB)));
  for (const auto& [address, count] : shares) EXPECT_NEAR(count, 200, 80) << address;
}

}  // namespace
}  // namespace fairlead
