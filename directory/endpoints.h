#ifndef FAIRLEAD_DIRECTORY_ENDPOINTS_H_
#define FAIRLEAD_DIRECTORY_ENDPOINTS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fairlead/base/backoff.h"
#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/availability_feed.h"
#include "fairlead/directory/shape_table.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/invoker_table.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// The providers a directory holds connections to: one per connection key, in a stable slot, with its Invoker. Of a
// provider nothing is kept but its row of the table, its state and its place in an index; what follows from
// parameters is kept once for all providers that have them in common. Refers new ones through the host's Protocol, keeps those whose key stays (a changed weight refers
// nothing anew), probes those that are down, drains those that left. Executor only; reports of availability, which
// come from any thread, reach it through an AvailabilityFeed.
class Endpoints : public std::enable_shared_from_this<Endpoints> {
 public:
  // What the consumer makes of a provider.
  struct Made {
    Url effective;         // empty: it cannot be used
    std::string left_out;  // what of the original is not in it because it cannot be used, and why; mostly empty
  };
  struct Config {
    std::shared_ptr<void> keep;  // owns what the pointers below point to
    std::shared_ptr<Executor> executor;
    const Clock* clock = nullptr;
    Logger* log = nullptr;
    std::shared_ptr<Protocol> protocol;
    std::string service;  // for texts
    std::chrono::nanoseconds drain_timeout = std::chrono::seconds(10);
    std::uint64_t seed = 0;
    std::uint64_t first_id = 1;
    std::uint32_t down_after = 3;  // outcomes kUnavailable in a row that count as down; 0 = never
    // Something that a snapshot shows changed by itself: a refer succeeded late, a provider went up or down.
    std::function<void()> on_change;
    // A provider whose Refer failed is due again: the list is to be applied anew.
    std::function<void()> on_retry;
    std::function<Made(const Url& original)> make;
  };
  static std::shared_ptr<Endpoints> Create(Config config);
  ~Endpoints();

  // Replaces the list of originals, in rank order. Of entries with one connection key the newest timestamp stays.
  // Entries whose Refer fails are left out and retried with back-off. Those that left are remembered until
  // DrainRemoved. An entry with a newer timestamp than before has restarted: if it is down it is probed, if it failed it
  // is referred, now. Entries that were in the last list keep their effective urls, unless `anew`.
  void Apply(const std::vector<Url>& list, bool anew);
  // The list last applied.
  std::vector<Url> List() const;
  // Of those the ones that are not used, in its order.
  std::vector<Url> UnusedList() const;
  std::size_t listed() const { return table_->by_rank.size() + unused_.size(); }

  // What a snapshot needs: the same table until something in it changes. Weights are those of now.
  std::shared_ptr<const InvokerTable> Table();
  // The wall-clock moment when the weights of the last Table are no longer right; 0 = never.
  std::int64_t next_weight_change() const { return next_weight_change_; }
  // Nobody in it was down when this was called, and nobody is while downs() stands where it stood before.
  InvokerSet Valid();
  const std::shared_ptr<const DownCount>& downs() const { return downs_; }
  // Slots new or changed since the last call.
  InvokerSet TakeChanged();
  // Method names with policy parameters of their own on some provider, sorted.
  std::vector<std::string> OwnMethods() const { return shapes_.OwnMethods(); }
  // The distinct values of `loadbalance`, method forms included.
  std::vector<std::string> Policies() const { return shapes_.Policies(); }
  // Does some provider in use have a `dubbo.tag`?
  bool tagged() const { return shapes_.tagged(); }
  // Is some provider in use of protocol `mock`?
  bool mocked() const { return shapes_.mocked(); }
  // What was left out and why: shadowed duplicates, disabled ones, failed refers.
  const std::vector<std::string>& skipped() const { return skipped_; }
  // Values of providers in use that cannot be read, so that a default holds. At most 100.
  std::vector<std::string> Unreadable() const;
  std::size_t disabled() const { return disabled_; }
  // The originals of those. Linear in what is not in use.
  std::vector<Url> Disabled() const;

  // To be called after the snapshot without the removed providers was published: they give no new leases from
  // here on. Returns the task that closes them, to run once no pick sees the old snapshot.
  absl::AnyInvocable<void()> DrainRemoved();

  // Empties the list for good. As with any removal, DrainRemoved follows; with leases still out, Destroy is called
  // when they end or after `deadline`.
  void Close(std::chrono::nanoseconds deadline);
  // Leases and undestroyed invokers are gone.
  bool idle() const;

