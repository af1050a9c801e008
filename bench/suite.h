#ifndef FAIRLEAD_BENCH_SUITE_H_
#define FAIRLEAD_BENCH_SUITE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/bench/report.h"

namespace fairlead::bench {

// What can be measured: each entry adds one row, or a few, to the report.
struct Entry {
  std::string name;
  std::int64_t n;
  std::function<void(Report&, const Effort&)> run;
};

class Suite {
 public:
  // Names: family/case, as in "pick/random".
  void Add(std::string name, std::int64_t n, std::function<void(Report&, const Effort&)> run) {
    entries_.push_back({std::move(name), n, std::move(run)});
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// The rows of each part; `quick` leaves out sizes that take long to set up.
void AddPickRows(Suite& suite, bool quick);
void AddBaselineRows(Suite& suite, bool quick);
void AddRuleRows(Suite& suite, bool quick);
void AddDocumentRows(Suite& suite, bool quick);
void AddDownRows(Suite& suite, bool quick);
void AddUpdateRows(Suite& suite, bool quick);
void AddPublishRows(Suite& suite, bool quick);
void AddMemoryRows(Suite& suite, bool quick);

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_SUITE_H_
