// Providers and consumers through a real Redis that is killed, frozen, wiped and restarted under them.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "fairlead/tests/registry/redis/redis_runtime_fixture.h"
#include "fairlead/tests/support/fault_proxy.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using RedisServerTest = RedisRuntimeFixture;
const std::string kOne = "10.0.0.1:20880", kTwo = "10.0.0.2:20880";

TEST_F(RedisServerTest, AProvidersEntryIsWhatDubboWrites) {
  auto registration = providers_->Register(registry(), "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders&pid=7&timestamp=5");
  ASSERT_TRUE(registration.ok()) << registration.status();
  RedisTestClient look(server_.port());
  const auto hash = look.AskAll({"HGETALL", kKey});
  ASSERT_THAT(hash, SizeIs(2));
  EXPECT_EQ(hash[0], "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders&interface=com.acme.Orders&timestamp=5");
  const auto left = std::stoll(hash[1]) - RealClock().SystemMillis();
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 2000);
  EXPECT_EQ(look.Ask({"TTL", kKey}), "-1");
  *registration = Registration();
  EXPECT_TRUE(Eventually([&] { return look.Ask({"EXISTS", kKey}) == "0"; }));
}

TEST_F(RedisServerTest, ProvidersComeAndGoAndStayWhileTheyAreExtended) {
  const auto directory = Refer("session=1000");
  auto a = Register(kOne, "session=1000");
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
  auto b = Register(kTwo, "session=1000");
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  const auto end = std::chrono::steady_clock::now() + milliseconds(1300);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_THAT(Addresses(*directory), SizeIs(2));
    std::this_thread::sleep_for(milliseconds(5));
  }
  *a = Registration();
  EXPECT_TRUE(EventuallyIs(*directory, {kTwo}));
  RedisTestClient look(server_.port());
  EXPECT_TRUE(Eventually([&] { return look.Ask({"HLEN", "/dubbo/com.acme.Orders/consumers"}) == "1"; }));
}

TEST_F(RedisServerTest, AProviderProcessThatIsKilledGoesWhenItExpires) {
  const auto directory = Refer("enable-empty-protection=false");
  auto stays = Register(kTwo);
  const pid_t child = fork();
  if (child == 0) {
    const std::string program = std::string(FAIRLEAD_EXAMPLES) + "/provider";
    execl(program.c_str(), "provider", registry().c_str(), nullptr);
    _exit(127);
  }
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).size() == 2; }));
  const auto killed = std::chrono::steady_clock::now();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  RedisTestClient look(server_.port());
  EXPECT_TRUE(EventuallyIs(*directory, {kTwo}));
  EXPECT_LT(std::chrono::steady_clock::now() - killed, seconds(4));
  EXPECT_EQ(look.Ask({"HLEN", kKey}), "2") << "nobody has cleaned it away";
}

TEST_F(RedisServerTest, WhatAFlushTakesIsBackWithTheNextExtension) {
  auto a = Register(kOne);
  const auto directory = Refer();
  RedisTestClient admin(server_.port());
  admin.Ask({"FLUSHALL"});
  EXPECT_TRUE(Eventually([&] { return admin.Ask({"HLEN", kKey}) == "1"; }));
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
}

TEST_F(RedisServerTest, PicksGoOnWhileTheServerIsFrozenKilledWipedAndRestarted) {
  auto a = Register(kOne);
  const auto directory = Refer();
  ASSERT_TRUE(EventuallyIs(*directory, {kOne}));
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::thread caller([&] {
    while (!stop) {
      failed += !directory->Select({}).ok();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  server_.Freeze();
  EXPECT_TRUE(Eventually([&] { return lines_.count("FL-1-5") > 0; })) << "the loss is noticed";
  server_.Thaw();
  server_.Kill();
  server_.Wipe();
  ASSERT_TRUE(server_.Start().ok());
  auto b = Register(kTwo);
  EXPECT_TRUE(b.ok()) << b.status();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
}

TEST_F(RedisServerTest, ARuntimeEndsInTimeWhileItsServerIsFrozen) {
  // The server is not known to be silent before the end.
  auto a = Register(kOne, "so.timeout=60000");
  const auto directory = Refer("so.timeout=60000");
  ASSERT_TRUE(EventuallyIs(*directory, {kOne}));
  server_.Freeze();
  const auto began = std::chrono::steady_clock::now();
  std::promise<absl::Status> told;
  providers_->Shutdown(milliseconds(500), [&](absl::Status status) { told.set_value(std::move(status)); });
  auto status = told.get_future();
  ASSERT_EQ(status.wait_for(seconds(10)), std::future_status::ready);
  EXPECT_FALSE(status.get().ok()) << "nobody has confirmed that the url is gone";
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(3500)) << "the deadline, and 2 s for a good-bye";
  providers_.reset();
  const auto without = std::chrono::steady_clock::now();
  consumers_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - without, seconds(3)) << "without Shutdown too";
  server_.Thaw();
}

TEST_F(RedisServerTest, AfterARestartEverythingIsReadAgainAndRegistered) {
  auto a = Register(kOne);
  const auto directory = Refer();
  server_.Stop();
  ASSERT_TRUE(server_.Start().ok());
  // Before the consumer is back: a change that no message told.
  RedisTestClient admin(server_.port());
  admin.Ask({"HSET", kKey, "dubbo://10.0.0.9:20880/com.acme.Orders?interface=com.acme.Orders&dynamic=false", "1"});
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, "10.0.0.9:20880"}));
}

