#include "fairlead/routing/wish.h"

#include <string>

#include "fairlead/routing/router_order.h"

namespace fairlead {
namespace {

using Asks = bool (*)(const Invocation&);

struct Wish {
  Asks asks;
  const char* name;
  int order;
  const char* call;  // that has it
  const char* why;   // it has nobody
};

constexpr Wish kMock = {NeedsMock, "mock", router_order::kMock, "the call needs a mock provider",
                        "no provider is of protocol mock"};
constexpr Wish kTag = {ForcesTag, "tag", router_order::kTag, "the call has a tag that nothing here has, forced",
                       "no provider has the call's tag, and dubbo.force.tag is true"};

class UnmetTable final : public RouteTable {
 public:
  explicit UnmetTable(const Wish& wish) : wish_(wish) {}
  std::uint32_t cases() const override { return 2; }
  RouteCase Classify(const RouteCall& call) const override { return wish_.asks(call.invocation) ? 1 : 0; }
  void Route(RouteCase which, const InvokerSet&, Outcomes& out) const override {
    if (which == 0) return out.KeepAll();
    out.Block(wish_.why);
  }
  std::string Describe(RouteCase which) const override { return which == 0 ? "no wish" : wish_.call; }

 private:
  const Wish& wish_;
};

class UnmetRouter final : public Router {
 public:
  explicit UnmetRouter(const Wish& wish) : wish_(wish), table_(std::make_shared<const UnmetTable>(wish)) {}
  std::string_view name() const override { return wish_.name; }
  int order() const override { return wish_.order; }
  Reads reads() const override { return Reads::kWishes; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput&, const RouteTable*) const override { return table_; }

 private:
  const Wish& wish_;
  const std::shared_ptr<const RouteTable> table_;
};

}  // namespace

std::shared_ptr<const Router> NoMockRouter() { return std::make_shared<const UnmetRouter>(kMock); }
std::shared_ptr<const Router> NoTagRouter() { return std::make_shared<const UnmetRouter>(kTag); }

}  // namespace fairlead
