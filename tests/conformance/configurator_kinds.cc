#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/directory/configurator.h"
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

Json RoutingOverride(const Case& c) {
  const Configurators configurators = MakeConfigurators(ParseUrls(c.in.at("configurators")));
  return ToJson(configurators.Apply(ParseUrl(c.in.at("url"))).params);
}

}  // namespace

void RegisterConfiguratorKinds(KindTable& kinds) {
  kinds.Add("override", JudgedKind(Override));
  kinds.Add("registry.configurator_apply", ExactKind(RegistryApply));
  kinds.Add("registry.configurator_order", JudgedKind(RegistryOrder));
  kinds.Add("routing.override", ExactKind(RoutingOverride));
}

}  // namespace fairlead::conformance
