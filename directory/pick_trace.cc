#include "fairlead/directory/pick_trace.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fairlead {

std::string PickTrace::ToString() const {
  std::string text = absl::StrFormat("%s%s%s  snapshot %d (%.1f s)  %d providers, %d live\n", service,
                                     method.empty() ? "" : ".", method, snapshot, snapshot_age_seconds, providers,
                                     live);
  for (const RouterStep& step : routers) {
    absl::StrAppendFormat(&text, "  %-10s %s  %s case %d  %d -> %d%s%s\n", step.router, step.what,
                          step.runtime ? "runtime" : "cached", step.which, step.in, step.out,
                          step.note.empty() ? "" : "  ", step.note);
  }
  if (status.ok()) {
    absl::StrAppendFormat(&text, "  plan %s, %d candidates  %s  -> %s  weight %d active %d\n", plan, candidates, policy,
                          chosen, weight, active);
    if (redraws > 0) absl::StrAppendFormat(&text, "  %d draws met a provider that is down or draining\n", redraws);
  } else {
    absl::StrAppend(&text, "  no provider: ", status.ToString(), "\n");
  }
  for (const std::string& one : skipped) absl::StrAppend(&text, "  skipped: ", one, "\n");
  if (!registry.empty()) absl::StrAppend(&text, "  registry: ", registry, "\n");
  return text;
}

}  // namespace fairlead
