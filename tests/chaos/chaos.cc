// The chaos suite: real registries, real TCP providers and callers, and everything that can go wrong with them, drawn
// from a seed. Exit code 0 when every promise was kept. docs/chaos.md says how to read what it prints.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/examples/args.h"
#include "fairlead/tests/chaos/faults.h"
#include "fairlead/tests/chaos/numbers.h"
#include "fairlead/tests/chaos/report.h"
#include "fairlead/tests/chaos/resources.h"
#include "fairlead/tests/chaos/storm.h"

namespace fairlead::chaos {
namespace {

constexpr char kUsage[] =
    "usage: chaos [--registry NAME] [--short] [--seed N] [--rounds N] [--kind NAME] [--out FILE]\n"
    "  --registry NAME  zookeeper, redis (one server, then two in either way) or all (default)\n"
    "  --short          each failure once, small numbers; under two minutes\n"
    "  --seed N         what everything is drawn from (default 1)\n"
    "  --rounds N       how often each failure (default 20; short: 1)\n"
    "  --kind NAME      only this failure; NAME=numbers: only the numbers\n"
    "  --out FILE       write the figures as lines of row,column,value\n";
constexpr char kNumbers[] = "numbers";
constexpr int kDescriptors = 8000;

bool HasFault(MakeRegistry make, std::string_view name) {
  const auto registry = make();
  for (const FaultKind& kind : AllFaults()) {
    if ((name.empty() || name == kind.name) && kind.Fits(*registry)) return true;
  }
  return false;
}

struct Product {
  std::string_view family, name;
  MakeRegistry make;
  bool numbers = true;  // two servers do not read or tell otherwise than one
};

std::vector<Product> Products(std::string_view wanted) {
  std::vector<Product> products = {
#ifdef FAIRLEAD_HAS_ZOOKEEPER
      {"zookeeper", "zookeeper", MakeZookeeper},
#endif
#ifdef FAIRLEAD_HAS_REDIS
      {"redis", "redis", MakeRedis},
      {"redis", "redis-failover", MakeRedisFailover, false},
      {"redis", "redis-replicate", MakeRedisReplicate, false},
#endif
  };
  std::erase_if(products, [&](const Product& product) {
    return wanted != "all" && wanted != product.family && wanted != product.name;
  });
  return products;
}

int Run(int argc, char** argv) {
  toy::Args args(argc, argv, kUsage);
  StormOptions options;
  const std::string wanted = args.Option("--registry", "all");
  const std::vector<Product> products = Products(wanted);
  if (products.empty()) args.Fail("--registry " + wanted + ": unknown, or not built");
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
  for (const Product& product : products) {
    options.registry = product.make;
    const bool measures = product.numbers && (options.kind.empty() || options.kind == kNumbers);
    const bool storms = options.kind != kNumbers && HasFault(product.make, options.kind);
    if (measures || storms) std::printf("\n== %s\n", std::string(product.name).c_str());
    if (storms) RunStorm(options, report);
    if (measures) MeasureNumbers({product.make, options.seed, options.brief}, report);
  }
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
