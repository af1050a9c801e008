#ifndef FAIRLEAD_TESTS_FUZZ_ROUTED_WORLD_H_
#define FAIRLEAD_TESTS_FUZZ_ROUTED_WORLD_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::fuzz {

// A consumer, a few providers and calls that rules are tried on.
struct RoutedWorld {
  struct Call {
    std::string_view method;
    Invocation invocation;
  };

  static const RoutedWorld& Usual();

  RoutedWorld();
  std::shared_ptr<const RouteTable> Compile(const Router& router) const {
    return router.Compile({providers, by_rank, nullptr, consumer, consumer}, nullptr);
  }

  std::unique_ptr<UrlPool> pool = std::make_unique<UrlPool>();
  Url consumer;
  std::vector<UrlParts> provider_parts;
  ProviderArray providers, before;  // `before`: one of them was another
  Slot changed = 2;
  std::vector<Slot> by_rank;
  InvokerSet all;
  std::vector<Call> calls;
};

// What a router must do whatever its rule says: calls have one of its cases; what comes out came in; a draw gives one of
// the sets that a plan collects; compiled from another list's table it is as compiled from nothing.
void CheckRouter(const Router& router, const RoutedWorld& world, const std::string& rule);

// What a call is left with by a router without draws.
InvokerSet OnlyOutcome(const RouteTable& table, const InvokerSet& in, const RoutedWorld::Call& call);

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_ROUTED_WORLD_H_
