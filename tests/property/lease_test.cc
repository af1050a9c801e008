// The life of leases and invokers (28), and retries across snapshots (29).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What happened to one invoker. Outlives it.
struct Life {
  int destroyed = 0, deleted = 0;
};

class LifeInvoker final : public Invoker {
 public:
  LifeInvoker(std::shared_ptr<Life> life, Url url) : life(std::move(life)), url_(std::move(url)) {}
  ~LifeInvoker() override {
    EXPECT_EQ(life->destroyed, 1) << "closed, once, before it is deleted";
    ++life->deleted;
  }
  const Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override { return true; }
  void Updated(const Url& effective) override { url_ = effective; }
  void Destroy() override { ++life->destroyed; }

  const std::shared_ptr<Life> life;

 private:
  Url url_;
};

class LifeProtocol final : public Protocol {
 public:
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability) override {
    lives->push_back(std::make_shared<Life>());
    return std::make_unique<LifeInvoker>(lives->back(), effective);
  }
  const std::shared_ptr<std::vector<std::shared_ptr<Life>>> lives = std::make_shared<std::vector<std::shared_ptr<Life>>>();
};

enum class End { kLeasesFirst, kDirectoryFirst, kExecutorStops };

// One directory's life with random lists and leases; `end` says what goes first in the end.
void LiveAndEnd(std::uint64_t seed, End end) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(Mix64(seed));
  struct Held {
    Lease lease;
    std::shared_ptr<Life> life;
    std::string host;
    std::optional<Clock::SteadyTime> left;  // when its provider left the list
  };
  std::vector<Held> leases;
  std::shared_ptr<std::vector<std::shared_ptr<Life>>> lives;
  {
    DirectoryWorld world;
    const auto protocol = std::make_shared<LifeProtocol>();
    lives = protocol->lives;
    auto directory = RegistryDirectory::Create(world.Config(FedDirectory::kUnprotected, protocol));
    auto handle = directory->MakeDirectory(nullptr);
    std::uint64_t version = 0;
    const auto notify = [&](Category category, const std::vector<std::string>& hosts) {
      std::vector<Url> urls;
      for (const std::string& host : hosts) urls.push_back(world.ProviderAt(host + "?weight=" + std::to_string(random.Below(5))));
      directory->Notify({std::string(DirectoryWorld::kService), category, ++version,
                         urls.empty() ? ListKind::kEmpty : ListKind::kList, std::move(urls)});
    };
    notify(Category::kRouters, {});
    notify(Category::kConfigurators, {});

    for (int step = 0; step < 60; ++step) {
      std::vector<std::string> hosts;
      for (int i = 0; i < 5; ++i) {
        if (random.Below(3) != 0) hosts.push_back("10.0.0." + std::to_string(i));
      }
      const std::size_t referred = lives->size();
      std::size_t kept = 0;
      for (const std::string& host : hosts) {
        const bool held = std::any_of(leases.begin(), leases.end(), [&](const Held& one) {
          return one.host == host && one.life->destroyed == 0;
        });
        kept += held;
      }
      notify(Category::kProviders, hosts);
      world.executor_.RunReady();
      EXPECT_LE(lives->size() - referred, hosts.size() - kept) << "one that returns while it drains keeps its connection";
      for (Held& one : leases) {
        const bool listed = std::find(hosts.begin(), hosts.end(), one.host) != hosts.end();
        if (one.life->destroyed > 0) continue;
        if (listed) {
          one.left.reset();
        } else if (!one.left) {
          one.left = world.clock_.SteadyNow();
        }
      }
      for (std::uint64_t n = random.Below(4); n > 0; --n) {
        absl::StatusOr<Lease> lease = handle->Select({});
        ASSERT_EQ(lease.ok(), !hosts.empty()) << lease.status();
        if (!lease.ok()) break;
        auto& invoker = lease->As<LifeInvoker>();
        EXPECT_EQ(invoker.life->destroyed, 0) << "nobody is picked who was closed";
        const auto life = invoker.life;
        const std::string host(invoker.url().host());
        leases.push_back({*std::move(lease), life, host, std::nullopt});
      }
      while (!leases.empty() && random.Below(3) == 0) {
        std::swap(leases[random.Below(leases.size())], leases.back());
        leases.pop_back();
      }
      world.executor_.Advance(random.Below(10) == 0 ? seconds(random.Below(12)) : milliseconds(random.Below(100)));
      for (const Held& one : leases) {
        EXPECT_EQ(one.life->deleted, 0) << "a lease is out";
        if (!one.left) {
          EXPECT_EQ(one.life->destroyed, 0);
          continue;
        }
        // The drain timeout closes, with a tick of 20 ms, and does not delete.
        const auto away = world.clock_.SteadyNow() - *one.left;
        EXPECT_TRUE(away >= seconds(10) || one.life->destroyed == 0);
        EXPECT_TRUE(away <= seconds(10) + milliseconds(50) || one.life->destroyed == 1);
      }
      if (::testing::Test::HasFailure()) return;
    }

    if (end == End::kLeasesFirst) leases.clear();
    handle.reset();
    if (end != End::kExecutorStops) {
      bool closed = false;
      directory->Close(milliseconds(500), [&] { closed = true; });
      world.executor_.Advance(seconds(1));
      EXPECT_TRUE(closed);
      for (const auto& life : *lives) EXPECT_EQ(life->destroyed, 1);
    } else if (random.Below(2) == 0) {
      directory->Close(seconds(10), nullptr);  // it will never come to it
    }
  }
  // The world is gone; whoever still holds a lease can use its invoker.
  for (Held& one : leases) {
    EXPECT_EQ(one.life->deleted, 0);
    EXPECT_EQ(one.lease.As<LifeInvoker>().url().host(), one.host);
    EXPECT_EQ(one.life->destroyed, 1);
  }
  leases.clear();
  for (const auto& life : *lives) {
    EXPECT_EQ(life->destroyed, 1);
    EXPECT_EQ(life->deleted, 1);
  }
}

