#ifndef FAIRLEAD_DIRECTORY_PICK_TRACE_H_
#define FAIRLEAD_DIRECTORY_PICK_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// Why a pick went where it went: written by the pick's own code (Directory::Explain). Plain value.
struct PickTrace {
  struct RouterStep {
    std::string router;       // "condition"
    std::string what;         // the rule's text and what its case means
    bool runtime = false;     // classified at the call; else once per method and snapshot
    std::uint32_t which = 0;  // the case
    std::size_t in = 0, out = 0;
    std::string note;         // why it blocked, or that it drew between several sets
  };

  std::string service, method;
  std::uint64_t snapshot = 0;
  double snapshot_age_seconds = 0;
  std::size_t providers = 0, live = 0;  // in the list; of them neither down nor draining
  std::vector<std::string> skipped;     // what could not be used: bad children, rules, overrides, failed refers
  std::string registry;                 // state of the registry
  std::vector<RouterStep> routers;      // in order
  std::string plan;                     // "class" (chosen by method), "hit", "walk" (not built yet)
  std::size_t candidates = 0;           // in the leaf that was drawn
  std::string policy;                   // the selector's own description
  int redraws = 0;                      // draws that met a provider that was down, draining or tried
  std::string chosen;                   // address; empty when nothing was picked
  ProviderId provider = ProviderId::kNone;
  std::int32_t weight = 0;              // effective
  std::uint32_t active = 0;             // leases out before this pick
  absl::Status status;                  // what Select would have returned

  // Several lines for a person, ending with a line feed.
  std::string ToString() const;
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_PICK_TRACE_H_
