#include "fairlead/directory/configurator_lint.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/configurator.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/directory/rule_flags.h"
#include "fairlead/routing/lint/field_lint.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kAnyHost = "0.0.0.0";
// A parameter that nobody has: who gets it is whom a rule is for.
constexpr char kProbe[] = "fairlead.lint.probe";

PolicyLookup PoliciesOf(const LintOptions& options) {
  return [has = options.has_policy](std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
    if (!has || has(name)) return nullptr;
    return absl::NotFoundError(absl::StrCat("no policy ", ToAbsl(name)));
  };
}

void LintSettings(const Configurators& rules, const LintOptions& options, YamlMark mark, LintReport& report) {
  const PolicyLookup policies = PoliciesOf(options);
  std::vector<std::string> left_out;
  rules.Without([&](std::string_view key, std::string_view value) { return ValueExpected(key, value, policies); }, left_out);
  for (std::string& line : left_out) report.Add("setting-unusable", mark, std::move(line));
}

void LintNoAddress(std::string_view text, const char* why, YamlMark mark, LintReport& report) {
  report.Add("no-such-address", mark, absl::StrCat("`", Shortened(text, 80), "` ", why, ", so it names nobody"));
}

// The host and the `providerAddresses` of an override's url.
void LintAddresses(const UrlParts& url, YamlMark mark, LintReport& report) {
  const std::string host = url.host.value_or("");
  if (const char* why = WhyNoAddress(host)) LintNoAddress(host, why, mark, report);
  for (const absl::string_view address : absl::StrSplit(ToAbsl(url.Param(names::kProviderAddresses)), ',', absl::SkipEmpty())) {
    if (const char* why = WhyNoAddress(FromAbsl(address))) LintNoAddress(FromAbsl(address), why, mark, report);
  }
}

void LintDisabling(const UrlParts& url, YamlMark mark, LintReport& report) {
  const bool disables = BoolParam(url, names::kDisabled, false);
  const std::string_view application = url.Param(names::kApplication);
  if (!disables || !BoolParam(url, names::kEnabled, true) || url.host != kAnyHost || url.port != 0 ||
      !url.Param(names::kProviderAddresses).empty() || !(application.empty() || application == "*")) {
    return;
  }
  const bool narrowed = std::any_of(url.params.begin(), url.params.end(),
                                    [](const auto& param) { return param.first.starts_with('~') && param.second != "*"; });
  if (!narrowed) report.Add("disables-all", mark, "`disabled` is set for every provider of the service, so nobody is left");
}

// Does it change anything for this consumer and these providers?
void LintInWorld(ConfiguratorRule rule, const LintOptions& options, YamlMark mark, LintReport& report) {
  if (options.consumer.empty() || options.providers.empty()) return;
  rule.url.params.insert_or_assign(kProbe, "1");
  const std::string host(options.consumer.host());
  const Configurators one = Configurators::FromRules({std::move(rule)}, host);
  if (one.empty() || !one.in_order().front().enabled()) return;
  UrlParts consumer = options.consumer.parts();
  consumer.params.emplace(names::kSide, "consumer");
  const bool somebody = one.Apply(consumer).Find(kProbe) != nullptr ||
                        std::any_of(options.providers.begin(), options.providers.end(), [&](const Url& provider) {
                          return one.Apply(MergeConsumer(provider.parts(), consumer.params)).Find(kProbe) != nullptr;
                        });
  if (!somebody) {
    report.Add("no-provider-now", mark, absl::StrCat("it changes neither this consumer nor one of its ", options.providers.size(),
                                                     " providers now"));
  }
}

// Settings that a later rule for the same targets replaces. Of rules with a `match`, whose targets are not compared, none.
class Overruled {
 public:
  void Add(const UrlParts& url, YamlMark mark, LintReport& report) {
    if (!BoolParam(url, names::kEnabled, true)) return;
    auto& settings = by_identity_[ConfiguratorIdentity(url)];
    for (const auto& [key, value] : url.params) {
      const bool control = std::find(kConfiguratorControls.begin(), kConfiguratorControls.end(), key) != kConfiguratorControls.end();
      if (control || key == names::kProviderAddresses || key == names::kPriority || key.starts_with('~')) continue;
      const auto [at, fresh] = settings.try_emplace(key, value, mark);
      if (fresh) continue;
      report.Add("setting-overruled", at->second.second,
                 absl::StrCat(Shortened(key, 80), "=", Shortened(Redacted(at->second.first), 80), " is replaced by the rule at ",
                              mark.ToString(), " for the same targets"));
      at->second = {value, mark};
    }
  }

 private:
  std::map<std::string, std::map<std::string, std::pair<std::string, YamlMark>>> by_identity_;
};

