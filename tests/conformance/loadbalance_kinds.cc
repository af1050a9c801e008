#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/tests/support/member_list.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_parts.h"
#include "java_answers.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

// `uptime` of the corpora is what the provider's timestamp says.
std::string UrlOf(const Json& provider) {
  if (provider.is_string()) return provider.get<std::string>();
  std::string url = provider.at("url").get<std::string>();
  if (provider.contains("uptime")) {
    url += url.find('?') == std::string::npos ? '?' : '&';
    url += "timestamp=" + std::to_string(MemberList::kNowMs - provider.at("uptime").get<std::int64_t>());
  }
  return url;
}

MemberList MembersOf(const Json& providers, const std::string& method) {
  MemberList members;
  for (const Json& provider : providers) members.Add(UrlOf(provider), method);
  return members;
}

std::string MethodOf(const Json& in) {
  return in.contains("invocation") ? in.at("invocation").value("method", "find") : in.value("method", "m");
}

Json AnswerWeight(const Case& c) {
  return {{"weight", WarmupWeight(c.in.at("uptime"), c.in.at("warmup"), c.in.at("weight"))}};
}

Json AnswerWarmup(const Case& c) {
  return WarmupWeight(c.in.at("uptime"), c.in.at("warmup"), c.in.at("weight"));
}

// Where the library takes the default for a number that cannot be read, Java fails every call.
bool ThrowsInJava(const Member& member, const std::string& method) {
  const UrlParts& url = member.provider->effective.parts();
  if (url.ServiceInterface() == "org.apache.dubbo.registry.RegistryService")
    return !IntParam(url, "weight", 1).ok();
  const absl::StatusOr<std::int32_t> weight = MethodIntParam(url, method, "weight", kDefaultWeight);
  if (!weight.ok()) return true;
  const std::int64_t timestamp = member.provider->effective.timestamp_ms();
  return *weight > 0 && timestamp > 0 && timestamp <= MemberList::kNowMs &&
         !IntParam(url, "warmup", kDefaultWarmupMs).ok();
}

Json AnswerInvokerWeight(const Case& c) {
  Json weights = Json::array();
  const std::string method = MethodOf(c.in);
  const MemberList members = MembersOf(c.in.at("providers"), method);
  for (const Member& member : members.members()) {
    weights.push_back(ThrowsInJava(member, method) ? Json("!error") : Json(member.weight));
  }
  return {{"weights", weights}};
}

Json AnswerMethodParameter(const Case& c) {
  const UrlParts url = MustParse(c.in.at("url"));
  return url.MethodParam(c.in.at("method").get<std::string>(), c.in.at("key").get<std::string>());
}

// The owners of argument lists, both with a ring and without; they must agree.
absl::StatusOr<Json> Owners(const Case& c) {
  const std::string method = MethodOf(c.in);
  const MemberList members = MembersOf(c.in.at("providers"), method);
  // A policy is not asked about a single candidate.
  if (members.members().size() == 1) return Json(std::vector<int>(c.in.at("calls").size()));
  SelectorInput input = members.Input(method);
  input.compat = c.compat;
  const auto policy = PolicyNamed("consistenthash");
  Random random;
  PickContext context{random};
  const auto selector = policy->Build(input, nullptr);
  Json owners = Json::array();
  for (const Json& call : c.in.at("calls")) {
    std::vector<Argument> arguments;
    for (const Json& argument : call) {
      arguments.push_back(argument.is_null() ? Argument{"", true}
                                             : Argument{argument.get_ref<const std::string&>()});
    }
    Invocation invocation;
    invocation.arguments = arguments;
    const absl::StatusOr<Slot> unplanned = policy->SelectUnplanned(input, invocation, context);
    if (selector.ok() != unplanned.ok()) throw std::runtime_error("with and without a ring differ");
    if (!selector.ok()) return selector.status();
    const Slot planned = (*selector)->Select(invocation, context);
    if (planned != *unplanned) throw std::runtime_error("with and without a ring differ");
    owners.push_back(planned);
  }
  return owners;
}

// The null entry of an empty TreeMap.
Json EmptyRing() { return {{"error", "NullPointerException"}}; }

Json AnswerConsistentHash(const Case& c) {
  const absl::StatusOr<Json> owners = Owners(c);
  return owners.ok() ? Json{{"seq", *owners}} : EmptyRing();
}

Json AnswerChash(const Case& c) {
  const absl::StatusOr<Json> owners = Owners(c);
  return owners.ok() ? *owners : EmptyRing();
}

// One consumer that lives through several lists; every method has a rotation of its own.
class Rotation {
 public:
  explicit Rotation(Compat compat) : compat_(compat) {}

  Json Picks(const Json& providers, const std::string& method, int n) {
    lists_.push_back(MembersOf(providers, method));
    Json picks = Json::array();
    if (providers.size() == 1) {
      for (int i = 0; i < n; ++i) picks.push_back(0);
      return picks;
    }
    auto& selector = selectors_[method];
    SelectorInput input = lists_.back().Input(method, "&roundrobin.scope=global");
    input.compat = compat_;
    selector = *policy_->Build(input, selector.get());
    for (int i = 0; i < n; ++i) picks.push_back(selector->Select({}, context_));
    return picks;
  }

