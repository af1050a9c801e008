// FailbackRegistry on Redis, in the test's own time: what is wanted stands in the end, whatever the server does.
#include <gmock/gmock.h>

#include <map>
#include <optional>

#include "fairlead/base/random.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/tests/registry/redis/redis_backend_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
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
  FailbackRegistry* Make(const std::string& parameters = "", const std::string& host = "h:6379") {
    const Url url = *Url::Parse("redis://" + host + "?file-cache=false&" + parameters, pool_);
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

// What time does not mend is not waited for.
TEST_F(RedisFailbackTest, ARefusalIsToldAtOnceWithItsCauseAndItsRemedy) {
  const struct {
    const char *password, *mode, *select, *host, *parameters;
    absl::StatusCode code;
    const char* says;
  } cases[] = {
      {"s3cret", "standalone", "", "h", "", absl::StatusCode::kUnauthenticated, "redis://:password@host:port"},
      {"s3cret", "standalone", "", ":wr0ng@h", "", absl::StatusCode::kUnauthenticated, "correct the password"},
      {"", "cluster", "", "h", "", absl::StatusCode::kUnimplemented, "h:6379 is a Redis Cluster node"},
      {"", "standalone", "ERR DB index is out of range", "h", "db.index=99", absl::StatusCode::kInvalidArgument, "correct db.index"},
      {"", "standalone", "NOPERM no", "h", "db.index=9", absl::StatusCode::kPermissionDenied, "ACL"},
  };
  const Url provider = *Url::Parse("dubbo://10.0.0.1:20880/a.B", pool_);
  const Url consumer = *Url::Parse("consumer://10.9.9.9/a.B", pool_);
  for (const auto& one : cases) {
    SCOPED_TRACE(one.says);
    server().password = one.password;
    server().mode = one.mode;
    if (*one.select != '\0') server().errors["SELECT"] = one.select;
    FailbackRegistry* const registry = Make(one.parameters, one.host);
    for (int early = 0; early < 2; ++early) {
      const auto told = std::make_shared<std::vector<absl::Status>>();
      registry->Register(provider, [told](absl::Status status) { told->push_back(std::move(status)); });
      registry->Subscribe(consumer, std::make_shared<Listener>(), [told](absl::Status status) { told->push_back(std::move(status)); });
      executor_->RunReady();
      ASSERT_THAT(*told, SizeIs(2)) << "without a wait";
      for (const absl::Status& status : *told) {
        EXPECT_EQ(status.code(), one.code) << status;
        EXPECT_THAT(std::string(status.message()),
                    AllOf(HasSubstr("registry redis://h refuses"), HasSubstr(one.says), Not(HasSubstr("did not answer")),
                          Not(HasSubstr("check=false")), Not(HasSubstr("wr0ng"))));
      }
    }
    EXPECT_EQ(registry->status().registered, 0u) << "who was told that it failed";
    server().password = "";
    server().mode = "standalone";
    server().errors.clear();
    if (std::string(one.host) != "h") continue;  // no password is wrong then
    Advance(seconds(10));
    std::optional<absl::Status> mended;
    registry->Register(provider, [&](absl::Status status) { mended = std::move(status); });
    executor_->RunReady();
    EXPECT_EQ(mended, absl::OkStatus()) << "what was mended works";
    TearDown();
    server().hashes.clear();
  }
}

// One that may come up is waited for.
TEST_F(RedisFailbackTest, OneServerThatRefusesIsNoReasonNotToWaitForAnother) {
  redis_.server(1).mode = "cluster";
  redis_.server(2).listens = false;
  FailbackRegistry* const registry = Make("backup=h:2", "h:1");
  std::optional<absl::Status> told;
  registry->Register(*Url::Parse("dubbo://10.0.0.1:20880/a.B", pool_), [&](absl::Status status) { told = std::move(status); });
  Advance(seconds(2));
  EXPECT_EQ(told, std::nullopt);
  redis_.server(2).listens = true;
  Advance(seconds(2));
  EXPECT_EQ(told, absl::OkStatus());
}

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
