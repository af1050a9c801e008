#include "fairlead/routing/condition/condition_router.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

// What Java compares when an argument or attachment key cannot be read: a text that no sane pattern equals, so `=x`
// is false but `!=x` and `=*` are true.
constexpr std::string_view kUnreadable = "dubbo_internal_not_found_argument_condition_value";

// The value of a key in a url: the special keys first, then the parameters. `storage` holds what is not stored as text.
std::optional<std::string_view> UrlValue(const UrlParts& url, std::string_view key, bool with_address,
                                         std::string& storage) {
  const auto text = [](const std::optional<std::string>& field) {
    return field ? std::optional<std::string_view>(*field) : std::nullopt;
  };
  const auto param = [&]() -> std::optional<std::string_view> {
    const std::string* value = url.Find(key);
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(*value);
  };
  if (key == "protocol") return url.protocol ? text(url.protocol) : param();
  if (key == "username") return url.username ? text(url.username) : param();
  if (key == "password") return url.password ? text(url.password) : param();
  if (key == "host") return url.host ? text(url.host) : param();
  if (key == "path") return url.path ? text(url.path) : param();
  if (key == "port" && url.port > 0) {
    storage = std::to_string(url.port);
    return storage;
  }
  if (key == "address" && with_address && url.host) {
    storage = url.Address();
    return storage;
  }
  return param();
}

// What `$key` stands for: as a value, but an absent port is the text 0 and there is no `address`.
std::optional<std::string_view> ReferenceValue(const UrlParts& consumer, std::string_view key, std::string& storage) {
  if (key != "port") return UrlValue(consumer, key, false, storage);
  storage = std::to_string(consumer.port);
  return storage;
}

std::string_view ArgumentText(const Invocation& invocation, const std::optional<std::size_t>& index) {
  if (!index || *index >= invocation.arguments.size()) return kUnreadable;
  const Argument& argument = invocation.arguments[*index];
  if (argument.null) return "null";
  return argument.given ? argument.text : kUnreadable;
}

}  // namespace

class ConditionRouter::Table final : public RouteTable {
 public:
  Table(const ConditionRouter& router, const RouteInput& input, const Table* previous)
      : owner_(router.rule_), rule_(*owner_), force_(router.flags_.force), enabled_(router.flags_.enabled) {
    if (!enabled_) return;
    std::string storage;
    for (const KeyCondition& key : rule_.when) {
      if (key.source != KeyCondition::Source::kUrl) {
        at_call_.push_back(key);
        continue;
      }
      const auto value = UrlValue(input.consumer.parts(), key.key, true, storage);
      never_ |= !value || !key.Holds(*value);
    }
    if (never_) at_call_.clear();
    if (!rule_.blocks) CompileThen(input, previous);
  }

  std::uint32_t cases() const override { return 2; }

