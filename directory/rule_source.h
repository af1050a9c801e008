#ifndef FAIRLEAD_DIRECTORY_RULE_SOURCE_H_
#define FAIRLEAD_DIRECTORY_RULE_SOURCE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace fairlead {

// A document that is followed for as long as this lives. Executor only.
class RuleWatch {
 public:
  RuleWatch() = default;
  explicit RuleWatch(absl::AnyInvocable<void()> end) : end_(std::move(end)) {}
  RuleWatch(RuleWatch&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  RuleWatch& operator=(RuleWatch&& other) noexcept {
    if (this != &other) {
      End();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }
  ~RuleWatch() { End(); }

 private:
  void End() {
    if (auto end = std::exchange(end_, nullptr)) end();
  }
  absl::AnyInvocable<void()> end_;
};

// Is it an answer: a document, that there is none, or a failure that trying again does not mend soon (such a registry has
// no documents for us)?
inline bool IsAnswer(const absl::StatusOr<std::optional<std::string>>& text) {
  return text.ok() || absl::IsPermissionDenied(text.status()) || absl::IsUnimplemented(text.status()) ||
         absl::IsInvalidArgument(text.status());
}

// Where documents of rules come from: the config center of a registry. Executor only.
class RuleSource {
 public:
  // A text; nullopt = there is no such document; not OK = it cannot be read now, and what was read before still holds.
  using Told = std::function<void(const absl::StatusOr<std::optional<std::string>>& text)>;

  virtual ~RuleSource() = default;
  // Tells the document `name` ("shop.condition-router") soon, never from within, and again after each change, until the
  // result ends. A source that does not answer is asked no more than once.
  [[nodiscard]] virtual RuleWatch Watch(const std::string& name, Told told) = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_RULE_SOURCE_H_
