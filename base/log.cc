#include "fairlead/base/log.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

constexpr auto kQuietPeriod = std::chrono::minutes(1);
constexpr std::size_t kRememberedPairs = 1024;
// Whoever writes into a registry decides how long some texts are; a line may hold a few of them.
constexpr std::size_t kMostSubject = 200, kMostText = 2000;

}  // namespace

LogSink StderrLogSink() {
  return [](const LogRecord& record) {
    const char letter = "IWE"[static_cast<int>(record.severity)];
    std::string line = "fairlead ";
    line += letter;
    line.append(" ").append(record.code).append(" ").append(record.subject).append(": ").append(record.text);
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
}

Logger::Logger(LogSink sink, const Clock& clock) : sink_(std::move(sink)), clock_(clock) {}

void Logger::Log(Severity severity, std::string_view code, std::string_view subject, std::string_view text) {
  const std::string short_subject = subject.size() > kMostSubject ? Shortened(subject, kMostSubject) : std::string();
  if (!short_subject.empty()) subject = short_subject;
  const auto now = clock_.SteadyNow();
  const bool deliver = sink_ && in_sink_.load(std::memory_order_relaxed) != std::this_thread::get_id();
  std::uint64_t held_back = 0;
  {
    const std::lock_guard lock(mutex_);
    auto counted = counts_.find(code);
    if (counted == counts_.end()) counted = counts_.emplace(std::string(code), 0).first;
    ++counted->second;
    if (!deliver) return;

    std::pair<std::string, std::string> pair(code, subject);
    const auto known = recent_.find(pair);
    if (known == recent_.end()) {
      // Forgetting everything at once is the price of a bounded table; it only lets a few extra lines pass.
      if (recent_.size() >= kRememberedPairs) recent_.clear();
      recent_.emplace(std::move(pair), Recent{now, 0});
    } else if (now - known->second.last < kQuietPeriod) {
      ++known->second.held_back;
      return;
    } else {
      held_back = std::exchange(known->second, Recent{now, 0}).held_back;
    }
  }
  std::string full = Shortened(text, kMostText);
  if (held_back > 0) full += " (" + std::to_string(held_back) + " like it held back)";
  const std::lock_guard lock(sink_mutex_);
  in_sink_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  try {
    sink_({severity, code, subject, full});
  } catch (...) {
  }
  in_sink_.store(std::thread::id(), std::memory_order_relaxed);
}

void Logger::WarnOf(std::string_view code, std::string_view about, std::string_view input, std::string_view text) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016" PRIx64, HashBytes(input));
  // Long subjects are cut, which must not make two of them one.
  Warn(code, Shortened(about, 100) + " " + digits.data(), text);
}

void Logger::WarnOfEach(std::string_view code, std::string_view about, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < std::min(inputs.size(), kMostOfEach); ++i) WarnOf(code, about, inputs[i], inputs[i]);
}

std::uint64_t Logger::Count(std::string_view code) const {
  const std::lock_guard lock(mutex_);
  const auto at = counts_.find(code);
  return at == counts_.end() ? 0 : at->second;
}

}  // namespace fairlead
