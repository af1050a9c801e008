// What a provider costs in memory: one service, parameters that all share, everything of the library counted.
#include <string>
#include <vector>

#include "fairlead/bench/count_memory.h"
#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"

namespace fairlead::bench {
namespace {

constexpr int kProviders = 10'000;

// Bytes a provider, with the plan built, the providers that left closed and the urls that nobody holds forgotten.
class Scale {
 public:
  Scale() : empty_(LiveBytes()), bed_({kProviders, "random", {}, false}) { Settle(); }

  void NextRound() {
    ++round_;
    for (int i = 0; i < kProviders; ++i) {
      bed_.texts()[static_cast<std::size_t>(i)] = ProviderText(i + round_ * kProviders, {false, 0});
    }
    bed_.NotifyProviders();
    Settle();
  }
  double Weigh() {
    // A copy has the room that it needs and no more: with one in their place, the texts take what the copy below takes.
    bed_.texts() = std::vector<std::string>(bed_.texts());
    const std::int64_t before = LiveBytes();
    const std::vector<std::string> harness = bed_.texts();
    const std::int64_t of_harness = LiveBytes() - before;
    return static_cast<double>(before - empty_ - of_harness) / kProviders;
  }
  double AddressText() const {
    double total = 0;
    for (int i = 0; i < kProviders; ++i) total += static_cast<double>(AddressOf(i + round_ * kProviders).size());
    return total / kProviders;
  }

 private:
  void Settle() {
    bed_.WarmUp(InvocationOf(bed_, {}));
    bed_.Advance(std::chrono::seconds(30));
    bed_.SweepPool();
  }

  const std::int64_t empty_;
  Bed bed_;
  int round_ = 0;
};

}  // namespace

void AddMemoryRows(Suite& suite, bool quick) {
  const int rounds = quick ? 20 : 100;
  suite.Add("memory/provider", kProviders, [rounds](Report& report, const Effort&) {
    ForgetSharedBeds();
    Scale scale;
    const double first = scale.Weigh();
    Row row = Compared("memory/provider", kProviders, "", ValueAtMost(200 + scale.AddressText()));
    row.unit = "B";
    row.value = first;
    row.note = "the limit is 200 B and the address text";
    report.Add(row);
    scale.NextRound();
    const double round_one = scale.Weigh();
    for (int round = 1; round < rounds; ++round) scale.NextRound();
    Row churned = Compared("memory/after_churn", kProviders, "round one", RatioAtMost(1.05));
    churned.unit = "B";
    churned.value = scale.Weigh();
    churned.base = round_one;
    churned.note = std::to_string(rounds) + " rounds, all providers new in each";
    report.Add(churned);
  });
}

}  // namespace fairlead::bench
