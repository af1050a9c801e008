#include "fairlead/base/log.h"

#include <cstdio>

namespace fairlead {
namespace {

constexpr auto kQuietPeriod = std::chrono::minutes(1);
constexpr std::size_t kRememberedPairs = 1024;

}  // namespace

LogSink StderrLogSink() {
  return [](const LogRecord& record) {
    const char letter = record.severity == Severity::kInfo ? 'I' : record.severity == Severity::kWarning ? 'W' : 'E';
    std::string line = "fairlead ";
    line += letter;
    line.append(" ").append(record.code).append(" ").append(record.subject).append(": ").append(record.text);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
}

Logger::Logger(LogSink sink, const Clock& clock) : sink_(std::move(sink)), clock_(clock) {}

void Logger::Log(Severity severity, std::string_view code, std::string_view subject, std::string_view text) {
  const auto now = clock_.SteadyNow();
  const std::lock_guard lock(mutex_);
  auto counted = counts_.find(code);
  if (counted == counts_.end()) counted = counts_.emplace(std::string(code), 0).first;
  ++counted->second;
  if (!sink_) return;

  // Forgetting everything at once is the price of a bounded table; it only lets a few extra lines pass.
  if (recent_.size() >= kRememberedPairs) recent_.clear();
  auto [at, fresh] = recent_.try_emplace({std::string(code), std::string(subject)}, Recent{now, 0});
  Recent& recent = at->second;
  if (!fresh && now - recent.last < kQuietPeriod) {
    ++recent.held_back;
    return;
  }
  std::string full(text);
  if (recent.held_back > 0) full += " (" + std::to_string(recent.held_back) + " like it held back)";
  recent = {now, 0};
  sink_({severity, code, subject, full});
}

std::uint64_t Logger::Count(std::string_view code) const {
  const std::lock_guard lock(mutex_);
  const auto at = counts_.find(code);
  return at == counts_.end() ? 0 : at->second;
}

}  // namespace fairlead
