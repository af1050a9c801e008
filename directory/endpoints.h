#ifndef FAIRLEAD_DIRECTORY_ENDPOINTS_H_
#define FAIRLEAD_DIRECTORY_ENDPOINTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/base/backoff.h"
#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/availability_feed.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/invoker_table.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// The providers a directory holds connections to: one endpoint per connection key, in a stable slot, with its
// Invoker. Refers new ones through the host's Protocol, keeps those whose key stays (a changed weight refers
// nothing anew), probes those that are down, drains those that left. Executor only; reports of availability, which
// come from any thread, reach it through an AvailabilityFeed.
class Endpoints : public std::enable_shared_from_this<Endpoints> {
 public:
  struct Config {
    std::shared_ptr<void> keep;  // owns what the pointers below point to
    std::shared_ptr<Executor> executor;
    const Clock* clock = nullptr;
    Logger* log = nullptr;
    std::shared_ptr<Protocol> protocol;
    std::string service;  // for texts
    std::chrono::nanoseconds drain_timeout = std::chrono::seconds(10);
    std::uint64_t seed = 0;
    std::uint32_t down_after = 3;  // outcomes kUnavailable in a row that count as down; 0 = never
    // Something that a snapshot shows changed by itself: a refer succeeded late, a provider went up or down.
    std::function<void()> on_change;
  };
  // A provider to hold: what was registered, what the consumer makes of it, and what follows from that, computed
  // once for as long as neither changes.
  struct Wanted {
    Wanted(Url original_url, Url effective_url, std::unique_ptr<const std::string> what_was_left_out = nullptr);

    const Url original, effective;
    // What of the original is not in the effective url because it cannot be used, and why; nullptr = nothing, as usual.
    const std::unique_ptr<const std::string> left_out;
    const std::string key;  // ConnectionKey(effective)
    const bool disabled;
    // Where it is held, as far as it was last seen to; the executor's, so that a list that is wanted again and again is
    // found without a look-up.
    mutable Slot slot = kNoSlot;
  };
  using WantedList = std::vector<std::shared_ptr<const Wanted>>;

  static std::shared_ptr<Endpoints> Create(Config config);
  ~Endpoints();

  // Replaces the list, in rank order. Of entries with one connection key the newest timestamp stays. Entries whose
  // Refer fails are left out and retried with back-off. Those that left are remembered until DrainRemoved. An entry
  // with a newer timestamp than before has restarted: if it is down it is probed, if it failed it is referred, now.
  void Apply(const WantedList& list);

  // What a snapshot needs, copied flat; `changed` = slots new or changed since the last call of TakeChanged. Weights
  // are those of now.
  std::shared_ptr<const InvokerTable> Table();
  // The wall-clock moment when the weights of the last Table are no longer right; 0 = never.
  std::int64_t next_weight_change() const { return next_weight_change_; }
  // Nobody in it was down when this was called, and nobody is while downs() stands where it stood before.
  InvokerSet Valid();
  const std::shared_ptr<const DownCount>& downs() const { return downs_; }
  InvokerSet TakeChanged();
  // Method names with policy parameters of their own on some provider, sorted.
  std::vector<std::string> OwnMethods() const;
  // The distinct values of `loadbalance`, method forms included.
  std::vector<std::string> Policies() const;
  // What was left out and why: shadowed duplicates, disabled ones, failed refers.
  const std::vector<std::string>& skipped() const { return skipped_; }
  // Values of providers in use that cannot be read, so that a default holds. At most 100.
  std::vector<std::string> Unreadable() const;
  std::size_t disabled() const { return disabled_; }

  // To be called after the snapshot without the removed providers was published: they give no new leases from
  // here on. Returns the task that closes them, to run once no pick sees the old snapshot.
  absl::AnyInvocable<void()> DrainRemoved();

