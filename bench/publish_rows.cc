// Picks while snapshots are published: what the slowest of them wait.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "fairlead/base/asio_executor.h"
#include "fairlead/bench/bed.h"
#include "fairlead/bench/suite.h"

namespace fairlead::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kProviders = 10'000;
constexpr int kBatch = 64;
constexpr microseconds kPeriod{1000};  // 1 000 snapshots a second

std::uint64_t Ticks() {
#if defined(__x86_64__)
  unsigned cpu;
  return __rdtscp(&cpu);
#else
  return static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count());
#endif
}

double TicksPerNs() {
  const auto begin = steady_clock::now();
  const std::uint64_t ticks = Ticks();
  while (steady_clock::now() - begin < milliseconds(50)) {
  }
  const auto ticks_taken = static_cast<double>(Ticks() - ticks);
  return ticks_taken / std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count();
}

long Switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

class IdleProtocol final : public Protocol {
 public:
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability) override {
    return std::make_unique<Idle>(effective);
  }
};

// A directory in real time on an executor of its own, and a thread that makes it publish.
class LiveBed {
 public:
  enum class Change { kRules, kOneProvider };

  explicit LiveBed(Change change) : change_(change) {
    Run([this] {
      PinThread(1);
      directory_ = RegistryDirectory::Create(
          MakeConfig(executor_, RealClock(), log_, pool_, std::make_shared<IdleProtocol>(), "random"));
      handle_ = directory_->MakeDirectory(nullptr);
      for (const bool other : {false, true}) {
        for (int i = 0; i < kProviders; ++i) {
          lists_[other].push_back(*Url::Parse(ProviderText(i, {true, other && i == kProviders / 2 ? 1 : 0}), pool_));
        }
      }
      Notify(Category::kConfigurators, {});
      Notify(Category::kRouters, {});
      Notify(Category::kProviders, lists_[0]);
    });
    std::promise<void> ready;
    handle_->AwaitReady(std::chrono::seconds(60), [&](absl::Status) { ready.set_value(); });
    ready.get_future().wait();
  }
  ~LiveBed() {
    handle_.reset();
    std::promise<void> closed;
    executor_->Post([&] { directory_->Close(std::chrono::nanoseconds(0), [&] { closed.set_value(); }); });
    closed.get_future().wait();
    Run([this] { directory_.reset(); });
    executor_->Stop();
  }

  Directory& directory() { return *handle_; }
  std::uint64_t published() const { return handle_->Explain({}).snapshot; }

  // Publishes at the given pace, or as fast as it can if that is slower, while `during` runs.
  template <class During>
  void Publishing(During&& during) {
    std::atomic<bool> stop{false};
    std::atomic<int> queued{0};
    std::thread pacemaker([&] {
      PinThread(1);
      int turn = 0;
      for (auto next = steady_clock::now(); !stop; std::this_thread::sleep_until(next += kPeriod)) {
        if (queued >= 2) continue;
        ++queued;
        executor_->Post([this, &queued, turn = ++turn] {
          if (change_ == Change::kRules) {
            Notify(Category::kRouters, {});
          } else {
            Notify(Category::kProviders, lists_[turn % 2]);
          }
          // Behind the update that the notification has queued.
          executor_->Post([&queued] { --queued; });
        });
      }
    });
    during();
    stop = true;
    pacemaker.join();
    while (queued > 0) std::this_thread::sleep_for(kPeriod);
  }

 private:
  template <class Task>
  void Run(Task task) {
    std::promise<void> done;
    executor_->Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }
  void Notify(Category category, std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    directory_->Notify({"com.acme.Orders", category, ++version_, kind, std::move(urls)});
  }

  const Change change_;
  std::shared_ptr<Executor> executor_ = MakeThreadExecutor("publish");
  Logger log_{nullptr, RealClock()};
  UrlPool pool_;
  std::vector<Url> lists_[2];
  std::uint64_t version_ = 0;
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
};

struct Window {
  std::vector<double> ticks;  // of each batch that ran through
  std::size_t dropped = 0, failed = 0;
};

