#include "fairlead/bench/ab.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <thread>

namespace fairlead::bench {
namespace {

constexpr double kNeverSpreadNs = 0.2;

double Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// A first call of a thread claims slots and cursors; that is not what a row is about.
constexpr std::uint64_t kWarmUp = 1;

double Timed(const Body& body, int thread, std::uint64_t iterations) {
  const double before = Now(CLOCK_THREAD_CPUTIME_ID);
  body(thread, iterations);
  return (Now(CLOCK_THREAD_CPUTIME_ID) - before) / static_cast<double>(iterations);
}

std::uint64_t Calibrate(const Side& side, double run_ms) {
  for (std::uint64_t iterations = 1;; iterations *= 2) {
    const double ms = RunOnce(side, iterations).ns * static_cast<double>(iterations) / 1e6;
    if (ms >= run_ms / 2) {
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(iterations) * run_ms / ms));
    }
  }
}

bool Quiet(double median, double quartiles, const Row& row) {
  return quartiles <= row.spread_limit * median || (row.unit == "ns" && quartiles <= kNeverSpreadNs);
}

}  // namespace

double Percentile(const std::vector<double>& ascending, double share) {
  const double at = share * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, ascending.size() - 1);
  return ascending[low] + (at - static_cast<double>(low)) * (ascending[high] - ascending[low]);
}

Summary Summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {Percentile(samples, 0.5), Percentile(samples, 0.75) - Percentile(samples, 0.25)};
}

bool Row::steady() const { return together >= kTogether && Quiet(value, quartiles, *this) && Quiet(base, base_quartiles, *this); }

Verdict Judge(const Row& row) {
  if (row.failed) return Verdict::kMissed;
  if (!row.steady()) return Verdict::kInconclusive;
  // Threads that are quicker get into each other's way more: among several the floor is only something to compare with.
  if (row.against == kFloor && row.threads == 1 && row.value < row.base) return Verdict::kBelowFloor;
  double measured = 0;
  switch (row.target.of) {
    case Target::Of::kNothing: return Verdict::kReported;
    case Target::Of::kDifference: measured = row.difference(); break;
    case Target::Of::kRatio: measured = row.ratio(); break;
    case Target::Of::kValue: measured = row.value; break;
  }
  return measured <= row.target.at_most ? Verdict::kMet : Verdict::kMissed;
}

std::string TargetText(const Row& row) {
  char text[64];
  const char* against = row.against.empty() ? "base" : row.against.c_str();
  switch (row.target.of) {
    case Target::Of::kNothing: return "";
    case Target::Of::kDifference:
      std::snprintf(text, sizeof text, "%s + %g %s", against, row.target.at_most, row.unit.c_str());
      break;
    case Target::Of::kRatio: std::snprintf(text, sizeof text, "%g x %s", row.target.at_most, against); break;
    case Target::Of::kValue: std::snprintf(text, sizeof text, "%g %s", row.target.at_most, row.unit.c_str()); break;
  }
  return text;
}

const char* VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReported: return "";
    case Verdict::kMet: return "met";
    case Verdict::kMissed: return "MISSED";
    case Verdict::kInconclusive: return "inconclusive";
    case Verdict::kBelowFloor: return "measuring error: below its floor";
  }
  return "";
}

int UsableCpus() {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
}

bool PinThread(int index) {
  // What the process may use, asked once: a pinned thread would answer for itself.
  static const cpu_set_t usable = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
    return set;
  }();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
  }
  return false;
}

Run RunOnce(const Side& side, std::uint64_t iterations) {
  if (side.before_run) side.before_run();
  if (side.threads == 1) return {Timed(side.body, 0, iterations)};
  static const int cpus = UsableCpus();
  std::atomic<int> waiting{side.threads};
  const auto count = static_cast<std::size_t>(side.threads);
  std::vector<double> ns(count), begin(count), end(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const int thread = static_cast<int>(i);
      PinThread(thread % cpus);
      side.body(thread, kWarmUp);
      waiting.fetch_sub(1);
      while (waiting.load() > 0) {
      }
      begin[i] = Now(CLOCK_MONOTONIC);
      ns[i] = Timed(side.body, thread, iterations);
      end[i] = Now(CLOCK_MONOTONIC);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto [first_begin, last_begin] = std::minmax_element(begin.begin(), begin.end());
  const auto [first_end, last_end] = std::minmax_element(end.begin(), end.end());
  double together = std::max(0.0, *first_end - *last_begin) / (*last_end - *first_begin);
  // A thread that was preempted on the way met nobody meanwhile.
  for (std::size_t i = 0; i < count; ++i) {
    together = std::min(together, ns[i] * static_cast<double>(iterations) / (end[i] - begin[i]));
  }
  return {std::accumulate(ns.begin(), ns.end(), 0.0) / side.threads, together};
}

Row Measure(Row row, const Side& candidate, const Side& base, const Effort& effort, double scale) {
  const bool alone = base.body == nullptr;
  // A long list takes a while to be in the caches again after the other side's run.
  const double run_ms = row.n >= 10'000 ? std::max(effort.run_ms, 10.0) : effort.run_ms;
  row.threads = candidate.threads;
  row.runs = effort.runs;
  Row best;
  for (int attempt = 1; attempt <= effort.attempts; ++attempt) {
    candidate.body(0, kWarmUp);
    const std::uint64_t candidate_iterations = Calibrate(candidate, run_ms);
    if (!alone) base.body(0, kWarmUp);
    const std::uint64_t base_iterations = alone ? 0 : Calibrate(base, run_ms);
    std::vector<double> values, bases, together;
    const auto run_candidate = [&] {
      const Run run = RunOnce(candidate, candidate_iterations);
      values.push_back(run.ns / scale);
      together.push_back(run.together);
    };
    for (int run = 0; run < effort.runs; ++run) {
      // Who comes first changes, so that neither always runs in what the other left in the caches.
      const bool candidate_first = run % 2 == 0;
      if (candidate_first) run_candidate();
      if (!alone) {
        const Run of_base = RunOnce(base, base_iterations);
        bases.push_back(of_base.ns / scale);
        if (base.threads > 1) together.push_back(of_base.together);
      }
      if (!candidate_first) run_candidate();
    }
    row.together = Summarise(together).median;
    const Summary of_values = Summarise(values);
    row.value = of_values.median;
    row.quartiles = of_values.quartiles;
    if (!alone) {
      const Summary of_bases = Summarise(bases);
      row.base = of_bases.median;
      row.base_quartiles = of_bases.quartiles;
    }
    row.attempts = attempt;
    // Of attempts that did not settle, the one that came closest.
    const auto unrest = [](const Row& of) { return std::max({of.spread(), of.base_spread(), 1 - of.together}); };
    if (attempt == 1 || unrest(row) < unrest(best)) best = row;
    best.attempts = attempt;
    const Verdict verdict = Judge(row);
    if (verdict != Verdict::kInconclusive && verdict != Verdict::kBelowFloor) {
      best = row;
      break;
    }
  }
  if (best.together < kTogether) {
    char text[64];
    std::snprintf(text, sizeof text, "the threads ran together for %.0f%% of the time only", 100 * best.together);
    best.note += (best.note.empty() ? "" : "; ") + std::string(text);
  }
  return best;
}

}  // namespace fairlead::bench
