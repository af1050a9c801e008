#include "fairlead/directory/configurator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_check.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::string_view kAny = "*";
constexpr std::string_view kAnyHost = "0.0.0.0";
constexpr std::string_view kConsumer = "consumer";
constexpr std::string_view kProvider = "provider";
constexpr std::string_view kOverride = "override";
constexpr std::string_view kAbsent = "absent";

// Written with a `match` in a document instead of `~keys`.
bool HasConditionsOfV30(const UrlParts& url) { return url.Param(names::kConfigVersion).starts_with("v3.0"); }

bool IsConditionKey(std::string_view key) { return key.starts_with('~'); }

// With the user name, which is a condition, and without the password.
std::string Printable(const UrlParts& url) { return Redacted(url.ToFullString()); }

absl::Status Unusable(const UrlParts& url, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("configurator ", Shortened(Printable(url)), ": ", ToAbsl(why)));
}

std::optional<std::string> ApplicationOf(const UrlParts& url) {
  const std::string_view application = url.Param(names::kApplication);
  return application.empty() ? url.username : std::string(application);
}

const UrlParts& UrlOf(const UrlParts& url) { return url; }
const UrlParts& UrlOf(const ConfiguratorRule& rule) { return rule.url; }

}  // namespace

// A url to be configured, with the texts that every rule compares. None of them changes while rules are
// applied: no rule sets group, version or another interface.
struct Configurator::Target {
  explicit Target(const UrlParts& url)
      : parts(url),
        service_key(url.ServiceKey()),
        address(url.Address()),
        any_host_and_port(absl::StrCat(ToAbsl(kAnyHost), ":", url.port)),
        application(ApplicationOf(url)) {}

  const UrlParts& parts;
  const std::string service_key;
  const std::string address;
  const std::string any_host_and_port;
  const std::optional<std::string> application;
};

absl::StatusOr<Configurator> Configurator::Create(UrlParts url) {
  Configurator made;
  const std::string_view protocol =
      url.protocol.has_value() ? std::string_view(*url.protocol) : std::string_view();
  if (protocol != kOverride && protocol != kAbsent) {
    return Unusable(url, "the protocol must be `override` or `absent`");
  }
  if (!url.host.has_value()) return Unusable(url, "a host is missing; write 0.0.0.0 for all");
  made.fills_ = protocol == kAbsent;
  made.service_key_ = url.ServiceKey();
  if (made.service_key_.empty()) {
    return Unusable(url, "a service is missing; name its interface in the path, or write * for all");
  }
  if (const std::string_view priority = url.Param(names::kPriority); !priority.empty()) {
    const std::optional<std::int32_t> number = ParseJavaInt(priority);
    if (!number.has_value())
      return Unusable(url, "`priority` must be an integer of 32 bits; the larger one wins");
    made.priority_ = *number;
  }
  made.enabled_ = BoolParam(url, names::kEnabled, true);
  made.versioned_ = !url.Param(names::kConfigVersion).empty();
  made.application_ = ApplicationOf(url);
  if (const std::string_view addresses = url.Param(names::kProviderAddresses); !addresses.empty()) {
    made.provider_addresses_ = absl::StrSplit(ToAbsl(addresses), ',');
  }

  // Rules of configVersion v3.0 have conditions of their own, so there the old ones are settings like any
  // other.
  const bool has_conditions = !HasConditionsOfV30(url);
  for (const auto& [key, value] : url.params) {
    const bool is_condition = has_conditions && IsConditionKey(key);
    if (is_condition || (has_conditions && (key == names::kApplication || key == names::kSide))) {
      if (value != kAny) made.conditions_.emplace_back(is_condition ? key.substr(1) : key, value);
    }
    const bool is_any_interface = key == names::kInterface && value == kAny;
    if (is_condition || is_any_interface ||
        std::find(kConfiguratorControls.begin(), kConfiguratorControls.end(), key) != kConfiguratorControls.end()) {
      continue;
    }
    made.settings_.insert_or_assign(key, value);
  }
  made.url_ = std::move(url);
  return made;
}

absl::StatusOr<Configurator> Configurator::Create(ConfiguratorRule rule) {
  absl::StatusOr<Configurator> made = Create(std::move(rule.url));
  if (!made.ok()) return made;
  for (const std::string_view key : kNotFromDocuments) made->settings_.erase(key);
  if (HasConditionsOfV30(made->url_)) made->match_ = std::move(rule.match);
  return made;
}

