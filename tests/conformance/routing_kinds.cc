#include <string>
#include <vector>

#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"
#include "java_answers.h"
#include "routing_case.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

// What one rule in url form leaves of the providers.
Json RouteByRule(const Json& in, const Json& rule, const std::vector<std::pair<std::string, std::string>>& params,
                 Compat compat) {
  RoutingWorld world(in);
  UrlParts rule_url = MustParse("condition://0.0.0.0/com.foo.BarService?category=routers");
  for (const auto& [key, value] : params) rule_url.params.insert_or_assign(key, value);
  if (!rule.is_null()) rule_url.params.insert_or_assign("rule", PercentEncode(rule.get<std::string>()));

  const auto router = MakeConditionRouterFactory()->Create(Url::Of(std::move(rule_url), world.pool), compat);
  if (!router.ok()) {
    const bool blank = router.status().message().find("is blank") != absl::string_view::npos;
    return {{"error", blank ? "IllegalArgumentException" : "IllegalStateException"}};
  }
  const auto table = world.Compile(**router);
  const Call call(in);
  Outcomes outcomes(world.all);
  table->Route(table->Classify({call.method, call.view}), world.all, outcomes);
  return outcomes.splits().empty() ? Json::array() : SlotsOf(outcomes.splits().front().set);
}

Json ConditionCase(const Case& c) {
  std::vector<std::pair<std::string, std::string>> params;
  const Json flags = c.in.value("params", Json::object());
  for (const auto& [key, value] : flags.items()) {
    params.emplace_back(key, value.get<std::string>());
  }
  Json answer = RouteByRule(c.in, c.in.at("rule"), params, c.compat);
  return answer.is_array() ? Json{{"idx", answer}} : answer;
}

// The curated form: flags beside the rule, an error is any refusal.
Outcome CuratedCondition(const Case& c) {
  std::vector<std::pair<std::string, std::string>> params;
  for (const char* flag : {"force", "enabled", "runtime", "priority"}) {
    if (c.in.contains(flag)) {
      const Json& value = c.in.at(flag);
      params.emplace_back(flag, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  Json in = c.in;
  if (!in.contains("invocation")) in["invocation"] = {{"method", in.value("method", "m")}};
  for (const char* part : {"arguments", "attachments"}) {
    if (in.contains(part)) in["invocation"][part] = in.at(part);
  }
  Json answer = RouteByRule(in, in.value("rule", Json()), params, c.compat);
  const bool both_refuse = answer.is_object() && !c.out.is_array();
  return {both_refuse || answer == c.out, answer};
}

Json RangeCase(const Case& c) {
  const RuleSide side = c.in.value("when", false) ? RuleSide::kWhen : RuleSide::kThen;
  const ValuePattern pattern = ValuePattern::Range(c.in.at("pattern").get<std::string>(), side, c.compat);
  return {{"match", pattern.Matches(c.in.at("value").get<std::string>())}};
}

}  // namespace

void RegisterRoutingKinds(KindTable& kinds) {
  kinds.Add("condition_route_v2", ExactKind(ConditionCase));
  kinds.Add("range", ExactKind(RangeCase));
  kinds.Add("routing.cond", JudgedKind(CuratedCondition));
}

}  // namespace fairlead::conformance
