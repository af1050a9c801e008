#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHES_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/registry/zookeeper/zk_session.h"
#include "fairlead/registry/zookeeper/zk_writer.h"

namespace fairlead::internal {

// Keeps watchers told of the children or the data of paths. ZooKeeper's watches end with their first event
// and say nothing of what changed, so each event leads to a read that sets the watch again in the same
// request: what is told is never older than the watch, and a change between two reads is never lost. Any
// number of changes between two reads is told once.
//
// What a lost connection left open is read again when there is one; everything is when the watches went with
// a session, spread over a second. At most 128 reads are under way at a time. REQUIRES: executor. Lives as
// long as the session.
class ZkWatches {
 public:
  enum class Kind : std::uint8_t { kChildren, kData };

  struct Found {
    absl::Status status{};  // not OK: nothing is known; tried again with back-off
    // The path is not there; of children also: it is, but never had any. Whoever came first to a tree that was wiped,
    // mostly another consumer, created it, and that is no word about providers.
    bool missing = false;
    std::vector<std::string> names{};
    std::optional<std::string> data{};
  };
  using Told = absl::AnyInvocable<void(Found)>;

  struct Manner {
    // A path that was never there is created, persistent, as a consumer of Dubbo does. One that was there and
    // went is not: the list did not become empty, it was taken away.
    bool create_missing = false;
    std::optional<BurstWindow::Limits> burst{};  // nullopt: every change is read at once
  };

  ZkWatches(ZkSession& session, ZkWriter& writer) : session_(session), writer_(writer) {}

  // `told` once soon, again after each change. Takes the place of an earlier watcher of the path and kind.
  void Add(Kind kind, const std::string& path, const Manner& manner, Told told);
  // Nothing is told any more.
  void Remove(Kind kind, const std::string& path);

  void OnConnected(bool watches_lost);
  void OnChange(ZkChange change, const std::string& path);

 private:
  struct Entry {
    Entry(Kind its_kind, std::string its_path, const Manner& manner, Told its_told);

    const Kind kind;
    const std::string path;
    bool create_missing;
    std::optional<BurstWindow> burst;
    Told told;
    bool removed = false;
    bool queued = false;   // in queue_
    bool reading = false;  // requests are under way; what changed before their answer is in it
    bool dirty = true;     // to be read when connected
    bool asked = false;    // it was read before, so there is no haste to read it again
    bool existed = false;
    Backoff backoff;
    Timer timer;  // the end of a burst window or of a back-off
  };
  using Key = std::pair<Kind, std::string>;
  using EntryPtr = std::shared_ptr<Entry>;

  void OnEvent(Kind kind, const std::string& path);
  void Want(const EntryPtr& entry);
  void Pump();
  void Read(const EntryPtr& entry);
  void OnRead(const EntryPtr& entry, ZkReply reply);
  void CreateMissing(const EntryPtr& entry);
  void AwaitCreation(const EntryPtr& entry);
  void OnFailure(const EntryPtr& entry, const ZkReply& reply);
  // Ends what Read began.
  void EndRead(Entry& entry);

  ZkSession& session_;
  ZkWriter& writer_;
  std::map<Key, EntryPtr> entries_;
  std::deque<EntryPtr> queue_;
  std::size_t reads_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHES_H_
