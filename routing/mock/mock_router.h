#ifndef FAIRLEAD_ROUTING_MOCK_MOCK_ROUTER_H_
#define FAIRLEAD_ROUTING_MOCK_MOCK_ROUTER_H_

#include <memory>
#include <string_view>

#include "fairlead/routing/router.h"
#include "fairlead/routing/router_order.h"

namespace fairlead {

// Keeps calls off providers of protocol `mock`, and calls with the attachment `invocation.need.mock` = true on them: such
// a call has nobody when there is none. With any other value there a call may go to all. For services with a mock
// provider; for others NoMockRouter of wish.h says the same.
class MockRouter final : public Router {
 public:
  std::string_view name() const override { return "mock"; }
  int order() const override { return router_order::kMock; }
  Reads reads() const override { return Reads::kAttachments; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  class Table;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_MOCK_MOCK_ROUTER_H_
