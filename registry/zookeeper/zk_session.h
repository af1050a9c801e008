#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_SESSION_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_SESSION_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/zookeeper/zk_addresses.h"
#include "fairlead/registry/zookeeper/zk_handle.h"
#include "fairlead/registry/zookeeper/zk_helpers.h"
#include "fairlead/registry/zookeeper/zk_options.h"
#include "fairlead/registry/zookeeper/zk_watched_paths.h"

namespace fairlead::internal {

// A session that is always there, or being sought: handles of the library come and go beneath it, each
// replaced when its session expired, its password was refused, or it found no server for two session times or ten seconds
// (the library's own search can skip servers). A replacement for a handle whose session may still live asks
// for that session again, so that an ensemble that was down for long finds its clients, and their ephemeral
// nodes, in place.
//
// Everything happens on the executor (REQUIRES: executor, for every method). Replies come in the order of the
// requests, never inside a method, none after Stop. Must be owned by a shared_ptr.
class ZkSession final : public ZkHandle::Listener, public std::enable_shared_from_this<ZkSession> {
 public:
  using State = RegistryBackend::Session;
  using Reply = absl::AnyInvocable<void(ZkReply)>;

  class Observer {
   public:
    virtual ~Observer() = default;
    // `watches_lost`: with the handle all watches went, also when the session stayed.
    virtual void OnSession(State state, bool watches_lost) = 0;
    virtual void OnChange(ZkChange change, const std::string& path) = 0;
  };

  ZkSession(ZkOptions options, const RegistryContext& context);
  // Lets the session end on a thread of its own when Stop was not called.
  ~ZkSession() override;

  // `observer` is told until Stop or Abandon.
  void Start(Observer* observer);
  // `done` when the server was told and every thread has ended, or kDeadlineExceeded after a second: the rest
  // then happens by itself.
  void Stop(Done done);
  // The same without waiting; nothing is called any more.
  void Abandon();

  bool connected() const { return connected_; }
  // Of the present session, or the last one; grows with each. 0: there was none yet.
  std::uint64_t generation() const { return generation_; }
  const ZkSessionId& id() const { return id_; }
  std::string Describe() const;

  // As of ZkHandle. A reply of kLost comes for each request that the connection did not answer. A path of
  // more than 500 000 bytes is refused with kBadArgument, or of less where the server seems to accept less:
  // it would drop the connection, for ever if the request is repeated.
  void Create(const std::string& path, bool ephemeral, Reply reply);
  void Delete(const std::string& path, Reply reply);
  void Replace(const std::string& path, bool ephemeral, Reply reply);
  void Exists(const std::string& path, bool watch, Reply reply);
  void Children(const std::string& path, bool watch, Reply reply);
  void Data(const std::string& path, bool watch, Reply reply);

  // In a forked child: nothing works, nothing is sent on the parent's connection. OK in the process that made
  // it.
  absl::Status CheckProcess() const;

  // Calls `task` later on the executor, if the session still exists and was not stopped.
  void Post(absl::AnyInvocable<void()> task);
  [[nodiscard]] Timer After(std::chrono::nanoseconds delay, absl::AnyInvocable<void()> task);
  const RegistryContext& context() const { return context_; }
  const ZkOptions& options() const { return options_; }
  Random& random() { return random_; }

  void OnState(std::uint64_t handle, ZkState state, const ZkSessionId& id,
               std::chrono::milliseconds negotiated) override;
  void OnReply(std::uint64_t handle, std::uint64_t request, ZkReply reply) override;
  void OnChange(std::uint64_t handle, ZkChange change, const std::string& path) override;
  void OnLog(const std::string& text) override;

 private:
  using Watch = ZkWatchedPaths::Kind;
  struct Pending {
    Reply reply;
    std::optional<Watch> watch{};  // to be set, on `path`
    std::string path{};
    bool looks_for_node = false;  // Exists: its watch is set on a missing node too
    std::size_t bytes = 0;
  };

  void Open();
  // `found`: what the names came to on the way.
  void OnOpened(const std::shared_ptr<ZkHandle>& handle, int error, const ZkAddresses& found);
  void OnConnected(const ZkSessionId& id);
  void OnSuspended();
  void OnSessionOver();
  // Looks for what made the server end the connection.
  void SuspectLargeRequest();
  void AwaitConnection();
  // Servers may move while nobody is connected. Looks for their new addresses now and then.
  void ResolveLater();
  void ResolveAgain();
  // Gives the present handle up and opens another after a back-off.
  void ReplaceHandle();
  void RetireHandle(std::shared_ptr<ZkHandle> handle);
  void FailPending();

  static void CloseElsewhere(const std::shared_ptr<ZkHandle>& handle);
  void FinishStop(const absl::Status& status);

  template <class Send>
  void Request(const std::string& path, Pending pending, const Send& send);
  void Refuse(Reply reply, ZkReply answer);

  const ZkOptions options_;
  const RegistryContext context_;
  const pid_t process_;
  const std::shared_ptr<ZkGate> gate_;
  const std::shared_ptr<ZkHelpers> helpers_;
  Random random_;
  Backoff backoff_;
  Observer* observer_ = nullptr;

  struct LastState {
    ZkState state;
    ZkSessionId id;
    std::chrono::milliseconds negotiated;
  };

  std::string addresses_;   // of the servers, as last found
  bool resolving_ = false;  // again, for an open handle
  Timer resolve_;

  std::shared_ptr<ZkHandle> handle_;  // being opened, or open
  bool opened_ = false;
  std::optional<LastState> early_;  // the library's threads may be faster than the one that opens the handle
  bool connected_ = false;
  bool has_session_ = false;  // known to live, or at least not to be over
  bool watches_lost_ = true;
  ZkSessionId id_;
  std::chrono::milliseconds session_time_;  // asked for, then negotiated
  std::uint64_t generation_ = 0;
  Clock::SteadyTime connected_at_;
  int short_lives_ = 0;     // connections in a row that ended as soon as they stood
  std::string trouble_;     // why there is no connection, for Describe
  std::string last_error_;  // the last thing that failed, until a server answers a request
  Timer next_step_;         // the back-off, or the limit of a search

  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, Pending> pending_;
  ZkWatchedPaths watched_;
  std::size_t most_path_bytes_;
  int losses_with_large_request_ = 0;

  bool stopped_ = false;
  std::vector<Done> stop_done_;  // empty: not stopping, or stopped
  Timer stop_limit_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_SESSION_H_
