#include "fairlead/registry/zookeeper/zk_writer.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/zookeeper/zk_status.h"

namespace fairlead::internal {
namespace {

// Each try answers to one change that somebody made meanwhile.
constexpr int kMostTries = 5;
// A node that is deleted by hand, or by a script that is about to delete its parents, is not put back in its
// way.
constexpr std::chrono::milliseconds kRestoreAfter{1000};

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

ZkReply ExistsIsFine(ZkReply reply) {
  if (reply.code == ZkCode::kNodeExists) reply.code = ZkCode::kOk;
  return reply;
}

}  // namespace

void ZkWriter::MakePath(const std::string& path, ZkSession::Reply done) {
  // From below: whoever may not write above, but may here, needs nothing above that exists.
  session_.Create(path, false, [this, path, done = std::move(done)](ZkReply reply) mutable {
    const std::string parent = ParentOf(path);
    if (reply.code != ZkCode::kNoNode || parent.empty()) return done(ExistsIsFine(std::move(reply)));
    MakePath(parent, [this, path, done = std::move(done)](ZkReply made) mutable {
      if (made.code != ZkCode::kOk) return done(std::move(made));
      session_.Create(path, false, [done = std::move(done)](ZkReply last) mutable {
        done(ExistsIsFine(std::move(last)));
      });
    });
  });
}

void ZkWriter::Put(const std::string& path, bool ephemeral, Done done) {
  own_.erase(path);
  auto attempt = std::make_shared<Attempt>(Attempt{path, ephemeral, true, nullptr});
  attempt->done = [this, path, ephemeral, done = std::move(done)](absl::Status status) mutable {
    if (status.ok() && ephemeral) LookAfter(path);
    if (done) done(std::move(status));
  };
  TryCreate(attempt);
}

void ZkWriter::TryCreate(const std::shared_ptr<Attempt>& attempt) {
  if (++attempt->tries > kMostTries) return Finish(*attempt, {.code = ZkCode::kFailed});
  session_.Create(attempt->path, attempt->ephemeral, [this, attempt](const ZkReply& reply) {
    if (reply.code == ZkCode::kNodeExists && attempt->takes_over) return Inspect(attempt);
    if (reply.code != ZkCode::kNoNode) return Finish(*attempt, ExistsIsFine(reply));
    MakePath(ParentOf(attempt->path), [this, attempt](const ZkReply& made) {
      if (made.code != ZkCode::kOk) return Finish(*attempt, made);
      TryCreate(attempt);
    });
  });
}

void ZkWriter::Inspect(const std::shared_ptr<Attempt>& attempt) {
  session_.Exists(attempt->path, false, [this, attempt](const ZkReply& reply) {
    if (reply.code == ZkCode::kNoNode) return TryCreate(attempt);
    if (reply.code != ZkCode::kOk) return Finish(*attempt, reply);
    if (reply.owner == (attempt->ephemeral ? session_.id().id : 0)) return Finish(*attempt, reply);
    session_.Replace(attempt->path, attempt->ephemeral, [this, attempt](const ZkReply& replaced) {
      if (replaced.code == ZkCode::kNoNode || replaced.code == ZkCode::kNodeExists) return TryCreate(attempt);
      Finish(*attempt, replaced);
    });
  });
}

void ZkWriter::Finish(Attempt& attempt, const ZkReply& reply) {
  attempt.done(ZkStatus(reply, absl::StrCat("writing below ", ParentOf(attempt.path))));
}

void ZkWriter::Remove(const std::string& path, Done done) {
  own_.erase(path);
  session_.Delete(path, [path, done = std::move(done)](ZkReply reply) mutable {
    if (reply.code == ZkCode::kNoNode) reply.code = ZkCode::kOk;
    if (done) done(ZkStatus(reply, absl::StrCat("deleting below ", ParentOf(path))));
  });
}

void ZkWriter::LookAfter(const std::string& path) {
  Own& own = own_[path];
  own.unsure = false;
  own.next.Cancel();
  session_.Exists(path, true, [this, path](const ZkReply& reply) {
    const auto at = own_.find(path);
    if (at == own_.end()) return;
    if (reply.code == ZkCode::kNoNode) {
      OnGone(path);
    } else if (reply.code == ZkCode::kOk) {
      at->second.backoff.Reset();
    } else {
      LookAgain(path);
    }
  });
}

void ZkWriter::LookAgain(const std::string& path) {
  Own& own = own_.at(path);
  own.unsure = true;
  if (!session_.connected()) return;
  own.next = session_.After(own.backoff.Next(session_.random()), [this, path] { LookAfter(path); });
}

void ZkWriter::OnGone(const std::string& path) {
  own_.at(path).next = session_.After(kRestoreAfter, [this, path] {
    // Somebody else may have put it back, a twin of this process for instance: two that delete each other's
    // node would never end, so this time it is left alone.
    auto attempt = std::make_shared<Attempt>(Attempt{path, true, false, nullptr});
    attempt->done = [this, path](const absl::Status& status) {
      const auto at = own_.find(path);
      if (at == own_.end()) return;
      if (status.ok() || session_.connected()) {
        session_.context().log->Warn(
            "FL-2-5", ParentOf(path),
            absl::StrCat("a node of ours was deleted while its session lives; ",
                         status.ok() ? "restored" : absl::StrCat("not restored yet: ", status.ToString())));
      }
      if (!status.ok()) return LookAgain(path);
      LookAfter(path);
    };
    TryCreate(attempt);
  });
}

void ZkWriter::OnSession(ZkSession::State state, bool watches_lost) {
  if (state == ZkSession::State::kExpired || state == ZkSession::State::kNew) own_.clear();
  if (state != ZkSession::State::kReconnected) return;
  std::vector<std::string> unsure;
  for (const auto& [path, own] : own_) {
    if (watches_lost || own.unsure) unsure.push_back(path);
  }
  for (const std::string& path : unsure) LookAfter(path);
}

void ZkWriter::OnChange(ZkChange change, const std::string& path) {
  if (!own_.contains(path)) return;
  if (change == ZkChange::kDeleted) {
    OnGone(path);
  } else {
    LookAfter(path);
  }
}

}  // namespace fairlead::internal
