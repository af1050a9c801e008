#include "fairlead/routing/scoped_router.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/routing/mask.h"

namespace fairlead {

class ScopedRouter::Table final : public RouteTable {
 public:
  Table(std::shared_ptr<const std::string> application, std::shared_ptr<const RouteTable> inner, InvokerSet ours)
      : application_(std::move(application)), inner_(std::move(inner)), ours_(std::move(ours)) {}

  const InvokerSet& ours() const { return ours_; }
  const RouteTable* inner() const { return inner_.get(); }

  std::uint32_t cases() const override { return inner_->cases(); }
  RouteCase Classify(const RouteCall& call) const override { return inner_->Classify(call); }
  void Route(RouteCase which, const InvokerSet&, Outcomes& out) const override {
    out.RouteWithin(ours_, *inner_, which);
  }
  std::string Describe(RouteCase which) const override {
    return absl::StrCat(inner_->Describe(which), " (providers of ", *application_, " only)");
  }

 private:
  const std::shared_ptr<const std::string> application_;
  const std::shared_ptr<const RouteTable> inner_;
  const InvokerSet ours_;
};

ScopedRouter::ScopedRouter(std::string application, std::shared_ptr<const Router> inner)
    : application_(std::make_shared<const std::string>(std::move(application))), inner_(std::move(inner)) {}

std::shared_ptr<const RouteTable> ScopedRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  const Table* before = static_cast<const Table*>(previous);
  InvokerSet ours = BuildMask(input, before == nullptr ? nullptr : &before->ours(), [&](const Provider& provider) {
    return provider.original.Application() == *application_;
  });
  auto inner = inner_->Compile(input, before == nullptr ? nullptr : before->inner());
  if (inner == nullptr) return nullptr;
  return std::make_shared<const Table>(application_, std::move(inner), std::move(ours));
}

}  // namespace fairlead
