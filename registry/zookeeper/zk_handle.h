#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HANDLE_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HANDLE_H_

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "fairlead/base/executor.h"

struct _zhandle;

// The C client library, confined: nothing else includes its header or knows its numbers.
namespace fairlead::internal {

// The way of foreign threads to the executor. It is also the only thing of ours they lock: around one Post,
// with nothing else done meanwhile, so that after Close no such thread touches the executor any more.
class ZkGate {
 public:
  explicit ZkGate(Executor& executor) : executor_(&executor) {}

  // Drops the task after Close. Thread-safe.
  void Post(absl::AnyInvocable<void()> task);
  void Close();

 private:
  std::mutex mutex_;
  Executor* executor_;
};

// What an answer comes to.
enum class ZkCode : std::uint8_t {
  kOk,
  kNoNode,
  kNodeExists,
  kNotEmpty,
  kNoAuth,       // the ACL does not allow it
  kBadArgument,  // refused before it was sent
  kLost,         // the connection or the session ended: it may or may not have been done
  kFailed,       // the server could not do it
};

struct ZkReply {
  ZkCode code = ZkCode::kOk;
  int number = 0;                     // the library's own code, for texts
  std::vector<std::string> names{};   // Children
  bool never_had_children = false;    // Children: there are none, and never were any
  std::optional<std::string> data{};  // Data; nullopt: the node holds none
  std::int64_t owner = 0;             // Exists: the session of an ephemeral node, else 0
  std::size_t limit = 0;              // kBadArgument: the bytes that the request has more than
};

// The library's text for its code, for example "no node".
std::string ZkErrorText(int number);

enum class ZkState : std::uint8_t { kConnecting, kConnected, kExpired, kAuthFailed };
enum class ZkChange : std::uint8_t { kCreated, kDeleted, kData, kChildren };

// What proves to be a session's owner. Never logged.
struct ZkSessionId {
  std::int64_t id = 0;
  std::array<char, 16> password{};
};

// One handle of the library: two threads, one connection, at most one session. It is opened and closed on a
// helper thread, for its threads take that one's name and a hung server makes closing block, and used on the
// executor in between.
// Every call returns at once; what happens comes to the listener, on the executor, with the handle's number.
class ZkHandle {
 public:
  struct Target {
    std::string servers;  // addresses, no names
    std::string auth;
    std::chrono::milliseconds session;
    std::optional<ZkSessionId> resume;  // the session to go on with
  };

  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnState(std::uint64_t handle, ZkState state, const ZkSessionId& id,
                         std::chrono::milliseconds negotiated) = 0;
    virtual void OnReply(std::uint64_t handle, std::uint64_t request, ZkReply reply) = 0;
    virtual void OnChange(std::uint64_t handle, ZkChange change, const std::string& path) = 0;
    // What the library calls an error, mostly a failed connection; some are left out when many come.
    virtual void OnLog(const std::string& text) = 0;
  };

  ZkHandle(std::shared_ptr<ZkGate> gate, std::weak_ptr<Listener> listener);
  // Closes when nobody did. Must not run on a thread of the library.
  ~ZkHandle();
  ZkHandle(const ZkHandle&) = delete;
  ZkHandle& operator=(const ZkHandle&) = delete;

  // Unique in the process.
  std::uint64_t number() const { return number_; }
  // For the helper thread that opens it: the library's threads inherit the name and the signal mask.
  std::string thread_name() const;

  // Close may block for seconds. Open returns 0 or an errno. The library itself retries to connect for ever.
  int Open(const Target& target);
  void Close();

  // Requests. `request` comes back with the reply. The result is 0 or the library's code of what is wrong
  // with the call; then no reply follows. The watches of one path and kind are one, however often they are
  // set; they end with their first event. On a missing node only that of Exists is set.
  int Create(const std::string& path, bool ephemeral, std::uint64_t request);
  int Delete(const std::string& path, std::uint64_t request);
  // Deletes and creates in one transaction: nobody sees the path missing.
  int Replace(const std::string& path, bool ephemeral, std::uint64_t request);
  int Exists(const std::string& path, bool watch, std::uint64_t request);
  int Children(const std::string& path, bool watch, std::uint64_t request);
  int Data(const std::string& path, bool watch, std::uint64_t request);
  // REQUIRES: the reply of `request` has come. Frees what the library needed for it.
  void Release(std::uint64_t request);

  static ZkCode CodeOf(int number);

 private:
  struct Tag;
  struct LogRoute;
  struct Calls;  // what the library calls

  Tag& NewTag(std::uint64_t request);
  int Sent(int number, std::uint64_t request);

  const std::uint64_t number_;
  const std::shared_ptr<ZkGate> gate_;
  const std::weak_ptr<Listener> listener_;
  const pid_t process_;
  bool with_auth_ = false;
  _zhandle* handle_ = nullptr;
  // What the library holds a pointer to while a request is under way. Owned here, by number, and kept until
  // the handle is closed: the library does not answer every request that a close meets.
  std::unordered_map<std::uint64_t, std::unique_ptr<Tag>> tags_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HANDLE_H_
