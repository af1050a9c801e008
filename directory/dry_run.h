#ifndef FAIRLEAD_DIRECTORY_DRY_RUN_H_
#define FAIRLEAD_DIRECTORY_DRY_RUN_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/directory/directory.h"
#include "fairlead/directory/rule_set.h"
#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/routing/router.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// A call to be tried beside those that are found.
struct DryRunCall {
  std::string label;   // what the report calls it
  std::string method;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> attachments;
};

struct DryRunInput {
  // Of a live directory (Directory::Listing), or made of urls.
  DirectoryListing listing;
  RuleSet before, after;
  std::vector<DryRunCall> calls = {};

  Compat compat = Compat::kStrict;
  std::string local_address = {};  // that rules for consumers name; empty: the consumer's host
  // What the host has beside the library's own; asked for names that the library does not know. May be null.
  std::function<absl::StatusOr<std::shared_ptr<RouterFactory>>(std::string_view name)> router = nullptr;
  std::function<absl::StatusOr<std::shared_ptr<const LoadBalance>>(std::string_view name)> policy = nullptr;
};

// What other rules would change. Providers are places in the input's listing. Plain value.
struct DryRunReport {
  // Where calls of one kind end.
  struct Ends {
    std::size_t candidates = 0;  // providers that such a call may be sent to, whatever is drawn
    double fails = 0;            // the share of such calls that finds nobody, 0 to 1
    std::string emptied_by;      // why, when fails > 0
    // The sets that weighted rules draw among; shares add up to 1 - fails.
    std::vector<std::pair<double, std::vector<std::size_t>>> sets;
  };
  // Calls that no rule and no method tells apart.
  struct Calls {
    std::vector<std::string> methods;  // "(any other)": one that nobody names
    std::string tag;                   // given as `dubbo.tag`; empty: none given
    std::string label;                 // of the caller's own
    Ends before, after;
    std::vector<std::size_t> lost, gained;
    bool shares_change = false;        // nobody is lost or gained, but calls are divided otherwise

    bool changes() const { return !lost.empty() || !gained.empty() || shares_change || before.fails != after.fails; }
    // They found somebody until now, and some or all of them do not any more.
    bool loses_all() const { return after.fails > before.fails; }
  };
  // A parameter of effective urls that configurators set otherwise, for these providers; of the consumer's own url when
  // there are none.
  struct Parameter {
    std::string name;
    std::optional<std::string> before, after;
    std::vector<std::size_t> providers;
  };

  std::vector<std::string> providers;  // their addresses, with path and service when several have one
  std::vector<Calls> calls;
  std::vector<Parameter> parameters;
  std::vector<std::size_t> taken_out, brought_back;  // providers no longer, or again, in use at all (`disabled`)
  // Texts of the new rules that cannot be used, also of documents that this consumer does not read. Nothing that such a
  // text says happens: its last good version, that of `before` if that is one, stays in force, as it would live. Do not
  // give it to a registry.
  std::vector<std::string> broken;
  std::vector<std::string> unusable;   // what else of the new rules cannot be used or has remarks, and was not so before
  std::vector<std::string> unread;     // documents that this consumer does not read
  std::vector<std::string> not_tried;  // what else of calls the rules read; give DryRunInput::calls that have it

  bool changes() const;
  // Some calls would be left without any provider: ask before doing that (a force flag).
  bool loses_all() const;
  // Several lines for a person, ending with a line feed.
  std::string ToString() const;
};

// What becomes of calls when `after` takes the place of `before`: two directories are made of the same providers, by the
// code that live ones are made by, in memory alone; one has `before`, the other is told `before` and then `after`. Nothing is registered, connected, subscribed, logged or
// changed, and the live directory that a listing is of goes on undisturbed. No clock moves: weights are not compared.
//
// Tried are all methods that providers, the consumer and rules name, and one that nobody does, each with every tag that
// providers, the consumer and rules name, and without one; and the calls given. Providers that are down are no candidates.
// Where rules tell so many of them apart that this would take too long, the first 2000 methods and tags are tried, each for
// itself, and of the pairs of both as many as come first; `not_tried` says what was left out.
//
// kInvalidArgument when the consumer's url names no service. Texts that cannot be used leave their last good version in
// force, as live, and are named (`broken`).
// Time: that of three first snapshots; for each method and each tag the rules, for each distinct outcome the providers, which
// is bounded to a few seconds. Memory: a few hundred bytes a provider, freed before it returns, and 16 bytes for each provider of each entry of
// the report, some 300 MB at most. Thread-safe; blocks its thread; for tools, not for the data plane.
absl::StatusOr<DryRunReport> DryRun(const DryRunInput& input);

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_DRY_RUN_H_
