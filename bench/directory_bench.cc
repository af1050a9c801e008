// The directory as a whole: picks through plans, rules, and notifications. Figures are read as ratios between rows of
// one run; the floor of a pick is an empty read section and the policy's own table (pick_bench).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "fairlead/directory/registry_directory.h"
#include "fairlead/loadbalance/policies.h"
#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

constexpr char kConsumer[] =
    "consumer://10.0.0.9/com.acme.Orders?interface=com.acme.Orders&side=consumer&application=shop&loadbalance=";

class Idle final : public Invoker {
 public:
  explicit Idle(Url url) : url_(std::move(url)) {}
  const Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override { return true; }
  void Destroy() override {}

 private:
  const Url url_;
};

class IdleProtocol final : public Protocol {
 public:
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability) override {
    return std::make_unique<Idle>(effective);
  }
};

std::string ProviderText(int i, int generation) {
  return PercentEncode("dubbo://10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) + "." +
                       std::to_string(i % 256) + ":20880/com.acme.Orders?application=orders&interface=com.acme.Orders&region=r" +
                       std::to_string(i % 7) + "&side=provider&timestamp=1700000000000&weight=" +
                       std::to_string(50 + i % 5 * 25) + (generation > 0 ? "&generation=" + std::to_string(generation) : ""));
}

// A directory in virtual time with n providers and any rules.
class Bed {
 public:
  Bed(int n, const std::string& policy, const std::vector<std::string>& rules = {}) {
    DirectoryConfig config;
    config.executor = std::shared_ptr<Executor>(&executor_, [](Executor*) {});
    config.clock = &clock_;
    config.log = &log_;
    config.pool = &pool_;
    config.protocol = std::make_shared<IdleProtocol>();
    config.consumer = *Url::Parse(kConsumer + policy, pool_);
    config.seed = 1;
    config.policy = [policies = DefaultLoadBalances()](
                        std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
      for (const auto& one : policies) {
        if (one->name() == name) return one;
      }
      return absl::NotFoundError("no such policy");
    };
    config.router = [factory = MakeConditionRouterFactory()](
                        std::string_view) -> absl::StatusOr<std::shared_ptr<RouterFactory>> { return factory; };
    directory_ = RegistryDirectory::Create(std::move(config));
    handle_ = directory_->MakeDirectory(nullptr);
    method_ = handle_->Method("get");
    std::vector<Url> rule_urls;
    for (const std::string& rule : rules) {
      rule_urls.push_back(*Url::Parse(
          "route://0.0.0.0/com.acme.Orders?category=routers&force=true&rule=" + PercentEncode(rule), pool_));
    }
    Notify(Category::kConfigurators, {});
    Notify(Category::kRouters, std::move(rule_urls));
    for (int i = 0; i < n; ++i) texts_.push_back(ProviderText(i, 0));
    NotifyProviders();
  }
  ~Bed() {
    handle_.reset();
    directory_->Close(std::chrono::nanoseconds(0), nullptr);
    executor_.Advance(std::chrono::seconds(1));
  }

  void NotifyProviders() {
    std::vector<Url> urls;
    urls.reserve(texts_.size());
    for (const std::string& text : texts_) urls.push_back(*Url::Parse(text, pool_));
    Notify(Category::kProviders, std::move(urls));
  }
  void Notify(Category category, std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    directory_->Notify({"com.acme.Orders", category, ++version_, kind, std::move(urls)});
    executor_.RunReady();
  }

  // Picks until the plans of `invocation` are built.
  void WarmUp(const Invocation& invocation) {
    (void)handle_->Select(invocation);
    executor_.Advance(std::chrono::milliseconds(50));
  }

  std::vector<std::string>& texts() { return texts_; }
  Directory& directory() { return *handle_; }
  MethodId method() const { return method_; }

 private:
  FakeClock clock_;
  ManualExecutor executor_{clock_};
  Logger log_{nullptr, clock_};
  UrlPool pool_{clock_};
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  MethodId method_ = MethodId::kAny;
  std::uint64_t version_ = 0;
  std::vector<std::string> texts_;
};

std::unique_ptr<Bed> shared_bed;

void WithSelected(benchmark::State& state, const std::string& policy, const std::vector<std::string>& rules,
                  std::size_t attachments) {
  if (state.thread_index() == 0) shared_bed = std::make_unique<Bed>(static_cast<int>(state.range(0)), policy, rules);
  static constexpr Attachment kAttachments[] = {{"trace", "1"}, {"user", "2"}, {"zone", "a"}, {"path", "x"}};
  static constexpr Argument kArguments[] = {{"42"}};
  Invocation invocation;
  invocation.attachments = std::span(kAttachments, attachments);
  if (policy == "consistenthash") invocation.hash_key = 12345;
  invocation.arguments = kArguments;
  if (state.thread_index() == 0) {
    invocation.method = shared_bed->method();
    shared_bed->WarmUp(invocation);
  }
  bool first = true;
  for (auto _ : state) {
    if (first) {
      invocation.method = shared_bed->method();
      first = false;
    }
    benchmark::DoNotOptimize(
        shared_bed->directory().WithSelected(invocation, [](const Invoker& invoker) noexcept { benchmark::DoNotOptimize(&invoker); }));
  }
  if (state.thread_index() == 0) shared_bed.reset();
}

