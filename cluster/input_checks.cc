#include "fairlead/cluster/input_checks.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/configurator.h"
#include "fairlead/directory/guarded_router.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/parameter_check.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/provider.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

// The category whose protocol this is; absent for those that may be a provider's or a router's.
std::optional<Category> HomeOf(std::string_view protocol) {
  if (protocol == "override" || protocol == "absent") return Category::kConfigurators;
  if (protocol == "route" || protocol == "condition") return Category::kRouters;
  if (protocol == "consumer") return Category::kConsumers;
  return std::nullopt;
}

absl::Status Refused(const Url& url, std::string_view why, std::string_view remedy) {
  return absl::InvalidArgumentError(
      absl::StrCat(Redacted(url.ToString()), " cannot be registered: ", ToAbsl(why), "; ", ToAbsl(remedy)));
}

absl::Status WrongCategory(const Url& url, Category category) {
  const std::optional<Category> home = HomeOf(url.protocol());
  return Refused(url, absl::StrCat(ToAbsl(url.protocol()), ":// is not for the category ", ToAbsl(CategoryName(category))),
                 home ? absl::StrCat("use category=", ToAbsl(CategoryName(*home)))
                      : "leave `category` out for a provider, or use the protocol of the category");
}

// Is a port written in `text` that was read as none, as each below 1 is? Consumers would take the protocol's usual one.
bool WritesNoRealPort(std::string_view text, const Url& url) {
  if (url.port() != 0) return false;
  text = text.substr(0, text.find_first_of("?#"));
  if (const std::size_t protocol = text.find("://"); protocol != std::string_view::npos) text.remove_prefix(protocol + 3);
  text = text.substr(0, text.find('/'));
  text.remove_prefix(text.rfind('@') + 1);
  return text.starts_with(url.host()) && text.substr(url.host().size()).size() > 1;
}

absl::Status CheckProvider(const Url& url, std::string_view text) {
  std::string_view why = WhyNoProvider(url.parts());
  if (why.empty() && WritesNoRealPort(text, url)) why = "no such port";
  if (why.empty()) return absl::OkStatus();
  if (HomeOf(url.protocol())) return WrongCategory(url, Category::kProviders);
  return Refused(url, why, "write it as protocol://host:port/com.acme.Orders, with a port of 1 to 65535");
}

absl::Status CheckRule(const Url& url, const ExtensionRegistry& extensions, Compat compat) {
  const std::string_view name = url.Param(names::kRouter, url.protocol());
  if (const auto factory = extensions.Router(name); factory.ok()) {
    const absl::Status made = GuardedRouter::Create(**factory, url, compat, nullptr).status();
    return made.ok() ? made : Refused(url, Shortened(FromAbsl(made.message())), "correct the rule");
  }
  // Others may have the router.
  const std::optional<Category> home = HomeOf(url.protocol());
  const bool names_rule = !url.Param(names::kRouter).empty() || !url.Param(names::kRule).empty();
  return home == Category::kRouters || (!home && names_rule) ? absl::OkStatus()
                                                              : WrongCategory(url, Category::kRouters);
}

// What the defaults of the consumer's parameters are is said where each of them is read.
constexpr ParameterRule kConsumerRules[] = {
    BoolRule(names::kCheck),
    BoolRule("register"),
    IntRule("timeout", "the default of your calls"),
    IntRule("retry.period", "the registry's"),
    IntRule("retry.times", "the registry's"),
    IntRule("rules.wait", "3000"),
    BoolRule(names::kEnableEmptyProtection),
    CountRule(names::kProtectMaxAge, "the registry's"),
    IntRule("down.after", "3"),
    IntRule("leastactive.exact", "16"),
    IntRule("roundrobin.cap", "4096"),
    BoolRule("registry_zone_force"),
};
// What is no number is refused.
constexpr ParameterRule kSessionRule = {
    "session",
    [](std::string_view value) {
      const std::optional<std::int32_t> millis = ParseJavaInt(value);
      return !millis || *millis >= RegistryOptions::kShortestSession.count();
    },
    "at least 500 ms", "500"};
static_assert(RegistryOptions::kShortestSession.count() == 500, "the rule's text says so");

constexpr ParameterRule kRegistryRules[] = {BoolRule(names::kCheck), BoolRule("register"), BoolRule("subscribe"),
                                             BoolRule("simplified"), BoolRule("file-cache"), BoolRule("file.cache"), BoolRule("save.file"),
                                             BoolRule(names::kEnableEmptyProtection), BoolRule("preferred"),
                                             BoolRule("registry.preferred"), IntRule(names::kWeight, "100"),
                                             IntRule("registry.weight", "100"),
                                             kSessionRule, BoolRule("unicast"), BoolRule("clean")};
constexpr ParameterRule kProviderRules[] = {
    BoolRule(names::kCheck),
    BoolRule("register"),
    BoolRule(names::kDynamic),
    IntRule("retry.period", "the registry's"),
    IntRule("retry.times", "the registry's"),
};

// Documents and logs write `compat=fixed`, so somebody will look for it here.
constexpr ParameterRule kNotInUrls[] = {{"compat", [](std::string_view) { return false; },
                                     "Options::compat, as no url says it", "what the Runtime was made with"}};

std::vector<std::string> Unreadable(const Url& url, std::span<const ParameterRule> rules) {
  std::vector<std::string> remarks = UnreadableParameters(url.parts(), rules);
  for (std::string& remark : UnreadableParameters(url.parts(), kNotInUrls)) remarks.push_back(std::move(remark));
  return remarks;
}

}  // namespace

absl::Status CheckRegistrable(const Url& url, std::string_view text, const ExtensionRegistry& extensions, Compat compat) {
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryKey key, RegistryKeyOf(url.parts()));
  if (url.protocol().empty()) {
    return Refused(url, "it has no protocol", "write it as protocol://host:port/com.acme.Orders");
  }
  switch (key.category) {
    case Category::kProviders:
      return CheckProvider(url, text);
    case Category::kRouters:
      return CheckRule(url, extensions, compat);
    case Category::kConfigurators: {
      if (HomeOf(url.protocol()) != Category::kConfigurators) return WrongCategory(url, key.category);
      const absl::Status made = Configurator::Create(url.parts()).status();
      return made.ok() ? made : Refused(url, Shortened(FromAbsl(made.message())), "correct the override");
    }
    case Category::kConsumers:
      return HomeOf(url.protocol()) == Category::kConsumers ? absl::OkStatus() : WrongCategory(url, key.category);
  }
  return absl::OkStatus();
}

std::vector<std::string> UnreadableInRegistryUrl(const Url& registry) { return Unreadable(registry, kRegistryRules); }
std::vector<std::string> UnreadableInConsumer(const Url& consumer) { return Unreadable(consumer, kConsumerRules); }
std::vector<std::string> UnreadableInProvider(const Url& provider) { return Unreadable(provider, kProviderRules); }

}  // namespace fairlead::internal