  // Empties the list for good. As with any removal, DrainRemoved follows; with leases still out, Destroy is called
  // when they end or after `deadline`.
  void Close(std::chrono::nanoseconds deadline);
  // Leases and undestroyed invokers are gone.
  bool idle() const { return endpoints_.empty() && leaving_.empty(); }

 private:
  struct Endpoint {
    std::string key;
    std::shared_ptr<const Provider> provider;
    InvokerState* state = nullptr;
    std::vector<std::string> own_methods;
    std::vector<std::string> policies;
    bool down = false;       // as the tables have it; the state itself may be ahead by a message
  };
  // A provider that left the list. Comes back to life if its key is listed again before it was closed.
  struct Leaving {
    std::string key;
    InvokerState* state;
    std::uint64_t round = 0;  // of DrainRemoved; 0 = not yet draining
    bool unseen = false;      // no pick can see it any more
    Clock::SteadyTime close_at;
  };
  struct Retry {
    Backoff backoff;
    Timer timer;
    std::string why;  // the last attempt failed
    std::int64_t timestamp_ms = 0;  // of what was tried
  };
  // Of a provider that is down, or came up a short while ago: who goes down again soon is not probed from the start.
  struct Probe {
    Backoff backoff;
    Timer timer;
  };

  explicit Endpoints(Config config);
  // How often a name is used by the providers listed.
  using Uses = std::map<std::string, std::size_t>;
  static void CountUses(Uses& uses, const std::vector<std::string>& names, bool more);
  // What is held in a slot, flat, because every update goes through all of it.
  struct Held {
    std::shared_ptr<const Wanted> wanted;  // nullptr: a hole
    std::uint64_t seen = 0;                // the Apply that listed it last
    std::size_t place = 0;                 // in that list
  };

  void Hold(Endpoint& endpoint, const std::shared_ptr<const Wanted>& wanted, ProviderId id, Slot slot);
  Endpoint* HoldNew(const std::shared_ptr<const Wanted>& wanted);
  void HoldAnew(Endpoint& endpoint, const std::shared_ptr<const Wanted>& wanted);
  void Unlist(Endpoint& endpoint);
  void TellUpdated(const Endpoint& endpoint);
  bool Refer(const std::shared_ptr<const Wanted>& wanted);
  bool Revive(const std::shared_ptr<const Wanted>& wanted);
  void WarnOf(std::string_view code, std::size_t bad, std::string_view input, std::string_view text) const;
  void ReferLater(const Wanted& wanted, std::string why);
  void Hear(AvailabilityFeed::Batch states);
  bool Follow(Endpoint& endpoint);
  bool Ask(Endpoint& endpoint);
  void AskNow(Endpoint& endpoint);
  void AskLater(const Endpoint& endpoint);
  void Sweep();
  void Destroy(InvokerState& state);
  Slot TakeSlot();

  const Config config_;
  std::chrono::nanoseconds drain_timeout_;
  Random random_;
  std::unordered_map<std::string, Endpoint> endpoints_;  // by connection key
  std::vector<Endpoint*> by_slot_;
  std::vector<Held> held_;  // by slot
  InvokerTable table_;      // by_rank apart, as of now; weights as of weighed_ms_
  InvokerSet valid_;
  InvokerSet warming_;      // slots whose weight changes by itself
  std::int64_t weighed_ms_ = 0, next_weight_change_ = 0;
  Uses own_methods_, policies_;
  std::shared_ptr<const DownCount> downs_;
  std::shared_ptr<AvailabilityFeed> feed_;
  std::vector<Leaving> leaving_;
  std::map<std::string, Retry> retries_;
  std::map<Slot, Probe> probes_;
  std::map<Slot, std::string> unreadable_;
  WantedList last_list_;
  std::vector<Slot> free_slots_;
  Slot next_slot_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t applied_ = 0;
  std::uint64_t round_ = 0;
  InvokerSet changed_;
  std::vector<std::string> skipped_;
  std::size_t disabled_ = 0;
  Timer sweep_;
  bool closed_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_ENDPOINTS_H_