 private:
  const Compat compat_;
  const std::shared_ptr<const LoadBalance> policy_ = PolicyNamed("roundrobin");
  std::deque<MemberList> lists_;
  std::map<std::string, std::shared_ptr<const Selector>> selectors_;
  Random random_;
  PickContext context_{random_};
};

Json AnswerRoundRobin(const Case& c) {
  Rotation rotation(c.compat);
  Json seq = Json::array();
  for (const Json& phase : c.in.at("phases")) {
    seq.push_back(rotation.Picks(phase.at("providers"), MethodOf(phase), phase.at("n")));
  }
  return {{"seq", seq}};
}

Json AnswerRr(const Case& c) {
  Rotation rotation(c.compat);
  Json letters = Json::array();
  for (const Json& step : c.in.at("steps")) {
    const Json& providers = step.at("providers");
    std::string text;
    for (const Json& pick : rotation.Picks(providers, "m", step.at("picks"))) {
      text += MustParse(providers.at(pick.get<std::size_t>())).host->front();
    }
    letters.push_back(text);
  }
  return letters;
}

std::vector<double> Histogram(const std::string& algorithm, MemberList& members, const Case& c) {
  const auto policy = PolicyNamed(algorithm);
  Random random(42);
  PickContext context{random};
  const std::string method = MethodOf(c.in);
  SelectorInput input = members.Input(method);
  input.compat = c.compat;
  const int n = c.in.at("n");
  const auto selector = policy->Build(input, nullptr);
  std::vector<double> hist(members.members().size());
  for (int i = 0; i < n; ++i) {
    hist[i % 2 == 0 ? (*selector)->Select({}, context) : *policy->SelectUnplanned(input, {}, context)] += 1;
  }
  return hist;
}

// As many leases as the case says, for as long as it is judged.
class Leases {
 public:
  void Take(InvokerState& state, int count) {
    for (int lease = 0; lease < count; ++lease) {
      state.TryAcquire();
      held_.push_back(&state);
    }
  }
  Leases() = default;
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;
  ~Leases() {
    for (InvokerState* state : held_) state->Release();
  }

 private:
  std::vector<InvokerState*> held_;
};

Outcome JudgeDist(const Case& c) {
  const std::string method = MethodOf(c.in);
  MemberList members = MembersOf(c.in.at("providers"), method);
  Leases leases;
  const Json active = c.in.value("active", Json::array());
  for (std::size_t i = 0; i < active.size(); ++i) leases.Take(members.state(i), active[i]);
  const int n = c.in.at("n");
  const std::vector<double> hist = Histogram(c.in.at("lb"), members, c);
  Outcome outcome{true, hist};
  const auto share = c.out.at("share").get<std::vector<double>>();
  for (std::size_t i = 0; i < share.size(); ++i) {
    outcome.passed &= std::abs(hist.at(i) / n - share[i]) <= c.out.at("tolerance").get<double>();
  }
  return outcome;
}

// Both histograms are samples of n of, if we are right, one distribution: chi-square of two samples. For k degrees
// of freedom it is k on average with a variance of 2k; a right policy is beyond the limit once in some 10^6 cases.
Outcome JudgeHistogram(const Case& c) {
  const std::string method = MethodOf(c.in);
  MemberList members = MembersOf(c.in.at("providers"), method);
  Leases leases;
  const Json status = c.in.value("status", Json::array());
  for (std::size_t i = 0; i < status.size(); ++i) leases.Take(members.state(i), status[i].value("active", 0));
  const std::vector<double> hist = Histogram(c.in.at("algorithm"), members, c);
  const auto expected = c.out.at("hist").get<std::vector<double>>();
  double chi_square = 0, degrees = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double both = hist.at(i) + expected[i];
    if (both == 0) continue;
    chi_square += (hist[i] - expected[i]) * (hist[i] - expected[i]) / both;
    ++degrees;
  }
  return {chi_square <= degrees + 5 * std::sqrt(2 * degrees) + 16, hist};
}

}  // namespace

void RegisterLoadBalanceKinds(KindTable& kinds) {
  kinds.Add("weight", ExactKind(AnswerWeight));
  kinds.Add("invoker_weight", ExactKind(AnswerInvokerWeight));
  kinds.Add("lb_consistenthash", ExactKind(AnswerConsistentHash));
  kinds.Add("lb_roundrobin", ExactKind(AnswerRoundRobin));
  kinds.Add("lb_histogram.random", JudgedKind(JudgeHistogram));
  kinds.Add("lb_histogram.leastactive", JudgedKind(JudgeHistogram));
  kinds.Add("routing.warmup", ExactKind(AnswerWarmup));
  kinds.Add("routing.chash", ExactKind(AnswerChash));
  kinds.Add("routing.mparam", ExactKind(AnswerMethodParameter));
  kinds.Add("routing.rr", ExactKind(AnswerRr));
  kinds.Add("routing.dist", JudgedKind(JudgeDist));
}

}  // namespace fairlead::conformance
