// Plans: what misses cost (14), publication with many plans in use (15), and which calls share a plan (16).

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/routing/filter_router.h"
#include "fairlead/tests/support/chi_square.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

// A policy that counts what it is asked for, and lets the test look on.
class CountingPolicy final : public LoadBalance {
 public:
  explicit CountingPolicy(std::shared_ptr<const LoadBalance> real) : real_(std::move(real)) {}
  std::string_view name() const override { return real_->name(); }
  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input, const Selector* replaced) const override {
    ++built;
    if (on_build) on_build();
    return real_->Build(input, replaced);
  }
  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation& invocation,
                                       PickContext& context) const override {
    ++unplanned;
    return real_->SelectUnplanned(input, invocation, context);
  }

  mutable std::atomic<int> built{0}, unplanned{0};
  mutable std::function<void()> on_build;

 private:
  const std::shared_ptr<const LoadBalance> real_;
};

class PlanTest : public ::testing::Test {
 protected:
  DirectoryConfig CountingConfig() {
    DirectoryConfig config = world_.Config(FedDirectory::kConsumer, nullptr);
    config.policy = [counting = counting_](std::string_view) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
      return counting;
    };
    return config;
  }

  DirectoryWorld world_;
  const std::shared_ptr<const CountingPolicy> counting_ = std::make_shared<const CountingPolicy>(
      *world_.Config(FedDirectory::kConsumer, nullptr).policy("random"));
};

