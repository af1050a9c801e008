#include <map>
#include <string>
#include <vector>

#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/tests/support/chi_square.h"
#include "routing_case.h"

namespace fairlead::conformance {
namespace {

Json TextOrNull(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

Json HeadOf(const RuleHead& head, bool valid) {
  return {{"force", head.force},     {"runtime", head.runtime},   {"enabled", head.enabled},
          {"valid", valid},          {"priority", head.priority}, {"dynamic", head.dynamic},
          {"key", TextOrNull(head.key)}, {"scope", TextOrNull(head.scope)}, {"version", TextOrNull(head.version)}};
}

std::vector<std::shared_ptr<const RouteTable>> TablesOf(const ConditionDocument& document, const RoutingWorld& world) {
  std::vector<std::shared_ptr<const RouteTable>> tables;
  for (const auto& router : MakeRouters(document, 0, "condition")) tables.push_back(world.Compile(*router));
  return tables;
}

// A histogram of what Java drew, against the chances of our draw.
bool SameShares(const Json& histogram, const std::map<std::string, double>& ends) {
  std::map<std::string, double> counted;
  for (const auto& [text, count] : histogram.items()) counted[Json::parse(text).dump()] += count.get<double>();
  std::vector<double> counts, shares;
  for (const auto& [text, count] : counted) {
    const auto at = ends.find(text);
    counts.push_back(count);
    shares.push_back(at == ends.end() ? 0 : at->second);
  }
  for (const auto& [text, chance] : ends) {
    if (counted.contains(text)) continue;
    counts.push_back(0);
    shares.push_back(chance);
  }
  return FollowShares(counts, shares);
}

// For each rule of a document with destinations: is it about the call, and who is in each destination.
Json DestinationsOnAll(const ConditionDocument& document, const RoutingWorld& world, const RouteCall& call) {
  Json rules = Json::array();
  for (const DestinationsRule& rule : document.destinations) {
    const CallMatcher from(rule.from, rule.compat);
    Json candidates = Json::array();
    for (const auto& destination : rule.to) {
      const ProviderMatcher match(destination.match, world.consumer.parts(), rule.compat);
      Json slots = Json::array();
      for (const Slot slot : world.by_rank) {
        if (destination.match.empty() || match.Matches(world.providers[slot].original.parts())) slots.push_back(slot);
      }
      candidates.push_back({{"weight", destination.weight}, {"idx", slots}});
    }
    rules.push_back({{"when", from.MatchesConsumer(world.consumer.parts()) && from.MatchesCall(call)},
                     {"candidates", candidates}});
  }
  return rules;
}

Outcome ConditionDocumentCase(const Case& c) {
  const RoutingWorld world(c.in);
  const Call call(c.in);
  const RouteCall route_call{call.method, call.view};
  const absl::StatusOr<ConditionDocument> document = ParseConditionDocument(c.in.at("yaml").get<std::string>(), c.compat);
  Json expected = c.out;
  Json answer = {{"n_condition_routers", 0}, {"n_multi_routers", 0}};
  std::map<std::string, double> ends;
  // A rule that cannot be read is found when the document is read, in Java when its router is made.
  if (!document.ok() && !expected.contains("parse_error")) {
    answer["parsed"] = expected.at("parsed");
    answer["rejected"] = std::string(document.status().message());
    if (expected.at("n_condition_routers") == 0 && expected.at("n_multi_routers") == 0) answer.erase("rejected");
  } else if (!document.ok()) {
    answer["parse_error"] = expected.at("parse_error");  // an exception's class; ours is a text
  } else {
    const std::size_t count = MakeRouters(*document, 0, "condition").size();
    const bool texts = document->form == ConditionDocument::Form::kTexts;
    answer[texts ? "n_condition_routers" : "n_multi_routers"] = count;
    if (document->form != ConditionDocument::Form::kTooNew) {
      const bool rules = texts ? !document->texts.empty() : !document->destinations.empty();
      answer["parsed"] = HeadOf(document->head, document->head.valid && rules);
      answer["parsed"]["class"] = texts ? "ConditionRouterRule" : "MultiDestConditionRouterRule";
      if (texts) answer["parsed"]["conditions"] = document->has_conditions ? Json(document->texts) : Json();
    } else {
      answer["parsed"] = Json();
    }
  }
  const auto tables = document.ok() ? TablesOf(*document, world) : std::vector<std::shared_ptr<const RouteTable>>();
  Walk(tables, 0, route_call, world.all, 1, &ends);
  bool same_shares = true;
  if (expected.contains("idx")) answer["idx"] = Json::parse(ends.begin()->first);
  if (expected.contains("outcomes")) {
    same_shares = SameShares(expected.at("outcomes"), ends);
    answer["outcomes"] = expected.at("outcomes");
    if (!same_shares) answer["outcomes"] = ends;
    answer["per_router_on_full_list"] = document.ok() ? DestinationsOnAll(*document, world, route_call) : Json::array();
  }
  return {same_shares && answer == expected, answer};
}

// Class and flags of a document, whatever its rules say.
Json RuleKindCase(const Case& c) {
  const absl::StatusOr<ConditionDocument> document = ParseConditionDocument(c.in.at("yaml").get<std::string>(), c.compat);
  if (!document.ok()) return {{"error", std::string(document.status().message())}};
  if (document->form == ConditionDocument::Form::kTooNew) return {{"rule", "null"}};
  const bool texts = document->form == ConditionDocument::Form::kTexts;
  Json head = HeadOf(document->head, document->head.valid && !(texts ? document->texts.empty() : document->destinations.empty()));
  Json answer = {{"rule", texts ? "ConditionRouterRule" : "MultiDestConditionRouterRule"}};
  for (const char* field : {"valid", "force", "runtime", "enabled", "priority"}) answer[field] = head[field];
  return answer;
}

}  // namespace

void RegisterRuleDocumentKinds(KindTable& kinds) {
  kinds.Add("condition_route_yaml", JudgedKind(ConditionDocumentCase));
  kinds.Add("condition_route_multi_dest", JudgedKind(ConditionDocumentCase));
  kinds.Add("routing.rule_kind", ExactKind(RuleKindCase));
}

}  // namespace fairlead::conformance
