#include "runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "canonical_json.h"
#include "case_reader.h"
#include "deviations.h"

namespace fairlead::conformance {
namespace {

class FunctionKind : public KindHandler {
 public:
  explicit FunctionKind(std::function<Outcome(const Case&)> judge) : judge_(std::move(judge)) {}
  Outcome Run(const Case& c) override { return judge_(c); }

 private:
  std::function<Outcome(const Case&)> judge_;
};

struct Count {
  int cases = 0, passed = 0, deviations = 0, failed = 0;
  bool supported = true;
};

constexpr double kMaxDeviations = 0.05;  // of the cases of a file
constexpr int kUsage = 2;

struct Options {
  std::filesystem::path folder;
  std::string kind;  // empty = all
  std::size_t failures = 5;
  std::filesystem::path deviations = FAIRLEAD_TEST_DATA "/conformance/deviations.json";
  std::filesystem::path differences;  // not empty: compare compat=strict with fixed instead of with Dubbo
};

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--kind" && has_value) {
      options.kind = argv[++i];
    } else if (argument == "--failures" && has_value) {
      char* end = nullptr;
      options.failures = std::strtoul(argv[++i], &end, 10);
      if (*end != '\0' || end == argv[i]) return std::nullopt;
    } else if (argument == "--deviations" && has_value) {
      options.deviations = argv[++i];
    } else if (argument == "--compat-differences" && has_value) {
      options.differences = argv[++i];
    } else if (argument.substr(0, 2) != "--" && options.folder.empty()) {
      options.folder = argument;
    } else {
      return std::nullopt;
    }
  }
  if (options.folder.empty()) return std::nullopt;
  return options;
}

// `registry` selects every `registry.<group>`.
bool Selects(const std::string& wanted, const std::string& kind) {
  return wanted.empty() || kind == wanted || kind.compare(0, wanted.size() + 1, wanted + ".") == 0;
}

Outcome Ask(KindHandler& handler, const Case& c) {
  try {
    return handler.Run(c);
  } catch (const std::exception& error) {
    return {false, Json{{"exception", error.what()}}};
  }
}

class Run {
 public:
  Run(const Options& options, Deviations deviations) : options_(options), deviations_(std::move(deviations)) {
    RegisterAllKinds(kinds_);
  }

  void Add(const Case& c) {
    ++file_cases_;
    if (!Selects(options_.kind, c.kind)) return;
    Count& count = counts_[c.kind];
    ++count.cases;
    KindHandler* handler = kinds_.Find(c.kind);
    if (handler == nullptr) {
      count.supported = false;
      return;
    }
    const Outcome outcome = Ask(*handler, c);
    const std::string* declared = deviations_.Find(c.kind, c.id);
    if (outcome.passed && declared == nullptr) {
      ++count.passed;
    } else if (!outcome.passed && declared != nullptr) {
      ++count.deviations;
      ++file_deviations_;
    } else {
      ++count.failed;
      ++failed_;
      if (failures_.size() < options_.failures) {
        failures_.push_back(Describe(c, outcome, declared));
      }
    }
  }

  void EndFile(const std::string& file) {
    if (file_deviations_ > kMaxDeviations * file_cases_) {
      ++failed_;
      failures_.push_back(file + ": " + std::to_string(file_deviations_) + " deviations of " +
                          std::to_string(file_cases_) + " cases are more than 5 %\n");
    }
    file_cases_ = file_deviations_ = 0;
  }

  int Report() const {
    std::printf("%-36s %8s %8s %10s %8s\n", "kind", "cases", "passed", "deviations", "failed");
    Count total;
    for (const auto& [kind, count] : counts_) {
      if (!count.supported) {
        std::printf("%-36s %8d  not supported yet\n", kind.c_str(), count.cases);
        continue;
      }
      Print(kind, count);
      total.cases += count.cases;
      total.passed += count.passed;
      total.deviations += count.deviations;
      total.failed += count.failed;
    }
    Print("total (supported kinds)", total);
    for (const std::string& failure : failures_) std::printf("\n%s", failure.c_str());
    if (counts_.empty()) {
      std::fprintf(stderr, "no case of kind %s\n", options_.kind.c_str());
      return kUsage;
    }
    return failed_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  static void Print(const std::string& kind, const Count& count) {
    std::printf("%-36s %8d %8d %10d %8d\n", kind.c_str(), count.cases, count.passed, count.deviations,
                count.failed);
  }

  static std::string Describe(const Case& c, const Outcome& outcome, const std::string* declared) {
    std::string text = c.kind + " " + c.id + " (" + c.file + ", " + c.where + ")\n";
    if (declared != nullptr) text += "  passes, yet is declared as deviation: " + *declared + "\n";
    text += "  input    " + CanonicalJson(c.in) + "\n  expected " + CanonicalJson(c.out) + "\n  got      " +
            CanonicalJson(outcome.got) + "\n";
    return text;
  }

  const Options& options_;
  const Deviations deviations_;
  KindTable kinds_;
  std::map<std::string, Count> counts_;
  std::vector<std::string> failures_;
  int failed_ = 0, file_cases_ = 0, file_deviations_ = 0;
};

// Where compat=fixed answers otherwise than compat=strict: exactly the cases of a file in the form of the
// deviations, whose classes say what each difference is.
class CompatRun {
 public:
  CompatRun(const Options& options, Deviations listed) : options_(options), listed_(std::move(listed)) {
    // A handler may keep state, so each mode has its own.
    RegisterAllKinds(strict_);
    RegisterAllKinds(fixed_);
  }

