// The figures of the engine, each against its floor or its like, with the targets the project has set itself. Read
// ratios and differences of one run; figures of different machines do not compare.
//
//   engine_bench [--quick] [--list] [--filter REGEX] [--out FOLDER] [--commit TEXT]
#include <cstdio>
#include <regex>
#include <string>

#include "fairlead/bench/bed.h"
#include "fairlead/bench/suite.h"

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  const Options options = ParseOptions(argc, argv);
  Suite suite;
  AddPickRows(suite, options.quick);
  AddBaselineRows(suite, options.quick);
  AddRuleRows(suite, options.quick);
  AddDocumentRows(suite, options.quick);
  AddDownRows(suite, options.quick);
  AddUpdateRows(suite, options.quick);
  AddPublishRows(suite, options.quick);
  AddMemoryRows(suite, options.quick);

  const std::regex wanted(options.filter);
  std::vector<const Entry*> chosen;
  for (const Entry& entry : suite.entries()) {
    const std::string id = entry.name + "/" + std::to_string(entry.n);
    if (!std::regex_search(id, wanted)) continue;
    if (options.list) std::puts(id.c_str());
    chosen.push_back(&entry);
  }
  if (options.list) return 0;

  Effort effort;
  if (options.quick) effort = {15, 2, 2, true};
  Report report("engine", ThisMachine(options.commit), options.quick ? "quick" : "full");
  int done = 0;
  for (const Entry* entry : chosen) {
    std::fprintf(stderr, "[%d/%zu] %s, n = %lld\n", ++done, chosen.size(), entry->name.c_str(),
                 static_cast<long long>(entry->n));
    entry->run(report, effort);
  }
  ForgetSharedBeds();
  report.PrintTotals();
  return options.out.empty() || report.Write(options.out) ? 0 : 1;
}
