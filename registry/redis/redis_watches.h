#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_WATCHES_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_WATCHES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/registry/redis/redis_fields.h"
#include "fairlead/registry/redis/redis_link.h"

namespace fairlead::internal {

// Keeps watchers told of lists (hashes), documents (strings) and the names of all services. A message only says that a
// key is to be read again: what is told is always what a read found. Each watch is subscribed to its channel, and read
// in full after the server has confirmed that, on every new connection; so that no change falls between. Lists are also
// read when one of their fields may have expired. Any number of changes between two reads is told once. At most 128 reads
// are under way at a time. REQUIRES: executor.
class RedisWatches {
 public:
  enum class Kind : std::uint8_t { kList, kDocument, kServices };

  struct Found {
    absl::Status status{};  // not OK: nothing is known; tried again with back-off
    bool missing = false;   // nothing stands under the key, and nobody said that the last one left
    std::vector<std::string> names{};
    std::optional<std::string> data{};
  };
  using Told = absl::AnyInvocable<void(Found)>;

  static constexpr std::size_t kMostDocumentBytes = 16 * 1024 * 1024;

  // `on_skipped`: Skipped() says something else than before.
  RedisWatches(const RedisOptions& options, const RegistryContext& context, std::uint64_t seed,
               absl::AnyInvocable<void()> on_skipped);
  ~RedisWatches();

  // `key`: the key, or for kServices the root. Takes the place of an earlier watch of the key and kind. `burst`:
  // nullopt means that every change is read at once.
  void Add(Kind kind, const std::string& key, std::optional<BurstWindow::Limits> burst, Told told);
  void Remove(Kind kind, const std::string& key);
  // Looks at a list once. Never answers when the link is lost meanwhile, or there is none.
  void ReadOnce(const std::string& key, Told told);

  // From now on `link` is asked. Null: nobody. `fresh`: it may hold other data than the one before, or what nobody
  // could extend meanwhile, and those who register are only now writing it: for a while a list that lacks what it had is held
  // back.
  void Use(RedisLink* link, bool fresh);
  // While no link is used: every watch, later ones too, is told of `why` if that is news.
  void SetTrouble(absl::Status why);
  void OnMessage(const std::string& channel, const std::string& payload);
  bool watches_services() const;

  // Fields that are passed over, each with its key and the reason, and lists that are held back; at most a hundred.
  std::vector<std::string> Skipped() const;

 private:
  struct Entry {
    Entry(Kind its_kind, std::string its_key, std::optional<BurstWindow::Limits> limits, Told its_told,
          std::chrono::milliseconds session);

    const Kind kind;
    const std::string key;
    std::optional<BurstWindow> burst;
    Told told;
    bool removed = false;
    bool subscribed = false;  // on the present link
    bool queued = false;
    bool reading = false;
    bool dirty = false;     // something changed while it was being read
    bool left = false;      // somebody said that a field was taken away, since the last reading that found some
    bool read_here = false;  // on the present link
    std::size_t fields_here = 0;             // as of that reading
    std::vector<std::uint64_t> names_here;   // hashes of those that lived, in order
    bool lost = false;       // fields have gone without a word; until a list is told
    Clock::SteadyTime settled_at{};
    RedisFields fields;
    std::vector<std::uint64_t> told_names;  // hashes of what is waited for: what a list was told to have, in order
    bool held_back = false;                 // for Skipped
    std::vector<std::string> bad;
    Backoff backoff;
    Timer timer;   // the end of a burst window
    Timer look;    // when a field may have expired, or the end of a back-off
    Timer settle;  // when a list that was held back is told after all
  };
  using EntryPtr = std::shared_ptr<Entry>;

  std::string ChannelOf(const Entry& entry) const;
  void TellTrouble(const EntryPtr& entry);
  void Subscribe(const EntryPtr& entry);
  void Unsubscribe(Entry& entry);
  void OnEvent(Kind kind, const std::string& key, std::string_view payload);
  void Want(const EntryPtr& entry);
  void Pump();
  void Read(const EntryPtr& entry);
  void ReadServices(const EntryPtr& entry);
  void ReadDocument(const EntryPtr& entry);
  void OnHash(const EntryPtr& entry, absl::StatusOr<std::vector<RedisReply>> hash);
  // How long those who register may take to write again what somebody lost.
  std::chrono::milliseconds settle() const;
  void NoticeLoss(Entry& entry, std::size_t fields);
  void NoticeDepartures(Entry& entry, const std::vector<std::string>& names);
  bool Lacks(const Entry& entry, const std::vector<std::string>& names) const;
  bool HoldsBack(const EntryPtr& entry, const std::vector<std::string>& names);
  void EndRead(const EntryPtr& entry);
  void Tell(const EntryPtr& entry, Found found);
  void Fail(const EntryPtr& entry, absl::Status status);
  void RetryLater(const EntryPtr& entry);
  void SetBad(Entry& entry, std::vector<std::string> bad);
  // An answer of the link in use; never called for one that is not used any more.
  template <class F>
  RedisLink::Answer Guarded(F f);
  template <class F>
  [[nodiscard]] Timer After(std::chrono::nanoseconds delay, F f);
  std::int64_t Now() const;

  const RedisOptions& options_;
  const RegistryContext& context_;
  Random random_;
  absl::AnyInvocable<void()> on_skipped_;
  RedisLink* link_ = nullptr;
  absl::Status trouble_;
  std::shared_ptr<int> era_ = std::make_shared<int>(0);  // replaced with each link
  Clock::SteadyTime settled_at_{};
  std::map<std::pair<Kind, std::string>, EntryPtr> entries_;
  std::deque<EntryPtr> queue_;
  std::size_t reads_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_WATCHES_H_
