// How even the shares are. `value` is the largest deviation from the ideal share of any provider, in picks, at any of
// 100 moments of the run (with several threads: at the end); what it is compared with is the same figure of independent
// draws by a perfect generator. For the ring: keys that move when one provider leaves or joins, against those that
// must.
#include <cmath>
#include <cstdio>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/bench/picks.h"
#include "fairlead/bench/report.h"

namespace fairlead::bench {
namespace {

constexpr int kMoments = 100;
// Not a multiple of any loop of turns: the moments must not always find an order at its end.
int PicksAMoment(int picks) { return picks / kMoments + 17; }

int PickNumber(Directory& directory, const Invocation& invocation) {
  int number = -1;
  const absl::Status status = directory.WithSelected(invocation, [&](const Invoker& invoker) noexcept {
    number = static_cast<const Idle&>(invoker).number();
  });
  if (!status.ok()) {
    std::fprintf(stderr, "a pick failed: %s\n", std::string(status.message()).c_str());
    std::exit(1);
  }
  return number;
}

// Picks and what would have been ideal, by provider.
class Ledger {
 public:
  explicit Ledger(std::size_t n) : taken_(n), ideal_(n) {}
  void Take(int number) { ++taken_[static_cast<std::size_t>(number)]; }
  // `picks` were made while these weights held; 0 = not in the list.
  void Expect(const std::vector<std::int32_t>& weights, double picks) {
    double sum = 0;
    for (const std::int32_t weight : weights) sum += weight;
    for (std::size_t i = 0; i < weights.size(); ++i) ideal_[i] += picks * weights[i] / sum;
    for (std::size_t i = 0; i < ideal_.size(); ++i) most_ = std::max(most_, std::fabs(taken_[i] - ideal_[i]));
  }
  double most() const { return most_; }

