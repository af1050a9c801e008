#include "fairlead/directory/guarded_router.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

class PassingTable final : public RouteTable {
 public:
  std::uint32_t cases() const override { return 1; }
  RouteCase Classify(const RouteCall&) const override { return 0; }
  void Route(RouteCase, const InvokerSet&, Outcomes& out) const override { out.KeepAll(); }
  std::string Describe(RouteCase) const override { return "failed to compile: everything passes"; }
};

// Of the exception that is being handled.
std::string Thrown(std::string_view where) {
  try {
    throw;
  } catch (const std::exception& error) {
    return absl::StrCat(ToAbsl(where), " threw: ", Shortened(error.what()));
  } catch (...) {
    return absl::StrCat(ToAbsl(where), " threw");
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const GuardedRouter>> GuardedRouter::Create(
    RouterFactory& factory, const Url& rule, Compat compat, std::function<void(std::string)> on_first_fault) {
  try {
    auto made = factory.Create(rule, compat);
    if (!made.ok()) return made.status();
    if (*made == nullptr) return std::shared_ptr<const GuardedRouter>();
    return Of(*std::move(made), std::move(on_first_fault));
  } catch (...) {
    return absl::InternalError(Thrown("the router's factory"));
  }
}

std::shared_ptr<const GuardedRouter> GuardedRouter::Of(std::shared_ptr<const Router> router,
                                                       std::function<void(std::string)> on_first_fault) {
  std::shared_ptr<GuardedRouter> guarded(new GuardedRouter());
  guarded->router_ = std::move(router);
  guarded->name_ = Shortened(guarded->router_->name(), 100);
  guarded->order_ = guarded->router_->order();
  guarded->reads_ = guarded->router_->reads();
  guarded->on_first_fault_ = std::move(on_first_fault);
  return guarded;
}

std::shared_ptr<const RouteTable> GuardedRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  try {
    auto table = router_->Compile(input, previous);
    if (table == nullptr) throw std::logic_error("no table was returned");
    return table;
  } catch (...) {
    CountFault("Compile");
    return nullptr;
  }
}

void GuardedRouter::CountFault(std::string_view where) const {
  if (faults_.fetch_add(1, std::memory_order_relaxed) != 0) return;
  std::string what = Thrown(where);
  {
    const std::lock_guard lock(mutex_);
    first_fault_ = what;
  }
  if (on_first_fault_) on_first_fault_(absl::StrCat("router ", name_, ": ", what));
}

std::string GuardedRouter::first_fault() const {
  const std::lock_guard lock(mutex_);
  return first_fault_;
}

ChainLink::ChainLink(std::shared_ptr<const GuardedRouter> by, const RouteInput& input, const ChainLink* previous)
    : router(std::move(by)),
      table(router->Compile(input, previous == nullptr || previous->broken ? nullptr : previous->table.get())),
      runtime(Has(router->reads(), Reads::kArguments) || Has(router->reads(), Reads::kAttachments)),
      wishes(!runtime && Has(router->reads(), Reads::kWishes)),
      broken(table == nullptr) {
  if (!broken) {
    try {
      cases = std::max<std::uint32_t>(table->cases(), 1);
      return;
    } catch (...) {
      router->CountFault("cases");
      broken = true;
    }
  }
  table = std::make_shared<const PassingTable>();
}

void ChainLink::Route(RouteCase which, const InvokerSet& in, Outcomes& out) const {
  try {
    table->Route(which, in, out);
  } catch (...) {
    router->CountFault("Route");
    out.Reset();
    out.KeepAll();
  }
}

std::string ChainLink::Describe(RouteCase which) const {
  try {
    return Shortened(table->Describe(which));
  } catch (...) {
    router->CountFault("Describe");
    return "not described";
  }
}

}  // namespace fairlead::internal
