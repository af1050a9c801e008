// Replays recorded scenarios, what happens to a ZooKeeper tree and what a consumer of Dubbo Java answers meanwhile, with
// consumers of this library on a real server, and compares every answer.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fairlead/tests/conformance/canonical_json.h"
#include "fairlead/tests/conformance/case_reader.h"
#include "fairlead/tests/conformance/deviations.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "list_answer.h"
#include "replay.h"

namespace fairlead::e2e {
namespace {

constexpr double kMaxDeclared = 0.05;  // of the lists
constexpr int kUsage = 2;

struct Options {
  std::filesystem::path file;
  std::string scenario;  // empty = all
  bool verbose = false;
  unsigned jobs = 8;
  std::filesystem::path deviations = FAIRLEAD_TEST_DATA "/conformance/deviations.json";
};

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument == "--scenario" && has_value) {
      options.scenario = argv[++i];
      options.verbose = true;
    } else if (argument == "--deviations" && has_value) {
      options.deviations = argv[++i];
    } else if (argument == "--jobs" && has_value) {
      char* end = nullptr;
      options.jobs = static_cast<unsigned>(std::strtoul(argv[++i], &end, 10));
      if (*end != '\0' || options.jobs == 0 || options.jobs > 64) return std::nullopt;
    } else if (!argument.starts_with("--") && options.file.empty()) {
      options.file = argument;
    } else {
      return std::nullopt;
    }
  }
  if (options.file.empty()) return std::nullopt;
  return options;
}

// What a list step's answer is, seen from the trace. All but the last are fine.
enum class Verdict : std::uint8_t {
  kEqual,
  kFresh,        // what a consumer that starts now answers in Java
  kAlternative,  // a draw between the same sets
  kHistory,      // in Java it hangs on the past, and is neither what it was there nor what it is for a new consumer
  kGroups,       // Java has a bundle for each group; which rules hold in it hangs on whom its hash map has first
  kMixed,        // as kGroups, of two applications' rules
  kDeclared,     // by its id
  kWeight,       // declared by what it is: equal, but that Java fails when it weighs
  kFailed,
};
constexpr int kVerdicts = static_cast<int>(Verdict::kFailed) + 1;

// Java's answers, a sample, are all among our draws, and most of our draws are among them: what is rare it may have
// missed.
bool SameDraws(const Json& alternatives, const std::vector<Json>& draws) {
  std::size_t theirs = 0;
  for (const Json& one : alternatives) {
    const auto same = std::count_if(draws.begin(), draws.end(), [&](const Json& draw) { return SameAnswer(one, draw); });
    if (same == 0) return false;
    theirs += static_cast<std::size_t>(same);
  }
  return theirs * 5 >= draws.size() * 4;
}

// Without the deviations.
Verdict Judge(const Json& step, const ListResult& result) {
  const Json& expected = step.at("expect");
  const Json& got = result.got;
  if (step.value("random", false)) {
    return SameDraws(step.at("alternatives"), result.draws) ? Verdict::kAlternative : Verdict::kFailed;
  }
  if (SameAnswer(expected, got)) return Verdict::kEqual;
  if (step.contains("fresh") && SameAnswer(step.at("fresh"), got)) return Verdict::kFresh;
  if (expected.contains("merged_groups") && expected.at("consumer_params") == got.at("consumer_params")) return Verdict::kGroups;
  if (step.value("provider_apps_mixed", false)) return Verdict::kMixed;
  if (step.contains("fresh")) return Verdict::kHistory;
  if (SameAnswer(expected, WithoutWeights(got, expected))) return Verdict::kWeight;
  return Verdict::kFailed;
}

class Report {
 public:
  Report(const Options& options, conformance::Deviations deviations) : options_(options), deviations_(std::move(deviations)) {}

  void Add(const Json& scenario, const std::vector<ListResult>& results) {
    const std::string id = scenario.at("id").get<std::string>();
    const std::lock_guard lock(mutex_);
    ++scenarios_;
    for (const ListResult& result : results) {
      const Json& step = scenario.at("steps")[result.step];
      const std::string name = id + "#" + std::to_string(result.step);
      Verdict verdict = Judge(step, result);
      const std::string* declared = deviations_.Find("e2e", name);
      std::string why;
      if (declared != nullptr && (verdict == Verdict::kFailed || verdict == Verdict::kWeight)) {
        verdict = Verdict::kDeclared;
      } else if (declared != nullptr) {
        verdict = Verdict::kFailed;
        why = "  passes, yet is declared as deviation: " + *declared + "\n";
      }
      ++counts_[static_cast<int>(verdict)];
      if (verdict == Verdict::kFailed || (!options_.scenario.empty() && verdict >= Verdict::kDeclared)) {
        failures_[name] = why + "  " + step.at("invocation").dump() + "\n" + Difference(step.at("expect"), result.got);
      }
    }
  }

