#include "fairlead/directory/trace_recorder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/plan_builder.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kMostAddress = 100;

// What a registry holds must not write lines of its own.
std::string Printable(std::string_view text) {
  std::string shown = Shortened(text, kMostAddress);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return shown;
}

// What tells providers of one protocol and address apart, as far as it is more than a detail of the transport.
std::string ServiceOf(const Url& url) {
  std::string text = absl::StrCat("/", Printable(url.path()));
  for (const std::string_view key : {names::kGroup, names::kVersion}) {
    const std::string_view value = url.Param(key);
    if (value.empty()) continue;
    absl::StrAppend(&text, text.find('?') == std::string::npos ? "?" : "&", ToAbsl(key), "=", Printable(value));
  }
  return text;
}

}  // namespace

TraceRecorder::TraceRecorder(PickTrace& trace, PickTrace::Detail detail, const DirectorySnapshot& snapshot,
                             std::string_view method)
    : trace_(trace),
      all_(detail == PickTrace::Detail::kAll),
      snapshot_(snapshot),
      method_(ParameterMethod(snapshot, method)) {
  trace.service = snapshot.service;
  trace.method = Shortened(method);
  trace.snapshot = snapshot.version;
  trace.providers = snapshot.table->by_rank.size();
  trace.live = snapshot.valid.count();
  trace.skipped = snapshot.skipped;
  if (!all_) return;
  line_of_.resize(snapshot.table->providers.size());
  std::unordered_map<std::string, std::size_t> uses;  // of addresses, and of protocol://address
  for (const Slot slot : snapshot.table->by_rank) {
    const InvokerState& state = *snapshot.table->states[slot];
    line_of_[slot] = static_cast<std::uint32_t>(trace.all.size());
    const std::string address = Address(slot);
    const std::string url = absl::StrCat(Protocol(slot), "://", address);
    ++uses[address];
    ++uses[url];
    trace.all.push_back({url, address, state.id(), Weight(slot), state.active(), state.down(), state.draining(),
                         snapshot.valid.Contains(slot) ? "" : "availability"});
  }
  if (uses.size() == 2 * trace.all.size()) return;
  for (const Slot slot : snapshot.table->by_rank) {
    PickTrace::ProviderLine& line = trace.all[line_of_[slot]];
    if (uses[line.address] > 1) shared_.insert(slot);
    if (uses[line.url] > 1) line.url += ServiceOf(snapshot.table->providers[slot].effective);
  }
}

std::string TraceRecorder::Address(Slot slot) const { return Printable(snapshot_.table->providers[slot].address()); }

std::string TraceRecorder::Protocol(Slot slot) const {
  return Printable(snapshot_.table->providers[slot].effective.protocol());
}

std::int32_t TraceRecorder::Weight(Slot slot) const {
  return EffectiveWeight(snapshot_.table->providers[slot].effective, method_, snapshot_.wall_ms);
}

void TraceRecorder::Step(const ChainLink& link, RouteCase which, const InvokerSet& in, const Outcomes& outcomes,
                         const InvokerSet& out) {
  PickTrace::RouterStep step;
  step.router = link.router->name();
  step.what = link.Describe(which);
  step.runtime = link.runtime;
  step.which = which;
  step.in = in.count();
  step.out = out.count();
  step.note = Shortened(outcomes.why());
  if (outcomes.count() > 1) {
    step.note = absl::StrCat("one draw among ", outcomes.count(), " weighted sets");
  }
  step.faults = link.router->faults();
  if (step.faults > 0) step.first_fault = link.router->first_fault();
  if (all_) {
    const InvokerSet gone = in - out;
    for (const Slot slot : snapshot_.table->by_rank) {
      if (!gone.Contains(slot)) continue;
      PickTrace::ProviderLine& line = trace_.all[line_of_[slot]];
      step.removed.push_back(shared_.contains(slot) ? line.url : line.address);
      line.removed_by = step.router;
    }
  }
  trace_.routers.push_back(std::move(step));
}

void TraceRecorder::Planned(const Plan* plan, std::string_view kind) {
  trace_.plan = plan != nullptr ? std::string(kind)
                : snapshot_.runtime.size() > kMaxRuntimeRouters
                    ? absl::StrCat("walk, more than ", kMaxRuntimeRouters, " rules look at each call")
                    : "walk, no plan built yet";
}

const Leaf& TraceRecorder::Branch(const Plan& plan, const InvokerSet* routed, Random& random) {
  if (plan.branches.size() == 1) return *plan.branches.front().leaf;
  const Leaf* found = nullptr;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < plan.branches.size() && found == nullptr; ++i) {
    const Plan::Branch& branch = plan.branches[i];
    const auto& members = branch.leaf->by_rank;
    const std::size_t wanted = routed == nullptr ? 0 : routed->count();
    if (members.size() == wanted && std::all_of(members.begin(), members.end(), [&](Slot slot) {
          return routed->Contains(slot);
        })) {
      found = branch.leaf.get();
      trace_.branch = absl::StrFormat("set %d of %d, share %.1f %%", i + 1, plan.branches.size(),
                                      100.0 * static_cast<double>(branch.below - before) / 18446744073709551616.0);
    }
    before = branch.below;
  }
  return found == nullptr ? plan.Draw(random) : *found;
}

void TraceRecorder::Candidates(std::size_t count, std::string policy) {
  trace_.candidates = count;
  trace_.policy = Shortened(policy);
}

void TraceRecorder::Refused(Slot slot, bool tried) {
  const InvokerState& state = *snapshot_.table->states[slot];
  trace_.refused.push_back({Protocol(slot), Address(slot), state.id(), state.down() ? "down" : tried ? "tried" : "draining"});
}

void TraceRecorder::Chosen(Slot slot) {
  const InvokerState& state = *snapshot_.table->states[slot];
  trace_.chosen = Address(slot);
  trace_.protocol = Protocol(slot);
  trace_.provider = state.id();
  trace_.active = state.active();
  trace_.weight = Weight(slot);
}

}  // namespace fairlead::internal