 private:
  std::vector<double> taken_, ideal_;
  double most_ = 0;
};

std::vector<std::int32_t> Weights(int n) {
  std::vector<std::int32_t> weights;
  for (int i = 0; i < n; ++i) weights.push_back(WeightOf(i));
  return weights;
}

// The list of each moment of the run. A list that changes loses a provider, gets it back, loses the next ...
std::vector<std::int32_t> WeightsAt(int n, int moment, bool changing) {
  std::vector<std::int32_t> weights = Weights(n);
  if (changing && moment % 2 == 1) weights[static_cast<std::size_t>(moment / 2 % n)] = 0;
  return weights;
}

double PerfectDraw(int n, int picks, bool changing, bool moments) {
  std::mt19937_64 generator(1);
  Ledger ledger(static_cast<std::size_t>(n));
  const int steps = moments ? kMoments : 1;
  const int a_moment = moments ? PicksAMoment(picks) : picks;
  for (int moment = 0; moment < steps; ++moment) {
    const auto weights = WeightsAt(n, moment, changing);
    std::discrete_distribution<int> draw(weights.begin(), weights.end());
    for (int i = 0; i < a_moment; ++i) ledger.Take(draw(generator));
    ledger.Expect(weights, a_moment);
  }
  return ledger.most();
}

double OneThread(const std::string& policy, int n, int picks, bool changing) {
  Bed bed({n, policy});
  const std::vector<std::string> all = bed.texts();
  Invocation invocation = InvocationOf(bed, {});
  bed.WarmUp(invocation);
  Ledger ledger(static_cast<std::size_t>(n));
  for (int moment = 0; moment < kMoments; ++moment) {
    const auto weights = WeightsAt(n, moment, changing);
    if (changing) {
      bed.texts().clear();
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (weights[i] > 0) bed.texts().push_back(all[i]);
      }
      bed.NotifyProviders();
    }
    const int a_moment = PicksAMoment(picks);
    for (int i = 0; i < a_moment; ++i) ledger.Take(PickNumber(bed.directory(), invocation));
    ledger.Expect(weights, a_moment);
  }
  return ledger.most();
}

double ManyThreads(const std::string& policy, int n, int picks, int threads) {
  Bed bed({n, policy});
  bed.WarmUp(InvocationOf(bed, {}));
  const int each = picks / threads + 17;
  std::vector<std::vector<int>> taken(static_cast<std::size_t>(threads));
  std::vector<std::thread> pickers;
  for (auto& mine : taken) {
    pickers.emplace_back([&] {
      const Invocation invocation = InvocationOf(bed, {});
      for (int i = 0; i < each; ++i) mine.push_back(PickNumber(bed.directory(), invocation));
    });
  }
  for (std::thread& picker : pickers) picker.join();
  Ledger ledger(static_cast<std::size_t>(n));
  for (const auto& mine : taken) {
    for (const int number : mine) ledger.Take(number);
  }
  ledger.Expect(Weights(n), each * threads);
  return ledger.most();
}

void AddShares(Report& report, const std::string& policy, int n, int picks) {
  for (const bool changing : {false, true}) {
    Row row = Compared((changing ? "share_changing/" : "share/") + policy, n, "perfect draw");
    row.unit = "picks";
    row.value = OneThread(policy, n, picks, changing);
    row.base = PerfectDraw(n, picks, changing, true);
    row.note = "of " + std::to_string(picks) + (changing ? ", 100 list changes" : "");
    report.Add(row);
  }
  for (const int threads : {2, 4}) {
    Row row = Compared("share/" + policy, n, "perfect draw");
    row.unit = "picks";
    row.threads = threads;
    row.value = ManyThreads(policy, n, picks, threads);
    row.base = PerfectDraw(n, picks, false, false);
    row.note = "of " + std::to_string(picks) + ", at the end";
    report.Add(row);
  }
}

// The owner of each key, keys spread evenly over the ring's positions.
std::vector<int> Owners(Bed& bed, int keys) {
  std::vector<int> owners;
  Invocation invocation = InvocationOf(bed, {});
  for (int i = 0; i < keys; ++i) {
    invocation.hash_key = static_cast<std::uint32_t>(Mix64(static_cast<std::uint64_t>(i)));
    owners.push_back(PickNumber(bed.directory(), invocation));
  }
  return owners;
}

void AddRing(Report& report, int n, int keys) {
  Bed bed({n, "consistenthash"});
  bed.WarmUp(InvocationOf(bed, {true, 0}));
  const std::vector<int> with = Owners(bed, keys);
  std::vector<double> shares(static_cast<std::size_t>(n));
  for (const int owner : with) ++shares[static_cast<std::size_t>(owner)];
  Row largest = Compared("ring/largest_share", n, "fair share");
  largest.unit = "keys";
  largest.value = *std::max_element(shares.begin(), shares.end());
  largest.base = static_cast<double>(keys) / n;
  largest.note = "of " + std::to_string(keys) + " keys, 160 points each";
  report.Add(largest);

  const int leaver = n / 2;
  const std::string text = bed.texts()[static_cast<std::size_t>(leaver)];
  bed.texts().erase(bed.texts().begin() + leaver);
  bed.NotifyProviders();
  const std::vector<int> without = Owners(bed, keys);
  bed.texts().insert(bed.texts().begin() + leaver, text);
  bed.NotifyProviders();
  const std::vector<int> again = Owners(bed, keys);
  const auto add = [&](const char* name, const std::vector<int>& before, const std::vector<int>& after) {
    Row row = Compared(name, n, "optimum", RatioAtMost(1));
    row.unit = "keys";
    for (std::size_t i = 0; i < before.size(); ++i) {
      row.value += before[i] != after[i];
      // Only the keys of the one that leaves have to go, only those of the one that joins have to come.
      row.base += before[i] == leaver || after[i] == leaver;
    }
    row.note = "moved, of " + std::to_string(keys);
    report.Add(row);
  };
  add("ring/moved_by_leave", with, without);
  add("ring/moved_by_join", without, again);
}

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  const Options options = ParseOptions(argc, argv);
  struct Part {
    std::string name;
    int n;
    std::function<void(Report&)> run;
  };
  std::vector<Part> parts;
  const int picks = options.quick ? 200'000 : 2'000'000;
  for (const char* policy : {"random", "roundrobin", "leastactive"}) {
    for (const int n : {10, 100, 1000}) {
      parts.push_back({std::string("share/") + policy, n, [=](Report& report) { AddShares(report, policy, n, picks); }});
    }
  }
  for (const int n : {10, 100, 300}) {
    parts.push_back({"ring", n, [=](Report& report) { AddRing(report, n, picks / 2); }});
  }
  const std::regex wanted(options.filter);
  std::erase_if(parts, [&](const Part& part) { return !std::regex_search(part.name + "/" + std::to_string(part.n), wanted); });
  if (options.list) {
    for (const Part& part : parts) std::printf("%s/%d\n", part.name.c_str(), part.n);
    return 0;
  }
  Report report("fairness", ThisMachine(options.commit), options.quick ? "quick" : "full");
  int done = 0;
  for (const Part& part : parts) {
    std::fprintf(stderr, "[%d/%zu] %s, n = %d\n", ++done, parts.size(), part.name.c_str(), part.n);
    part.run(report);
  }
  report.PrintTotals();
  return options.out.empty() || report.Write(options.out) ? 0 : 1;
}
