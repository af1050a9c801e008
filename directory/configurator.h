#ifndef FAIRLEAD_DIRECTORY_CONFIGURATOR_H_
#define FAIRLEAD_DIRECTORY_CONFIGURATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/routing/configurator_rule.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// One rule that changes parameters of urls, `override://` (replaces) or `absent://` (fills what is missing):
//
//   override://10.0.0.7/com.acme.Orders?category=configurators&dynamic=false&timeout=500&~region=hz
//
// Its host says for whom it is, its other control parameters narrow that, what is left is set. An immutable
// value; thread-safe.
class Configurator {
 public:
  // kInvalidArgument names the url (without its password), what is wrong with it and how to mend it: another
  // protocol, no host, no service, a priority that is no 32-bit integer.
  static absl::StatusOr<Configurator> Create(UrlParts url);
  // The same of a document's rule. It never sets what a document may not change (kNotFromDocuments).
  static absl::StatusOr<Configurator> Create(ConfiguratorRule rule);

  const UrlParts& url() const { return url_; }  // as given
  const ConfiguratorMatch* match() const { return match_.get(); }  // nullptr when there is none
  std::int32_t priority() const { return priority_; }
  bool enabled() const { return enabled_; }

 private:
  friend class Configurators;
  struct Target;

  Configurator() = default;
  bool NeedsSide() const { return enabled_ && versioned_; }
  bool IsFor(const Target& target, std::string_view local_address) const;
  // The host that the rule's own is compared with; absent when the rule is not about this side at all.
  std::optional<std::string_view> HostComparedWith(const UrlParts& target,
                                                   std::string_view local_address) const;
  void Set(UrlParts& target) const;

  UrlParts url_;
  std::int32_t priority_ = 0;
  bool enabled_ = true;
  bool fills_ = false;      // absent://
  bool versioned_ = false;  // has a configVersion: written for Dubbo 2.7 or later
  std::vector<std::string> provider_addresses_;
  std::optional<std::string> application_;
  std::string service_key_;
  std::vector<std::pair<std::string, std::string>>
      conditions_;  // parameter of the target and its value, never `*`
  std::shared_ptr<const ConfiguratorMatch> match_;
  UrlParts::Params settings_;
};

// The configurators of one source (a registry's category, or one document), in order of application. An
// immutable value, cheap to copy; thread-safe.
//
// A url is always configured from the original: `effective = list.Apply(MergeConsumer(provider, consumer))`,
// never from an earlier effective url, so that a deleted rule leaves nothing behind. Several sources are
// applied one after the other, the later one wins: the registry's, the application's document, the service's
// document (InTurn).
//
// Order within a list: host text ascending (so 0.0.0.0 comes before named hosts, which win; 10.0.0.10 before
// 10.0.0.2), then `priority` ascending (so the larger wins), then as given.
//
// A rule applies to a target url when all of this holds:
//   enabled      `enabled` is not false.
//   side         With `configVersion`: `side` is there and equals the target's, consumer or provider. Without
//   it
//                and with a port: the target's port is equal. Without both: the target has a `side`, and on
//                the provider's side the rule's host is 0.0.0.0.
//   host         0.0.0.0, or equal to: this machine's address on the consumer's side, the target's host when
//   the
//                rule has a port (without configVersion) or is about providers.
//   providerAddresses   when given, one of the comma list is the target's host:port or host, or 0.0.0.0,
//                0.0.0.0:*, 0.0.0.0:port.
//   application  (or the user name) when given, `*` or equal to the target's.
//   service      group, interface and version equal to the target's, or the service key is `*`. A rule
//   without
//                group and version does not apply to a service that has them.
//   conditions   unless configVersion begins with v3.0: every `~key`, and `application` and `side`, is `*` or
//   equal
//                to the target's parameter. With it: the `match` of a document's item holds, if there is one.
// Everything is then set but category, check, dynamic, enabled, group, version, application, side,
// configVersion, compatible_config, interfaces and the conditions. As in Dubbo this includes priority and
// providerAddresses, which mean nothing in a target; unlike in Dubbo it does not include `interface=*`, which
// would make the target lose its service.
class Configurators {
 public:
  Configurators() = default;

  // From the list of one notification. An `empty://` url clears the list and ends reading; a url without a
  // parameter besides `anyhost` is no rule and skipped; one that cannot be used is left out alone and its
  // reason appended to `rejected` (may be null). What is right but has no effect (cleared, setting nothing, not
  // enabled) is appended to `idle` (may be null) as a line for Explain. `local_address` is the address this machine
  // registers consumers with, the one rules for consumers name. n log n in the urls.
  static Configurators FromUrls(std::span<const Url> urls, std::string_view local_address,
                                std::vector<absl::Status>* rejected = nullptr,
                                std::vector<std::string>* idle = nullptr);
  // The same for urls that code has made, as a document's reader does.
  static Configurators FromParts(std::vector<UrlParts> urls, std::string_view local_address,
                                 std::vector<absl::Status>* rejected = nullptr,
                                 std::vector<std::string>* idle = nullptr);
  // From one document. None for a document without rules, which so takes back what an earlier one has set.
  static Configurators FromRules(std::vector<ConfiguratorRule> rules, std::string_view local_address,
                                 std::vector<absl::Status>* rejected = nullptr,
                                 std::vector<std::string>* idle = nullptr);
  // Several sources as one list, the first of `sources` applied first, each in the order it has.
  // REQUIRES: all made for one `local_address`
  static Configurators InTurn(std::span<const Configurators> sources);

  // Says what was expected of a setting's value when it cannot be used; empty when it can.
  using SettingCheck = std::function<std::string(std::string_view key, std::string_view value)>;
  // The same rules, each without those of its settings that `check` has something to say of; what is left of the rule
  // applies. Of each setting left out `left_out` gets a line naming rule, key, value and what was expected. Rules that
  // are not enabled are not looked at.
  Configurators Without(const SettingCheck& check, std::vector<std::string>& left_out) const;

  bool empty() const { return in_order().empty(); }
  std::size_t size() const { return in_order().size(); }
  std::span<const Configurator> in_order() const;

  // `original` with every rule applied that is for it; each sees what those before it have set. Linear in the
  // rules' and the url's parameters.
  UrlParts Apply(UrlParts original) const;

  // kInvalidArgument when a rule with a `configVersion` cannot tell whether it is for `target`, as that has
  // no `side` parameter; names the rule. Apply leaves such a rule out, Dubbo fails the whole target.
  absl::Status CheckTarget(const UrlParts& target) const;

  // One line a rule in order of application, for Explain. No password.
  std::string Describe() const;

 private:
  struct State;
  template <class Given>
  static Configurators Read(std::vector<Given> given, std::string_view local_address,
                            std::vector<absl::Status>* rejected, std::vector<std::string>* idle);
  std::shared_ptr<const State> state_;
};

// Which rule a configurator url is, as consoles know it: kind, address, application, service and whom else it
// is narrowed to, but neither what it sets nor whether it is enabled or stored. Two urls of equal identity
// are two versions of one rule: a stored `override://0.0.0.0/s?dynamic=false&x=1` is deleted by a request
// that spells `enabled=true` out. For comparing only.
std::string ConfiguratorIdentity(const UrlParts& url);

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_CONFIGURATOR_H_
