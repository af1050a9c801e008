#include "fairlead/bench/report.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

namespace fairlead::bench {
namespace {

std::string CpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::isfinite(value) ? text : "null";
}

// Four significant digits, without an exponent.
std::string Short(double value) {
  char text[32];
  const double size = std::fabs(value);
  std::snprintf(text, sizeof text, "%.*f", size >= 1000 ? 0 : size >= 100 ? 1 : 2, value);
  return text;
}

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

constexpr const char* kColumns[] = {"name",  "n",      "threads",     "unit",  "value",   "against", "base",   "difference",
                                    "ratio", "spread", "base_spread", "runs",  "attempts", "target", "verdict", "note"};

std::vector<std::string> Cells(const Row& row, std::string (*text)(std::string_view)) {
  const bool alone = row.against.empty();
  const std::string none = text == CsvText ? "" : "null";
  return {text(row.name),
          std::to_string(row.n),
          std::to_string(row.threads),
          text(row.unit),
          Number(row.value),
          text(row.against),
          alone ? none : Number(row.base),
          alone ? none : Number(row.difference()),
          alone ? none : Number(row.ratio()),
          Number(row.spread()),
          alone ? none : Number(row.base_spread()),
          std::to_string(row.runs),
          std::to_string(row.attempts),
          text(TargetText(row)),
          text(VerdictText(Judge(row))),
          text(row.note)};
}

bool WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

}  // namespace

Machine ThisMachine(std::string commit) {
  Machine machine;
  machine.cpu = CpuModel();
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__clang__)
  machine.compiler = "clang " __clang_version__;
#else
  machine.compiler = "g++ " __VERSION__;
#endif
  machine.build = FAIRLEAD_BENCH_BUILD;
  machine.commit = std::move(commit);
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  machine.date = text;
  if (getloadavg(&machine.load, 1) != 1) machine.load = 0;
  return machine;
}

Report::Report(std::string what, Machine machine, std::string mode)
    : what_(std::move(what)), machine_(std::move(machine)), mode_(std::move(mode)) {
  std::printf("%s, %d cores, %s, %s, commit %s, load %.2f, %s\n", machine_.cpu.c_str(), machine_.cores,
              machine_.compiler.c_str(), machine_.build.c_str(), machine_.commit.c_str(), machine_.load,
              machine_.date.c_str());
  std::printf("%-40s %7s %3s %10s %-5s %-20s %10s %10s %8s %7s %-26s %s\n", "row", "n", "thr", "value", "unit",
              "against", "base", "difference", "ratio", "spread", "target", "verdict");
}

void Report::Add(Row row) {
  const bool alone = row.against.empty();
  const double spread = std::max(row.spread(), row.base_spread());
  std::printf("%-40s %7lld %3d %10s %-5s %-20s %10s %10s %8s %7s %-26s %s%s%s\n", row.name.c_str(),
              static_cast<long long>(row.n), row.threads, Short(row.value).c_str(), row.unit.c_str(),
              row.against.c_str(), alone ? "" : Short(row.base).c_str(), alone ? "" : Short(row.difference()).c_str(),
              alone ? "" : Short(row.ratio()).c_str(), row.runs == 0 ? "" : Percent(spread).c_str(),
              TargetText(row).c_str(), VerdictText(Judge(row)), row.note.empty() ? "" : "  ", row.note.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

const Row* Report::Find(const std::string& name, std::int64_t n, int threads) const {
  for (const Row& row : rows_) {
    if (row.name == name && row.n == n && row.threads == threads) return &row;
  }
  return nullptr;
}

void Report::PrintTotals() const {
  int with_target = 0, met = 0, missed = 0, inconclusive = 0, errors = 0;
  for (const Row& row : rows_) {
    const Verdict verdict = Judge(row);
    with_target += row.target.of != Target::Of::kNothing;
    met += verdict == Verdict::kMet;
    missed += verdict == Verdict::kMissed;
    inconclusive += verdict == Verdict::kInconclusive;
    errors += verdict == Verdict::kBelowFloor;
  }
  std::printf("%zu rows, %d with a target: %d met, %d missed; inconclusive %d, below their floor %d (both counted over all rows)\n",
              rows_.size(), with_target, met, missed, inconclusive, errors);
}

std::string Report::ToJson() const {
  std::string out = "{\n\"header\": {\"what\": " + Quoted(what_) + ", \"mode\": " + Quoted(mode_) +
                    ", \"commit\": " + Quoted(machine_.commit) + ", \"cpu\": " + Quoted(machine_.cpu) +
                    ", \"cores\": " + std::to_string(machine_.cores) + ", \"compiler\": " + Quoted(machine_.compiler) +
                    ", \"build\": " + Quoted(machine_.build) + ", \"load\": " + Number(machine_.load) +
                    ", \"date\": " + Quoted(machine_.date) + "},\n\"rows\": [\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto cells = Cells(rows_[i], Quoted);
    out += i == 0 ? "{" : ",\n{";
    for (std::size_t c = 0; c < cells.size(); ++c) out += (c == 0 ? "" : ", ") + Quoted(kColumns[c]) + ": " + cells[c];
    out += "}";
  }
  return out + "\n]}\n";
}

std::string Report::ToCsv() const {
  std::string out = "# " + what_ + " (" + mode_ + "), commit " + machine_.commit + ", " + machine_.cpu + ", " +
                    std::to_string(machine_.cores) + " cores, " + machine_.compiler + ", " + machine_.build + ", load " +
                    Number(machine_.load) + ", " + machine_.date + "\n";
  for (const char* column : kColumns) out += (column == kColumns[0] ? "" : ",") + std::string(column);
  out += "\n";
  for (const Row& row : rows_) {
    const auto cells = Cells(row, CsvText);
    for (std::size_t c = 0; c < cells.size(); ++c) out += (c == 0 ? "" : ",") + cells[c];
    out += "\n";
  }
  return out;
}

bool Report::Write(const std::string& folder) const {
  const bool json = WriteFile(folder + "/" + what_ + ".json", ToJson());
  return WriteFile(folder + "/" + what_ + ".csv", ToCsv()) && json;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool more = i + 1 < argc;
    if (name == "--quick") {
      options.quick = true;
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--filter" && more) {
      options.filter = argv[++i];
    } else if (name == "--out" && more) {
      options.out = argv[++i];
    } else if (name == "--commit" && more) {
      options.commit = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--quick] [--list] [--filter REGEX] [--out FOLDER] [--commit TEXT]\n", argv[0]);
      std::exit(name == "--help" ? 0 : 2);
    }
  }
  return options;
}

}  // namespace fairlead::bench
