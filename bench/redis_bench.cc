// What a Redis registry costs on a real server of its own: extending 10 000 urls, and how long a change takes to be told.
// Usage: redis_bench [URLS [CHANGES]]
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/asio_executor.h"
#include "fairlead/registry/redis/redis_io.h"
#include "fairlead/registry/redis/redis_keeper.h"
#include "fairlead/registry/redis/redis_registry.h"
#include "fairlead/tests/support/redis_server.h"
#include "fairlead/url/url_pool.h"

namespace {

using namespace fairlead;  // a program, not a header
using SteadyClock = std::chrono::steady_clock;

double Millis(SteadyClock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

double CpuMillis() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

// The number after `name` in what INFO says; 0 when it is not there.
long long InfoNumber(const std::string& info, const std::string& name) {
  const std::size_t at = info.find(name);
  return at == std::string::npos ? 0 : std::atoll(info.c_str() + at + name.size());
}

class Bench : private internal::RedisLink::Observer {
 public:
  Bench() {
    if (const absl::Status started = server_.Start(); !started.ok()) {
      std::fprintf(stderr, "%s\n", started.ToString().c_str());
      std::exit(1);
    }
  }

  void Extensions(int urls) {
    const auto options =
        *internal::RedisOptions::Parse(*Url::Parse("redis://" + server_.address() + "?so.timeout=30000", pool_));
    const auto io = *internal::RedisIo::Start(*executor_);
    const internal::RedisDialer dial = [&](const internal::RedisServer& server, internal::RedisStream::Events& events) {
      return io->Dial(server, events);
    };
    internal::RedisKeeper keeper(options, context_);
    internal::RedisLink::Observer& self = *this;
    auto link = std::make_unique<internal::RedisLink>(options, options.servers[0], context_, 1, dial, self);
    Run([&] { link->Start(); });
    up_.get_future().wait();

    RedisTestClient look(server_.port());
    const auto measure = [&](const char* what, const std::function<void()>& work) {
      look.Ask({"CONFIG", "RESETSTAT"});
      const double cpu = CpuMillis();
      const auto start = SteadyClock::now();
      Run(work);
      while (InfoNumber(look.Ask({"INFO", "commandstats"}), "cmdstat_hset:calls=") < urls) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      const double took = Millis(SteadyClock::now() - start);
      const double used = CpuMillis() - cpu;
      const std::string commands = look.Ask({"INFO", "commandstats"}), stats = look.Ask({"INFO", "stats"});
      std::printf("%-34s %8.1f ms  cpu of this process %7.1f ms  HSET %lld PUBLISH %lld  bytes to the server %lld, from it %lld\n",
                  what, took, used, InfoNumber(commands, "cmdstat_hset:calls="), InfoNumber(commands, "cmdstat_publish:calls="),
                  InfoNumber(stats, "total_net_input_bytes:"), InfoNumber(stats, "total_net_output_bytes:"));
    };
    const std::string parameters =
        "?application=orders&dubbo=2.0.2&interface=com.acme.S&methods=get,put,list&pid=4711&release=3.3.0&side=provider&"
        "timestamp=1700000000000&version=1.0.0&weight=100";
    measure("registering", [&] {
      for (int i = 0; i < urls; ++i) {
        keeper.Put({link.get()}, "/dubbo/com.acme.S" + std::to_string(i / 10) + "/providers",
                   "dubbo://10.0.0.1:" + std::to_string(i) + "/com.acme.S" + parameters, true, nullptr);
      }
    });
    for (int round = 0; round < 5; ++round) {
      measure("one heartbeat", [&] { keeper.Extend(*link, false); });
    }
    Run([&] {
      link->Close();
      link.reset();
    });
    server_.Kill();
    server_.Wipe();
    if (!server_.Start().ok()) std::exit(1);
  }

  void Changes(int changes) {
    const auto url = *Url::Parse("redis://" + server_.address() + "?delay-notification=0", pool_);
    const auto factory = MakeRedisRegistryFactory();
    auto provider = *factory->Create(url, context_), consumer = *factory->Create(url, context_);
    std::promise<void> both;
    int sessions = 0;
    std::atomic<std::size_t> told{~std::size_t{0}};
    Run([&] {
      provider->Start([&](RegistryBackend::Session) { ++sessions == 2 ? both.set_value() : void(); });
      consumer->Start([&](RegistryBackend::Session) { ++sessions == 2 ? both.set_value() : void(); });
    });
    both.get_future().wait();
    Run([&] {
      consumer->Watch("com.acme.Orders", Category::kProviders, [&](const ChildrenAnswer& answer) {
        told = answer.children.size();
        told.notify_all();
      });
    });
    told.wait(~std::size_t{0});
    std::vector<double> times;
    for (int i = 0; i < changes; ++i) {
      const std::string text = "dubbo://10.0.0.1:" + std::to_string(i % 10) + "/com.acme.Orders";
      const bool adds = i / 10 % 2 == 0;
      const std::size_t before = told;
      const auto start = SteadyClock::now();
      executor_->Post([&] {
        if (adds) {
          provider->Put("com.acme.Orders", Category::kProviders, text, true, nullptr);
        } else {
          provider->Remove("com.acme.Orders", Category::kProviders, text, nullptr);
        }
      });
      told.wait(before);
      times.push_back(Millis(SteadyClock::now() - start));
    }
    std::sort(times.begin(), times.end());
    std::printf("a change told to a watcher (%d)    median %.3f ms, 99 %% %.3f ms, longest %.3f ms\n", changes,
                times[times.size() / 2], times[times.size() * 99 / 100], times.back());
    Run([&] {
      provider.reset();
      consumer.reset();
    });
  }

 private:
  void Run(const std::function<void()>& work) {
    std::promise<void> done;
    executor_->Post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void OnUp(internal::RedisLink&) override { up_.set_value(); }
  void OnDown(internal::RedisLink& link) override {
    std::fprintf(stderr, "lost: %s\n", link.trouble().ToString().c_str());
    std::exit(1);
  }
  void OnNoConnection(internal::RedisLink&) override {}
  void OnMessage(internal::RedisLink&, const std::string&, const std::string&) override {}

  RedisServer server_;
  UrlPool pool_;
  Logger log_{StderrLogSink(), RealClock()};
  const std::shared_ptr<Executor> executor_ = MakeThreadExecutor("bench");
  const RegistryContext context_{executor_, &RealClock(), &pool_, &log_, 1};
  std::promise<void> up_;
};

}  // namespace

int main(int argc, char** argv) {
  const int urls = argc > 1 ? std::atoi(argv[1]) : 10000;
  const int changes = argc > 2 ? std::atoi(argv[2]) : 2000;
  std::printf("%d urls\n", urls);
  Bench bench;
  bench.Extensions(urls);
  bench.Changes(changes);
}
