#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fairlead/routing/mock/mock_router.h"
#include "fairlead/routing/router_order.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "routing_case.h"

namespace fairlead::conformance {
namespace {

// The routers that Dubbo has by default, in their order, with the documents of the case. Those of mesh rules and scripts,
// which have none here, pass everything.
std::vector<std::shared_ptr<const Router>> ChainOf(const Case& c) {
  std::vector<std::shared_ptr<const Router>> chain = {std::make_shared<const MockRouter>()};
  std::vector<ScopedTagRule> tags;
  if (c.in.contains("tag_yaml")) {
    auto document = ParseTagDocument(c.in.at("tag_yaml").get<std::string>(), c.compat);
    if (document.ok() && !document->empty()) tags.push_back({"", std::move(document->rule)});
  }
  chain.push_back(std::make_shared<const TagRouter>(std::move(tags)));
  for (const auto& [name, order] : {std::pair("service_yaml", router_order::kConditionService),
                                    std::pair("provider_app_yaml", router_order::kConditionProviderApplication),
                                    std::pair("app_yaml", router_order::kConditionApplication)}) {
    if (!c.in.contains(name)) continue;
    const auto document = ParseConditionDocument(c.in.at(name).get<std::string>(), c.compat);
    if (!document.ok()) continue;
    for (auto& router : MakeRouters(*document, order, name)) chain.push_back(std::move(router));
  }
  return chain;
}

// Everything that may be left; one set, but for rules with weighted destinations.
void Walk(const std::vector<std::shared_ptr<const RouteTable>>& tables, std::size_t at, const RouteCall& call,
          const InvokerSet& set, std::set<std::string>* ends) {
  if (at == tables.size() || set.empty()) {
    ends->insert(SlotsOf(set).dump());
    return;
  }
  Outcomes outcomes(set);
  tables[at]->Route(tables[at]->Classify(call), set, outcomes);
  if (outcomes.splits().empty()) ends->insert("[]");
  for (const auto& split : outcomes.splits()) Walk(tables, at + 1, call, split.set, ends);
}

Outcome ChainCase(const Case& c) {
  const RoutingWorld world(c.in);
  const Call call(c.in);
  std::vector<std::shared_ptr<const RouteTable>> tables;
  for (const auto& router : ChainOf(c)) tables.push_back(world.Compile(*router));
  std::set<std::string> ends;
  Walk(tables, 0, {call.method, call.view}, world.all, &ends);
  const bool passed = ends.contains(c.out.at("idx").dump());
  return {passed, {{"idx", passed ? c.out.at("idx") : Json::parse(*ends.begin())}}};
}

}  // namespace

void RegisterChainKinds(KindTable& kinds) { kinds.Add("chain", JudgedKind(ChainCase)); }

}  // namespace fairlead::conformance