  void Add(Case c) {
    KindHandler* handler = strict_.Find(c.kind);
    if (handler == nullptr || !Selects(options_.kind, c.kind)) return;
    Count& count = counts_[c.kind];
    ++count.cases;
    const Json strict = Ask(*handler, c).got;
    c.compat = Compat::kFixed;
    const Json fixed = Ask(*fixed_.Find(c.kind), c).got;
    const std::string* name = listed_.Find(c.kind, c.id);
    if (strict != fixed) {
      ++count.different;
      ++by_class_[name == nullptr ? "(not listed)" : *name];
    }
    if ((strict != fixed) == (name != nullptr)) return;
    ++count.wrong;
    ++wrong_;
    if (failures_.size() >= options_.failures) return;
    failures_.push_back(c.kind + " " + c.id + " (" + c.file + ", " + c.where + ")\n" +
                        (name == nullptr ? "  differs, yet is not listed\n" : "  is the same, yet is listed: " + *name + "\n") +
                        "  input    " + CanonicalJson(c.in) + "\n  strict   " + CanonicalJson(strict) +
                        "\n  fixed    " + CanonicalJson(fixed) + "\n");
  }

  int Report() const {
    std::printf("%-36s %8s %10s %10s\n", "kind", "cases", "different", "not as listed");
    for (const auto& [kind, count] : counts_) {
      std::printf("%-36s %8d %10d %10d\n", kind.c_str(), count.cases, count.different, count.wrong);
    }
    std::printf("\n%-36s %8s\n", "difference", "cases");
    for (const auto& [name, cases] : by_class_) std::printf("%-36s %8d\n", name.c_str(), cases);
    for (const std::string& failure : failures_) std::printf("\n%s", failure.c_str());
    if (counts_.empty()) {
      std::fprintf(stderr, "no supported case of kind %s\n", options_.kind.c_str());
      return kUsage;
    }
    return wrong_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  struct Count {
    int cases = 0, different = 0, wrong = 0;
  };

  const Options& options_;
  const Deviations listed_;
  KindTable strict_, fixed_;
  std::map<std::string, Count> counts_;
  std::map<std::string, int> by_class_;
  std::vector<std::string> failures_;
  int wrong_ = 0;
};

int Main(int argc, char** argv) {
  const std::optional<Options> options = ParseOptions(argc, argv);
  if (!options.has_value()) {
    std::fprintf(stderr, "usage: %s FOLDER [--kind KIND] [--failures N] [--deviations FILE | --compat-differences FILE]\n",
                 argv[0]);
    return kUsage;
  }
  try {
    if (!options->differences.empty()) {
      CompatRun run(*options, Deviations::Read(options->differences));
      ReadCases(options->folder, [&](const Case& c) { run.Add(c); }, [](const std::string&) {});
      return run.Report();
    }
    Run run(*options, Deviations::Read(options->deviations));
    ReadCases(
        options->folder, [&](const Case& c) { run.Add(c); },
        [&](const std::string& file) { run.EndFile(file); });
    return run.Report();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "conformance_runner: %s\n", error.what());
    return kUsage;
  }
}

}  // namespace

std::unique_ptr<KindHandler> JudgedKind(std::function<Outcome(const Case&)> judge) {
  return std::make_unique<FunctionKind>(std::move(judge));
}

std::unique_ptr<KindHandler> ExactKind(std::function<Json(const Case&)> answer) {
  return JudgedKind([answer = std::move(answer)](const Case& c) {
    Json got = answer(c);
    const bool passed = got == c.out;
    return Outcome{passed, std::move(got)};
  });
}

}  // namespace fairlead::conformance

int main(int argc, char** argv) { return fairlead::conformance::Main(argc, argv); }
