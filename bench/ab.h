#ifndef FAIRLEAD_BENCH_AB_H_
#define FAIRLEAD_BENCH_AB_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// A/B measuring: a candidate and what it is compared with run by turns in one process, so that what disturbs the
// machine disturbs both. What counts is the median over the runs of the threads' CPU time; a figure whose runs
// differ too much is no figure, and is measured again.
namespace fairlead::bench {

// Makes the compiler believe that `value` is used.
template <class T>
inline void Keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

struct Summary {
  double median = 0;
  double quartiles = 0;  // distance of the third from the first
};
Summary Summarise(std::vector<double> samples);  // at least one
double Percentile(const std::vector<double>& ascending, double share);

struct Target {
  enum class Of { kNothing, kDifference, kRatio, kValue };
  Of of = Of::kNothing;
  double at_most = 0;
};
inline Target DifferenceAtMost(double limit) { return {Target::Of::kDifference, limit}; }
inline Target RatioAtMost(double limit) { return {Target::Of::kRatio, limit}; }
inline Target ValueAtMost(double limit) { return {Target::Of::kValue, limit}; }

enum class Verdict { kReported, kMet, kMissed, kInconclusive, kBelowFloor };

// One line of the report.
struct Row {
  std::string name;       // "pick/random"
  std::int64_t n = 0;     // providers
  int threads = 1;        // of the candidate
  std::string against{};  // what `base` is; empty = the value stands alone
  Target target{};
  std::string unit = "ns";
  double value = 0, base = 0;              // medians
  double quartiles = 0, base_quartiles = 0;
  int runs = 0, attempts = 0;
  // Relative. Quartiles that lie closer than a fifth of a nanosecond never count as spread.
  double spread_limit = 0.10;
  // Of sides with several threads, median: see Run. Below kTogether they did not really meet.
  double together = 1;
  bool failed = false;  // a condition of the row did not hold; the note says which
  std::string note{};

  double difference() const { return value - base; }
  double ratio() const { return base == 0 ? 0 : value / base; }
  double spread() const { return value == 0 ? 0 : quartiles / value; }
  double base_spread() const { return base == 0 ? 0 : base_quartiles / base; }
  bool steady() const;
};
inline Row Compared(std::string name, std::int64_t n, std::string against, Target target = {}) {
  Row row;
  row.name = std::move(name);
  row.n = n;
  row.against = std::move(against);
  row.target = target;
  return row;
}
inline constexpr double kTogether = 0.8;
inline const std::string kFloor = "floor";  // a row's `against` that nothing can be faster than

Verdict Judge(const Row& row);
std::string TargetText(const Row& row);
const char* VerdictText(Verdict verdict);

// Runs an operation that often, on the calling thread. `thread` counts from 0. Called at the same time by as many
// threads as the side has.
using Body = std::function<void(int thread, std::uint64_t iterations)>;

// `make(thread)` makes the operation; its own time is measured too, but once for all iterations.
template <class Make>
Body Repeat(Make make) {
  return [make](int thread, std::uint64_t iterations) {
    auto operation = make(thread);
    for (std::uint64_t i = 0; i < iterations; ++i) operation();
  };
}

struct Side {
  Body body;
  int threads = 1;
  std::function<void()> before_run = nullptr;  // not measured
};

struct Effort {
  int runs = 25;        // of each side, at least 15
  double run_ms = 15;   // CPU time of one run
  int attempts = 3;
  bool quick = false;
};

// Fills in the figures of `row`. `scale`: one iteration is this many of the row's units. Without a base body the value
// stands alone.
Row Measure(Row row, const Side& candidate, const Side& base, const Effort& effort, double scale = 1);

struct Run {
  double ns;            // of CPU time, of one iteration, mean over the threads
  double together = 1;  // share of the time, from the first thread's start to the last one's end, in which all ran
};
Run RunOnce(const Side& side, std::uint64_t iterations);

// Binds the calling thread to the `index`-th CPU it may use. False when there are not that many.
bool PinThread(int index);
int UsableCpus();

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_AB_H_
