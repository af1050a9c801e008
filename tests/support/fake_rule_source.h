#ifndef FAIRLEAD_TESTS_SUPPORT_FAKE_RULE_SOURCE_H_
#define FAIRLEAD_TESTS_SUPPORT_FAKE_RULE_SOURCE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fairlead/base/executor.h"
#include "fairlead/directory/rule_source.h"

namespace fairlead {

// A config center in memory. What is in `silent` is not answered until Answer; all else at once, as a task.
class FakeRuleSource final : public RuleSource {
 public:
  explicit FakeRuleSource(Executor& executor) : executor_(executor) {}

  RuleWatch Watch(const std::string& name, Told told) override {
    ++asked;
    followers_[name] = std::make_shared<Told>(std::move(told));
    if (!silent.contains(name)) Answer(name);
    return RuleWatch([this, name] { followers_.erase(name); });
  }
  void Set(const std::string& name, std::optional<std::string> text) {
    texts_[name] = std::move(text);
    if (!silent.contains(name)) Answer(name);
  }
  void Fail(const std::string& name, absl::Status status) { Tell(name, std::move(status)); }
  void Answer(const std::string& name) { Tell(name, texts_[name]); }
  std::set<std::string> followed() const {
    std::set<std::string> names;
    for (const auto& [name, told] : followers_) names.insert(name);
    return names;
  }

  std::set<std::string> silent;
  int asked = 0;

 private:
  void Tell(const std::string& name, absl::StatusOr<std::optional<std::string>> text) {
    executor_.Post([this, name, text = std::move(text)] {
      const auto at = followers_.find(name);
      if (at == followers_.end()) return;
      const auto told = at->second;
      (*told)(text);
    });
  }

  Executor& executor_;
  std::map<std::string, std::shared_ptr<Told>> followers_;
  std::map<std::string, std::optional<std::string>> texts_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_FAKE_RULE_SOURCE_H_
