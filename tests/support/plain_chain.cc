#include "fairlead/tests/support/plain_chain.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fairlead {
namespace {

using Places = std::vector<std::size_t>;
using Ways = std::vector<std::pair<Places, double>>;

std::string ValueOf(const PlainUrl& url, std::string_view key) {
  const auto at = url.find(key);
  return at == url.end() ? std::string() : at->second;
}

struct Walker {
  const PlainUrl& consumer;
  const std::vector<PlainUrl>& providers;
  const RouteCall& call;

  Places Matching(const PlainRule::Side& side, const Places& in) const {
    PlainRule rule;
    rule.then = side;
    Places kept;
    std::copy_if(in.begin(), in.end(), std::back_inserter(kept),
                 [&](std::size_t one) { return ProviderHolds(rule, consumer, providers[one]); });
    return kept;
  }

  // The ways of a list that is not empty; a way may end with nobody.
  Ways Route(const PlainRule& rule, const Places& in) const {
    return {{RouteByPlainRules({rule}, consumer, providers, in, call), 1}};
  }
  Ways Route(const PlainDestinations& rule, const Places& in) const {
    PlainRule when;
    when.when = rule.from;
    if (!CallHolds(when, consumer, call)) return {{in, 1}};
    if (rule.to.empty()) return {{{}, 1}};
    Ways ways;
    double total = 0;
    for (const PlainDestinations::To& to : rule.to) {
      Places kept = to.match ? Matching(*to.match, in) : in;
      if (kept.empty()) continue;
      ways.emplace_back(std::move(kept), to.weight);
      total += to.weight;
    }
    if (ways.empty()) return {{rule.force ? Places() : in, 1}};
    // Dubbo's draw: the first gets a unit too much and the last one too little.
    ++ways.front().second;
    if (--ways.back().second == 0) ways.pop_back();
    for (auto& [set, share] : ways) share /= total;
    return ways;
  }
  Ways Route(const PlainAffinity& rule, const Places& in) const {
    if (ValueOf(consumer, rule.key).empty()) return {{in, 1}};
    const Places alike = Matching({{rule.key, {"$" + rule.key}, {}}}, in);
    const bool enough = !alike.empty() && alike.size() * 100 >= in.size() * static_cast<std::size_t>(rule.ratio);
    return {{enough ? alike : in, 1}};
  }
  Ways Route(const PlainTags& tags, const Places& in) const {
    const auto host = [&](std::size_t one) {
      const PlainUrl& url = providers[one];
      return SlowTags::Host{one, url.at("address"), ValueOf(url, "dubbo.tag"), ValueOf(url, "region"), ValueOf(url, "application")};
    };
    const auto asked = [&](const char* name) {
      std::string value;
      for (const Attachment& one : call.invocation.attachments) {
        if (one.key == name) value = one.value;
      }
      return value.empty() ? ValueOf(consumer, name) : value;
    };
    SlowTags::Hosts all, coming;
    for (std::size_t one = 0; one < providers.size(); ++one) all.push_back(host(one));
    for (const std::size_t one : in) coming.push_back(host(one));
    Places kept;
    for (const auto& one : SlowTags::Route(tags.rules, all, coming, asked("dubbo.tag"), asked("dubbo.force.tag") == "true")) {
      kept.push_back(one.slot);
    }
    return {{kept, 1}};
  }

  void Walk(const std::vector<PlainStep>& steps, std::size_t at, const Places& in, double share, PlainEnds& ends) const {
    if (at == steps.size() || in.empty()) {
      ends[in] += share;
      return;
    }
    const PlainStep& step = steps[at];
    Places ours, others;
    for (const std::size_t one : in) {
      const bool is_ours = step.application.empty() || ValueOf(providers[one], "application") == step.application;
      (is_ours ? ours : others).push_back(one);
    }
    Ways ways = {{{}, 1}};
    if (!ours.empty()) ways = std::visit([&](const auto& rule) { return Route(rule, ours); }, step.rule);
    for (auto& [kept, part] : ways) {
      kept.insert(kept.end(), others.begin(), others.end());
      std::sort(kept.begin(), kept.end());
      Walk(steps, at + 1, kept, share * part, ends);
    }
  }
};

}  // namespace

PlainEnds EndsOf(const std::vector<PlainStep>& steps, const PlainUrl& consumer, const std::vector<PlainUrl>& providers,
                 const std::vector<std::size_t>& live, const RouteCall& call) {
  PlainEnds ends;
  Walker{consumer, providers, call}.Walk(steps, 0, live, 1, ends);
  return ends;
}

}  // namespace fairlead
