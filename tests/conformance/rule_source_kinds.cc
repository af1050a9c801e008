// Documents as they come from a config center: what the last ones that could be read leave of the providers.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/log.h"
#include "fairlead/directory/rule_documents.h"
#include "fairlead/tests/support/fake_clock.h"
#include "routing_case.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

using internal::RuleDocuments;
using internal::RuleKey;
using internal::RuleKind;
using internal::RuleScope;

// The documents of one directory.
class Documents {
 public:
  Documents(const RoutingWorld& world, Compat compat) : documents_(config_) {
    config_.log = &log_;
    config_.clock = &clock_;
    config_.consumer = world.consumer;
    config_.compat = compat;
  }
  void Set(const RuleKey& key, std::optional<std::string> text) {
    documents_.Set(key, std::move(text));
    documents_.Apply(nullptr);
  }
  std::vector<std::shared_ptr<const RouteTable>> Compile(const RoutingWorld& world) const {
    std::vector<std::shared_ptr<const RouteTable>> tables;
    for (const auto& router : documents_.Routers(false)) {
      tables.push_back(router->Compile({world.providers, world.by_rank, &world.all, world.consumer, world.consumer}, nullptr));
    }
    return tables;
  }

 private:
  FakeClock clock_;
  Logger log_{nullptr, clock_};
  DirectoryConfig config_;
  RuleDocuments documents_;
};

// A list of slots, or the share of each list.
Outcome Judge(const Case& c, const RoutingWorld& world, const Documents& documents) {
  const Call call(c.in);
  std::map<std::string, double> ends;
  Walk(documents.Compile(world), 0, {call.method, call.view}, world.all, 1, &ends);
  if (c.out.is_array()) {
    const Json got = ends.size() == 1 ? Json::parse(ends.begin()->first) : Json(ends);
    return {got == c.out, got};
  }
  std::map<std::string, double> expected;
  for (const auto& [text, share] : c.out.at("share_of_sets").items()) expected[Json::parse(text).dump()] = share;
  bool passed = true;
  for (const auto& [text, share] : ends) passed &= std::abs(share - expected[text]) <= c.out.at("tolerance").get<double>();
  for (const auto& [text, share] : expected) passed &= std::abs(share - ends[text]) <= c.out.at("tolerance").get<double>();
  return {passed, Json{{"share_of_sets", ends}}};
}

Outcome ConditionEventsCase(const Case& c) {
  const RoutingWorld world(c.in);
  Documents documents(world, c.compat);
  for (const Json& event : c.in.at("events")) {
    documents.Set({RuleScope::kService, RuleKind::kConditions, "com.foo.BarService::"},
                  event.is_null() ? std::nullopt : std::optional(event.get<std::string>()));
  }
  return Judge(c, world, documents);
}

Outcome MeshCase(const Case& c) {
  // A directory has the application among what a provider registered; the cases, under its name after the merge.
  Json in = c.in;
  for (Json& provider : in["providers"]) {
    std::string text = provider;
    if (const auto at = text.find("remote.application="); at != text.npos) provider = text.erase(at, sizeof("remote.") - 1);
  }
  const RoutingWorld world(in);
  Documents documents(world, c.compat);
  for (const auto& [application, text] : in.at("rules").items()) {
    documents.Set({RuleScope::kProviderApplication, RuleKind::kMesh, application}, text.get<std::string>());
  }
  return Judge(c, world, documents);
}

}  // namespace

void RegisterRuleSourceKinds(KindTable& kinds) {
  kinds.Add("routing.cond_yaml", JudgedKind(ConditionEventsCase));
  kinds.Add("routing.mesh", JudgedKind(MeshCase));
}

}  // namespace fairlead::conformance
