#include "fairlead/examples/toy_rpc.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fairlead/url/url_pool.h"

namespace toy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Remembers the last report and lets a test wait for one.
class Reports {
 public:
  fairlead::Availability Sink() {
    return fairlead::Availability([this](bool up) {
      const std::lock_guard lock(mutex_);
      up_ = up;
      changed_.notify_all();
    });
  }
  bool WaitFor(bool up) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(5), [&] { return up_ == up; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<bool> up_;
};

class ToyRpcTest : public testing::Test {
 protected:
  std::unique_ptr<TcpServer> Start(TcpServerOptions options = {}) {
    auto server = TcpServer::Start(options, [this](const TcpServer::Request& request) {
      ++handled_;
      return std::string(request.method) + "(" + std::string(request.argument) + ")";
    });
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }
  std::unique_ptr<fairlead::Invoker> Connect(std::uint16_t port, const char* host = "127.0.0.1") {
    auto url = fairlead::Url::Parse("dubbo://" + std::string(host) + ":" + std::to_string(port) + "/a.B", pool_);
    EXPECT_TRUE(url.ok()) << url.status();
    auto invoker = protocol_.Refer(*url, reports_.Sink());
    EXPECT_TRUE(invoker.ok()) << invoker.status();
    return *std::move(invoker);
  }
  static TcpChannel& Channel(const std::unique_ptr<fairlead::Invoker>& invoker) {
    return static_cast<TcpChannel&>(*invoker);
  }

  std::atomic<int> handled_{0};
  fairlead::UrlPool pool_;
  Reports reports_;
  TcpProtocol protocol_;
};

TEST_F(ToyRpcTest, AnswersFromManyThreadsOverOneConnection) {
  const auto server = Start();
  const auto invoker = Connect(server->port());
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int call = 0; call < 50; ++call) {
        const std::string argument = std::to_string(caller) + "\n" + std::to_string(call);
        EXPECT_EQ(Channel(invoker).Call("get", argument, seconds(10)).value_or("failed"), "get(" + argument + ")");
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  invoker->Destroy();
}

TEST_F(ToyRpcTest, ALateAnswerIsADeadlineAndTheConnectionStays) {
  const auto server = Start({.work = milliseconds(200)});
  const auto invoker = Connect(server->port());
  const auto late = Channel(invoker).Call("get", "1", milliseconds(1));
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
  EXPECT_EQ(Channel(invoker).Call("get", "2", seconds(10)).value_or("failed"), "get(2)");
  invoker->Destroy();
}

TEST_F(ToyRpcTest, ALeavingServerLosesNoCall) {
  const auto server = Start({.work = milliseconds(100)});
  const auto invoker = Connect(server->port());
  ASSERT_TRUE(reports_.WaitFor(true));
  std::vector<std::future<absl::StatusOr<std::string>>> calls;
  for (int call = 0; call < 8; ++call) {
    calls.push_back(std::async(std::launch::async, [&] { return Channel(invoker).Call("get", "1", seconds(10)); }));
  }
  std::thread stopping([&] { server->Stop(seconds(10)); });
  EXPECT_TRUE(reports_.WaitFor(false));
  EXPECT_FALSE(invoker->IsAvailable());
  // What was refused was never sent; what reached the server came back.
  int answered = 0;
  for (auto& call : calls) answered += call.get().ok();
  stopping.join();
  EXPECT_EQ(answered, handled_);
  const auto refused = Channel(invoker).Call("get", "2", seconds(10));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable) << refused.status();
  invoker->Destroy();
}

TEST_F(ToyRpcTest, ReconnectsWhenTheServerIsBack) {
  auto server = Start();
  const std::uint16_t port = server->port();
  const auto invoker = Connect(port);
  ASSERT_TRUE(reports_.WaitFor(true));
  server.reset();
  ASSERT_TRUE(reports_.WaitFor(false));
  server = Start({.port = port});
  ASSERT_TRUE(reports_.WaitFor(true));
  EXPECT_EQ(Channel(invoker).Call("get", "1", seconds(10)).value_or("failed"), "get(1)");
  invoker->Destroy();
}

TEST_F(ToyRpcTest, DestroyLosesNoCall) {
  const auto server = Start({.work = milliseconds(100)});
  const auto invoker = Connect(server->port());
  ASSERT_TRUE(reports_.WaitFor(true));
  std::vector<std::future<absl::StatusOr<std::string>>> calls;
  for (int call = 0; call < 8; ++call) {
    calls.push_back(std::async(std::launch::async, [&] { return Channel(invoker).Call("get", "1", seconds(10)); }));
  }
  invoker->Destroy();
  int answered = 0;
  for (auto& call : calls) answered += call.get().ok();
  EXPECT_EQ(answered, handled_);
  EXPECT_EQ(Channel(invoker).Call("get", "2", seconds(10)).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ToyRpcTest, AnAddressWithoutServerIsUnavailableNamingIt) {
  std::uint16_t port = 0;
  { port = Start()->port(); }
  const auto invoker = Connect(port);
  EXPECT_TRUE(reports_.WaitFor(false));
  const auto refused = Channel(invoker).Call("get", "1", seconds(10));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(refused.status().message().find("127.0.0.1:" + std::to_string(port)) != absl::string_view::npos)
      << refused.status();
  invoker->Destroy();
}

TEST_F(ToyRpcTest, ConnectsToIpv6) {
  auto server = TcpServer::Start({.host = "::1"}, [](const TcpServer::Request&) { return std::string("six"); });
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here: " << server.status();
  const auto invoker = Connect((*server)->port(), "[::1]");
  EXPECT_EQ(Channel(invoker).Call("get", "1", seconds(10)).value_or("failed"), "six");
  invoker->Destroy();
}

TEST_F(ToyRpcTest, APortInUseIsUnavailable) {
  const auto server = Start();
  const auto second = TcpServer::Start({.port = server->port()}, [](const TcpServer::Request&) { return ""; });
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable) << second.status();
}

TEST_F(ToyRpcTest, AUrlWithoutPortIsRefused) {
  const auto url = fairlead::Url::Parse("dubbo://127.0.0.1/a.B", pool_);
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(protocol_.Refer(*url, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace toy
