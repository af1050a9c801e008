// Fairlead at work, in a few seconds: the registry in memory, real providers on loopback TCP. Each scene says what
// it promises and checks it; the exit code is 0 when every promise was kept.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "fairlead/examples/call_with_retry.h"
#include "fairlead/examples/demo_provider.h"
#include "fairlead/fairlead.h"
#include "fairlead/url/percent.h"

namespace demo {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;
using Shares = std::map<std::string, int>;

bool all_kept = true;

void Promise(bool kept, const std::string& what) {
  std::printf("  %s %s\n", kept ? "[ok]" : "[BROKEN]", what.c_str());
  all_kept = all_kept && kept;
}

void Scene(const char* title) {
  std::printf("\n== %s\n", title);
  std::fflush(stdout);
}

template <class T>
T OrExit(absl::StatusOr<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "demo: %s\n", result.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(result);
}

// Waits until `condition` holds, three seconds at most. Returns the milliseconds since `start`.
template <class Condition>
double MillisUntil(const Condition& condition, SteadyClock::time_point start = SteadyClock::now()) {
  while (!condition() && SteadyClock::now() < start + std::chrono::seconds(3)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

// One service as a client stub holds it: the directory and the numbers of its methods.
struct Orders {
  std::shared_ptr<fairlead::Directory> directory;
  fairlead::MethodId get, pay;

  Orders(fairlead::Runtime& runtime, const std::string& parameters)
      : directory(OrExit(runtime.Refer(kRegistry, std::string("consumer://0.0.0.0/") + kService + "?" + parameters,
                                       std::make_shared<toy::TcpProtocol>()))),
        get(directory->Method("get")),
        pay(directory->Method("pay")) {}

  toy::CallResult Get(std::string_view argument) const {
    return toy::CallWithRetry(*directory, get, "get", argument);
  }
  toy::CallResult Pay(std::string_view argument) const {
    return toy::CallWithRetry(*directory, pay, "pay", argument);
  }
};

void PrintBars(const Shares& shares) {
  int calls = 0;
  for (const auto& share : shares) calls += share.second;
  for (const auto& [name, count] : shares) {
    const std::string bar(static_cast<std::size_t>(count * 40 / std::max(calls, 1)), '#');
    std::printf("    %-11s %4d %5.1f%% %s\n", name.c_str(), count, 100.0 * count / calls, bar.c_str());
  }
}

// `calls` gets from `threads` threads; call number n asks for n modulo `keys`.
Shares CallMany(const Orders& orders, int calls, int threads, int keys) {
  Shares shares;
  std::mutex mutex;
  std::atomic<int> next{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&] {
      for (int call = next++; call < calls; call = next++) {
        const auto result = orders.Get(std::to_string(call % keys));
        const std::lock_guard lock(mutex);
        ++shares[result.answer.ok() ? *result.answer : "(failed)"];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  return shares;
}

using Providers = std::vector<std::unique_ptr<Provider>>;

void ProvidersAppear(fairlead::Runtime& runtime, const std::vector<ProviderSpec>& specs, Providers& providers) {
  Scene("Providers appear");
  const Orders orders(runtime, "");
  std::printf("  a call before any: %s\n", orders.Get("0").answer.status().ToString().c_str());
  for (const ProviderSpec& spec : specs) {
    const auto start = SteadyClock::now();
    providers.push_back(OrExit(Provider::Start(runtime, spec)));
    const double took = MillisUntil([&] { return orders.directory->List({}).size() == providers.size(); }, start);
    std::printf("  %-11s started, registered and seen in %.1f ms  %s\n", spec.name.c_str(), took,
                providers.back()->url().c_str());
  }
  Promise(orders.directory->List({}).size() == specs.size(), "the directory lists all of them");
}

void PoliciesBalance(fairlead::Runtime& runtime, const std::vector<ProviderSpec>& specs) {
  Scene("Four policies, 500 calls each");
  std::printf("  weights:");
  for (const ProviderSpec& spec : specs) std::printf(" %s %d", spec.name.c_str(), spec.weight);
  std::printf("; %s takes %d ms for an answer, the others %d ms\n", specs.back().name.c_str(),
              static_cast<int>(specs.back().work.count()), static_cast<int>(specs.front().work.count()));
  constexpr int kCalls = 500;
  const std::string heavy = specs.front().name, slow = specs.back().name;

  std::printf("  random\n");
  Shares shares = CallMany(Orders(runtime, "loadbalance=random"), kCalls, 2, kCalls);
  PrintBars(shares);
  Promise(shares[heavy] > 150 && shares[heavy] < 250, heavy + " has about 40% for its weight");

  std::printf("  roundrobin\n");
  const Orders in_turn(runtime, "loadbalance=roundrobin");
  // A method's first picks may come before its table is built, and are then drawn.
  MillisUntil([&] { return in_turn.directory->Explain({.method = in_turn.get}).plan == "class"; });
  shares = CallMany(in_turn, kCalls, 1, kCalls);
  PrintBars(shares);
  // The very first call may come before the method's schedule is built.
  Promise(std::abs(shares[heavy] - 200) <= 1 && std::abs(shares[slow] - 100) <= 1, "shares exact to one call");

  std::printf("  leastactive, 8 calls at a time\n");
  shares = CallMany(Orders(runtime, "loadbalance=leastactive"), kCalls, 8, kCalls);
  PrintBars(shares);
  Promise(shares[slow] < 75, slow + ", which is slow, gets less than its 20%");

  std::printf("  consistenthash, 100 keys\n");
  const Orders hashed(runtime, "loadbalance=consistenthash");
  std::map<int, std::string> owners;
  for (int key = 0; key < 100; ++key) owners[key] = hashed.Get(std::to_string(key)).answer.value_or("(failed)");
  Shares expected;
  for (const auto& owner : owners) expected[owner.second] += kCalls / 100;
  shares = CallMany(hashed, kCalls, 2, 100);
  PrintBars(shares);
  Promise(shares == expected, "every key always meets its own provider");
}

fairlead::Registration RuleTakesEffect(fairlead::Runtime& runtime, const Orders& orders) {
  Scene("A rule sends the method pay to one region");
  const std::string rule = "method=pay => region=hangzhou";
  const std::size_t all = orders.directory->List({.method = orders.pay}).size();
  const auto start = SteadyClock::now();
  auto published = OrExit(runtime.Register(kRegistry, std::string("route://0.0.0.0/") + kService +
                                                          "?category=routers&dynamic=false&force=true&rule=" +
                                                          fairlead::PercentEncode(rule)));
  const double took = MillisUntil([&] { return orders.directory->List({.method = orders.pay}).size() < all; }, start);
  std::printf("  \"%s\" published and obeyed in %.1f ms\n", rule.c_str(), took);

  Shares paid, got;
  for (int call = 0; call < 40; ++call) {
    ++paid[orders.Pay(std::to_string(call)).answer.value_or("(failed)")];
    ++got[orders.Get(std::to_string(call)).answer.value_or("(failed)")];
  }
  std::printf("  pay\n");
  PrintBars(paid);
  std::printf("  get\n");
  PrintBars(got);
  bool only_hangzhou = true;
  for (const auto& share : paid) only_hangzhou = only_hangzhou && share.first.starts_with("hangzhou");
  Promise(only_hangzhou, "hangzhou alone answers pay");
  Promise(got.size() == all && !got.contains("(failed)"), "everybody answers get");
  return published;
}

void RollingRestart(fairlead::Runtime& runtime, const Orders& orders, const std::vector<ProviderSpec>& specs,
                    Providers& providers) {
  Scene("Every provider restarts, under load");
  std::atomic<bool> over{false};
  std::atomic<int> calls{0}, failed_calls{0}, failed_picks{0}, retries{0};
  std::vector<std::thread> load;
  for (int i = 0; i < 2; ++i) {
    load.emplace_back([&] {
      while (!over) {
        const int number = ++calls;
        const auto result = number % 2 == 0 ? orders.Get(std::to_string(number)) : orders.Pay(std::to_string(number));
        if (result.attempts == 0) ++failed_picks;
        if (result.attempts > 1) ++retries;
        if (!result.answer.ok()) ++failed_calls;
      }
    });
  }
  for (std::size_t i = 0; i < providers.size(); ++i) {
    const int before = calls, left = providers[i]->port();
    providers[i]->Leave(milliseconds(250));
    providers[i] = OrExit(Provider::Start(runtime, specs[i]));
    MillisUntil([&] {
      for (const fairlead::Url& url : orders.directory->List({})) {
        if (url.port() == providers[i]->port()) return true;
      }
      return false;
    });
    std::printf("  %-11s :%d -> :%d  meanwhile %d calls\n", specs[i].name.c_str(), left, providers[i]->port(),
                calls - before);
    std::fflush(stdout);
  }
  over = true;
  for (std::thread& caller : load) caller.join();
  std::printf("  calls: %d  retries: %d\n  failed calls: %d\n  failed picks: %d\n", calls.load(), retries.load(),
              failed_calls.load(), failed_picks.load());
  Promise(calls > 100 && failed_calls == 0 && failed_picks == 0, "nobody noticed");
  const auto only_new = [&] { return orders.directory->Explain({}).providers == providers.size(); };
  MillisUntil(only_new);
  Promise(only_new(), "the directory lists the new ones and nobody else");
}

void PickIsExplained(const Orders& orders) {
  Scene("Why did a pick go where it went?");
  const fairlead::PickTrace trace = orders.directory->Explain({.method = orders.pay});
  std::printf("%s", trace.ToString().c_str());
  Promise(trace.status.ok() && !trace.routers.empty() && !trace.chosen.empty(), "rules, policy and choice are named");
}

void Run() {
  const auto runtime = OrExit(fairlead::Runtime::Create({.extensions = fairlead::DefaultExtensions(), .seed = 3}));
  const std::vector<ProviderSpec> specs = {{"hangzhou-1", "hangzhou", 200},
                                           {"hangzhou-2", "hangzhou", 100},
                                           {"shanghai-1", "shanghai", 100},
                                           {"shanghai-2", "shanghai", 100, milliseconds(8)}};
  Providers providers;
  ProvidersAppear(*runtime, specs, providers);
  PoliciesBalance(*runtime, specs);
  const Orders orders(*runtime, "loadbalance=roundrobin");
  const fairlead::Registration rule = RuleTakesEffect(*runtime, orders);
  RollingRestart(*runtime, orders, specs, providers);
  PickIsExplained(orders);
}

}  // namespace
}  // namespace demo

int main() {
  const auto start = demo::SteadyClock::now();
  demo::Run();
  const std::chrono::duration<double> took = demo::SteadyClock::now() - start;
  std::printf("\n%s, %.1f seconds\n", demo::all_kept ? "All promises kept" : "A PROMISE WAS BROKEN", took.count());
  return demo::all_kept ? 0 : 1;
}
