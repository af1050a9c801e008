// A consumer of the providers that `provider` starts: refers to their service through a registry and calls it at a
// steady pace, with one retry elsewhere, while providers come and go.
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include "fairlead/examples/args.h"
#include "fairlead/examples/call_with_retry.h"
#include "fairlead/examples/toy_rpc.h"
#include "fairlead/fairlead.h"

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kUsage = R"(usage: consumer REGISTRY [OPTION]...

Calls the providers of a service and says who answered.

  REGISTRY               for example zookeeper://127.0.0.1:2181
  --service NAME         interface, default com.acme.Orders
  --consumer-params P    parameters of the consumer url, for example "loadbalance=roundrobin&version=1.0.0"
  --method M             default get
  --calls N              call N times and print each answer, default 10
  --seconds S            call for S seconds, or until SIGINT or SIGTERM, and print a tally every second
  --interval-ms I        between two calls, default 100
  --explain              print at the end how a pick comes about

The argument of call number n is the text n. Exit code 0 when every call was answered, 1 when one failed, 2 for wrong
arguments, 3 when the registry cannot be reached.
)";

struct Settings {
  std::string registry, consumer, method;
  int calls = 10;
  std::optional<int> seconds;
  std::chrono::milliseconds interval{100};
  bool explain = false;
};

Settings Read(int argc, char** argv) {
  toy::Args args(argc, argv, kUsage);
  Settings settings;
  // 0.0.0.0 stands for this machine's address, which the runtime finds out.
  settings.consumer = "consumer://0.0.0.0/" + args.Option("--service", "com.acme.Orders") + "?side=consumer";
  if (const auto parameters = args.Option("--consumer-params")) settings.consumer += "&" + *parameters;
  settings.method = args.Option("--method", "get");
  settings.calls = args.Number("--calls", 1, 1'000'000'000).value_or(settings.calls);
  settings.seconds = args.Number("--seconds", 1, 1'000'000);
  settings.interval = std::chrono::milliseconds(args.Number("--interval-ms", 0, 60'000).value_or(100));
  settings.explain = args.Flag("--explain");
  settings.registry = args.Positional("REGISTRY");
  args.Finish();
  return settings;
}

volatile std::sig_atomic_t stop_asked = 0;

struct Tally {
  std::map<std::string, int> answers;
  int calls = 0, failed_calls = 0, failed_picks = 0;

  void Count(const toy::CallResult& result) {
    ++calls;
    if (result.answer.ok()) {
      ++answers[*result.answer];
    } else {
      ++failed_calls;
      if (result.attempts == 0) ++failed_picks;
    }
  }
  void Print() const {
    std::printf("calls: %d  failed calls: %d  failed picks: %d\n", calls, failed_calls, failed_picks);
    for (const auto& [who, count] : answers) std::printf("  %8d  %s\n", count, who.c_str());
    std::fflush(stdout);
  }
};

int Run(const Settings& settings) {
  auto runtime = fairlead::Runtime::Create({.extensions = fairlead::DefaultExtensions()});
  auto directory = runtime.ok() ? (*runtime)->Refer(settings.registry, settings.consumer,
                                                    std::make_shared<toy::TcpProtocol>())
                                : runtime.status();
  if (!directory.ok()) {
    std::fprintf(stderr, "consumer: %s\n", directory.status().ToString().c_str());
    return directory.status().code() == absl::StatusCode::kUnavailable ? 3 : 2;
  }
  const fairlead::MethodId method = (*directory)->Method(settings.method);

  Tally tally;
  const auto start = SteadyClock::now();
  auto next_report = start + std::chrono::seconds(1);
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  const auto done = [&] {
    if (stop_asked != 0) return true;
    return settings.seconds ? SteadyClock::now() >= start + std::chrono::seconds(*settings.seconds)
                            : tally.calls == settings.calls;
  };
  while (!done()) {
    const auto result = toy::CallWithRetry(**directory, method, settings.method, std::to_string(tally.calls + 1));
    tally.Count(result);
    if (!result.answer.ok()) {
      std::printf("call %d failed: %s\n", tally.calls, result.answer.status().ToString().c_str());
    } else if (!settings.seconds) {
      std::printf("call %d: %s\n", tally.calls, result.answer->c_str());
    }
    if (settings.seconds && SteadyClock::now() >= next_report) {
      tally.Print();
      next_report += std::chrono::seconds(1);
    }
    if (!done()) std::this_thread::sleep_for(settings.interval);
  }
  tally.Print();
  if (settings.explain) std::printf("%s", (*directory)->Explain({.method = method}).ToString().c_str());
  return tally.failed_calls == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return Run(Read(argc, argv)); }
