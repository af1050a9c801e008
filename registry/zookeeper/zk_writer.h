#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WRITER_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WRITER_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/registry.h"
#include "fairlead/registry/zookeeper/zk_session.h"

namespace fairlead::internal {

// Creates and deletes nodes, and looks after the ephemeral ones: one that somebody deletes while its session
// lives is created again. REQUIRES: executor. Lives as long as the session.
class ZkWriter {
 public:
  explicit ZkWriter(ZkSession& session) : session_(session) {}

  // A node of ours at `path`, with missing parents (persistent). A node that stands there already is ours
  // when it is of this session, or persistent as asked; any other, mostly left by a session that died and is
  // not reaped yet, is replaced in one transaction.
  void Put(const std::string& path, bool ephemeral, Done done);
  void Remove(const std::string& path, Done done);
  // Creates a persistent node and its parents. kOk when it is there afterwards.
  void MakePath(const std::string& path, ZkSession::Reply done);

  void OnSession(ZkSession::State state, bool watches_lost);
  void OnChange(ZkChange change, const std::string& path);

 private:
  struct Attempt {
    std::string path;
    bool ephemeral;
    bool takes_over;  // a foreign node is replaced, not left alone
    Done done;
    int tries = 0;
  };
  struct Own {
    bool unsure = false;  // whether it stands, and is watched, is to be looked at when connected
    Timer next;           // the look, or the restoring, to come
    Backoff backoff{std::chrono::milliseconds(1000), std::chrono::milliseconds(2000),
                    std::chrono::milliseconds(30000)};
  };

  void TryCreate(const std::shared_ptr<Attempt>& attempt);
  void Inspect(const std::shared_ptr<Attempt>& attempt);
  static void Finish(Attempt& attempt, const ZkReply& reply);

  void LookAfter(const std::string& path);
  void OnGone(const std::string& path);
  // What could not be found out or restored is looked at again, after a back-off or with the connection.
  void LookAgain(const std::string& path);

  ZkSession& session_;
  std::map<std::string, Own> own_;  // ephemeral nodes of this session, by path
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WRITER_H_
