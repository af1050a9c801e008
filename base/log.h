#ifndef FAIRLEAD_BASE_LOG_H_
#define FAIRLEAD_BASE_LOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/base/clock.h"

namespace fairlead {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

// One line of the log. `code` is stable and catalogued in docs/log_codes.md, for example "FL-1-2"; `subject`
// is what it is about (a service key, a registry address), never a secret.
struct LogRecord {
  Severity severity = Severity::kInfo;
  std::string_view code;
  std::string_view subject;
  std::string_view text;
};

// The host's hook. Called on whatever thread logs (never in a pick), one call at a time per Logger. It may
// use the Logger: Count answers, a Log from within is counted but not delivered. What it throws is dropped.
using LogSink = std::function<void(const LogRecord&)>;

// Writes "fairlead W FL-1-2 subject: text" to standard error; control characters, which would forge lines,
// become spaces.
LogSink StderrLogSink();

// Limits repeats and counts: after a first line of a (code, subject) pair, further ones within a minute are
// counted and the number is said with the next line that passes. At most 1 024 pairs are remembered. Subjects are
// cut after 200 bytes, texts after 2 000, with their length.
// Thread-safe.
class Logger {
 public:
  Logger(LogSink sink, const Clock& clock);

  void Log(Severity severity, std::string_view code, std::string_view subject, std::string_view text);
  void Info(std::string_view code, std::string_view subject, std::string_view text) {
    Log(Severity::kInfo, code, subject, text);
  }
  void Warn(std::string_view code, std::string_view subject, std::string_view text) {
    Log(Severity::kWarning, code, subject, text);
  }
  void Error(std::string_view code, std::string_view subject, std::string_view text) {
    Log(Severity::kError, code, subject, text);
  }
  // A warning of one bad input among many that `about` has (a service, a path): repeats are held back input by input, so
  // that no bad input hides behind another. `input` tells it from the others and is never shown.
  void WarnOf(std::string_view code, std::string_view about, std::string_view input, std::string_view text);
  // The same of a whole list, whose texts each name an input. Of a list that is all bad the first kMostOfEach are enough.
  void WarnOfEach(std::string_view code, std::string_view about, const std::vector<std::string>& inputs);
  static constexpr std::size_t kMostOfEach = 100;
  // How often `code` was logged, limited lines included.
  std::uint64_t Count(std::string_view code) const;

 private:
  struct Recent {
    Clock::SteadyTime last;
    std::uint64_t held_back = 0;
  };

  const LogSink sink_;
  const Clock& clock_;
  std::mutex sink_mutex_;                   // held around calls of sink_
  std::atomic<std::thread::id> in_sink_{};  // the thread inside sink_
  mutable std::mutex mutex_;                // guards what follows; never held in a call of sink_
  std::map<std::pair<std::string, std::string>, Recent> recent_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_H_