Window PickFor(Directory& directory, milliseconds duration) {
  Window window;
  window.ticks.reserve(1 << 20);
  const auto end = steady_clock::now() + duration;
  const Invocation invocation;
  long switches = Switches();
  while (steady_clock::now() < end && window.ticks.size() < window.ticks.capacity()) {
    const std::uint64_t begin = Ticks();
    for (int i = 0; i < kBatch; ++i) {
      window.failed += !directory.WithSelected(invocation, [](const Invoker& invoker) noexcept { Keep(&invoker); }).ok();
    }
    const std::uint64_t taken = Ticks() - begin;
    const long now = Switches();
    if (now == switches) {
      window.ticks.push_back(static_cast<double>(taken));
    } else {
      ++window.dropped;
    }
    switches = now;
  }
  std::sort(window.ticks.begin(), window.ticks.end());
  return window;
}

constexpr double kShares[] = {0.5, 0.99, 0.999};
constexpr const char* kShareNames[] = {"p50", "p99", "p99.9"};

struct Outcome {
  std::vector<double> ns[3];  // by share: one figure a window
  std::size_t batches = 0, dropped = 0, failed = 0;

  void Add(const Window& window, double ticks_per_ns) {
    batches += window.ticks.size();
    dropped += window.dropped;
    failed += window.failed;
    if (window.ticks.empty()) return;
    for (int i = 0; i < 3; ++i) ns[i].push_back(Percentile(window.ticks, kShares[i]) / ticks_per_ns / kBatch);
  }
};

void MeasurePublishing(Report& report, const Effort& effort, const std::string& name, LiveBed::Change change) {
  LiveBed bed(change);
  const double ticks_per_ns = TicksPerNs();
  const milliseconds length(effort.quick ? 100 : 400);
  const bool pinned = UsableCpus() >= 2;
  Outcome quiet, busy;
  double seconds = 0;
  std::uint64_t snapshots = 0;
  // On a thread of its own, so that no other row inherits the binding to a CPU.
  std::thread([&] {
    PinThread(0);
    (void)PickFor(bed.directory(), length);
    for (int run = 0; run < effort.runs; ++run) {
      quiet.Add(PickFor(bed.directory(), length), ticks_per_ns);
      bed.Publishing([&] {
        const std::uint64_t before = bed.published();
        const auto begin = steady_clock::now();
        busy.Add(PickFor(bed.directory(), length), ticks_per_ns);
        seconds += std::chrono::duration<double>(steady_clock::now() - begin).count();
        snapshots += bed.published() - before;
      });
    }
  }).join();
  // Picks beside fewer snapshots than the target speaks of prove nothing.
  const bool at_pace = static_cast<double>(snapshots) >= 950 * seconds;
  const std::size_t failed = quiet.failed + busy.failed;
  char note[160];
  std::snprintf(note, sizeof note, "failed picks %zu; batches %zu, preempted %zu (quiet %zu, %zu)%s", failed, busy.batches,
                busy.dropped, quiet.batches, quiet.dropped, pinned ? "" : "; not pinned");
  for (int i = 0; i < 3; ++i) {
    if (quiet.ns[i].empty() || busy.ns[i].empty()) continue;
    const bool judged = i == 2;
    Row row = Compared(name + "/" + kShareNames[i], kProviders, "quiet", judged && at_pace ? RatioAtMost(3) : Target());
    const Summary of_busy = Summarise(busy.ns[i]), of_quiet = Summarise(quiet.ns[i]);
    row.value = of_busy.median;
    row.quartiles = of_busy.quartiles;
    row.base = of_quiet.median;
    row.base_quartiles = of_quiet.quartiles;
    row.runs = effort.runs;
    row.attempts = 1;
    row.spread_limit = judged ? 0.5 : 0.25;
    row.failed = failed > 0;
    row.note = note;
    report.Add(row);
  }
  Row pace = Compared(name + "/period", kProviders, "", ValueAtMost(1050));
  pace.unit = "us";
  pace.value = snapshots == 0 ? 1e9 : 1e6 * seconds / static_cast<double>(snapshots);
  std::snprintf(note, sizeof note, "from snapshot to snapshot: %.0f a second published",
                static_cast<double>(snapshots) / seconds);
  pace.note = note;
  report.Add(pace);
}

}  // namespace

void AddPublishRows(Suite& suite, bool) {
  suite.Add("publish/rules", kProviders, [](Report& report, const Effort& effort) {
    MeasurePublishing(report, effort, "publish/rules", LiveBed::Change::kRules);
  });
  suite.Add("publish/one_changed", kProviders, [](Report& report, const Effort& effort) {
    MeasurePublishing(report, effort, "publish/one_changed", LiveBed::Change::kOneProvider);
  });
}

}  // namespace fairlead::bench
