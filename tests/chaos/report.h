#ifndef FAIRLEAD_TESTS_CHAOS_REPORT_H_
#define FAIRLEAD_TESTS_CHAOS_REPORT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::chaos {

// A figure of the suite. Times are in milliseconds.
struct Figure {
  std::string row, column;
  double value = 0;
};

// Numbers that were measured, and what must be true: kept for the end, and said when it happens. Not thread-safe.
class Report {
 public:
  // A broken promise. The run goes on.
  void Failed(const std::string& what);
  bool ok() const { return failures_.empty(); }
  const std::vector<std::string>& failures() const { return failures_; }

  void Add(std::string row, std::string column, double value) {
    figures_.push_back({std::move(row), std::move(column), value});
  }
  // "row,column,value" lines. False when the file cannot be written.
  bool Write(const std::string& path, std::uint64_t seed) const;

 private:
  std::vector<std::string> failures_;
  std::vector<Figure> figures_;
};

double Millis(std::chrono::nanoseconds time);
// 0 of none.
double Median(std::vector<double> values);
double Worst(const std::vector<double>& values);

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_REPORT_H_