TEST_F(RedisServerTest, ALostSubscriptionIsMadeAgainAndTheGapRead) {
  const auto directory = Refer();
  RedisTestClient admin(server_.port());
  EXPECT_EQ(admin.Ask({"CLIENT", "KILL", "TYPE", "pubsub"}), "1");
  admin.Ask({"HSET", kKey, "dubbo://10.0.0.9:20880/com.acme.Orders?interface=com.acme.Orders&dynamic=false", "1"});
  EXPECT_TRUE(EventuallyIs(*directory, {"10.0.0.9:20880"}));
}

// Half-open connections: this end sees nothing but silence.
TEST_F(RedisServerTest, ConnectionsThatAreOpenAtThisEndOnlyAreNoticedAndTheGapRead) {
  auto proxy = *FaultProxy::Start({.target_port = server_.port()});
  const std::string through = RegistryAt("127.0.0.1:" + std::to_string(proxy->port()));
  const auto directory = *consumers_->Refer(through, kConsumer, protocol_);
  auto a = Register(kOne);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
  const auto start = std::chrono::steady_clock::now();
  proxy->Vanish();
  auto b = Register(kTwo);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(6));
}

// It takes longer than the server may say nothing.
TEST_F(RedisServerTest, ALongListComesThroughASlowLink) {
  RedisTestClient admin(server_.port());
  std::set<std::string> all;
  for (int i = 1; i <= 20; ++i) {
    all.insert("10.0.0." + std::to_string(i) + ":1");
    admin.Ask({"HSET", kKey, "dubbo://10.0.0." + std::to_string(i) + ":1/com.acme.Orders?dynamic=false&x=" + std::string(1000, 'x'), "0"});
  }
  auto proxy = *FaultProxy::Start({.target_port = server_.port()});
  proxy->SetLink(FaultProxy::Way::kToClient, {.bytes_per_second = 30000});
  const std::string url = "redis://127.0.0.1:" + std::to_string(proxy->port()) + "?file-cache=false&timeout=20000&so.timeout=250";
  auto directory = consumers_->Refer(url, kConsumer, protocol_);
  ASSERT_TRUE(directory.ok()) << directory.status();
  EXPECT_EQ(Addresses(**directory), all);
  EXPECT_EQ(lines_.count("FL-6-1"), 0u);
}

TEST_F(RedisServerTest, APartitionOfTheProviderTakesItAwayAndItsEndBringsItBack) {
  auto proxy = *FaultProxy::Start({.target_port = server_.port()});
  auto a = providers_->Register(RegistryAt("127.0.0.1:" + std::to_string(proxy->port())),
                                "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders");
  auto b = consumers_->Register(registry(), "dubbo://10.0.0.2:20880/com.acme.Orders?application=orders");
  const auto directory = Refer();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  proxy->Refuse();
  proxy->Cut();
  EXPECT_TRUE(EventuallyIs(*directory, {kTwo}));
  proxy->Heal();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
}

TEST_F(RedisServerTest, AForeignValueUnderOurKeyHurtsNobodyElse) {
  RedisTestClient admin(server_.port());
  admin.Ask({"LPUSH", kKey, "x"});
  admin.Ask({"SET", "/dubbo/com.acme.Orders/routers", std::string(1000000, 'x')});
  auto refused = Register(kOne);
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()), AllOf(HasSubstr("WRONGTYPE"), HasSubstr(kKey)));
  admin.Ask({"DEL", kKey});
  auto a = Register(kOne);
  EXPECT_TRUE(a.ok()) << a.status();
  auto other = consumers_->Refer(registry(), "consumer://10.9.8.7/com.acme.Other?application=shop", protocol_);
  EXPECT_TRUE(other.ok()) << other.status();
  admin.Ask({"DEL", "/dubbo/com.acme.Orders/routers"});
  const auto directory = Refer();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
}

