#include "fairlead/directory/inspection.h"

#include <chrono>
#include <optional>

namespace fairlead::internal {

std::vector<Url> ListOf(const DirectoryCore& core, const Invocation& invocation) {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core.Current();
  std::vector<Url> urls;
  if (!snapshot.status.ok()) return urls;
  PickTrace unused;
  TraceRecorder recorder(unused, PickTrace::Detail::kSummary, snapshot, core.methods().Name(invocation.method));
  const WalkScratch::Claim scratch(*snapshot.scratch, ThreadSlot());
  const absl::StatusOr<const InvokerSet*> set =
      Picker<RecordingTracer>(core, snapshot, invocation, {}, {recorder}).Route(scratch);
  if (!set.ok()) return urls;
  for (const Slot slot : snapshot.table->by_rank) {
    if ((*set)->Contains(slot)) urls.push_back(snapshot.table->providers[slot].effective);
  }
  return urls;
}

DirectoryListing ListingOf(const DirectoryCore& core) {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core.Current();
  DirectoryListing listing;
  listing.consumer = snapshot.consumer_as_given;
  for (const Slot slot : snapshot.table->by_rank) {
    listing.providers.push_back({snapshot.table->providers[slot].original,
                                 snapshot.valid.Contains(slot) && !snapshot.table->states[slot]->down()});
  }
  for (const Url& url : snapshot.unused) listing.providers.push_back({url, true});
  return listing;
}

PickTrace ExplainOf(const DirectoryCore& core, const Invocation& invocation, PickTrace::Detail detail) {
  const ReadSection section;
  const DirectorySnapshot& snapshot = core.Current();
  PickTrace trace;
  TraceRecorder recorder(trace, detail, snapshot, core.methods().Name(invocation.method));
  trace.snapshot_age_seconds =
      std::chrono::duration<double>(core.clock().SteadyNow() - snapshot.built_at).count();
  Picker<RecordingTracer> picker(core, snapshot, invocation, {}, {recorder});
  absl::StatusOr<InvokerState*> state =
      picker.Run([](const InvokerState* one) { return !one->draining(); });
  trace.status = state.status();
  if (const auto notes = core.notes()) {
    trace.skipped.insert(trace.skipped.end(), notes->skipped.begin(), notes->skipped.end());
    trace.registry = notes->state;
  }
  if (snapshot.protection.has_value()) {
    trace.protection = snapshot.protection->ToString(
        core.clock().SteadyNow(), snapshot.protects_all ? std::optional(snapshot.valid.count()) : std::nullopt);
  }
  trace.stats = core.Stats();
  return trace;
}

}  // namespace fairlead::internal