  RouteCase Classify(const RouteCall& call) const override {
    if (!enabled_ || never_) return 0;
    for (const KeyCondition& key : at_call_) {
      if (key.source == KeyCondition::Source::kMethod) {
        if (!key.Holds(call.method)) return 0;
      } else if (key.source == KeyCondition::Source::kArgument) {
        if (!key.Holds(ArgumentText(call.invocation, key.argument))) return 0;
      } else {
        std::string_view value = kUnreadable;
        if (key.attachment) {
          const std::string_view* found = call.invocation.FindAttachment(*key.attachment);
          if (found == nullptr) return 0;
          value = *found;
        }
        if (!key.Holds(value)) return 0;
      }
    }
    return 1;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == 0) return out.Keep(in);
    if (rule_.blocks) return out.Block("the rule allows no provider");
    InvokerSet kept = in & mask_;
    if (!kept.empty()) return out.Keep(std::move(kept));
    if (force_) return out.Block("no provider satisfies it and it is forced");
    out.Keep(in);
  }

  std::string Describe(RouteCase which) const override {
    return absl::StrCat("\"", rule_.text, "\"", force_ ? " forced" : "", !enabled_ ? " disabled" : "",
                        which == 0 ? ", does not apply" : "");
  }

 private:
  void CompileThen(const RouteInput& input, const Table* previous) {
    std::vector<KeyCondition> then = rule_.then;
    std::string storage;
    for (KeyCondition& key : then) {
      for (auto* patterns : {&key.matches, &key.mismatches}) {
        for (ValuePattern& pattern : *patterns) {
          if (!pattern.reference()) continue;
          pattern = pattern.WithReference(ReferenceValue(input.consumer.parts(), *pattern.reference(), storage));
        }
      }
    }
    const auto satisfies = [&](const UrlParts& provider) {
      return !then.empty() && std::all_of(then.begin(), then.end(), [&](const KeyCondition& key) {
        // There is no invocation on this side.
        if (key.source != KeyCondition::Source::kUrl) return key.Holds(kUnreadable);
        const auto value = UrlValue(provider, key.key, true, storage);
        return value && key.Holds(*value);
      });
    };
    const auto decide = [&](Slot slot) {
      const auto& provider = input.providers[slot];
      if (provider != nullptr && satisfies(provider->original.parts())) {
        mask_.Add(slot);
      } else {
        mask_.Remove(slot);
      }
    };
    if (previous != nullptr && input.changed != nullptr) {
      mask_ = previous->mask_;
      input.changed->ForEach([&](Slot slot) {
        if (slot < input.providers.size()) {
          decide(slot);
        } else {
          mask_.Remove(slot);
        }
      });
      return;
    }
    mask_ = InvokerSet(input.providers.size());
    for (Slot slot = 0; slot < input.providers.size(); ++slot) decide(slot);
  }

  const std::shared_ptr<const ConditionRule> owner_;
  const ConditionRule& rule_;
  const bool force_, enabled_;
  bool never_ = false;                  // a key about the consumer does not hold
  std::vector<KeyCondition> at_call_;   // method, arguments, attachments
  InvokerSet mask_;
};

ConditionRouter::ConditionRouter(ConditionRule rule, Flags flags)
    : rule_(std::make_shared<const ConditionRule>(std::move(rule))), flags_(flags) {
  if (!flags_.enabled) return;
  for (const KeyCondition& key : rule_->when) {
    switch (key.source) {
      case KeyCondition::Source::kUrl:
        break;
      case KeyCondition::Source::kMethod:
        reads_ = reads_ | Reads::kMethod;
        break;
      case KeyCondition::Source::kArgument:
        reads_ = reads_ | Reads::kArguments;
        break;
      case KeyCondition::Source::kAttachment:
        reads_ = reads_ | Reads::kAttachments;
        break;
    }
  }
}

std::shared_ptr<const RouteTable> ConditionRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  return std::make_shared<Table>(*this, input, static_cast<const Table*>(previous));
}

namespace {

class Factory final : public RouterFactory {
 public:
  explicit Factory(Compat compat) : compat_(compat) {}

  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url& url) override {
    ConditionRouter::Flags flags;
    flags.force = url.BoolParam(names::kForce, false);
    flags.enabled = url.BoolParam(names::kEnabled, true);
    flags.priority = static_cast<int>(url.IntParam(names::kPriority, 0));
    if (!flags.enabled) return std::make_shared<const ConditionRouter>(ConditionRule(), flags);
    absl::StatusOr<std::string> text = PercentDecode(url.Param(names::kRule));
    if (!text.ok()) return text.status();
    absl::StatusOr<ConditionRule> rule = ConditionRule::Parse(*text, compat_);
    if (!rule.ok()) return rule.status();
    return std::make_shared<const ConditionRouter>(*std::move(rule), flags);
  }

 private:
  const Compat compat_;
};

}  // namespace

std::shared_ptr<RouterFactory> MakeConditionRouterFactory(Compat compat) { return std::make_shared<Factory>(compat); }

}  // namespace fairlead
