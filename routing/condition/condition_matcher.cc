#include "fairlead/routing/condition/condition_matcher.h"

#include <algorithm>
#include <utility>

#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

// How the key of a *when* condition is understood.
struct CallKey {
  enum class Source : std::uint8_t { kConsumer, kMethod, kArgument, kAttachment, kUnreadable };
  Source source = Source::kUnreadable;
  std::string_view name;    // kConsumer, kAttachment
  std::uint32_t index = 0;  // kArgument
};

constexpr std::string_view kArguments = "arguments";
constexpr std::string_view kAttachments = "attachments";

bool ReadsTheCall(std::string_view key) {
  return key.starts_with(kArguments) || key.starts_with(kAttachments);
}

// The first `arguments[digits]` in the key, wherever it begins.
CallKey ArgumentKey(std::string_view key) {
  for (std::size_t at = 0; (at = key.find(kArguments, at)) != key.npos;) {
    at += kArguments.size();
    if (at == key.size() || key[at] != '[') continue;
    const std::size_t end = key.find_first_not_of("0123456789", at + 1);
    if (end == at + 1 || end == key.npos || key[end] != ']') continue;
    const std::optional<std::int32_t> index = ParseJavaInt(key.substr(at + 1, end - at - 1));
    if (!index) return {};
    return {CallKey::Source::kArgument, {}, static_cast<std::uint32_t>(*index)};
  }
  return {};
}

// What stands between the first `attachments[` and the last `]` after it, if anything.
CallKey AttachmentKey(std::string_view key) {
  const std::size_t last = key.rfind(']');
  if (last == key.npos) return {};
  for (std::size_t at = 0; (at = key.find(kAttachments, at)) != key.npos;) {
    at += kAttachments.size();
    if (at == key.size() || key[at] != '[') continue;
    if (last <= at + 1) return {};
    return {CallKey::Source::kAttachment, key.substr(at + 1, last - at - 1), 0};
  }
  return {};
}

CallKey UnderstandCallKey(std::string_view key, Compat compat) {
  const std::string_view before_dot = key.substr(0, key.find('.'));
  if (key.starts_with(kAttachments)) {
    // Java cuts at the dot, which makes `attachments[dubbo.tag]` unreadable.
    return AttachmentKey(compat == Compat::kStrict ? before_dot : key);
  }
  if (key.starts_with(kArguments)) return ArgumentKey(before_dot);
  if (key == "method" || key == "methods") return {CallKey::Source::kMethod, {}, 0};
  return {CallKey::Source::kConsumer, key, 0};
}

ValueMatcher CompileCallPatterns(const KeyPatterns& key, Compat compat) {
  ValueMatcher values;
  for (const std::string& text : key.matches) {
    values.AddMatch(ValuePattern::Compile(text, RuleSide::kWhen, compat));
  }
  for (const std::string& text : key.mismatches) {
    values.AddMismatch(ValuePattern::Compile(text, RuleSide::kWhen, compat));
  }
  values.Finish();
  return values;
}

// A range stays one, whatever it begins with.
bool IsReference(std::string_view pattern) {
  return pattern.starts_with('$') && pattern.find('~') == pattern.npos;
}

ValuePattern CompileProviderPattern(std::string_view text, const UrlParts& consumer, Compat compat) {
  if (IsReference(text)) return ValuePattern::Glob(ResolveReference(consumer, text.substr(1)));
  return ValuePattern::Compile(text, RuleSide::kThen, compat);
}

std::optional<std::string_view> Present(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return std::string_view(*text);
}

}  // namespace

UrlKey::UrlKey(std::string_view key) : name_(key) {
  static constexpr std::pair<std::string_view, Part> kParts[] = {
      {"protocol", Part::kProtocol}, {"username", Part::kUsername}, {"password", Part::kPassword},
      {"host", Part::kHost},         {"port", Part::kPort},         {"path", Part::kPath},
      {"address", Part::kAddress}};
  for (const auto& part : kParts) {
    if (part.first == key) part_ = part.second;
  }
}

std::optional<std::string_view> UrlKey::Read(const UrlParts& url, std::string& storage) const {
  std::optional<std::string_view> value;
  switch (part_) {
    case Part::kParameter:
      break;
    case Part::kProtocol:
      value = Present(url.protocol);
      break;
    case Part::kUsername:
      value = Present(url.username);
      break;
    case Part::kPassword:
      value = Present(url.password);
      break;
    case Part::kHost:
      value = Present(url.host);
      break;
    case Part::kPort:
      if (url.port > 0) value = storage = std::to_string(url.port);
      break;
    case Part::kPath:
      value = Present(url.path);
      break;
    case Part::kAddress:
      if (url.host) value = storage = url.Address();
      break;
  }
  if (value) return value;
  const std::string* parameter = url.Find(name_);
  if (parameter == nullptr) return std::nullopt;
  return std::string_view(*parameter);
}

