#include "fairlead/url/match.h"

#include <algorithm>
#include <optional>

#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::string_view kAny = "*";
constexpr std::string_view kProviders = "providers";

using Text = std::optional<std::string_view>;  // absent and empty differ for group and version

Text Raw(const UrlParts& url, std::string_view key) {
  const std::string* value = url.Find(key);
  return value == nullptr ? Text() : Text(*value);
}

Text Interface(const UrlParts& url) {
  if (const std::string_view name = url.Param(names::kInterface); !name.empty()) return name;
  return url.path.has_value() ? Text(*url.path) : Text();
}

bool MatchesGroup(Text consumer, Text provider) {
  if (consumer == kAny || consumer == provider) return true;
  if (!consumer.has_value() || !provider.has_value() || provider->empty()) return false;
  const auto groups = SplitCommaList(*consumer);
  return std::find(groups.begin(), groups.end(), *provider) != groups.end();
}

bool MatchesVersion(Text consumer, Text provider) { return consumer == kAny || consumer == provider; }

bool GroupAndVersionMatch(const UrlParts& consumer, const UrlParts& provider) {
  return MatchesGroup(Raw(consumer, names::kGroup), Raw(provider, names::kGroup)) &&
         MatchesVersion(Raw(consumer, names::kVersion), Raw(provider, names::kVersion));
}

// An instance's value against a rule of one, several (comma list) or all values.
bool MatchesRule(std::string_view rule, std::string_view value) {
  if (rule == kAny) return true;
  if (rule.empty()) return value.empty();
  if (rule.find(',') == std::string_view::npos) return rule == value;
  while (true) {
    const std::size_t comma = rule.find(',');
    std::string_view element = rule.substr(0, comma);
    while (!element.empty() && element.front() <= ' ' && element.front() >= 0) element.remove_prefix(1);
    while (!element.empty() && element.back() <= ' ' && element.back() >= 0) element.remove_suffix(1);
    if (element == value) return true;
    if (comma == std::string_view::npos) return false;
    rule.remove_prefix(comma + 1);
  }
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view value) {
  if (pattern == kAny) return true;
  if (pattern.empty() || value.empty()) return pattern.empty() && value.empty();
  const std::size_t star = pattern.rfind('*');
  if (star == std::string_view::npos) return pattern == value;
  const std::string_view prefix = pattern.substr(0, star), suffix = pattern.substr(star + 1);
  return value.substr(0, prefix.size()) == prefix && value.size() >= suffix.size() &&
         value.substr(value.size() - suffix.size()) == suffix;
}

bool MatchesCategory(std::string_view category, std::string_view wanted) {
  if (wanted.empty()) return category == kProviders;
  if (wanted.find('*') != std::string_view::npos) return true;
  if (wanted.find('-') != std::string_view::npos) {
    for (std::size_t at = wanted.find('-'); at != std::string_view::npos; at = wanted.find('-', at + 1)) {
      if (wanted.substr(at + 1, category.size()) == category) return false;
    }
    return true;
  }
  return wanted.find(category) != std::string_view::npos;
}

bool Matches(const UrlParts& consumer, const UrlParts& provider) {
  const Text wanted = Interface(consumer), offered = Interface(provider);
  if (wanted != kAny && offered != kAny && wanted != offered) return false;
  if (!MatchesCategory(provider.Param(names::kCategory, kProviders), consumer.Param(names::kCategory, kProviders))) {
    return false;
  }
  if (!BoolParam(provider, names::kEnabled, true) && consumer.Param(names::kEnabled) != kAny) return false;
  const std::string_view classifier = consumer.Param(names::kClassifier, kAny);
  if (classifier != kAny && classifier != provider.Param(names::kClassifier, kAny)) return false;
  return GroupAndVersionMatch(consumer, provider);
}

bool MatchesPushed(const UrlParts& consumer, const UrlParts& provider) {
  if (!MatchesCategory(kProviders, consumer.Param(names::kCategory, kProviders))) return false;
  const std::string_view asked = consumer.Param(names::kEnabled);
  if (asked != kAny && !ParseJavaBool(asked.empty() ? provider.Param(names::kEnabled, "true") : asked)) return false;
  return GroupAndVersionMatch(consumer, provider);
}

bool IsConfigurator(const UrlParts& url) {
  return url.protocol == "override" || url.Param(names::kCategory, kProviders) == "configurators";
}

bool IsRoute(const UrlParts& url) {
  return url.protocol == "route" || url.Param(names::kCategory, kProviders) == "routers";
}

bool IsProvider(const UrlParts& url) {
  return url.protocol != "override" && url.protocol != "route" &&
         url.Param(names::kCategory, kProviders) == kProviders;
}

bool Matches(const ProtocolServiceKey& consumer, const ProtocolServiceKey& instance) {
  return consumer.interface_name == instance.interface_name && MatchesRule(consumer.version, instance.version) &&
         MatchesRule(consumer.group, instance.group) &&
         (consumer.protocol.empty() || MatchesRule(consumer.protocol, instance.protocol));
}

}  // namespace fairlead
