#include "fairlead/directory/merged_rule_source.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

using Text = absl::StatusOr<std::optional<std::string>>;

}  // namespace

struct MergedRuleSource::Following {
  struct FromSource {
    std::optional<Text> last;          // what it said last
    std::optional<std::string> known;  // the document as it was last read
    RuleWatch watch;
  };
  std::string name;
  Told told;
  std::vector<FromSource> sources;
  std::optional<Text> said;
  bool waited = false;
  Timer wait;
};

RuleWatch MergedRuleSource::Watch(const std::string& name, Told told) {
  auto following = std::make_shared<Following>();
  following->name = name;
  following->told = std::move(told);
  following->sources.resize(config_.sources.size());
  const std::weak_ptr<Following> alive = following;
  for (std::size_t i = 0; i < config_.sources.size(); ++i) {
    following->sources[i].watch =
        config_.sources[i].documents->Watch(name, [this, owner = weak_from_this(), alive, i](const Text& text) {
          const auto self = owner.lock();
          const auto one = alive.lock();
          if (self == nullptr || one == nullptr) return;
          one->sources[i].last = text;
          if (IsAnswer(text)) one->sources[i].known = text.ok() ? *text : std::nullopt;
          Decide(*one);
        });
  }
  following->wait = config_.executor->After(config_.wait, [this, owner = weak_from_this(), alive] {
    const auto self = owner.lock();
    const auto one = alive.lock();
    if (self == nullptr || one == nullptr) return;
    one->waited = true;
    Decide(*one);
  });
  return RuleWatch([this, owner = weak_from_this(), following = std::move(following)]() mutable {
    if (const auto self = owner.lock()) differences_.erase(following.get());
    following.reset();
  });
}

void MergedRuleSource::Decide(Following& following) {
  const Following::FromSource* first = nullptr;
  const Text *none = nullptr, *failure = nullptr;
  std::string others;
  bool settled = true;
  for (std::size_t i = 0; i < following.sources.size(); ++i) {
    const Following::FromSource& source = following.sources[i];
    if (source.known.has_value()) {
      if (first == nullptr) {
        if (!settled && !following.waited) return;
        first = &source;
      } else if (source.known != first->known) {
        absl::StrAppend(&others, others.empty() ? "" : ", ", config_.sources[i].name);
      }
      continue;
    }
    if (!source.last.has_value() || !IsAnswer(*source.last)) settled = false;
    if (!source.last.has_value()) continue;
    if (source.last->ok() && none == nullptr) none = &*source.last;
    if (!source.last->ok() && failure == nullptr) failure = &*source.last;
  }
  const auto before = differences_.find(&following);
  if (others.empty()) {
    if (before != differences_.end()) differences_.erase(before);
  } else {
    const std::string& decider = config_.sources[static_cast<std::size_t>(first - following.sources.data())].name;
    std::string line = absl::StrCat("document ", Shortened(following.name, 200), " of ", decider,
                                    " is used; there is another text of it in ", others);
    if (before == differences_.end() || before->second != line) config_.log->WarnOf("FL-4-4", config_.service, following.name, line);
    differences_[&following] = std::move(line);
  }
  std::optional<Text> say;
  if (first != nullptr) {
    say = Text(first->known);
  } else if (settled || following.waited) {
    if (none == nullptr && failure == nullptr) return;
    say = none != nullptr ? *none : *failure;
  } else {
    return;
  }
  if (following.said.has_value() && following.said->status() == say->status() &&
      (!say->ok() || **following.said == **say)) {
    return;
  }
  following.said = *say;
  const Told told = following.told;  // who is told may end the watch
  told(*say);
}

std::vector<std::string> MergedRuleSource::Remarks() const {
  std::vector<std::string> lines;
  for (const auto& [following, line] : differences_) lines.push_back(line);
  return lines;
}

}  // namespace fairlead::internal