std::optional<std::string_view> Configurator::HostComparedWith(const UrlParts& target,
                                                               std::string_view local_address) const {
  const std::string_view side = target.Param(names::kSide);
  if (versioned_) {
    if (side.empty() || side != url_.Param(names::kSide)) return std::nullopt;
    if (side == kConsumer) return local_address;
    if (side == kProvider) return std::string_view(*target.host);
    return std::nullopt;
  }
  if (url_.port != 0) {
    if (url_.port != target.port) return std::nullopt;
    return std::string_view(*target.host);
  }
  // Without a port the host is a consumer's, so a provider obeys only what is for everybody.
  if (side == kConsumer) return local_address;
  if (side == kProvider) return kAnyHost;
  return std::nullopt;
}

bool Configurator::IsFor(const Target& target, std::string_view local_address) const {
  if (!enabled_ || !target.parts.host.has_value()) return false;
  const std::optional<std::string_view> host = HostComparedWith(target.parts, local_address);
  if (!host.has_value() || (*url_.host != kAnyHost && *url_.host != *host)) return false;
  if (service_key_ != kAny && service_key_ != target.service_key) return false;
  if (application_.has_value() && *application_ != kAny && application_ != target.application) return false;
  if (!provider_addresses_.empty() &&
      std::none_of(provider_addresses_.begin(), provider_addresses_.end(), [&](const std::string& address) {
        return address == target.address || address == *target.parts.host || address == kAnyHost ||
               address == "0.0.0.0:*" || address == target.any_host_and_port;
      })) {
    return false;
  }
  if (!std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& condition) {
        const std::string* value = target.parts.Find(condition.first);
        return value != nullptr && *value == condition.second;
      })) {
    return false;
  }
  return match_ == nullptr || match_->Matches(*host, target.parts);
}

void Configurator::Set(UrlParts& target) const {
  if (!fills_) {
    target.params.Overlay(settings_);
    return;
  }
  UrlParts::Params filled = settings_;
  filled.Overlay(target.params);
  target.params = std::move(filled);
}

struct Configurators::State {
  std::vector<Configurator> in_order;
  std::string local_address;
};

Configurators Configurators::FromUrls(std::span<const Url> urls, std::string_view local_address,
                                      std::vector<absl::Status>* rejected, std::vector<std::string>* idle) {
  std::vector<UrlParts> parts;
  parts.reserve(urls.size());
  for (const Url& url : urls) parts.push_back(url.parts());
  return FromParts(std::move(parts), local_address, rejected, idle);
}

Configurators Configurators::FromParts(std::vector<UrlParts> urls, std::string_view local_address,
                                       std::vector<absl::Status>* rejected, std::vector<std::string>* idle) {
  return Read(std::move(urls), local_address, rejected, idle);
}

Configurators Configurators::FromRules(std::vector<ConfiguratorRule> rules, std::string_view local_address,
                                       std::vector<absl::Status>* rejected, std::vector<std::string>* idle) {
  return Read(std::move(rules), local_address, rejected, idle);
}

// Of urls or of a document's rules.
template <class Given>
Configurators Configurators::Read(std::vector<Given> given, std::string_view local_address,
                                  std::vector<absl::Status>* rejected, std::vector<std::string>* idle) {
  std::vector<Configurator> list;
  const auto note = [idle](std::string_view why, const UrlParts& url) {
    if (idle != nullptr) idle->push_back(absl::StrCat(ToAbsl(why), ": ", Shortened(Printable(url))));
  };
  for (Given& one : given) {
    const UrlParts& url = UrlOf(one);
    if (url.protocol == "empty") {
      if (!list.empty()) note("every override in the list is cleared by", url);
      list.clear();
      break;
    }
    // Registries add `anyhost` by themselves, so it does not make a rule of a url that sets nothing.
    if (url.params.size() == url.params.count(names::kAnyhost)) {
      note("override without parameters, skipped", url);
      continue;
    }
    absl::StatusOr<Configurator> made = Configurator::Create(std::move(one));
    if (made.ok()) {
      if (!made->enabled()) {
        const std::string_view enabled = made->url().Param(names::kEnabled);
        note(absl::StrCat("override not enabled (enabled=", Shortened(enabled, 40), ")",
                          internal::ReadsAsBool(enabled) ? "" : ", expected true or false; false holds instead"),
             made->url());
      }
      list.push_back(*std::move(made));
    } else if (rejected != nullptr) {
      rejected->push_back(made.status());
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Configurator& a, const Configurator& b) {
    const int by_host = a.url().host->compare(*b.url().host);
    return by_host != 0 ? by_host < 0 : a.priority() < b.priority();
  });
  Configurators made;
  if (!list.empty()) {
    made.state_ = std::make_shared<const State>(State{std::move(list), std::string(local_address)});
  }
  return made;
}

