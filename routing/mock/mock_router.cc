#include "fairlead/routing/mock/mock_router.h"

#include <utility>

#include "fairlead/routing/mask.h"
#include "fairlead/routing/wish.h"

namespace fairlead {

class MockRouter::Table final : public RouteTable {
 public:
  static constexpr RouteCase kEither = 0, kUsual = 1, kNeedsMock = 2;

  Table(InvokerSet mocks, InvokerSet others) : mocks_(std::move(mocks)), others_(std::move(others)) {}

  const InvokerSet& mocks() const { return mocks_; }
  const InvokerSet& others() const { return others_; }

  std::uint32_t cases() const override { return 3; }
  RouteCase Classify(const RouteCall& call) const override {
    const std::string_view* needs = call.invocation.FindAttachment(names::kNeedMock);
    return needs == nullptr ? kUsual : ParseJavaBool(*needs) ? kNeedsMock : kEither;
  }
  void Route(RouteCase which, const InvokerSet&, Outcomes& out) const override {
    if (which == kEither) return out.KeepAll();
    if (out.KeepIfAny(which == kNeedsMock ? mocks_ : others_)) return;
    out.Block(which == kNeedsMock ? "no provider is of protocol mock" : "all providers are of protocol mock");
  }
  std::string Describe(RouteCase which) const override {
    return which == kNeedsMock ? "the call needs a mock provider"
           : which == kUsual   ? "the call needs no mock provider"
                               : "the call takes mock providers too";
  }

 private:
  const InvokerSet mocks_, others_;
};

std::shared_ptr<const RouteTable> MockRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  const Table* before = static_cast<const Table*>(previous);
  const auto is_mock = [](const Provider& provider) { return provider.original.protocol() == "mock"; };
  return std::make_shared<const Table>(
      BuildMask(input, before == nullptr ? nullptr : &before->mocks(), is_mock),
      BuildMask(input, before == nullptr ? nullptr : &before->others(),
                [&](const Provider& provider) { return !is_mock(provider); }));
}

}  // namespace fairlead
