#include "fairlead/tests/chaos/storm.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/base/clock.h"
#include "fairlead/base/strings.h"
#include "fairlead/tests/chaos/faults.h"
#include "fairlead/tests/chaos/resources.h"
#include "fairlead/tests/chaos/world.h"

namespace fairlead::chaos {
namespace {

// Besides the registrar's three.
constexpr int kFleet = 150;
// What may differ between two ends of a world: what libraries make once and keep.
constexpr std::int64_t kHeapSlack = 2 << 20;
constexpr int kRoundsToGrow = 8;

// How few providers a directory offered at the worst moment, looked at from a thread of its own.
class FewestListed {
 public:
  explicit FewestListed(const World& world) : thread_([this, &world] {
      while (!over_) {
        fewest_ = std::min(fewest_, world.Listed(kOrders).size());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }) {}
  ~FewestListed() { Get(); }
  std::size_t Get() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return fewest_;
  }

 private:
  std::atomic<bool> over_{false};
  std::size_t fewest_ = std::numeric_limits<std::size_t>::max();
  std::thread thread_;
};

struct KindResult {
  std::vector<double> right, back;  // ms from the heal to the right directory; to all nodes in the registry
  Callers::Counts calls;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();  // providers listed
};

class Storm {
 public:
  Storm(const StormOptions& options, Report& report, World& world)
      : options_(options), report_(report), world_(world), calm_(WhenCalm()) {}

  void Round(int round) {
    Random random(Mix64(options_.seed) ^ Mix64(static_cast<std::uint64_t>(round)));
    std::vector<const FaultKind*> kinds;
    for (const FaultKind& kind : AllFaults()) {
      if (!kind.Fits(world_.registry())) continue;
      if (options_.kind.empty() || options_.kind == kind.name) kinds.push_back(&kind);
    }
    for (std::size_t left = kinds.size(); left > 1; --left) std::swap(kinds[left - 1], kinds[random.Below(left)]);
    for (const FaultKind* kind : kinds) Suffer(round, *kind, random);
    heap_.push_back(Resources::Now().heap_bytes);
    std::printf("%3d  holds %.1f MB\n", round, static_cast<double>(heap_.back()) / 1e6);
  }

  // The urls of what came and went are kept for some minutes, and so are those of several rounds; not of all.
  void CheckGrowth() {
    if (heap_.size() < 2 * kRoundsToGrow) return;
    const auto early = heap_.begin() + kRoundsToGrow;
    if (heap_.back() > 2 * *std::max_element(heap_.begin(), early)) report_.Failed("memory grows from round to round");
  }

  void PrintTable() {
    const std::string prefix = absl::StrCat(ToAbsl(world_.registry().name()), " ");
    std::printf("\n%-17s %6s  %s  %s\n%-17s %6s  %9s %9s  %9s %9s  %7s %9s %7s %7s\n", "", "",
                "directory right, ms", "own entries back, ms", "failure", "rounds", "median", "worst", "median", "worst",
                "fewest", "served", "retried", "failed");
    for (const FaultKind& kind : AllFaults()) {
      const auto at = results_.find(kind.name);
      if (at == results_.end()) continue;
      const KindResult& result = at->second;
      const std::string row = prefix + std::string(kind.name);
      std::printf("%-17s %6zu  %9.1f %9.1f  %9.1f %9.1f  %7zu %9llu %7llu %7llu\n", std::string(kind.name).c_str(), result.right.size(),
                  Median(result.right), Worst(result.right), Median(result.back), Worst(result.back),
                  result.fewest, static_cast<unsigned long long>(result.calls.served),
                  static_cast<unsigned long long>(result.calls.retried),
                  static_cast<unsigned long long>(result.calls.failed));
      report_.Add(row, "rounds", static_cast<double>(result.right.size()));
      report_.Add(row, "right_median_ms", Median(result.right));
      report_.Add(row, "right_worst_ms", Worst(result.right));
      report_.Add(row, "back_median_ms", Median(result.back));
      report_.Add(row, "back_worst_ms", Worst(result.back));
      report_.Add(row, "fewest_listed", static_cast<double>(result.fewest));
      report_.Add(row, "calls_served", static_cast<double>(result.calls.served));
      report_.Add(row, "calls_retried", static_cast<double>(result.calls.retried));
      report_.Add(row, "calls_failed", static_cast<double>(result.calls.failed));
    }
  }

