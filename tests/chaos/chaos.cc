// The chaos suite: a real ZooKeeper, real TCP providers and callers, and everything that can go wrong with them, drawn
// from a seed. Exit code 0 when every promise was kept. docs/chaos.md says how to read what it prints.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "fairlead/examples/args.h"
#include "fairlead/tests/chaos/faults.h"
#include "fairlead/tests/chaos/numbers.h"
#include "fairlead/tests/chaos/report.h"
#include "fairlead/tests/chaos/resources.h"
#include "fairlead/tests/chaos/storm.h"

namespace fairlead::chaos {
namespace {

constexpr char kUsage[] =
    "usage: chaos [--short] [--seed N] [--rounds N] [--kind NAME] [--out FILE]\n"
    "  --short      each failure once, small numbers; under 90 seconds\n"
    "  --seed N     what everything is drawn from (default 1)\n"
    "  --rounds N   how often each failure (default 20; short: 1)\n"
    "  --kind NAME  only this failure; NAME=numbers: only the numbers\n"
    "  --out FILE   write the figures as lines of row,column,value\n";
constexpr char kNumbers[] = "numbers";
constexpr int kDescriptors = 8000;

int Run(int argc, char** argv) {
  toy::Args args(argc, argv, kUsage);
  StormOptions options;
  options.brief = args.Flag("--short");
  options.seed = static_cast<std::uint64_t>(args.Number("--seed", 0, 2147483647).value_or(1));
  options.rounds = args.Number("--rounds", 1, 10000).value_or(options.brief ? 1 : 20);
  options.kind = args.Option("--kind", "");
  const std::string out = args.Option("--out", "");
  bool known = options.kind.empty() || options.kind == kNumbers;
  for (const FaultKind& kind : AllFaults()) known = known || options.kind == kind.name;
  if (!known) args.Fail("--kind " + options.kind + ": unknown");
  args.Finish();
  if (const int limit = RaiseDescriptorLimit(); limit < kDescriptors) {
    std::fprintf(stderr, "chaos needs %d file descriptors and may have %d: raise ulimit -n\n", kDescriptors, limit);
    return 2;
  }
  // Before an hour of work, not after it.
  if (!out.empty() && !std::ofstream(out, std::ios::app)) {
    std::fprintf(stderr, "--out %s: cannot be written; name a file in a directory that exists\n", out.c_str());
    return 2;
  }
  std::printf("seed %llu, %d rounds%s\n", static_cast<unsigned long long>(options.seed), options.rounds,
              options.brief ? ", short" : "");

  Report report;
  if (options.kind != kNumbers) RunStorm(options, report);
  if (options.kind.empty() || options.kind == kNumbers) MeasureNumbers({options.seed, options.brief}, report);
  const bool written = out.empty() || report.Write(out, options.seed);
  if (!written) std::fprintf(stderr, "--out %s: cannot be written any more\n", out.c_str());
  if (report.ok()) {
    std::printf("\nEvery promise was kept\n");
    return written ? 0 : 2;
  }
  std::printf("\n%zu PROMISES WERE BROKEN (seed %llu)\n", report.failures().size(),
              static_cast<unsigned long long>(options.seed));
  for (const std::string& failure : report.failures()) std::printf("  %s\n", failure.c_str());
  return 1;
}

}  // namespace
}  // namespace fairlead::chaos

int main(int argc, char** argv) {
  try {
    return fairlead::chaos::Run(argc, argv);
  } catch (const std::exception& error) {
    std::printf("\nthe suite itself failed: %s\n", error.what());
    return 1;
  }
}
