// A url text that the pool knows, and one that it does not.
#include <benchmark/benchmark.h>

#include <string>

#include "fairlead/bench/bed.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

void ParseKnown(benchmark::State& state) {
  const std::string text = bench::ProviderText(7);
  UrlPool pool;
  const Url kept = *Url::Parse(text, pool);
  for (auto _ : state) benchmark::DoNotOptimize(Url::Parse(text, pool));
}

void ParseNew(benchmark::State& state) {
  UrlPool pool;
  int generation = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string text = bench::ProviderText(7, {true, ++generation});
    state.ResumeTiming();
    benchmark::DoNotOptimize(Url::Parse(text, pool));
  }
}

BENCHMARK(ParseKnown)->Name("url/parse_known");
BENCHMARK(ParseNew)->Name("url/parse_new")->Iterations(200000);

}  // namespace
}  // namespace fairlead

BENCHMARK_MAIN();
