#ifndef FAIRLEAD_DIRECTORY_PICK_TRACE_H_
#define FAIRLEAD_DIRECTORY_PICK_TRACE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// What picks see now, and what the directory did since it began, besides the usual pick by a plan, which is not counted.
// Every Explain and List is left out.
struct DirectoryStats {
  std::size_t providers = 0;         // listed, with connections
  std::size_t valid = 0;             // of those, up and not draining when the tables were made
  std::uint64_t version = 0;         // of the snapshot, which grows with each
  std::chrono::nanoseconds age{0};   // since that snapshot was made

  std::size_t scripts = 0;           // script rules of its provider applications, which are not run

  std::uint64_t walked = 0;          // picks without a plan, which went through the rules themselves
  std::uint64_t wishes_dropped = 0;  // of those, the ones that could not ask for their plan: the next such call asks again
  std::uint64_t plans_built = 0;     // that picks had asked for
  std::uint64_t plans_refused = 0;   // asked for and not built: there are too many already, or the rules draw among too
                                     // many sets; such calls go on walking
  std::uint64_t redrawn = 0;         // draws that fell on a provider that was down, draining or tried
  // No count: since when the registry lists no provider and the last ones are in use (empty protection), above zero;
  // zero while that is not so.
  std::chrono::nanoseconds protected_for{0};
};

// Why a pick went where it went: written by the pick's own code (Directory::Explain). Plain value. Texts that come
// from a registry are cut when they are long, with their length.
struct PickTrace {
  // kAll also says of each provider what became of it, and costs time and memory in proportion to their number.
  enum class Detail : std::uint8_t { kSummary, kAll };

  struct RouterStep {
    std::string router;       // "condition"
    std::string what;         // the rule's text and what its case means, with force
    bool runtime = false;     // classified at the call; else once per method and snapshot
    std::uint32_t which = 0;  // the case
    std::size_t in = 0, out = 0;
    std::string note;                  // why it blocked, or that it drew between several sets
    std::uint64_t faults = 0;          // how often the router threw since its rule came; then everything passes
    std::string first_fault;
    // kAll: whom it took away, in the order of the list: the address, or ProviderLine::url where several have that.
    std::vector<std::string> removed;
  };
  // A provider that was drawn and not taken.
  struct Refusal {
    std::string protocol, address;
    ProviderId id = ProviderId::kNone;
    std::string why;  // "down", "tried", "draining"
  };
  struct ProviderLine {
    std::string url;      // protocol://address, with path, group and version if others of the list have the same
    std::string address;
    ProviderId id = ProviderId::kNone;  // the same in every trace while the provider is listed
    std::int32_t weight = 0;  // effective, for this method
    std::uint32_t active = 0;
    bool down = false, draining = false;  // now; the tables follow a little later
    std::string removed_by;  // "tag", or "availability" before any router; empty = a candidate
  };

  std::string service, method;
  std::uint64_t snapshot = 0;
  double snapshot_age_seconds = 0;
  std::size_t providers = 0, live = 0;  // in the list; of them up when the snapshot was made
  std::vector<std::string> skipped;     // what could not be used: bad children, rules, overrides, failed refers
  std::string registry;                 // its state; numbers in it are of the last list or change of session
  std::string choice;                   // of several registries, the one that the call goes to, and why; else empty
  std::vector<std::string> registries;  // then: each with what it has
  std::string protection;               // while the last list is protected: since when, how many are up, until when
  std::vector<RouterStep> routers;      // in order
  std::string plan;                     // "class" (chosen by method), "hit", "walk, " and why
  std::string branch;                   // which set was drawn, when the rules lead to several; else empty
  std::size_t candidates = 0;           // in the leaf that was drawn
  std::string policy;                   // the selector's own description
  std::vector<Refusal> refused;         // the draws before the last
  std::string chosen;                   // address; empty when nothing was picked
  std::string protocol;                 // of the chosen
  ProviderId provider = ProviderId::kNone;
  std::int32_t weight = 0;              // effective
  std::uint32_t active = 0;             // leases out before this pick
  std::vector<ProviderLine> all;        // kAll: every provider, in the order of the list
  DirectoryStats stats;                 // of the directory, so far
  absl::Status status;                  // what Select would have returned

  // Several lines for a person, ending with a line feed; all that was recorded.
  std::string ToString() const;
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_PICK_TRACE_H_