// `key` decides which service or application the rules are for; the name only where the document is found.
void LintKey(const ConfiguratorDocument& document, std::string_view owner, LintReport& report) {
  if (owner.empty() || document.is_url_list || !document.key.has_value()) return;
  std::string expected(owner);
  if (document.scope != "application") {
    // interface:version:group
    const std::size_t first = owner.find(':');
    const std::size_t second = first == owner.npos ? owner.npos : owner.find(':', first + 1);
    if (second == owner.npos) return;
    const std::string_view version = owner.substr(first + 1, second - first - 1), group = owner.substr(second + 1);
    expected = absl::StrCat(ToAbsl(group), group.empty() ? "" : "/", ToAbsl(owner.substr(0, first)), version.empty() ? "" : ":",
                            ToAbsl(version));
  }
  if (*document.key == expected) return;
  report.Add("key-mismatch", {1, 1}, absl::StrCat("`key` is ", Shortened(*document.key, 100), ", but whoever reads this document is ",
                                                  Shortened(expected, 100), ", for which its rules are not meant then"));
}

// What its reader does not keep: how flags are written, and addresses, which are parts of urls when it is done.
void LintFields(std::string_view text, LintReport& report) {
  const absl::StatusOr<YamlDocument> yaml = ParseYamlDocument(text);
  if (!yaml.ok() || yaml->root.kind() != YamlValue::Kind::kMap) return;
  LintControls(yaml->root, " and counts as `service`", report);
  const YamlValue* configs = yaml->root.Find("configs");
  if (configs == nullptr) return;
  for (const YamlValue& item : configs->items()) {
    LintFlag(item, "enabled", false, report);
    for (const char* name : {"addresses", "providerAddresses"}) {
      const YamlValue* addresses = item.Find(name);
      if (addresses == nullptr) continue;
      for (const YamlValue& address : addresses->items()) {
        const std::string written = address.JavaText();
        if (const char* why = WhyNoAddress(written)) LintNoAddress(written, why, address.mark(), report);
      }
    }
    const YamlValue* match = item.Find("match");
    const YamlValue* params = match == nullptr ? nullptr : match->Find("param");
    if (params == nullptr) continue;
    for (const YamlValue& one : params->items()) {
      const YamlValue* key = one.Find("key");
      if (key != nullptr && key->text() != nullptr) LintKeptPrefix(*key->text(), "`key`", key->mark(), report);
    }
  }
}

}  // namespace

void LintConfiguratorUrl(const UrlParts& url, const LintOptions& options, LintReport& report) {
  std::vector<absl::Status> rejected;
  std::vector<std::string> idle;
  const Configurators rules = Configurators::FromParts({url}, kAnyHost, &rejected, &idle);
  for (const absl::Status& status : rejected) {
    report.Add("rule-unusable", {1, 1}, Shortened(FromAbsl(status.message())));
  }
  for (std::string& line : idle) {
    report.Add(absl::StartsWith(line, "override not enabled") ? "disabled" : "sets-nothing", {1, 1}, std::move(line));
  }
  if (rules.empty()) return;
  for (std::string& line : UnreadableFlags(url)) report.Add("control-unreadable", {1, 1}, std::move(line));
  LintSettings(rules, options, {1, 1}, report);
  LintAddresses(url, {1, 1}, report);
  LintDisabling(url, {1, 1}, report);
  LintInWorld({url, nullptr}, options, {1, 1}, report);
}

void LintConfiguratorDocument(std::string_view text, std::string_view owner, const LintOptions& options, LintReport& report) {
  LintFields(text, report);
  absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, options.compat);
  if (!document.ok()) return report.AddError(document.status(), {1, 1});
  report.AddRemarks(document->remarks);
  LintKey(*document, owner, report);
  if (document->rules.empty()) report.Add("sets-nothing", {1, 1}, "there are no configs: it takes back what an earlier document has set");
  if (!document->enabled) report.Add("disabled", {1, 1}, "`enabled` is false, so its items set nothing");
  Overruled overruled;
  for (std::size_t i = 0; i < document->rules.size(); ++i) {
    const ConfiguratorRule& rule = document->rules[i];
    const YamlMark mark = document->marks[i];
    std::vector<absl::Status> rejected;
    const Configurators one = Configurators::FromRules({rule}, kAnyHost, &rejected);
    for (const absl::Status& status : rejected) {
      report.Add("rule-unusable", mark, Shortened(FromAbsl(status.message())), Severity::kWarning);
    }
    if (one.empty()) continue;
    if (document->is_url_list) {
      LintAddresses(rule.url, mark, report);
      for (std::string& line : UnreadableFlags(rule.url)) report.Add("control-unreadable", mark, std::move(line));
    }
    if (rule.url.Param(names::kSide) == "provider") {
      report.Add("provider-side", mark, "an item of `side: provider` is for what providers register; consumers do not obey it");
    }
    LintSettings(one, options, mark, report);
    if (rule.match == nullptr) {
      LintDisabling(rule.url, mark, report);
      overruled.Add(rule.url, mark, report);
    }
    if (rule.url.Param(names::kSide) != "provider") LintInWorld(rule, options, mark, report);
  }
}

}  // namespace fairlead::internal
