#include "fairlead/registry/zookeeper/zk_watches.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/zookeeper/zk_status.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// Paces the thousands of reads that follow a new session.
constexpr std::size_t kMostReads = 128;
// A server that comes back has all its clients at its door: they do not all read at once.
constexpr std::chrono::nanoseconds kSpread = std::chrono::seconds(1);

}  // namespace

ZkWatches::Entry::Entry(Kind its_kind, std::string its_path, const Manner& manner, Told its_told)
    : kind(its_kind),
      path(std::move(its_path)),
      create_missing(manner.create_missing),
      told(std::move(its_told)),
      backoff(milliseconds(100), milliseconds(500), milliseconds(30000)) {
  if (manner.burst) burst.emplace(*manner.burst);
}

void ZkWatches::Add(Kind kind, const std::string& path, const Manner& manner, Told told) {
  Remove(kind, path);
  auto entry = std::make_shared<Entry>(kind, path, manner, std::move(told));
  entries_.emplace(Key(kind, path), entry);
  Want(entry);
}

void ZkWatches::Remove(Kind kind, const std::string& path) {
  const auto at = entries_.find(Key(kind, path));
  if (at == entries_.end()) return;
  at->second->removed = true;
  at->second->timer.Cancel();
  entries_.erase(at);
}

void ZkWatches::OnConnected(bool watches_lost) {
  for (const auto& [key, entry] : entries_) {
    if (watches_lost && entry->asked) {
      entry->dirty = true;
      const auto wait = session_.random().Below(static_cast<std::uint64_t>(kSpread.count()));
      entry->timer = session_.After(std::chrono::nanoseconds(static_cast<std::int64_t>(wait)),
                                    [this, again = entry] { Want(again); });
    } else if (watches_lost || entry->dirty) {
      Want(entry);
    }
  }
  Pump();
}

void ZkWatches::OnChange(ZkChange change, const std::string& path) {
  if (change != ZkChange::kData) OnEvent(Kind::kChildren, path);
  if (change != ZkChange::kChildren) OnEvent(Kind::kData, path);
}

void ZkWatches::OnEvent(Kind kind, const std::string& path) {
  const auto at = entries_.find(Key(kind, path));
  if (at == entries_.end()) return;
  const EntryPtr& entry = at->second;
  if (entry->queued || entry->reading) return;
  if (!entry->burst) return Want(entry);
  const auto wait = entry->burst->OnEvent(session_.context().clock->SteadyNow());
  if (!wait) return;
  if (wait->count() == 0) return Want(entry);
  entry->timer = session_.After(*wait, [this, entry] { Want(entry); });
}

void ZkWatches::Want(const EntryPtr& entry) {
  entry->dirty = true;
  entry->timer.Cancel();
  if (entry->removed || entry->queued || entry->reading || !session_.connected()) return;
  entry->queued = true;
  queue_.push_back(entry);
  Pump();
}

void ZkWatches::Pump() {
  while (reads_ < kMostReads && !queue_.empty() && session_.connected()) {
    const EntryPtr entry = std::move(queue_.front());
    queue_.pop_front();
    entry->queued = false;
    if (!entry->removed) Read(entry);
  }
}

void ZkWatches::Read(const EntryPtr& entry) {
  ++reads_;
  entry->reading = true;
  entry->asked = true;
  entry->dirty = false;
  if (entry->burst) entry->burst->OnRead(session_.context().clock->SteadyNow());
  const auto then = [this, entry](ZkReply reply) { OnRead(entry, std::move(reply)); };
  if (entry->kind == Kind::kChildren) {
    session_.Children(entry->path, true, then);
  } else {
    session_.Data(entry->path, true, then);
  }
}

void ZkWatches::OnRead(const EntryPtr& entry, ZkReply reply) {
  if (entry->removed) return EndRead(*entry);
  switch (reply.code) {
    case ZkCode::kOk:
      entry->existed = true;
      entry->backoff.Reset();
      EndRead(*entry);
      return entry->told({.missing = reply.never_had_children, .names = std::move(reply.names), .data = std::move(reply.data)});
    case ZkCode::kNoNode:
      if (entry->create_missing && !entry->existed) return CreateMissing(entry);
      return AwaitCreation(entry);
    default:
      return OnFailure(entry, reply);
  }
}

void ZkWatches::CreateMissing(const EntryPtr& entry) {
  writer_.MakePath(entry->path, [this, entry](const ZkReply& reply) {
    if (entry->removed) return EndRead(*entry);
    if (reply.code == ZkCode::kLost) return OnFailure(entry, reply);
    if (reply.code == ZkCode::kOk) {
      EndRead(*entry);
      return Want(entry);
    }
    // Whoever may not create it waits for somebody who may.
    entry->create_missing = false;
    session_.context().log->Info("FL-2-6", entry->path, ZkStatus(reply, "creating the path").ToString());
    AwaitCreation(entry);
  });
}

void ZkWatches::AwaitCreation(const EntryPtr& entry) {
  session_.Exists(entry->path, true, [this, entry](const ZkReply& reply) {
    if (entry->removed) return EndRead(*entry);
    if (reply.code == ZkCode::kNoNode) {
      entry->backoff.Reset();
      EndRead(*entry);
      return entry->told({.missing = true});
    }
    if (reply.code != ZkCode::kOk) return OnFailure(entry, reply);
    EndRead(*entry);
    Want(entry);
  });
}

void ZkWatches::OnFailure(const EntryPtr& entry, const ZkReply& reply) {
  EndRead(*entry);
  entry->dirty = true;
  if (reply.code == ZkCode::kLost && !session_.connected()) return;
  entry->timer = session_.After(entry->backoff.Next(session_.random()), [this, entry] { Want(entry); });
  if (reply.code != ZkCode::kLost) {
    entry->told({.status = ZkStatus(reply, absl::StrCat("reading ", entry->path))});
  }
}

void ZkWatches::EndRead(Entry& entry) {
  entry.reading = false;
  --reads_;
  Pump();
}

}  // namespace fairlead::internal