void Pick(benchmark::State& state, const std::string& policy) { WithSelected(state, policy, {}, 0); }

void SelectAndEnd(benchmark::State& state, const std::string& policy) {
  if (state.thread_index() == 0) shared_bed = std::make_unique<Bed>(static_cast<int>(state.range(0)), policy);
  Invocation invocation;
  if (policy == "consistenthash") invocation.hash_key = 12345;
  for (auto _ : state) {
    absl::StatusOr<Lease> lease = shared_bed->directory().Select(invocation);
    lease->End(absl::OkStatus());
  }
  if (state.thread_index() == 0) shared_bed.reset();
}

void ReadSectionFloor(benchmark::State& state) {
  for (auto _ : state) {
    const ReadSection section;
    benchmark::DoNotOptimize(&section);
  }
}

std::vector<std::string> CachedRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) rules.push_back("method=get" + std::string(i % 2, '*') + " => region!=nowhere" + std::to_string(i));
  return rules;
}
std::vector<std::string> RuntimeRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) rules.push_back("arguments[0]!=x" + std::to_string(i) + " => region!=nowhere" + std::to_string(i));
  return rules;
}

// The pass that no change of a list can do without: hash and probe of each text.
void BarePass(benchmark::State& state) {
  std::vector<std::string> texts;
  for (int i = 0; i < state.range(0); ++i) texts.push_back(ProviderText(i, 0));
  const std::unordered_set<std::string> known(texts.begin(), texts.end());
  for (auto _ : state) {
    std::size_t found = 0;
    for (const std::string& text : texts) found += known.count(text);
    benchmark::DoNotOptimize(found);
  }
}

// `changed` of n texts are new in each push.
void Notify(benchmark::State& state, int changed) {
  Bed bed(static_cast<int>(state.range(0)), "random");
  int generation = 0;
  for (auto _ : state) {
    ++generation;
    const int count = std::min(changed, static_cast<int>(state.range(0)));
    for (int i = 0; i < count; ++i) bed.texts()[static_cast<std::size_t>(i)] = ProviderText(i, generation);
    bed.NotifyProviders();
  }
}

void ParseUrl(benchmark::State& state, bool known) {
  const std::string text = ProviderText(7, 0);
  UrlPool pool;
  const Url kept = *Url::Parse(text, pool);
  int i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Url::Parse(known ? text : ProviderText(7, ++i), pool));
  }
}

void Register() {
  for (const char* policy : {"random", "roundrobin", "leastactive", "consistenthash"}) {
    for (const int threads : {1, 2}) {
      benchmark::RegisterBenchmark((std::string("pick/") + policy).c_str(),
                                   [policy](benchmark::State& state) { Pick(state, policy); })
          ->RangeMultiplier(10)->Range(10, 100000)->Threads(threads);
      benchmark::RegisterBenchmark((std::string("select_and_end/") + policy).c_str(),
                                   [policy](benchmark::State& state) { SelectAndEnd(state, policy); })
          ->Arg(10)->Arg(10000)->Threads(threads);
    }
  }
  benchmark::RegisterBenchmark("floor/read_section", ReadSectionFloor)->ThreadRange(1, 2);
  for (const int rules : {0, 1, 10}) {
    for (const int attachments : {0, 4}) {
      const std::string suffix = std::to_string(rules) + "_rules/" + std::to_string(attachments) + "_attachments";
      benchmark::RegisterBenchmark(("route/cached/" + suffix).c_str(), [=](benchmark::State& state) {
        WithSelected(state, "random", CachedRules(rules), static_cast<std::size_t>(attachments));
      })->Arg(100)->Arg(10000);
      benchmark::RegisterBenchmark(("route/runtime/" + suffix).c_str(), [=](benchmark::State& state) {
        WithSelected(state, "random", RuntimeRules(rules), static_cast<std::size_t>(attachments));
      })->Arg(100)->Arg(10000);
    }
  }
  benchmark::RegisterBenchmark("notify/bare_pass", BarePass)->Arg(10000)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("notify/identical", [](benchmark::State& state) { Notify(state, 0); })
      ->Arg(10000)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("notify/one_changed", [](benchmark::State& state) { Notify(state, 1); })
      ->Arg(10000)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("notify/all_new", [](benchmark::State& state) { Notify(state, 1 << 30); })
      ->Arg(10000)->Unit(benchmark::kMicrosecond)->Iterations(20);
  benchmark::RegisterBenchmark("url/parse_known", [](benchmark::State& state) { ParseUrl(state, true); });
  benchmark::RegisterBenchmark("url/parse_new", [](benchmark::State& state) { ParseUrl(state, false); })->Iterations(200000);
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  fairlead::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