class LeaseLifeTest : public ::testing::TestWithParam<End> {};

TEST_P(LeaseLifeTest, Property28ClosedOnceDeletedOnceWhoeverEndsFirst) {
  for (int life = 0; life < Effort(200); ++life) {
    LiveAndEnd(static_cast<std::uint64_t>(life), GetParam());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, LeaseLifeTest, ::testing::Values(End::kLeasesFirst, End::kDirectoryFirst, End::kExecutorStops));

// A provider that comes back while it drains is told what changed meanwhile, as one that stayed is.
TEST(LeaseReviveTest, Property28ARevivedProviderHasItsNewParameters) {
  DirectoryWorld world;
  FedDirectory directory(world, FedDirectory::kUnprotected);
  directory.Tell({{world.ProviderAt("10.0.0.1?weight=3")}, {}, {}});
  const absl::StatusOr<Lease> lease = directory.handle->Select({});
  ASSERT_TRUE(lease.ok());
  directory.Tell({{}, {}, {}});
  directory.Tell({{world.ProviderAt("10.0.0.1?weight=8")}, {}, {}});
  EXPECT_EQ(directory.protocol->referred, 1);
  EXPECT_EQ(lease->As<FakeProtocol::FakeInvoker>().url().Param("weight"), "8");
}

// Property 29: lists change between the attempts of a call and slots are used again; while somebody untried is there,
// somebody untried is picked.
TEST(TriedListTest, Property29NobodyUntriedIsSkippedAcrossSnapshots) {
  constexpr std::array<const char*, 4> kPolicies = {"random", "roundrobin", "leastactive", "consistenthash"};
  int retries = 0, exhausted = 0, reused = 0;
  for (int life = 0; life < Effort(120); ++life) {
    SCOPED_TRACE("seed " + std::to_string(life));
    Random random(Mix64(static_cast<std::uint64_t>(life)));
    DirectoryWorld world;
    FedDirectory directory(world, std::string(FedDirectory::kUnprotected) + "&loadbalance=" + kPolicies[random.Below(kPolicies.size())]);
    Feed feed;
    const auto change = [&] {
      for (std::uint64_t n = 1 + random.Below(3); n > 0; --n) {
        if (feed.providers.size() > 2 && random.Below(2) == 0) {
          feed.providers.erase(feed.providers.begin() + static_cast<std::ptrdiff_t>(random.Below(feed.providers.size())));
        } else {
          feed.providers.push_back(world.ProviderAt("10.0.0." + std::to_string(random.Below(40)) + "?weight=" +
                                                    std::to_string(random.Below(30))));
        }
      }
      directory.Tell(feed);
    };
    change();
    for (int call = 0; call < 40; ++call) {
      std::vector<ProviderId> tried;
      std::vector<Slot> slots;
      for (int attempt = 0; attempt < 6; ++attempt) {
        if (random.Below(2) == 0) change();
        bool untried = false;
        for (const Slot slot : directory.snapshot().table->by_rank) {
          const ProviderId id = directory.IdIn(slot);
          const bool known = std::find(tried.begin(), tried.end(), id) != tried.end();
          untried |= !known;
          reused += !known && std::find(slots.begin(), slots.end(), slot) != slots.end();
        }
        const Invocation invocation{.hash_key = static_cast<std::uint32_t>(call)};
        const absl::StatusOr<Lease> lease = directory.handle->Select(invocation, tried);
        ASSERT_TRUE(lease.ok()) << lease.status();
        const bool again = std::find(tried.begin(), tried.end(), lease->provider_id()) != tried.end();
        ASSERT_EQ(again, !untried) << "call " << call << ", attempt " << attempt;
        retries += attempt > 0 && untried;
        exhausted += !untried;
        tried.push_back(lease->provider_id());
        for (const Slot slot : directory.snapshot().table->by_rank) {
          if (directory.IdIn(slot) == lease->provider_id()) slots.push_back(slot);
        }
      }
    }
  }
  EXPECT_GT(retries, Effort(120) * 10);
  EXPECT_GT(exhausted, 0);
  EXPECT_GT(reused, 0) << "a tried provider's slot had somebody else in it";
}

}  // namespace
}  // namespace fairlead