TEST_F(RedisServerTest, BinaryAndMalformedFieldsAreSkippedNamedAndCounted) {
  auto a = Register(kOne);
  RedisTestClient admin(server_.port());
  const std::string later = std::to_string(RealClock().SystemMillis() + 600000);
  for (const std::string& bad : {std::string("\0\xff\r\n*3", 6), std::string("hello"), std::string(), std::string("dubbo://h:nan/x"),
                                 std::string(200000, 'y')}) {
    admin.Ask({"HSET", kKey, bad, later});
  }
  admin.Ask({"HSET", kKey, "dubbo://10.0.0.7:1/com.acme.Orders", "soon"});
  const auto directory = Refer();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
  EXPECT_THAT(directory->Explain({}).ToString(), AllOf(HasSubstr("hello"), HasSubstr("soon")));
}

TEST_F(RedisServerTest, APasswordIsSentAndAWrongOneToldWithoutShowingIt) {
  server_.Stop();
  server_.set_options({"--requirepass", "s3cret"});
  ASSERT_TRUE(server_.Start().ok());
  auto good = providers_->Register(registry("", ":s3cret@"), "dubbo://10.0.0.1:1/com.acme.Orders");
  EXPECT_TRUE(good.ok()) << good.status();
  for (const char* credentials : {":wr0ng@", ""}) {
    const auto asked = std::chrono::steady_clock::now();
    auto bad = consumers_->Refer(registry("", credentials), kConsumer, protocol_);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, seconds(5)) << "half of `timeout`";
    EXPECT_EQ(bad.status().code(), absl::StatusCode::kUnauthenticated) << bad.status();
    EXPECT_THAT(std::string(bad.status().message()), AllOf(HasSubstr("password"), Not(HasSubstr("wr0ng"))));
  }
  for (const auto& line : lines_.lines()) EXPECT_THAT(line.text, AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("wr0ng"))));
}

TEST_F(RedisServerTest, DatabasesAreApart) {
  auto a = Register(kOne, "db.index=3");
  ASSERT_TRUE(a.ok()) << a.status();
  RedisTestClient look(server_.port());
  EXPECT_EQ(look.Ask({"EXISTS", kKey}), "0");
  look.Ask({"SELECT", "3"});
  EXPECT_EQ(look.Ask({"EXISTS", kKey}), "1");
  auto none = consumers_->Refer(registry("db.index=99&timeout=500"), kConsumer, protocol_);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("DB index is out of range"));
}

TEST_F(RedisServerTest, DatabasesHaveFilesOfTheirOwn) {
  const TempDirectory home;
  const std::string old = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  setenv("HOME", home.path().c_str(), 1);
  for (const char* db : {"", "&db.index=3"}) {
    auto runtime = Make();
    const std::string url = "redis://" + server_.address() + "?application=shop" + db;
    auto a = runtime->Register(url, "dubbo://10.0.0.1:20880/com.acme.Orders");
    auto directory = runtime->Refer(url, kConsumer, protocol_);
    ASSERT_TRUE(directory.ok()) << directory.status();
    EXPECT_TRUE(EventuallyIs(**directory, {kOne}));
  }
  setenv("HOME", old.c_str(), 1);
  std::set<std::string> files;
  EXPECT_TRUE(Eventually([&] {
    files.clear();
    std::error_code none_yet;
    for (const auto& file : std::filesystem::directory_iterator(home / ".dubbo", none_yet)) {
      if (file.path().extension() == ".cache") files.insert(file.path().stem());
    }
    return files.size() == 2;
  }));
  const std::string port = std::to_string(server_.port());
  EXPECT_THAT(files, ElementsAre("dubbo-registry-shop-127.0.0.1-" + port, "dubbo-registry-shop-127.0.0.1-" + port + "-db3"));
}

TEST_F(RedisServerTest, AClusterNodeIsRefused) {
  server_.Stop();
  server_.set_options({"--cluster-enabled", "yes", "--cluster-port", std::to_string(RedisServer::FreePort())});
  ASSERT_TRUE(server_.Start().ok());
  const auto asked = std::chrono::steady_clock::now();
  auto refused = consumers_->Refer(registry(), kConsumer, protocol_);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, seconds(5)) << "half of `timeout`";
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("Cluster"));
}