  void Fail(const Json& scenario, const std::string& why) {
    const std::lock_guard lock(mutex_);
    ++scenarios_;
    ++broken_;
    failures_[scenario.at("id").get<std::string>()] = "  cannot be replayed: " + why + "\n";
  }

  int Print() const {
    const auto count = [this](Verdict verdict) { return counts_[static_cast<int>(verdict)]; };
    int lists = 0;
    for (const int one : counts_) lists += one;
    const int declared = count(Verdict::kDeclared) + count(Verdict::kWeight);
    const int accepted = lists - count(Verdict::kEqual) - declared - count(Verdict::kFailed);
    std::printf("%-12s %6d\n%-12s %6d\n%-12s %6d\n", "scenarios", scenarios_, "lists", lists, "equal", count(Verdict::kEqual));
    std::printf("%-12s %6d  (fresh %d, alternatives %d, history %d, content of groups %d, applications mixed %d)\n",
                "accepted", accepted, count(Verdict::kFresh), count(Verdict::kAlternative), count(Verdict::kHistory),
                count(Verdict::kGroups), count(Verdict::kMixed));
    std::printf("%-12s %6d  (by id %d, another weight that is no number %d)\n%-12s %6d\n", "declared", declared,
                count(Verdict::kDeclared), count(Verdict::kWeight), "failed", count(Verdict::kFailed) + broken_);
    for (const auto& [name, difference] : failures_) {
      std::printf("\n%s\n%s", name.c_str(), options_.verbose ? difference.c_str() : "");
    }
    const bool too_many = declared > kMaxDeclared * lists;
    if (too_many && options_.scenario.empty()) std::printf("\nmore than 5 %% of the lists are declared deviations\n");
    if (scenarios_ == 0) {
      std::fprintf(stderr, "no scenario %s\n", options_.scenario.c_str());
      return kUsage;
    }
    return count(Verdict::kFailed) + broken_ == 0 && (!too_many || !options_.scenario.empty()) ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  const Options& options_;
  const conformance::Deviations deviations_;
  std::mutex mutex_;
  int counts_[kVerdicts] = {};
  int scenarios_ = 0, broken_ = 0;
  std::map<std::string, std::string> failures_;
};

std::vector<Json> ReadScenarios(const Options& options) {
  std::vector<Json> scenarios;
  const std::string text = conformance::ReadCaseText(options.file);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) {
      Json one = conformance::ParseJson(std::string_view(text).substr(begin, end - begin));
      if (options.scenario.empty() || one.at("id") == options.scenario) scenarios.push_back(std::move(one));
    }
    begin = end + 1;
  }
  return scenarios;
}

int Main(int argc, char** argv) {
  const std::optional<Options> options = ParseOptions(argc, argv);
  if (!options.has_value()) {
    std::fprintf(stderr, "usage: %s FILE [--verbose] [--scenario ID] [--jobs N] [--deviations FILE]\n", argv[0]);
    return kUsage;
  }
  try {
    const std::vector<Json> scenarios = ReadScenarios(*options);
    Report report(*options, conformance::Deviations::Read(options->deviations));
    ZookeeperServer server;
    if (const absl::Status started = server.Start(); !started.ok()) throw std::runtime_error(started.ToString());
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < options->jobs; ++i) {
      workers.emplace_back([&] {
        for (std::size_t at = next++; at < scenarios.size(); at = next++) {
          try {
            report.Add(scenarios[at], Replay(server.address(), "s" + std::to_string(at), scenarios[at]));
          } catch (const std::exception& error) {
            report.Fail(scenarios[at], error.what());
          }
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    return report.Print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "e2e_runner: %s\n", error.what());
    return kUsage;
  }
}

}  // namespace
}  // namespace fairlead::e2e

int main(int argc, char** argv) { return fairlead::e2e::Main(argc, argv); }
