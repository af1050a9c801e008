#ifndef FAIRLEAD_BENCH_REPORT_H_
#define FAIRLEAD_BENCH_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "fairlead/bench/ab.h"

namespace fairlead::bench {

// What a figure depends on besides the code.
struct Machine {
  std::string cpu, compiler, build, date, commit;
  int cores = 0;
  double load = 0;  // of the last minute, when the program began
};
Machine ThisMachine(std::string commit);

// Rows as they come, on standard output as a table, and at the end as files.
class Report {
 public:
  // `what` is the program's name, and that of its files: <what>.json, <what>.csv.
  Report(std::string what, Machine machine, std::string mode);

  void Add(Row row);
  const std::vector<Row>& rows() const { return rows_; }
  // nullptr when the row was not measured.
  const Row* Find(const std::string& name, std::int64_t n, int threads = 1) const;
  // How many rows missed their target, are inconclusive, or are below their floor.
  void PrintTotals() const;
  // Into an existing folder. False when a file cannot be written.
  bool Write(const std::string& folder) const;

 private:
  std::string ToJson() const;
  std::string ToCsv() const;

  const std::string what_;
  const Machine machine_;
  const std::string mode_;
  std::vector<Row> rows_;
};

// Shared by the programs: --quick, --list, --filter REGEX, --out FOLDER, --commit TEXT. Exits on anything else.
struct Options {
  bool quick = false, list = false;
  std::string filter = ".", out, commit = "unknown";
};
Options ParseOptions(int argc, char** argv);

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_REPORT_H_
