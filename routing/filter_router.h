#ifndef FAIRLEAD_ROUTING_FILTER_ROUTER_H_
#define FAIRLEAD_ROUTING_FILTER_ROUTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/routing/router.h"

namespace fairlead {

// What a filter does with a call for which it keeps none of the providers it was given.
enum class OnEmpty : std::uint8_t {
  kFallBack,   // all of them, as if it were not there
  kStayEmpty,  // none: the call fails
};

// The simple form of a router, for hosts: say which case a call is, and which providers each case keeps. The
// library asks once per case and provider, not at each call, and asks again only for providers that changed.
//
//   class SameRack final : public FilterRouter {
//    public:
//     std::string_view name() const override { return "same-rack"; }
//     int order() const override { return 160; }
//     Reads reads() const override { return Reads::kMethod; }
//     std::uint32_t cases() const override { return 2; }
//     RouteCase Classify(const RouteCall& call) const override { return call.method.starts_with("get") ? 1 :
//     0; } bool Filter(RouteCase, const Provider& provider) const override { return
//     provider.original.Param("rack") == "7"; } OnEmpty on_empty() const override { return
//     OnEmpty::kFallBack; }
//   };
//
// Must be owned by a shared_ptr: what is compiled shares it. All methods must be thread-safe and pure.
class FilterRouter : public Router, public std::enable_shared_from_this<FilterRouter> {
 public:
  // How many cases there are, case 0 included, which keeps everything.
  virtual std::uint32_t cases() const = 0;
  // Which case a call is; 0 when the filter has nothing to say. Data plane: no lock, no allocation, no clock.
  // May read of the call only what reads() says.
  virtual RouteCase Classify(const RouteCall& call) const = 0;
  // Does case `which` (1 or more) keep this provider?
  virtual bool Filter(RouteCase which, const Provider& provider) const = 0;
  virtual OnEmpty on_empty() const = 0;
  // One case in words, for Explain. Default: the router's name and the case's number.
  virtual std::string Describe(RouteCase which) const;

  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const final;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_FILTER_ROUTER_H_