Configurators Configurators::InTurn(std::span<const Configurators> sources) {
  std::vector<Configurator> list;
  const Configurators* only = nullptr;
  int filled = 0;
  for (const Configurators& source : sources) {
    if (source.empty()) continue;
    only = &source;
    ++filled;
    list.insert(list.end(), source.in_order().begin(), source.in_order().end());
  }
  if (filled == 0) return {};
  if (filled == 1) return *only;
  Configurators made;
  made.state_ = std::make_shared<const State>(State{std::move(list), only->state_->local_address});
  return made;
}

Configurators Configurators::Without(const SettingCheck& check, std::vector<std::string>& left_out) const {
  std::vector<Configurator> list(in_order().begin(), in_order().end());
  const std::size_t before = left_out.size();
  for (Configurator& one : list) {
    if (!one.enabled_) continue;
    const std::size_t all = one.settings_.size();
    one.settings_.EraseIf([&](std::string_view key, std::string_view value) { return !check(key, value).empty(); });
    if (one.settings_.size() == all) continue;
    for (const auto& [key, value] : one.url_.params) {
      if (one.settings_.contains(key)) continue;
      const std::string expected = check(key, value);
      if (expected.empty()) continue;  // no setting at all
      left_out.push_back(absl::StrCat(Shortened(key, 60), "=", Shortened(value, 60), " is not used, expected ", expected,
                                      ": ", Shortened(Printable(one.url_))));
    }
  }
  if (left_out.size() == before) return *this;
  Configurators made;
  made.state_ = std::make_shared<const State>(State{std::move(list), state_->local_address});
  return made;
}

std::span<const Configurator> Configurators::in_order() const {
  if (state_ == nullptr) return {};
  return state_->in_order;
}

UrlParts Configurators::Apply(UrlParts original) const {
  if (state_ == nullptr) return original;
  const Configurator::Target target(original);
  for (const Configurator& configurator : state_->in_order) {
    if (configurator.IsFor(target, state_->local_address)) configurator.Set(original);
  }
  return original;
}

absl::Status Configurators::CheckTarget(const UrlParts& target) const {
  if (!target.host.has_value() || !target.Param(names::kSide).empty()) return absl::OkStatus();
  for (const Configurator& configurator : in_order()) {
    if (!configurator.NeedsSide()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "url ", Shortened(Redacted(target.ToString())), " has no `side` (consumer or provider), which configurator ",
        Shortened(Printable(configurator.url())), " asks for; add the parameter `side`"));
  }
  return absl::OkStatus();
}

std::string Configurators::Describe() const {
  std::string text;
  for (const Configurator& configurator : in_order()) {
    absl::StrAppend(&text, Printable(configurator.url()), configurator.enabled() ? "" : " (not enabled)");
    if (configurator.match() != nullptr) absl::StrAppend(&text, " if ", configurator.match()->ToString());
    text += '\n';
  }
  return text;
}

std::string ConfiguratorIdentity(const UrlParts& url) {
  std::string identity;
  // Lengths keep a separator inside of a text from being taken for one.
  const auto add = [&identity](std::string_view name, std::string_view text) {
    absl::StrAppend(&identity, ToAbsl(name), "=", text.size(), ":", ToAbsl(text), ";");
  };
  add("kind", url.protocol.value_or(""));
  add("address", url.Address());
  add("service", url.ServiceKey());
  add("application", ApplicationOf(url).value_or(std::string(kAny)));
  add("side", url.Param(names::kSide));
  add("providers", url.Param(names::kProviderAddresses));
  for (const auto& [key, value] : url.params) {
    if (IsConditionKey(key)) add(key, value);
  }
  return identity;
}

}  // namespace fairlead
