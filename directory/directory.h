#ifndef FAIRLEAD_DIRECTORY_DIRECTORY_H_
#define FAIRLEAD_DIRECTORY_DIRECTORY_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/base/read_domain.h"
#include "fairlead/directory/pick_trace.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/lease.h"
#include "fairlead/url/url.h"

namespace fairlead {

namespace internal {
class DirectoryCore;
class RegistryChoice;
}

// What rules and hashing read of a method's calls right now: give at least these, the rest is ignored, but for what asks
// for a provider that may not be there, which always counts: the attachment `invocation.need.mock` = true, and
// `dubbo.force.tag` = true with a `dubbo.tag`.
struct CallNeeds {
  bool arguments = false;
  bool attachments = false;  // but for `dubbo.tag` and `dubbo.force.tag` of a call that forces its tag, which always count
};

// What a directory has, for tools that ask what other rules would make of it (dry_run.h). Plain value.
struct DirectoryListing {
  struct Provider {
    Url url;         // as registered
    bool up = true;  // has a connection and is not known to be down; of one that is not in use it is not known
  };
  Url consumer;                     // as given, without overrides
  std::vector<Provider> providers;  // those in use in the registry's order, then those that are not: disabled, refused
};

// The providers of one service, always current: what an RPC client picks from.
//
// Made by Runtime::Refer (from a registry) or StaticDirectory (from a list). A pick reads an immutable snapshot
// through one pointer: no lock, no clock, no system call, and its cost does not depend on the number of
// providers once its plan is built. All methods are thread-safe.
//
// Errors of a pick:
//   kFailedPrecondition  no list has arrived yet; the text says the registry's state
//   kUnavailable         no provider, or the rules leave none; the text names what emptied the list
//   kCancelled           the directory or its runtime is gone
//
// Empty protection: when the registry's list of providers becomes empty at once, the last one stays in use, for more
// often a registry has lost its data than all of a service has ended. Those that are down get no calls, as always, and
// are probed; the registry's next providers replace the list. After `protect-max-age` (10 minutes), or ClearProtection,
// the list is empty. Explain and Stats say so. `enable-empty-protection=false`, of the consumer's or the registry's
// url, lets an empty list hold at once.
//
// Of several registries with a list each (RegistryMode::kZoneAware, kFailover) all of this is true of each; a pick that
// finds none with a live provider says what each one says: kFailedPrecondition while none has answered, else kUnavailable.
//
// Destroying the last handle ends the subscription and closes the invokers; leases that are out stay valid.
class Directory {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;

  explicit Directory(std::shared_ptr<internal::DirectoryCore> core, absl::AnyInvocable<void()> on_destroy);
  explicit Directory(std::shared_ptr<internal::RegistryChoice> choice, absl::AnyInvocable<void()> on_destroy);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // Picks a provider and leases it. `tried`: providers that this call was already sent to; they are avoided
  // while another is left.
  absl::StatusOr<Lease> Select(const Invocation& invocation, std::span<const ProviderId> tried = {}) const {
    const ReadSection section;
    if (tried.empty()) [[likely]] {
      if (InvokerState* usual = LeaseDirectly(invocation)) [[likely]] return Lease(usual);
    }
    return SelectInSection(invocation, tried);
  }

  // Picks without a lease: `use(const Invoker&)` runs inside the read section. It must be noexcept, must not
  // block or suspend and must not keep the reference: for handing a ready connection to a queue.
  template <class Use>
  absl::Status WithSelected(const Invocation& invocation, Use&& use) const {
    static_assert(noexcept(use(std::declval<const Invoker&>())), "use must be noexcept: it runs in a read section");
    const ReadSection section;
    if (const Invoker* usual = PickDirectly(invocation)) [[likely]] {
      use(*usual);
      return absl::OkStatus();
    }
    absl::StatusOr<const Invoker*> picked = PickInSection(invocation);
    if (!picked.ok()) return picked.status();
    use(**picked);
    return absl::OkStatus();
  }

  // The candidates after routing, before balancing, in the order of the registry's last push: Dubbo's list().
  // Empty when none. For tools and tests; allocates, linear in the providers.
  std::vector<Url> List(const Invocation& invocation) const;

  // All that is listed, also what the rules in force take out. Allocates, linear in the providers.
  DirectoryListing Listing() const;

  // One pick, explained, by the pick's own code, and what is known of the registry now: its session, children that
  // cannot be read. Takes no lease; moves no round-robin position. Allocates; kAll is
  // linear in the providers and names for each of them its weight, its state and who removed it.
  PickTrace Explain(const Invocation& invocation, PickTrace::Detail detail = PickTrace::Detail::kSummary) const;

  // What there is now, and counts since the directory began. Counts are sums over threads; exact once they are quiet.
  DirectoryStats Stats() const;

  // The number of a method, for Invocation::method. Call it once per stub method. At most 4 096 names; later
  // ones get kAny, which no method rule matches.
  MethodId Method(std::string_view name);
  CallNeeds Needs(MethodId method) const;

  // Calls `done` on the executor: OK once a first list is there (it may be empty), kDeadlineExceeded after
  // `timeout`, kCancelled when the directory ends first.
  void AwaitReady(std::chrono::nanoseconds timeout, Done done);

  // Ends empty protection: the last providers, which stay in use while the registry lists none, are given up now, as
  // they would be after `protect-max-age`. For operators who know that the service has ended. Takes effect on the
  // executor, soon; without effect while nothing is protected, and on later lists.
  void ClearProtection();

  // The consumer url with overrides applied.
  Url consumer() const;

 private:
  // Inside a ReadSection. nullptr: this is not the usual case, the other two decide.
  const Invoker* PickDirectly(const Invocation& invocation) const noexcept;
  InvokerState* LeaseDirectly(const Invocation& invocation) const noexcept;  // acquired
  absl::StatusOr<const Invoker*> PickInSection(const Invocation& invocation) const;
  absl::StatusOr<Lease> SelectInSection(const Invocation& invocation, std::span<const ProviderId> tried) const;

  const std::shared_ptr<internal::DirectoryCore> core_;
  const std::shared_ptr<internal::RegistryChoice> choice_;  // of several registries, of which a call chooses; else nullptr
  absl::AnyInvocable<void()> on_destroy_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_DIRECTORY_H_
