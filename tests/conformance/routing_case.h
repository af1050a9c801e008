#ifndef FAIRLEAD_TESTS_CONFORMANCE_ROUTING_CASE_H_
#define FAIRLEAD_TESTS_CONFORMANCE_ROUTING_CASE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/url/url_pool.h"
#include "java_answers.h"
#include "runner.h"

// What the cases of all routers have in common.
namespace fairlead::conformance {

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

// Consumer and providers of a case, all of them in the list. In mode `service` they are what the corpus was made with:
// the consumer's parameters, its tag too, shadow the provider's where a lookup is plain.
struct RoutingWorld {
  explicit RoutingWorld(const Json& in) : consumer(Url::Of(MustParse(in.at("consumer").get<std::string>()), pool)) {
    for (const Json& text : in.at("providers")) {
      const UrlParts plain = MustParse(text.get<std::string>());
      UrlParts seen = plain;
      if (in.value("mode", "") == "service") {
        for (const auto& [key, value] : consumer.parts().params) {
          if (!value.empty()) seen.params.insert_or_assign(key, value);
        }
      }
      providers.Set(static_cast<Slot>(providers.size()), {Url::Of(plain, pool), Url::Of(std::move(seen), pool)});
    }
    all = InvokerSet(providers.size());
    for (Slot slot = 0; slot < providers.size(); ++slot) {
      by_rank.push_back(slot);
      all.Add(slot);
    }
  }
  std::shared_ptr<const RouteTable> Compile(const Router& router) const {
    return router.Compile({providers, by_rank, &all, consumer, consumer}, nullptr);
  }

  UrlPool pool;
  Url consumer;
  ProviderArray providers;
  std::vector<Slot> by_rank;
  InvokerSet all;
};

inline Json SlotsOf(const InvokerSet& set) {
  Json slots = Json::array();
  set.ForEach([&](Slot slot) { slots.push_back(slot); });
  return slots;
}

// What becomes of a list that goes through all routers, with the chance of each end.
inline void Walk(const std::vector<std::shared_ptr<const RouteTable>>& tables, std::size_t at, const RouteCall& call,
                 const InvokerSet& set, double chance, std::map<std::string, double>* ends) {
  if (at == tables.size()) {
    (*ends)[SlotsOf(set).dump()] += chance;
    return;
  }
  Outcomes outcomes(set);
  tables[at]->Route(tables[at]->Classify(call), set, outcomes);
  if (outcomes.splits().empty()) return Walk(tables, tables.size(), call, InvokerSet(set.capacity()), chance, ends);
  double total = 0;
  for (const auto& split : outcomes.splits()) total += static_cast<double>(split.weight);
  for (const auto& split : outcomes.splits()) {
    Walk(tables, at + 1, call, split.set, chance * static_cast<double>(split.weight) / total, ends);
  }
}

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_ROUTING_CASE_H_