 private:
  // What one Invoker is for, as views.
  struct Connection {
    std::string_view host;
    std::int32_t port;
    std::string_view transport;
    bool operator==(const Connection&) const = default;
    std::uint64_t Hash() const;
  };
  struct ConnectionHash {
    std::size_t operator()(const Connection& connection) const { return connection.Hash(); }
  };
  // Finds slots by their connections, which the table and the shapes say.
  class Index;
  // An entry of a list, while it is applied.
  struct Wanted {
    std::size_t place;
    const Url& original;
    Url effective;
    std::string left_out;
    Shape* shape;  // nullptr: the effective url is empty

    Connection connection() const { return {effective.host(), effective.port_as_written(), shape->transport}; }
    std::string key() const;  // a text of the connection
  };
  // An entry of the list that has no slot.
  struct Unused {
    std::size_t place;
    Url original;
    Made made;  // without an effective url: to be made anew
  };
  // Finds the entries of a list among those of the last one.
  class Before;

  // A provider that left the list. Comes back to life if its connection is listed again before it was closed.
  struct Leaving {
    Url effective;
    std::uint64_t hash;  // of its connection
    InvokerState* state;
    std::uint64_t round = 0;  // of DrainRemoved; 0 = not yet draining
    bool unseen = false;      // no pick can see it any more
    Clock::SteadyTime close_at;
  };
  using LeavingByHash = std::unordered_multimap<std::uint64_t, std::list<Leaving>::iterator>;
  struct Retry {
    Backoff backoff;
    Timer timer;
    std::string why;  // the last attempt failed
    std::int64_t timestamp_ms = 0;  // of what was tried
    std::uint64_t applied = 0;      // the last Apply that wanted it
  };
  // Of a provider that is down, or came up a short while ago: who goes down again soon is not probed from the start.
  struct Probe {
    Backoff backoff;
    Timer timer;
  };

  explicit Endpoints(Config config);


  // The table to write to. One that a snapshot may show is copied first.
  InvokerTable& Edit();
  const Provider& ProviderIn(Slot slot) const { return table_->providers[slot]; }
  InvokerState& StateIn(Slot slot) const { return *table_->states[slot]; }
  Connection ConnectionOf(Slot slot) const;

  void Assign(Slot slot, const Wanted& wanted);
  void Hold(Slot slot, const Wanted& wanted);
  Slot HoldNew(const Wanted& wanted, LeavingByHash& leaving);
  Slot HoldState(InvokerState& state, const Wanted& wanted);
  void HoldAnew(Slot slot, const Wanted& wanted);
  void Unlist(Slot slot);
  void TellUpdated(Slot slot);
  Slot Refer(const Wanted& wanted);
  Slot Revive(const Wanted& wanted, LeavingByHash& leaving);
  void WarnOf(std::string_view code, std::size_t bad, std::string_view input, std::string_view text) const;
  void ReferLater(const Wanted& wanted, const std::string& key, std::string why);
  void Hear(AvailabilityFeed::Batch states);
  bool Follow(Slot slot);
  bool Ask(Slot slot);
  void AskNow(Slot slot);
  void AskLater(Slot slot);
  void Sweep();
  void Destroy(InvokerState& state);
  Slot TakeSlot();

  const Config config_;
  std::chrono::nanoseconds drain_timeout_;
  Random random_;
  std::shared_ptr<InvokerTable> table_;  // weights as of weighed_ms_
  bool shown_ = false;                   // somebody else may have it
  std::vector<Unused> unused_;           // in the order of the list; the others are by_rank
  ShapeTable shapes_;
  const std::unique_ptr<Index> by_connection_;
  InvokerSet valid_;        // listed and not down; the states themselves may be ahead by a message
  InvokerSet warming_;      // slots whose weight changes by itself
  std::int64_t weighed_ms_ = 0, next_weight_change_ = 0;
  std::shared_ptr<const DownCount> downs_;
  std::shared_ptr<AvailabilityFeed> feed_;
  std::list<Leaving> leaving_;
  std::map<std::string, Retry> retries_;
  std::map<Slot, Probe> probes_;
  std::map<Slot, std::string> unreadable_;
  std::vector<Slot> free_slots_;
  Slot next_slot_ = 0;
  std::uint64_t next_id_;
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