TEST_F(RedisServerTest, AServerThatTakesConnectionsAndStaysSilentIsToldOfInTime) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(listen(listener, 16), 0);
  const std::string url = "redis://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) +
                          "?file-cache=false&timeout=1500&so.timeout=300";
  auto silent = consumers_->Refer(url, kConsumer, protocol_);
  EXPECT_EQ(silent.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(silent.status().message()), HasSubstr("1500 ms"));
  EXPECT_TRUE(Eventually([&] { return lines_.count("FL-6-1") > 0; }));
  EXPECT_THAT(lines_.lines().front().text, HasSubstr("said nothing for 300 ms"));
  close(listener);
}

TEST_F(RedisServerTest, ANameThatDoesNotResolveIsSaid) {
  auto nobody = consumers_->Refer("redis://nobody.invalid:1?file-cache=false&timeout=700", kConsumer, protocol_);
  EXPECT_EQ(nobody.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(nobody.status().message()), HasSubstr("cannot be resolved"));
  EXPECT_TRUE(Eventually([&] { return lines_.count("FL-6-1") > 0; }));
  EXPECT_THAT(lines_.lines().front().text, HasSubstr("nobody.invalid"));
}

TEST_F(RedisServerTest, NamesAndIpv6AreConnectedTo) {
  const std::string port = std::to_string(server_.port());
  auto by_name = providers_->Register("redis://localhost:" + port + "?timeout=10000", "dubbo://10.0.0.1:1/com.acme.Orders");
  EXPECT_TRUE(by_name.ok()) << by_name.status();
}

TEST_F(RedisServerTest, TwoServersFailover) {
  RedisServer second;
  ASSERT_TRUE(second.Start().ok());
  const std::string backup = "backup=" + second.address();
  auto a = Register(kOne, backup);
  const auto directory = Refer(backup);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
  EXPECT_EQ(RedisTestClient(second.port()).Ask({"EXISTS", kKey}), "0");
  server_.Kill();
  EXPECT_TRUE(Eventually([&] { return RedisTestClient(second.port()).Ask({"HLEN", kKey}) == "1"; }));
  auto b = Register(kTwo, backup);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  ASSERT_TRUE(server_.Start().ok());
  EXPECT_TRUE(Eventually([&] { return RedisTestClient(server_.port()).Ask({"HLEN", kKey}) == "2"; }));
  *b = Registration();
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
}

TEST_F(RedisServerTest, TwoServersReplicate) {
  RedisServer second;
  ASSERT_TRUE(second.Start().ok());
  const std::string both = "cluster=replicate&backup=" + second.address();
  auto a = Register(kOne, both);
  const auto directory = Refer(both);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne}));
  EXPECT_TRUE(Eventually([&] { return RedisTestClient(second.port()).Ask({"HLEN", kKey}) == "1"; }));
  server_.Kill();
  server_.Wipe();
  auto b = Register(kTwo, both);
  EXPECT_TRUE(EventuallyIs(*directory, {kOne, kTwo}));
  ASSERT_TRUE(server_.Start().ok());
  EXPECT_TRUE(Eventually([&] { return RedisTestClient(server_.port()).Ask({"HLEN", kKey}) == "2"; })) << "brought up to date";
}

TEST_F(RedisServerTest, TwoThousandUrlsAreExtendedOnOneConnection) {
  constexpr int kUrls = 2000;
  std::vector<Registration> all;
  const std::string url = registry("check=false&session=1000");
  for (int i = 0; i < kUrls; ++i) {
    auto one = providers_->Register(url, "dubbo://10.0.0.1:1/com.acme.S" + std::to_string(i % 500) + "?n=" + std::to_string(i) + "&check=false");
    ASSERT_TRUE(one.ok()) << one.status();
    all.push_back(*std::move(one));
  }
  RedisTestClient look(server_.port());
  const auto sum = [&] {
    int count = 0;
    for (int i = 0; i < 500; ++i) count += std::stoi(look.Ask({"HLEN", "/dubbo/com.acme.S" + std::to_string(i) + "/providers"}));
    return count;
  };
  EXPECT_TRUE(Eventually([&] { return sum() == kUrls; }));
  std::this_thread::sleep_for(milliseconds(1250));
  const std::int64_t now = RealClock().SystemMillis();
  for (int i = 0; i < 500; ++i) {
    for (const std::string& value : look.AskAll({"HVALS", "/dubbo/com.acme.S" + std::to_string(i) + "/providers"})) {
      ASSERT_GT(std::stoll(value), now) << i;
    }
  }
  EXPECT_THAT(look.Ask({"INFO", "clients"}), HasSubstr("connected_clients:3\r")) << "two of ours and this one";
}

}  // namespace
}  // namespace fairlead
