#include "fairlead/routing/affinity/affinity_router.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/mask.h"

namespace fairlead {

class AffinityRouter::Table final : public RouteTable {
 public:
  static constexpr RouteCase kPasses = 0, kApplies = 1;

  Table(std::shared_ptr<const AffinityRule> rule, const RouteInput& input, const Table* previous) : rule_(std::move(rule)) {
    const UrlParts consumer = input.consumer.parts();
    std::string storage;
    if (!rule_->enabled || UrlKey(rule_->key).Read(consumer, storage).value_or("").empty()) return;
    const Conditions alike = {{rule_->key, {"$" + rule_->key}, {}}};
    const bool same = previous != nullptr && previous->rule_ == rule_ && previous->alike_ != nullptr &&
                      previous->alike_->references() == ProviderMatcher::References(alike, consumer);
    alike_ = same ? previous->alike_ : std::make_shared<const ProviderMatcher>(alike, consumer, Compat::kStrict);
    mask_ = BuildMask(input, same ? &previous->mask_ : nullptr,
                      [this](const Provider& provider) { return alike_->Matches(provider.original.parts()); });
  }

  std::uint32_t cases() const override { return alike_ != nullptr ? 2 : 1; }

  RouteCase Classify(const RouteCall&) const override { return alike_ != nullptr ? kApplies : kPasses; }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    const std::size_t alike = in.CountCommon(mask_);
    if (alike > 0 && alike * 100 >= static_cast<std::size_t>(rule_->ratio) * in.count()) return out.Keep(mask_);
    if (out.explained()) {
      out.Note(absl::StrCat(alike, " of ", in.count(), " providers are like the consumer, fewer than ",
                            alike == 0 ? "one" : absl::StrCat(rule_->ratio, "%"), ", so all stay"));
    }
    out.KeepAll();
  }

  std::string Describe(RouteCase which) const override {
    const char* what = !rule_->enabled      ? " is disabled"
                       : which == kPasses   ? " does not apply: the consumer has no such key"
                                            : " applies";
    return absl::StrCat("affinity by \"", Shortened(rule_->key, 80), "\", ratio ", rule_->ratio, "%,", what);
  }

 private:
  const std::shared_ptr<const AffinityRule> rule_;
  std::shared_ptr<const ProviderMatcher> alike_;  // nullptr: it does not apply
  InvokerSet mask_;
};

AffinityRouter::AffinityRouter(AffinityRule rule) : rule_(std::make_shared<const AffinityRule>(std::move(rule))) {}

AffinityRouter::~AffinityRouter() = default;

std::string_view AffinityRouter::name() const { return rule_->name; }

int AffinityRouter::order() const { return rule_->order; }

std::shared_ptr<const RouteTable> AffinityRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  return std::make_shared<const Table>(rule_, input, static_cast<const Table*>(previous));
}

}  // namespace fairlead