std::string ResolveReference(const UrlParts& consumer, std::string_view key) {
  if (key == "protocol") return consumer.protocol.value_or("");
  if (key == "username") return consumer.username.value_or("");
  if (key == "password") return consumer.password.value_or("");
  if (key == "host") return consumer.host.value_or("");
  if (key == "port") return std::to_string(consumer.port);
  if (key == "path") return consumer.path.value_or("");
  const std::string* parameter = consumer.Find(key);
  return parameter == nullptr ? std::string() : *parameter;
}

CallMatcher::CallMatcher(const Conditions& when, Compat compat) {
  for (const KeyPatterns& key : when) {
    ValueMatcher values = CompileCallPatterns(key, compat);
    if (values.empty()) never_ = true;
    const CallKey understood = UnderstandCallKey(key.key, compat);
    switch (understood.source) {
      case CallKey::Source::kConsumer:
        consumer_.push_back({UrlKey(understood.name), std::move(values)});
        break;
      case CallKey::Source::kMethod:
        method_.push_back(std::move(values));
        break;
      case CallKey::Source::kArgument: {
        const bool when_missing = values.Matches(kUnreadableValue);
        arguments_.push_back({understood.index, when_missing, std::move(values)});
        break;
      }
      case CallKey::Source::kAttachment:
        attachments_.push_back({std::string(understood.name), std::move(values)});
        break;
      case CallKey::Source::kUnreadable:
        if (!values.Matches(kUnreadableValue)) never_ = true;
        break;
    }
  }
}

Reads CallMatcher::reads() const {
  Reads reads = Reads::kConsumer;
  if (never_) return reads;
  if (!method_.empty()) reads = reads | Reads::kMethod;
  if (!arguments_.empty()) reads = reads | Reads::kArguments;
  if (!attachments_.empty()) reads = reads | Reads::kAttachments;
  return reads;
}

bool CallMatcher::MatchesConsumer(const UrlParts& consumer) const {
  if (never_) return false;
  return std::all_of(consumer_.begin(), consumer_.end(), [&consumer](const OnConsumer& condition) {
    std::string storage;
    const std::optional<std::string_view> value = condition.key.Read(consumer, storage);
    return value && condition.values.Matches(*value);
  });
}

bool CallMatcher::MatchesCall(const RouteCall& call) const {
  if (never_) return false;
  for (const ValueMatcher& values : method_) {
    if (call.method.empty() || !values.Matches(call.method)) return false;
  }
  for (const OnArgument& condition : arguments_) {
    if (condition.index >= call.invocation.arguments.size()) {
      if (!condition.when_missing) return false;
      continue;
    }
    const Argument& argument = call.invocation.arguments[condition.index];
    const std::string_view text = argument.null ? "null" : argument.given ? argument.text : kUnreadableValue;
    if (!condition.values.Matches(text)) return false;
  }
  for (const OnAttachment& condition : attachments_) {
    const std::string_view* value = call.invocation.FindAttachment(condition.key);
    if (value == nullptr || !condition.values.Matches(*value)) return false;
  }
  return true;
}

ProviderMatcher::ProviderMatcher(const Conditions& then, const UrlParts& consumer, Compat compat)
    : never_(then.empty()), references_(References(then, consumer)) {
  for (const KeyPatterns& key : then) {
    ValueMatcher values;
    for (const std::string& text : key.matches)
      values.AddMatch(CompileProviderPattern(text, consumer, compat));
    for (const std::string& text : key.mismatches)
      values.AddMismatch(CompileProviderPattern(text, consumer, compat));
    values.Finish();
    if (values.empty()) {
      never_ = true;
    } else if (!ReadsTheCall(key.key)) {
      keys_.push_back({UrlKey(key.key), std::move(values)});
    } else if (!values.Matches(kUnreadableValue)) {
      never_ = true;
    }
  }
}

std::vector<std::string> ProviderMatcher::References(const Conditions& then, const UrlParts& consumer) {
  std::vector<std::string> references;
  for (const KeyPatterns& key : then) {
    for (const auto* patterns : {&key.matches, &key.mismatches}) {
      for (const std::string& text : *patterns) {
        if (IsReference(text))
          references.push_back(ResolveReference(consumer, std::string_view(text).substr(1)));
      }
    }
  }
  return references;
}

bool ProviderMatcher::Matches(const UrlParts& provider) const {
  if (never_) return false;
  return std::all_of(keys_.begin(), keys_.end(), [&provider](const OnProvider& condition) {
    std::string storage;
    const std::optional<std::string_view> value = condition.key.Read(provider, storage);
    return value && condition.values.Matches(*value);
  });
}

}  // namespace fairlead
