#include "fairlead/routing/filter_router.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/mask.h"

namespace fairlead {
namespace {

class FilterTable final : public RouteTable {
 public:
  FilterTable(std::shared_ptr<const FilterRouter> filter, const RouteInput& input,
              const FilterTable* previous)
      : filter_(std::move(filter)) {
    const std::uint32_t cases = filter_->cases();
    for (RouteCase which = 1; which < cases; ++which) {
      const bool known = previous != nullptr && which <= previous->masks_.size();
      masks_.push_back(
          BuildMask(input, known ? &previous->masks_[which - 1] : nullptr,
                    [this, which](const Provider& provider) { return filter_->Filter(which, provider); }));
    }
  }

  std::uint32_t cases() const override { return static_cast<std::uint32_t>(masks_.size()) + 1; }

  RouteCase Classify(const RouteCall& call) const override { return filter_->Classify(call); }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == 0 || in.empty()) return out.KeepAll();
    if (out.KeepIfAny(masks_[which - 1])) return;
    if (filter_->on_empty() == OnEmpty::kFallBack) {
      out.Note("it would keep none, so all stay");
      return out.KeepAll();
    }
    out.Block([&] {
      return absl::StrCat(ToAbsl(filter_->name()), " keeps none of ", in.count(),
                          in.count() == 1 ? " provider" : " providers", " (", filter_->Describe(which), ")");
    });
  }

  std::string Describe(RouteCase which) const override { return filter_->Describe(which); }

 private:
  const std::shared_ptr<const FilterRouter> filter_;
  std::vector<InvokerSet> masks_;  // of case i + 1
};

}  // namespace

std::string FilterRouter::Describe(RouteCase which) const {
  if (which == 0) return absl::StrCat(ToAbsl(name()), ": everything passes");
  return absl::StrCat(ToAbsl(name()), ": case ", which);
}

std::shared_ptr<const RouteTable> FilterRouter::Compile(const RouteInput& input,
                                                        const RouteTable* previous) const {
  return std::make_shared<const FilterTable>(shared_from_this(), input,
                                             static_cast<const FilterTable*>(previous));
}

}  // namespace fairlead
