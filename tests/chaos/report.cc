#include "fairlead/tests/chaos/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace fairlead::chaos {

void Report::Failed(const std::string& what) {
  std::printf("  FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  failures_.push_back(what.substr(0, what.find('\n')));
}

bool Report::Write(const std::string& path, std::uint64_t seed) const {
  std::ofstream file(path);
  file << "row,column,value\nrun,seed," << seed << "\n";
  for (const Figure& figure : figures_) file << figure.row << "," << figure.column << "," << figure.value << "\n";
  return static_cast<bool>(file.flush());
}

double Millis(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Worst(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace fairlead::chaos
