// FailbackRegistry on Redis, in the test's own time: what is wanted stands in the end, whatever the server does.
#include <gmock/gmock.h>

#include <map>

#include "fairlead/base/random.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/tests/registry/redis/redis_backend_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::SizeIs;

class RedisFailbackTest : public RedisBackendFixture {
 protected:
  struct Listener final : NotifyListener {
    void Notify(Notification full) override { kinds[full.category] = full.kind, sizes[full.category] = full.urls.size(); }
    std::map<Category, ListKind> kinds;
    std::map<Category, std::size_t> sizes;
  };

  // The registry ends as a task of the executor, which it holds.
  void TearDown() override {
    registry_.reset();
    Advance(seconds(2));
  }
  FailbackRegistry* Make(const std::string& parameters = "") {
    const Url url = *Url::Parse("redis://h:6379?file-cache=false&" + parameters, pool_);
    auto backend =
        std::make_unique<internal::RedisBackend>(*internal::RedisOptions::Parse(url), Context(), redis_.dialer());
    registry_ = FailbackRegistry::Create(url, std::move(backend), Context());
    executor_->RunReady();
    return registry_.get();
  }
  Url Provider(int n) {
    return *Url::Parse("dubbo://10.0.0." + std::to_string(n) + ":20880/a.B?check=false", pool_);
  }

  std::shared_ptr<FailbackRegistry> registry_;
};

class RedisConvergenceTest : public RedisFailbackTest, public ::testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RedisConvergenceTest, ::testing::Range<std::uint64_t>(1, 21));

TEST_P(RedisConvergenceTest, RegistrationsConvergeWhateverHappensMeanwhile) {
  FailbackRegistry* const registry = Make();
  const auto listener = std::make_shared<Listener>();
  registry->Subscribe(*Url::Parse("consumer://10.9.9.9/a.B?category=providers,configurators,routers", pool_), listener, nullptr);
  Random random(GetParam());
  std::map<int, bool> wanted;
  for (int step = 0; step < 400; ++step) {
    const int n = static_cast<int>(random.Below(30)) + 1;
    switch (random.Below(12)) {
      case 0:
        redis_.Cut();
        break;
      case 1:
        redis_.Restart(random.Below(2) == 0);
        break;
      case 2:
        server().listens = !server().listens;
        break;
      case 3:
        server().silent = !server().silent;
        break;
      case 4:
        Advance(milliseconds(random.Below(90000)));
        break;
      case 5:
        if (wanted[n]) server().hashes[kKey].erase(Provider(n).ToFullString());
        break;
      default:
        wanted[n] = !wanted[n];
        if (wanted[n]) {
          registry->Register(Provider(n), nullptr);
        } else {
          registry->Unregister(Provider(n), nullptr);
        }
        Advance(milliseconds(random.Below(500)));
    }
  }
  server().listens = true;
  server().silent = false;
  // What a cut left behind of those that are not wanted any more expires by itself.
  Advance(seconds(600));
  std::size_t count = 0;
  for (const auto& [n, is] : wanted) count += is ? 1 : 0;
  ASSERT_GT(count, 3u);
  EXPECT_EQ(listener->sizes[Category::kProviders], count);
  EXPECT_EQ(registry->status().state, RegistryState::kConnected);
  EXPECT_EQ(registry->status().unacknowledged, 0u);
  EXPECT_EQ(registry->status().stale_for.count(), 0);
  registry->Destroy(nullptr);
  Advance(seconds(2));
  for (const auto& [field, value] : server().hashes[kKey]) EXPECT_LT(*internal::RedisExpiry(value), now()) << field;
}

TEST_F(RedisFailbackTest, TheLastProvidersLeaveIsHeardAtOnceAWipeOnlyAfterTheGrace) {
  FailbackRegistry* const registry = Make("missing.grace=30000&delay-notification=0");
  const auto listener = std::make_shared<Listener>();
  registry->Subscribe(*Url::Parse("consumer://10.9.9.9/a.B", pool_), listener, nullptr);
  executor_->RunReady();
  EXPECT_EQ(listener->kinds[Category::kProviders], ListKind::kEmpty);
  redis_.Set(kKey, Provider(1).ToFullString(), now() + 60000);
  executor_->RunReady();
  redis_.Delete(kKey, Provider(1).ToFullString());
  executor_->RunReady();
  EXPECT_EQ(listener->kinds[Category::kProviders], ListKind::kEmpty);
  redis_.Set(kKey, Provider(1).ToFullString(), now() + 60000);
  executor_->RunReady();
  redis_.Restart(true);
  Advance(seconds(2));
  EXPECT_EQ(listener->kinds[Category::kProviders], ListKind::kUnknown);
  Advance(seconds(31));
  EXPECT_EQ(listener->kinds[Category::kProviders], ListKind::kEmpty);
}

// A5: 50 services on a server that would take one connection of each kind.
TEST_F(RedisFailbackTest, FiftyServicesAreRegisteredAndSubscribedOnTwoConnections) {
  FailbackRegistry* const registry = Make();
  const auto listener = std::make_shared<Listener>();
  int done = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string service = "a.S" + std::to_string(i);
    registry->Register(*Url::Parse("dubbo://10.0.0.1:1/" + service, pool_), [&](const absl::Status& status) { done += status.ok(); });
    registry->Subscribe(*Url::Parse("consumer://10.9.9.9/" + service + "?category=*", pool_), listener, nullptr);
  }
  executor_->RunReady();
  EXPECT_EQ(done, 50);
  EXPECT_THAT(server().hashes, SizeIs(50));
  EXPECT_EQ(server().connections, 2u);
  EXPECT_EQ(redis_.subscriptions(), 200u);
}

}  // namespace
}  // namespace fairlead
