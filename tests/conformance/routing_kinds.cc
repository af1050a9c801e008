#include <string>
#include <vector>

#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"
#include "java_answers.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

// The call of a case, with the storage its views need.
struct Call {
  explicit Call(const Json& in) {
    const Json invocation = in.value("invocation", Json::object());
    method = invocation.value("method", std::string(in.contains("providers") ? "find" : "m"));
    // Kept by name: a temporary would be gone before the loops over it.
    const Json argument_list = invocation.value("arguments", invocation.value("args", Json::array()));
    const Json attachment_map = invocation.value("attachments", Json::object());
    for (const Json& argument : argument_list) {
      texts.push_back(argument.is_null() ? "" : argument.is_string() ? argument.get<std::string>() : argument.dump());
      nulls.push_back(argument.is_null());
    }
    for (const auto& [key, value] : attachment_map.items()) {
      attachment_texts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    for (std::size_t i = 0; i < texts.size(); ++i) arguments.push_back({texts[i], nulls[i], true});
    for (const auto& [key, value] : attachment_texts) attachments.push_back({key, value});
    // A generic call names its method in the first argument.
    if (method == "$invoke" && !texts.empty()) method = texts.front();
    view.arguments = arguments;
    view.attachments = attachments;
  }

  std::string method;
  std::vector<std::string> texts;
  std::vector<bool> nulls;
  std::vector<std::pair<std::string, std::string>> attachment_texts;
  std::vector<Argument> arguments;
  std::vector<Attachment> attachments;
  Invocation view;
};

ProviderArray ProvidersOf(const Json& texts, UrlPool& pool) {
  ProviderArray providers;
  for (const Json& text : texts) {
    const Url url = Url::Of(MustParse(text.get<std::string>()), pool);
    providers.Set(static_cast<Slot>(providers.size()), {url, url});
  }
  return providers;
}

// What one rule in url form leaves of the providers.
Json RouteByRule(const Json& in, const Json& rule, const std::vector<std::pair<std::string, std::string>>& params,
                 Compat compat) {
  UrlPool pool;
  const auto providers = ProvidersOf(in.at("providers"), pool);
  UrlParts rule_url = MustParse("condition://0.0.0.0/com.foo.BarService?category=routers");
  for (const auto& [key, value] : params) rule_url.params.insert_or_assign(key, value);
  if (!rule.is_null()) rule_url.params.insert_or_assign("rule", PercentEncode(rule.get<std::string>()));

  const auto router = MakeConditionRouterFactory()->Create(Url::Of(std::move(rule_url), pool), compat);
  if (!router.ok()) {
    const bool blank = router.status().message().find("is blank") != absl::string_view::npos;
    return {{"error", blank ? "IllegalArgumentException" : "IllegalStateException"}};
  }
  std::vector<Slot> by_rank;
  InvokerSet all(providers.size());
  for (Slot slot = 0; slot < providers.size(); ++slot) {
    by_rank.push_back(slot);
    all.Add(slot);
  }
  const Url consumer = Url::Of(MustParse(in.at("consumer").get<std::string>()), pool);
  const auto table = (*router)->Compile({providers, by_rank, &all, consumer, consumer}, nullptr);
  const Call call(in);
  Outcomes outcomes(all);
  table->Route(table->Classify({call.method, call.view}), all, outcomes);
  Json kept = Json::array();
  for (const auto& split : outcomes.splits()) split.set.ForEach([&](Slot slot) { kept.push_back(slot); });
  return kept;
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
