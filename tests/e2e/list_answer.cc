#include "list_answer.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "fairlead/loadbalance/warmup.h"
#include "fairlead/tests/conformance/routing_case.h"
#include "fairlead/url/url.h"

namespace fairlead::e2e {
namespace {

constexpr std::string_view kParameters[] = {"weight", "timeout", "retries", "loadbalance", "dubbo.tag",    "region",      "env",        "cluster",
                                            "group",  "version", "application", "disabled", "enabled", "find.timeout", "save.timeout"};
constexpr std::string_view kMethodParameters[] = {"weight", "timeout", "retries", "loadbalance"};
// Long after every timestamp of the traces: nobody warms up.
constexpr std::int64_t kLater = 4'000'000'000'000;

Json ParamsOf(const Url& url) {
  Json params = Json::object();
  for (const std::string_view key : kParameters) {
    if (const std::string_view value = url.Param(key); !value.empty()) params[std::string(key)] = value;
  }
  return params;
}

Json InvokerOf(const Url& url, const std::string& service, const std::string& method) {
  Json method_params = Json::object();
  for (const std::string_view key : kMethodParameters) {
    if (const std::string_view value = url.MethodParam(method, key); !value.empty()) method_params[std::string(key)] = value;
  }
  Json invoker = {{"protocol", url.protocol()},
                  {"params", ParamsOf(url)},
                  {"method_params", std::move(method_params)},
                  {"effective_weight", EffectiveWeight(url, method, kLater)}};
  // Java has no address for a url without a port.
  if (url.port() != 0) invoker["address"] = url.Address();
  if (url.path() != service) invoker["path"] = url.path();
  if (const std::string_view remote = url.Param("remote.application"); !remote.empty()) invoker["remote_application"] = remote;
  return invoker;
}

// All invokers as texts, sorted.
std::vector<std::string> InvokersOf(const Json& answer) {
  std::vector<std::string> texts;
  const auto add = [&texts](Json invokers) {
    for (Json& invoker : invokers) {
      if (invoker.contains("params")) invoker["params"].erase("application");
      texts.push_back(invoker.dump());
    }
  };
  add(answer.value("invokers", Json::array()));
  const Json groups = answer.value("merged_groups", Json::array());
  for (const Json& group : groups) add(group.at("invokers"));
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string KindOf(const Json& answer) {
  const std::string kind = answer.at("kind").get<std::string>();
  if (kind == "forbidden") return "empty";
  // Java's groups may all be empty inside.
  return kind == "ok" && InvokersOf(answer).empty() ? "empty" : kind;
}

// A sole invoker is taken without being weighed, so a weight that Java cannot read fails nobody.
bool IsSoleUnweighed(const Json& answer) {
  const Json invokers = answer.value("invokers", Json::array());
  return invokers.size() == 1 && !answer.contains("merged_groups") && invokers[0].contains("effective_weight_error");
}

}  // namespace

Json AnswerOf(Directory& directory, const std::string& service, const Json& invocation) {
  conformance::Call call(Json{{"invocation", invocation}});
  call.view.method = directory.Method(call.method);
  const std::vector<Url> urls = directory.List(call.view);
  Json invokers = Json::array();
  for (const Url& url : urls) invokers.push_back(InvokerOf(url, service, call.method));
  std::sort(invokers.begin(), invokers.end());
  return {{"kind", urls.empty() ? "empty" : "ok"}, {"invokers", std::move(invokers)}, {"consumer_params", ParamsOf(directory.consumer())}};
}

bool SameAnswer(const Json& expected, const Json& got) {
  return KindOf(expected) == KindOf(got) && expected.at("consumer_params") == got.at("consumer_params") &&
         InvokersOf(expected) == InvokersOf(IsSoleUnweighed(expected) ? WithoutWeights(got, expected) : got);
}

Json WithoutWeights(Json got, const Json& expected) {
  const Json theirs = expected.value("invokers", Json::array());
  for (const Json& one : theirs) {
    if (!one.contains("effective_weight_error")) continue;
    for (Json& ours : got.at("invokers")) {
      const bool same = ours.contains("effective_weight") && ours.value("address", "") == one.value("address", "") &&
                        ours.at("method_params") == one.at("method_params");
      if (!same) continue;
      ours.erase("effective_weight");
      ours["effective_weight_error"] = one.at("effective_weight_error");
      break;
    }
  }
  return got;
}

std::string Difference(const Json& expected, const Json& got) {
  std::string text;
  const std::vector<std::string> theirs = InvokersOf(expected), ours = InvokersOf(got);
  std::vector<std::string> only;
  std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(), std::back_inserter(only));
  for (const std::string& one : only) text += "  only Dubbo    " + one + "\n";
  only.clear();
  std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(only));
  for (const std::string& one : only) text += "  only Fairlead " + one + "\n";
  if (expected.at("consumer_params") != got.at("consumer_params")) {
    text += "  consumer_params of Dubbo    " + expected.at("consumer_params").dump() + "\n  consumer_params of Fairlead " +
            got.at("consumer_params").dump() + "\n";
  }
  if (text.empty() && KindOf(expected) != KindOf(got)) text += "  Dubbo " + KindOf(expected) + ", Fairlead " + KindOf(got) + "\n";
  return text;
}

}  // namespace fairlead::e2e
