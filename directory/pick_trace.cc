#include "fairlead/directory/pick_trace.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/strings.h"

namespace fairlead {

std::string PickTrace::ToString() const {
  std::string text = absl::StrFormat("%s%s%s  snapshot %d (%.1f s)  %d providers, %d live\n", service,
                                     method.empty() ? "" : ".", method, snapshot, snapshot_age_seconds, providers,
                                     live);
  for (const std::string& one : registries) absl::StrAppend(&text, "  of ", one, "\n");
  if (!choice.empty()) absl::StrAppend(&text, "  chosen: ", choice, "\n");
  for (const RouterStep& step : routers) {
    absl::StrAppendFormat(&text, "  %-10s %s  %s case %d  %d -> %d%s%s\n", step.router, step.what,
                          step.runtime ? "runtime" : "cached", step.which, step.in, step.out,
                          step.note.empty() ? "" : "  ", step.note);
    if (step.faults > 0) absl::StrAppendFormat(&text, "    failed %d times: %s\n", step.faults, step.first_fault);
    if (!step.removed.empty()) absl::StrAppend(&text, "    removed: ", absl::StrJoin(step.removed, ", "), "\n");
  }
  if (status.ok()) {
    absl::StrAppendFormat(&text, "  plan %s, %d candidates  %s  -> %s://%s (id %d)  weight %d active %d\n", plan, candidates,
                          policy, protocol, chosen, static_cast<std::uint64_t>(provider), weight, active);
    if (!branch.empty()) absl::StrAppend(&text, "  draw: ", branch, "\n");
    for (const Refusal& one : refused) {
      absl::StrAppendFormat(&text, "  drew %s://%s (id %d), which is %s\n", one.protocol, one.address,
                            static_cast<std::uint64_t>(one.id), one.why);
    }
  } else {
    absl::StrAppend(&text, "  no provider: ", Shortened(FromAbsl(status.ToString()), 4 * kShownBytes), "\n");
  }
  for (const ProviderLine& one : all) {
    absl::StrAppendFormat(&text, "  %s (id %d)  weight %d active %d%s%s", one.url, static_cast<std::uint64_t>(one.id),
                          one.weight, one.active, one.down ? " down" : "", one.draining ? " draining" : "");
    absl::StrAppend(&text, one.removed_by.empty() ? "" : "  removed by ", one.removed_by, "\n");
  }
  for (const std::string& one : skipped) absl::StrAppend(&text, "  skipped: ", one, "\n");
  if (stats.walked + stats.redrawn > 0) {
    absl::StrAppendFormat(&text, "  so far: %d picks walked, %d plans built, %d refused, %d wishes dropped, %d draws again\n",
                          stats.walked, stats.plans_built, stats.plans_refused, stats.wishes_dropped, stats.redrawn);
  }
  if (!protection.empty()) absl::StrAppend(&text, "  ", protection, "\n");
  if (!registry.empty()) absl::StrAppend(&text, "  registry: ", registry, "\n");
  return text;
}

}  // namespace fairlead
