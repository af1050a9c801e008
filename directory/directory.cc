#include "fairlead/directory/directory.h"

#include <chrono>

#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/inspection.h"
#include "fairlead/directory/pick.h"
#include "fairlead/directory/registry_choice.h"

namespace fairlead {

Directory::Directory(std::shared_ptr<internal::DirectoryCore> core, absl::AnyInvocable<void()> on_destroy)
    : core_(std::move(core)), on_destroy_(std::move(on_destroy)) {}

Directory::Directory(std::shared_ptr<internal::RegistryChoice> choice, absl::AnyInvocable<void()> on_destroy)
    : core_(choice->front()), choice_(std::move(choice)), on_destroy_(std::move(on_destroy)) {}

Directory::~Directory() {
  if (on_destroy_) on_destroy_();
}

InvokerState* Directory::LeaseDirectly(const Invocation& invocation) const noexcept {
  return internal::PickDirectly<internal::Leasing>(*core_, invocation);
}

absl::StatusOr<Lease> Directory::SelectInSection(const Invocation& invocation,
                                                 std::span<const ProviderId> tried) const {
  absl::StatusOr<InvokerState*> state =
      choice_ != nullptr
          ? choice_->Lease(invocation, tried)
          : internal::PickFromCurrent(*core_, invocation, tried, [](InvokerState* one) { return one->TryAcquire(); });
  if (!state.ok()) return std::move(state).status();
  return Lease(*state);
}

const Invoker* Directory::PickDirectly(const Invocation& invocation) const noexcept {
  return internal::PickDirectly<internal::Looking>(*core_, invocation);
}

absl::StatusOr<const Invoker*> Directory::PickInSection(const Invocation& invocation) const {
  if (choice_ != nullptr) return choice_->Look(invocation);
  absl::StatusOr<InvokerState*> state =
      internal::PickFromCurrent(*core_, invocation, {}, [](const InvokerState* one) { return !one->draining(); });
  if (!state.ok()) return std::move(state).status();
  return &(*state)->invoker();
}

std::vector<Url> Directory::List(const Invocation& invocation) const {
  return choice_ != nullptr ? choice_->List(invocation) : internal::ListOf(*core_, invocation);
}

DirectoryListing Directory::Listing() const {
  return choice_ != nullptr ? choice_->Listing() : internal::ListingOf(*core_);
}

PickTrace Directory::Explain(const Invocation& invocation, PickTrace::Detail detail) const {
  return choice_ != nullptr ? choice_->Explain(invocation, detail) : internal::ExplainOf(*core_, invocation, detail);
}

DirectoryStats Directory::Stats() const { return choice_ != nullptr ? choice_->Stats() : core_->Stats(); }

MethodId Directory::Method(std::string_view name) {
  return choice_ != nullptr ? choice_->Method(name) : core_->Method(name);
}

CallNeeds Directory::Needs(MethodId method) const {
  if (choice_ != nullptr) return choice_->Needs(method);
  const ReadSection section;
  return internal::NeedsOf(core_->Current(), core_->methods().Name(method));
}

void Directory::AwaitReady(std::chrono::nanoseconds timeout, Done done) {
  core_->AwaitReady(timeout, std::move(done));
}

void Directory::ClearProtection() {
  if (choice_ != nullptr) return choice_->ClearProtection();
  core_->ClearProtection();
}

Url Directory::consumer() const {
  if (choice_ != nullptr) return choice_->consumer();
  const ReadSection section;
  return core_->Current().consumer;
}

}  // namespace fairlead