 private:
  // The first connections of all providers are made in the background.
  static Resources WhenCalm() {
    Resources last = Resources::Now();
    auto since = SteadyClock::now();
    TimeUntil(
        [&] {
          const Resources now = Resources::Now();
          if (now.threads != last.threads || now.descriptors != last.descriptors) {
            last = now;
            since = SteadyClock::now();
          }
          return SteadyClock::now() - since > std::chrono::milliseconds(500);
        },
        since);
    return last;
  }

  // Asks the registry, with a new client where the last one was lost.
  bool Ask(const std::function<bool(RegistryClient&)>& question) {
    try {
      if (client_ == nullptr) client_ = world_.registry().Client();
      return question(*client_);
    } catch (const std::runtime_error&) {
      client_ = nullptr;
      return false;
    }
  }
  bool Right() {
    return Ask([&](RegistryClient& client) { return world_.DirectoriesAreRight(client); });
  }
  // All entries are there, and stay until `until`, in ms since the epoch.
  bool Back(std::int64_t until) {
    return Ask([&](RegistryClient& client) { return world_.EntriesAreBack(client, until); });
  }

  void Suffer(int round, const FaultKind& kind, Random& random) {
    std::printf("%3d  %-17s", round, std::string(kind.name).c_str());
    std::fflush(stdout);
    const Callers::Counts before = world_.callers().counts();
    FewestListed fewest(world_);
    FaultRun run{world_, random, options_.brief};
    KindResult& result = results_[kind.name];
    bool told = false;
    const auto fail = [&](const std::string& what) {
      std::printf("\n");
      report_.Failed(absl::StrCat(ToAbsl(world_.registry().name()), ", round ", round, ", ", std::string(kind.name), ": ", what,
                                  std::exchange(told, true) ? std::string() : Circumstances()));
    };
    try {
      const absl::Status done = kind.run(run);
      if (!done.ok()) fail(done.ToString());
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
    if (run.healed == SteadyClock::time_point()) run.healed = SteadyClock::now();
    const auto right = TimeUntil([&] { return Right(); }, run.healed);
    const auto back = TimeUntil([&] { return Back(0); }, run.healed);
    const auto since = SteadyClock::now() - run.healed;
    const auto extended = std::chrono::duration_cast<std::chrono::milliseconds>(world_.registry().session() - since);
    const std::int64_t until = RealClock().SystemMillis() + extended.count();
    if (!right) fail("the directory is not what the registry lists");
    if (!back) fail("our entries are not in the registry again");
    if (kind.clean != nullptr) {
      try {
        kind.clean(world_);
      } catch (const std::runtime_error& error) {
        fail(error.what());
      }
    }
    // Whatever came back late has to arrive, too, and what stayed there has to be extended since.
    if (right && back && !TimeUntil([&] { return Right() && Back(until); }, run.healed)) {
      fail("right, and then wrong again");
    }
    const bool same_for_all = kind.fewest != Fewest::kHalfUnlessSplit || !world_.registry().splits();
    const std::size_t least = kind.fewest == Fewest::kOne ? 1 : kFleet / 2;
    if (same_for_all && fewest.Get() < least) fail(absl::StrCat("the directory offered only ", fewest.Get(), " providers"));
    result.fewest = std::min(result.fewest, fewest.Get());
    client_ = nullptr;
    if (!TimeUntil([&] { return Calm(); }, SteadyClock::now())) fail("threads or descriptors stay: " + Held());

    const Callers::Counts after = world_.callers().counts();
    const Callers::Counts calls{after.served - before.served, after.retried - before.retried,
                                after.failed - before.failed};
    for (const std::string& failure : world_.callers().TakeFailures()) fail("a call failed: " + failure);
    if (calls.served == 0) fail("no call was served");
    if (right) result.right.push_back(Millis(*right));
    if (back) result.back.push_back(Millis(*back));
    result.calls.served += calls.served;
    result.calls.retried += calls.retried;
    result.calls.failed += calls.failed;
    std::printf(" right after %7.1f ms, entries back after %7.1f ms, %6llu calls, %llu retried, %llu failed\n",
                right ? Millis(*right) : -1, back ? Millis(*back) : -1, static_cast<unsigned long long>(calls.served),
                static_cast<unsigned long long>(calls.retried), static_cast<unsigned long long>(calls.failed));
    std::fflush(stdout);
  }

  bool Calm() const {
    const Resources now = Resources::Now();
    return now.threads <= calm_.threads && now.descriptors <= calm_.descriptors;
  }
  std::string Held() const {
    const Resources now = Resources::Now();
    return absl::StrCat(now.threads, " threads (", calm_.threads, "), ", now.descriptors, " descriptors (",
                        calm_.descriptors, ")");
  }
  std::string Circumstances() {
    std::string text;
    Ask([&](RegistryClient& client) {
      absl::StrAppend(&text, "\n", world_.Difference(client));
      return true;
    });
    absl::StrAppend(&text, "\n", world_.Explain());
    for (const std::string& line : world_.log().Get()) absl::StrAppend(&text, "  log ", line, "\n");
    return text;
  }

  const StormOptions& options_;
  Report& report_;
  World& world_;
  std::unique_ptr<RegistryClient> client_;
  const Resources calm_;
  std::vector<std::int64_t> heap_;  // after each round
  std::map<std::string_view, KindResult> results_;
};

// What the process holds after a world of the same size has been and gone.
Resources AfterAWorld(const StormOptions& options, Report& report, bool with_storm) {
  auto world = World::Make(options.registry, options.seed, kFleet);
  if (!world.ok()) {
    report.Failed(world.status().ToString());
    return Resources::Now();
  }
  if (with_storm) {
    Storm storm(options, report, **world);
    for (int round = 1; round <= options.rounds; ++round) storm.Round(round);
    storm.CheckGrowth();
    storm.PrintTable();
  }
  *world = nullptr;
  return Resources::Now();
}

}  // namespace

void RunStorm(const StormOptions& options, Report& report) {
  const Resources before = AfterAWorld(options, report, false);
  if (!report.ok()) return;
  Resources after = AfterAWorld(options, report, true);
  // Threads that close sessions may take a moment.
  TimeUntil(
      [&] {
        after = Resources::Now();
        return after.threads <= before.threads && after.descriptors <= before.descriptors;
      },
      SteadyClock::now());
  std::printf("\n%-12s %14s %14s\n%-12s %14d %14d\n%-12s %14d %14d\n%-12s %14lld %14lld\n%-12s %14lld %14lld\n", "",
              "before", "after", "threads", before.threads, after.threads, "descriptors", before.descriptors,
              after.descriptors, "heap bytes", static_cast<long long>(before.heap_bytes),
              static_cast<long long>(after.heap_bytes), "resident", static_cast<long long>(before.resident_bytes),
              static_cast<long long>(after.resident_bytes));
  const std::string row = absl::StrCat(ToAbsl(options.registry()->name()), " resources");
  report.Add(row, "threads_left", after.threads - before.threads);
  report.Add(row, "descriptors_left", after.descriptors - before.descriptors);
  report.Add(row, "heap_bytes_left", static_cast<double>(after.heap_bytes - before.heap_bytes));
  if (after.threads > before.threads) report.Failed("threads are left");
  if (after.descriptors > before.descriptors) report.Failed("descriptors are left");
  if (after.heap_bytes > before.heap_bytes + kHeapSlack) report.Failed("memory is left");
}

}  // namespace fairlead::chaos
