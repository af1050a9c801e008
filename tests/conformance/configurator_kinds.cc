#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/directory/configurator.h"
#include "fairlead/routing/address_match.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/url/url_parts.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

// What NetUtils.getLocalHost() gave where the answers were made.
constexpr std::string_view kLocalAddress = "10.9.8.7";

UrlParts ParseUrl(const Json& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text.get_ref<const std::string&>());
  if (!url.ok()) throw std::runtime_error(std::string(url.status().message()));
  return *std::move(url);
}

std::vector<UrlParts> ParseUrls(const Json& texts) {
  std::vector<UrlParts> urls;
  for (const Json& text : texts) urls.push_back(ParseUrl(text));
  return urls;
}

Configurators MakeConfigurators(std::vector<UrlParts> urls) {
  std::vector<absl::Status> rejected;
  Configurators made = Configurators::FromParts(std::move(urls), kLocalAddress, &rejected);
  if (!rejected.empty()) throw std::runtime_error(std::string(rejected.front().message()));
  return made;
}

Json ToJson(const UrlParts::Params& params) {
  Json object = Json::object();
  for (const auto& [key, value] : params) object[key] = value;
  return object;
}

std::string DubboName(const Configurator& configurator) {
  const bool absent = configurator.url().protocol == "absent";
  return (absent ? "AbsentConfigurator " : "OverrideConfigurator ") + configurator.url().ToFullString();
}

// What throws in Dubbo is a rule or a target that Fairlead names, leaves out and lives on without; the class
// of the exception is not compared.
Outcome Override(const Case& c) {
  const Json& texts = c.in.at("overrides");
  std::vector<absl::Status> complaints;
  const Configurators configurators = Configurators::FromParts(ParseUrls(texts), kLocalAddress, &complaints);
  const UrlParts target = ParseUrl(c.in.at("url"));
  complaints.push_back(configurators.CheckTarget(target));
  if (c.out.contains("error")) {
    for (const absl::Status& complaint : complaints) {
      if (!complaint.ok()) return {true, Json{{"error", std::string(complaint.message())}}};
    }
  }
  Json got = {{"full", configurators.Apply(target).ToFullString()}};
  if (texts.size() > 1) {
    Json order = Json::array();
    for (const Configurator& configurator : configurators.in_order())
      order.push_back(DubboName(configurator));
    got["order"] = std::move(order);
  }
  const bool passed = complaints.back().ok() && got == c.out;
  return {passed, std::move(got)};
}

Json RegistryApply(const Case& c) {
  const Configurators configurators = MakeConfigurators({ParseUrl(c.in.at("configurator"))});
  return ToJson(configurators.Apply(ParseUrl(c.in.at("url"))).params);
}

// The vector gives the order alone, so the order must come out of every rotation of it, also backwards.
Outcome RegistryOrder(const Case& c) {
  std::vector<UrlParts> urls = ParseUrls(c.out);
  Outcome outcome;
  for (std::size_t i = 0; i < 2 * urls.size(); ++i) {
    if (i == urls.size()) std::reverse(urls.begin(), urls.end());
    std::rotate(urls.begin(), urls.begin() + 1, urls.end());
    const Configurators configurators = MakeConfigurators(urls);
    outcome.got = Json::array();
    for (const Configurator& configurator : configurators.in_order()) {
      outcome.got.push_back(configurator.url().ToFullString());
    }
    outcome.passed = outcome.got == c.out;
    if (!outcome.passed) break;
  }
  return outcome;
}

Json FullStrings(const ConfiguratorDocument& document) {
  Json urls = Json::array();
  for (const ConfiguratorRule& rule : document.rules) urls.push_back(rule.url.ToFullString());
  return urls;
}

// A document that Dubbo's parser throws at is one that Fairlead names; the class of the exception is not compared.
Outcome Document(const Case& c) {
  const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(c.in.at("yaml").get<std::string>(), c.compat);
  if (!document.ok()) return {c.out.contains("error"), Json{{"error", std::string(document.status().message())}}};
  const Configurators configurators = Configurators::FromRules(document->rules, kLocalAddress);
  Json got = {{"urls", FullStrings(*document)}, {"applied", Json::array()}};
  for (const Json& text : c.in.at("apply_to")) {
    const UrlParts target = ParseUrl(text);
    got["applied"].push_back(configurators.CheckTarget(target).ok() ? configurators.Apply(target).ToFullString()
                                                                    : "!error NullPointerException");
  }
  const bool passed = got == c.out;
  return {passed, std::move(got)};
}

Json RegistryDocument(const Case& c) {
  const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(c.in.get<std::string>(), c.compat);
  return document.ok() ? FullStrings(*document) : Json(std::string(document.status().message()));
}

Outcome RoutingDocument(const Case& c) {
  const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(c.in.at("yaml").get<std::string>(), c.compat);
  if (!document.ok()) {
    return {c.out.is_object() && c.out.contains("error"), Json{{"error", std::string(document.status().message())}}};
  }
  Json got = Json::array();
  if (c.in.contains("url")) {
    got = ToJson(Configurators::FromRules(document->rules, kLocalAddress).Apply(ParseUrl(c.in.at("url"))).params);
  } else {
    for (const ConfiguratorRule& rule : document->rules) {
      got.push_back(ToJson(rule.url.params));
      got.back()["address"] = rule.url.Address();
      got.back()["interface"] = rule.url.ServiceInterface();
    }
  }
  const bool passed = got == c.out;
  return {passed, std::move(got)};
}

Json RoutingAddressMatch(const Case& c) {
  AddressMatch::Kinds kinds;
  for (const auto& [name, kind] : {std::pair("cird", &kinds.cird), {"wildcard", &kinds.wildcard}, {"exact", &kinds.exact}}) {
    if (c.in.at("match").contains(name)) *kind = c.in.at("match").at(name).get<std::string>();
  }
  const Json& address = c.in.at("value");
  return address.is_string() && AddressMatch(kinds, c.compat).Matches(address.get<std::string>());
}

Json RoutingOverride(const Case& c) {
  const Configurators configurators = MakeConfigurators(ParseUrls(c.in.at("configurators")));
  return ToJson(configurators.Apply(ParseUrl(c.in.at("url"))).params);
}

}  // namespace

void RegisterConfiguratorKinds(KindTable& kinds) {
  kinds.Add("override", JudgedKind(Override));
  kinds.Add("registry.configurator_apply", ExactKind(RegistryApply));
  kinds.Add("registry.configurator_order", JudgedKind(RegistryOrder));
  kinds.Add("configurators_yaml", JudgedKind(Document));
  kinds.Add("registry.config_rule_to_override_urls", ExactKind(RegistryDocument));
  kinds.Add("routing.addrmatch", ExactKind(RoutingAddressMatch));
  kinds.Add("routing.config_yaml", JudgedKind(RoutingDocument));
  kinds.Add("routing.override", ExactKind(RoutingOverride));
}

}  // namespace fairlead::conformance
