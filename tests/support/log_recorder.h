#ifndef FAIRLEAD_TESTS_SUPPORT_LOG_RECORDER_H_
#define FAIRLEAD_TESTS_SUPPORT_LOG_RECORDER_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/log.h"

namespace fairlead {

// Keeps every line that passes a Logger's limit. Its sink may outlive it. Thread-safe.
class LogRecorder {
 public:
  struct Line {
    Severity severity;
    std::string code, subject, text;
  };

  LogSink sink() const {
    return [lines = lines_](const LogRecord& record) {
      const std::lock_guard lock(lines->mutex);
      lines->all.push_back(
          {record.severity, std::string(record.code), std::string(record.subject), std::string(record.text)});
    };
  }

  std::vector<Line> lines() const {
    const std::lock_guard lock(lines_->mutex);
    return lines_->all;
  }
  std::size_t count(std::string_view code) const {
    const std::lock_guard lock(lines_->mutex);
    return static_cast<std::size_t>(std::count_if(lines_->all.begin(), lines_->all.end(),
                                                  [&](const Line& line) { return line.code == code; }));
  }
  void clear() {
    const std::lock_guard lock(lines_->mutex);
    lines_->all.clear();
  }

 private:
  struct Lines {
    std::mutex mutex;
    std::vector<Line> all;
  };
  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_LOG_RECORDER_H_
