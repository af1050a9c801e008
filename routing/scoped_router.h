#ifndef FAIRLEAD_ROUTING_SCOPED_ROUTER_H_
#define FAIRLEAD_ROUTING_SCOPED_ROUTER_H_

#include <memory>
#include <string>
#include <string_view>

#include "fairlead/routing/router.h"

namespace fairlead {

// Another router for the providers that one application registered only. The others pass as if it were not there, and
// do not count in what it decides: whether anybody is left, or how many.
class ScopedRouter final : public Router {
 public:
  ScopedRouter(std::string application, std::shared_ptr<const Router> inner);

  std::string_view name() const override { return inner_->name(); }
  int order() const override { return inner_->order(); }
  Reads reads() const override { return inner_->reads(); }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  class Table;
  const std::shared_ptr<const std::string> application_;  // shared with the tables, which may outlive the router
  const std::shared_ptr<const Router> inner_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_SCOPED_ROUTER_H_
