#include "fairlead/directory/directory.h"

#include <chrono>

#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/pick.h"

namespace fairlead {

using internal::DirectorySnapshot;
using internal::NoTracer;
using internal::Picker;
using internal::RecordingTracer;

Directory::Directory(std::shared_ptr<internal::DirectoryCore> core, absl::AnyInvocable<void()> on_destroy)
    : core_(std::move(core)), on_destroy_(std::move(on_destroy)) {}

Directory::~Directory() {
  if (on_destroy_) on_destroy_();
}

namespace {

// A pick that started before a new list was published may find all of its providers draining. That is no answer
// while there is a newer snapshot to ask.
constexpr int kMostSnapshots = 5;

template <class Take>
absl::StatusOr<InvokerState*> PickFromCurrent(const internal::DirectoryCore& core, const Invocation& invocation,
                                              std::span<const ProviderId> tried, Take take) {
  for (int i = 1;; ++i) {
    const DirectorySnapshot& snapshot = core.Current();
    absl::StatusOr<InvokerState*> state = Picker<NoTracer>(core, snapshot, invocation, tried, {}).Run(take);
    if (state.ok() || i == kMostSnapshots || &core.Current() == &snapshot) return state;
  }
}

}  // namespace

InvokerState* Directory::LeaseDirectly(const Invocation& invocation) const noexcept {
  return internal::PickDirectly<internal::Leasing>(*core_, invocation);
}

absl::StatusOr<Lease> Directory::SelectInSection(const Invocation& invocation,
                                                 std::span<const ProviderId> tried) const {
  absl::StatusOr<InvokerState*> state =
      PickFromCurrent(*core_, invocation, tried, [](InvokerState* one) { return one->TryAcquire(); });
  if (!state.ok()) return std::move(state).status();
  return Lease(*state);
}

const Invoker* Directory::PickDirectly(const Invocation& invocation) const noexcept {
  return internal::PickDirectly<internal::Looking>(*core_, invocation);
}

absl::StatusOr<const Invoker*> Directory::PickInSection(const Invocation& invocation) const {
  absl::StatusOr<InvokerState*> state =
      PickFromCurrent(*core_, invocation, {}, [](const InvokerState* one) { return !one->draining(); });
  if (!state.ok()) return std::move(state).status();
  return &(*state)->invoker();
}

std::vector<Url> Directory::List(const Invocation& invocation) const {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core_->Current();
  std::vector<Url> urls;
  if (!snapshot.status.ok()) return urls;
  PickTrace unused;
  internal::TraceRecorder recorder(unused, PickTrace::Detail::kSummary, snapshot,
                                   core_->methods().Name(invocation.method));
  const internal::WalkScratch::Claim scratch(*snapshot.scratch, ThreadSlot());
  const absl::StatusOr<const InvokerSet*> set =
      Picker<RecordingTracer>(*core_, snapshot, invocation, {}, {recorder}).Route(scratch);
  if (!set.ok()) return urls;
  for (const Slot slot : snapshot.table->by_rank) {
    if ((*set)->Contains(slot)) urls.push_back(snapshot.table->providers[slot].effective);
  }
  return urls;
}

DirectoryListing Directory::Listing() const {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core_->Current();
  DirectoryListing listing;
  listing.consumer = snapshot.consumer_as_given;
  for (const Slot slot : snapshot.table->by_rank) {
    listing.providers.push_back({snapshot.table->providers[slot].original,
                                 snapshot.valid.Contains(slot) && !snapshot.table->states[slot]->down()});
  }
  for (const Url& url : snapshot.unused) listing.providers.push_back({url, true});
  return listing;
}

PickTrace Directory::Explain(const Invocation& invocation, PickTrace::Detail detail) const {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core_->Current();
  PickTrace trace;
  internal::TraceRecorder recorder(trace, detail, snapshot, core_->methods().Name(invocation.method));
  trace.snapshot_age_seconds =
      std::chrono::duration<double>(core_->clock().SteadyNow() - snapshot.built_at).count();
  Picker<RecordingTracer> picker(*core_, snapshot, invocation, {}, {recorder});
  absl::StatusOr<InvokerState*> state =
      picker.Run([](const InvokerState* one) { return !one->draining(); });
  trace.status = state.status();
  if (const auto notes = core_->notes()) {
    trace.skipped.insert(trace.skipped.end(), notes->skipped.begin(), notes->skipped.end());
    trace.registry = notes->state;
  }
  if (snapshot.protection.has_value()) {
    trace.protection = snapshot.protection->ToString(core_->clock().SteadyNow(), snapshot.valid.count());
  }
  trace.stats = core_->Stats();
  return trace;
}

DirectoryStats Directory::Stats() const { return core_->Stats(); }

MethodId Directory::Method(std::string_view name) { return core_->Method(name); }

CallNeeds Directory::Needs(MethodId method) const {
  const ReadSection section;
  return internal::NeedsOf(core_->Current(), core_->methods().Name(method));
}

void Directory::AwaitReady(std::chrono::nanoseconds timeout, Done done) {
  core_->AwaitReady(timeout, std::move(done));
}

void Directory::ClearProtection() { core_->ClearProtection(); }

Url Directory::consumer() const {
  const ReadSection section;
  return core_->Current().consumer;
}

}  // namespace fairlead
