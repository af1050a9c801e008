#ifndef FAIRLEAD_TESTS_ROUTING_ROUTING_FIXTURE_H_
#define FAIRLEAD_TESTS_ROUTING_ROUTING_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// A list of providers by slot, a consumer, and what a router makes of them.
class RoutingFixture : public ::testing::Test {
 protected:
  Url Parse(const std::string& text) {
    absl::StatusOr<Url> url = Url::Parse(text, pool_);
    EXPECT_TRUE(url.ok()) << url.status();
    return *url;
  }

  void Provide(const std::vector<std::string>& urls) {
    providers_ = ProviderArray();
    by_rank_.clear();
    all_ = InvokerSet();
    for (const std::string& url : urls) Put(static_cast<Slot>(providers_.size()), url);
  }
  void Put(Slot slot, const std::string& url) {
    if (slot >= providers_.size() || !providers_[slot].listed()) by_rank_.push_back(slot);
    // Nothing of the effective url may reach a rule.
    providers_.Set(slot, {Parse(url), Parse("dubbo://effective:1/none?region=effective")});
    all_.Add(slot);
  }
  void Take(Slot slot) {
    if (slot >= providers_.size() || !providers_[slot].listed()) return;
    providers_.Set(slot, {});
    std::erase(by_rank_, slot);
    all_.Remove(slot);
  }

  std::shared_ptr<const RouteTable> Compile(const Router& router, const InvokerSet* changed = nullptr,
                                            const RouteTable* previous = nullptr) {
    return router.Compile({providers_, by_rank_, changed, consumer_, consumer_}, previous);
  }

  // The slots left of all providers; empty when blocked. Every table here has one outcome at most.
  std::vector<Slot> Route(const RouteTable& table, std::string_view method = "find",
                          const Invocation& invocation = {}) {
    return Route(table, all_, method, invocation);
  }
  std::vector<Slot> Route(const RouteTable& table, const InvokerSet& in, std::string_view method,
                          const Invocation& invocation = {}) {
    const RouteCase which = table.Classify({method, invocation});
    EXPECT_LT(which, table.cases());
    Outcomes outcomes(in);
    table.Route(which, in, outcomes);
    EXPECT_LE(outcomes.splits().size(), 1u);
    why_ = outcomes.why();
    std::vector<Slot> slots;
    for (const auto& split : outcomes.splits())
      split.set.ForEach([&slots](Slot slot) { slots.push_back(slot); });
    return slots;
  }

  UrlPool pool_;
  Url consumer_ = Parse("consumer://10.0.0.9/s.A?application=shop&region=hz");
  ProviderArray providers_;
  std::vector<Slot> by_rank_;
  InvokerSet all_;
  std::string why_;  // of the last Route that blocked
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_ROUTING_ROUTING_FIXTURE_H_