TEST_F(PlanTest, Property14AMissHerdMakesOneTable) {
  FedDirectory directory(world_, CountingConfig());
  Feed feed;
  const std::vector<double> shares = {0.1, 0.2, 0.3, 0.4};
  for (int i = 0; i < 4; ++i) {
    feed.providers.push_back(world_.ProviderAt("10.0.0." + std::to_string(i) + "?region=hz&weight=" + std::to_string(10 * (i + 1))));
  }
  feed.providers.push_back(world_.ProviderAt("10.0.0.9?region=sh"));
  feed.rules.push_back(world_.RuleUrl("arguments[0]=a => region=hz"));
  directory.Tell(feed);
  const int before = counting_->built;

  constexpr int kThreads = 16;
  const int picks = Effort(2000);
  std::atomic<int> waiting{kThreads}, failed{0};
  std::array<std::array<int, 4>, kThreads> counts{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Argument arguments[] = {{"a"}};
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int i = 0; i < picks; ++i) {
        const absl::StatusOr<Lease> lease = directory.handle->Select({.arguments = arguments});
        if (!lease.ok()) {
          ++failed;
          continue;
        }
        const std::string address = lease->As<FakeProtocol::FakeInvoker>().address();
        ++counts[t][static_cast<std::size_t>(address[7] - '0') % 4];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(counting_->built, before) << "no caller builds";
  EXPECT_EQ(counting_->unplanned, kThreads * picks) << "each pick walks once";
  std::vector<double> all(4);
  for (const auto& one : counts) {
    for (std::size_t i = 0; i < 4; ++i) all[i] += one[i];
  }
  EXPECT_TRUE(FollowShares(all, shares));

  world_.executor_.Advance(milliseconds(100));
  EXPECT_EQ(counting_->built, before + 1);
  const Argument arguments[] = {{"a"}};
  (void)directory.handle->Select({.arguments = arguments});
  EXPECT_EQ(counting_->unplanned, kThreads * picks) << "the plan is used";
}

TEST_F(PlanTest, ATableGrowsWithTheListAlone) {
  FedDirectory directory(world_, CountingConfig());
  for (int round = 0; round < 5; ++round) {
    Feed feed;
    for (int i = 0; i < 20; ++i) {
      feed.providers.push_back(world_.ProviderAt("10.0." + std::to_string(round) + "." + std::to_string(i) + "?region=hz"));
    }
    directory.Tell(feed);
    EXPECT_EQ(directory.snapshot().table->by_rank.size(), 20u);
    EXPECT_EQ(directory.snapshot().table->states.size(), 20u) << "the new ones take the slots of those that left";
    const auto table = directory.snapshot().table;
    directory.Tell(feed);
    EXPECT_EQ(directory.snapshot().table, table) << "nothing changed, nothing was copied";
  }
}

TEST_F(PlanTest, Property15PublicationWithManyPlansInUse) {
  FedDirectory directory(world_, CountingConfig());
  Feed feed;
  const int providers = Effort(100'000);
  for (int i = 0; i < providers; ++i) {
    feed.providers.push_back(world_.ProviderAt("10." + std::to_string(i / 62500) + "." + std::to_string(i / 250 % 250) + "." +
                                               std::to_string(i % 250) + "?level=" + std::to_string(i % 64)));
  }
  // Six rules that look at an attachment each: 64 combinations, each with a set of its own.
  for (int bit = 0; bit < 6; ++bit) {
    const std::string n = std::to_string(bit);
    feed.rules.push_back(world_.RuleUrl("attachments[b" + n + "]=1 => level!=" + n, "force=false"));
  }
  directory.Tell(feed);

  const auto for_each_call = [&](auto&& visit) {
    static constexpr std::array<std::string_view, 6> kNames = {"b0", "b1", "b2", "b3", "b4", "b5"};
    for (unsigned bits = 0; bits < 64; ++bits) {
      std::vector<Attachment> attachments = {{"other", "x"}};
      for (unsigned bit = 0; bit < 6; ++bit) {
        if (bits >> bit & 1) attachments.push_back({kNames[bit], "1"});
      }
      visit(Invocation{.attachments = attachments});
    }
  };
  const auto planned = [&] {
    int count = 0;
    for_each_call([&](const Invocation& invocation) { count += directory.PlanOf(invocation) != nullptr; });
    return count;
  };
  for (int round = 0; round < 50 && planned() < 64; ++round) {
    for_each_call([&](const Invocation& invocation) { (void)directory.handle->Select(invocation); });
    world_.executor_.Advance(milliseconds(25));
  }
  ASSERT_EQ(planned(), 64);
  for_each_call([&](const Invocation& invocation) { (void)directory.handle->Select(invocation); });

  const std::uint64_t asked_for = directory.handle->Stats().plans_built;
  const std::vector<Attachment> some_bits = {{"b0", "1"}, {"b3", "1"}, {"b5", "1"}};
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int before = counting_->built;
    const std::string gone = feed.providers.back().Address();
    feed.providers.pop_back();
    // A table takes a millisecond to build here. The list waits for what two of them make, the rest comes one by one.
    const std::uint64_t version = directory.snapshot().version;
    int waited_for = 0, reached = 0;
    counting_->on_build = [&] {
      world_.clock_.Advance(milliseconds(1));
      if (directory.snapshot().version == version) {
        ++waited_for;
        return;
      }
      const absl::StatusOr<Lease> lease = directory.handle->Select({.attachments = some_bits});
      ASSERT_TRUE(lease.ok()) << lease.status();
      reached += lease->As<FakeProtocol::FakeInvoker>().address() == gone;
    };
    directory.Tell(feed);
    counting_->on_build = nullptr;
    EXPECT_LE(waited_for, 1 + 2 + 1) << "that of calls without attachments, the budget, and one more";
    EXPECT_GT(waited_for, 1) << "some are there at once";
    EXPECT_LE(counting_->built - before, 65) << "a table for each plan in use, and one for calls without attachments";
    for_each_call([&](const Invocation& invocation) {
      const absl::StatusOr<Lease> lease = directory.handle->Select(invocation);
      ASSERT_TRUE(lease.ok()) << lease.status();
      reached += lease->As<FakeProtocol::FakeInvoker>().address() == gone;
      if (const internal::Plan* plan = directory.PlanOf(invocation)) {
        for (const Slot slot : plan->branches.front().leaf->by_rank) {
          reached += directory.ProviderIn(slot).address() == gone;
        }
      }
    });
    EXPECT_EQ(reached, 0) << gone << " left before this snapshot";
    EXPECT_EQ(planned(), 64) << "what is in use has its plan again";
    EXPECT_EQ(directory.handle->Stats().plans_built, asked_for) << "nobody had to ask";
  }
}

// Reads one attachment as the number of its case, of 300; which providers a case keeps is as good as random.
class NumberRouter final : public FilterRouter {
 public:
  explicit NumberRouter(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  int order() const override { return 160; }
  Reads reads() const override { return Reads::kAttachments; }
  std::uint32_t cases() const override { return 300; }
  RouteCase Classify(const RouteCall& call) const override {
    const std::string_view* text = call.invocation.FindAttachment(name_);
    RouteCase which = 0;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), which);
    return which;
  }
  bool Filter(RouteCase which, const Provider& provider) const override { return Keeps(name_, which, provider.address()); }
  OnEmpty on_empty() const override { return OnEmpty::kFallBack; }

  // Case 0 keeps everybody, the others four of five.
  static bool Keeps(std::string_view name, RouteCase which, std::string_view address) {
    std::uint64_t hash = which;
    for (const std::string_view text : {name, address}) {
      for (const char c : text) hash = Mix64(hash ^ static_cast<unsigned char>(c));
    }
    return which == 0 || hash % 5 != 0;
  }

 private:
  const std::string name_;
};

class NumberRouterFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url& rule, Compat) override {
    return std::make_shared<const NumberRouter>(std::string(rule.Param("name")));
  }
};

TEST_F(PlanTest, Property16DifferentTuplesNeverShareAPlan) {
  world_.more_routers_["number"] = std::make_shared<NumberRouterFactory>();
  for (const int routers : {1, 2, 13, 39, 40, 41}) {
    SCOPED_TRACE("seed and routers " + std::to_string(routers));
    Random random(Mix64(static_cast<std::uint64_t>(routers)));
    FedDirectory directory(world_);
    Feed feed;
    std::vector<std::string> names;
    for (int i = 0; i < 24; ++i) feed.providers.push_back(world_.ProviderAt("10.0.0." + std::to_string(i)));
    for (int i = 0; i < routers; ++i) {
      names.push_back("r" + std::to_string(i));
      feed.rules.push_back(world_.Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=number&name=" + names.back()));
    }
    directory.Tell(feed);
    ASSERT_EQ(directory.snapshot().runtime.size(), static_cast<std::size_t>(routers));

    struct Tuple {
      std::vector<std::string> cases;
      std::vector<Attachment> attachments;
    };
    std::vector<Tuple> tuples(static_cast<std::size_t>(Effort(400)));
    for (Tuple& tuple : tuples) {
      // Most tuples differ from another in one case only, among the highest ones too.
      if (&tuple != tuples.data() && random.Below(3) != 0) tuple.cases = tuples[random.Below(static_cast<std::uint64_t>(&tuple - tuples.data()))].cases;
      tuple.cases.resize(names.size(), "0");
      tuple.cases[random.Below(names.size())] = std::to_string(random.Below(2) == 0 ? 256 + random.Below(44) : random.Below(300));
      for (std::size_t i = 0; i < names.size(); ++i) tuple.attachments.push_back({names[i], tuple.cases[i]});
    }
    const auto missing = [&] {
      int count = 0;
      for (const Tuple& tuple : tuples) count += directory.PlanOf({.attachments = tuple.attachments}) == nullptr;
      return count;
    };
    for (int round = 0; round < 100 && (round == 0 || (routers <= 40 && missing() > 0)); ++round) {
      for (const Tuple& tuple : tuples) ASSERT_TRUE(directory.handle->Select({.attachments = tuple.attachments}).ok());
      world_.executor_.Advance(milliseconds(25));
    }
    EXPECT_EQ(missing(), routers <= 40 ? 0 : static_cast<int>(tuples.size()));

    std::map<const internal::Plan*, std::vector<std::string>> tuple_of_plan;
    for (const Tuple& tuple : tuples) {
      std::vector<std::string> expected;
      for (const Url& url : feed.providers) expected.push_back(url.Address());
      for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> kept;
        for (const std::string& address : expected) {
          if (NumberRouter::Keeps(names[i], static_cast<RouteCase>(std::stoi(tuple.cases[i])), address)) kept.push_back(address);
        }
        if (!kept.empty()) expected = std::move(kept);
      }
      const Invocation invocation{.attachments = tuple.attachments};
      std::vector<std::string> listed;
      for (const Url& url : directory.handle->List(invocation)) listed.push_back(url.Address());
      ASSERT_EQ(listed, expected);
      const internal::Plan* plan = directory.PlanOf(invocation);
      if (plan == nullptr) continue;
      const auto [at, fresh] = tuple_of_plan.emplace(plan, tuple.cases);
      ASSERT_TRUE(fresh || at->second == tuple.cases);
      std::vector<std::string> planned;
      for (const Slot slot : plan->branches.front().leaf->by_rank) planned.push_back(directory.ProviderIn(slot).address());
      ASSERT_EQ(planned, expected);
    }
  }
}

}  // namespace
}  // namespace fairlead
