#include "fairlead/registry/zookeeper/zk_handle.h"

#include <pthread.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kThreadPrefix = "fl-zk-";

std::atomic<std::uint64_t> next_number{1};

}  // namespace

void ZkGate::Post(absl::AnyInvocable<void()> task) {
  const std::lock_guard lock(mutex_);
  if (executor_ != nullptr) executor_->Post(std::move(task));
}

void ZkGate::Close() {
  const std::lock_guard lock(mutex_);
  executor_ = nullptr;
}

std::string ZkErrorText(int number) { return absl::StrCat(zerror(number), " (", number, ")"); }

ZkCode ZkHandle::CodeOf(int number) {
  switch (number) {
    case ZOK:
      return ZkCode::kOk;
    case ZNONODE:
      return ZkCode::kNoNode;
    case ZNODEEXISTS:
      return ZkCode::kNodeExists;
    case ZNOTEMPTY:
      return ZkCode::kNotEmpty;
    case ZNOAUTH:
      return ZkCode::kNoAuth;
    case ZBADARGUMENTS:
    case ZINVALIDACL:
      return ZkCode::kBadArgument;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZMARSHALLINGERROR:
    case ZINVALIDSTATE:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZAUTHFAILED:
    case ZCLOSING:
      return ZkCode::kLost;
    default:
      return ZkCode::kFailed;
  }
}

struct ZkHandle::Tag {
  const ZkHandle* handle;
  std::uint64_t request;
  std::array<zoo_op_result_t, 2> results{};  // Replace
};

// The library's log callback is told neither handle nor context, so the thread's name says whose line it is.
struct ZkHandle::LogRoute {
  std::shared_ptr<ZkGate> gate;
  std::weak_ptr<Listener> listener;
  std::atomic<bool> waits{
      false};  // one line at a time is on its way: an unreachable server makes 20 a second

  struct Table {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<LogRoute>> routes;
  };
  // Never destroyed: threads of the library may outlive main.
  static Table& All() {
    static Table* const table = new Table;
    return *table;
  }
};

// These run on the library's threads: they copy and post, nothing else.
struct ZkHandle::Calls {
  static void OnSession(zhandle_t* zh, int type, int state, const char*, void* context) {
    if (type != ZOO_SESSION_EVENT) return;
    const auto& handle = *static_cast<const ZkHandle*>(context);
    ZkState now = ZkState::kConnecting;
    ZkSessionId id;
    std::chrono::milliseconds negotiated{0};
    if (state == ZOO_CONNECTED_STATE) {
      now = ZkState::kConnected;
      const clientid_t& client = *zoo_client_id(zh);
      id.id = client.client_id;
      std::memcpy(id.password.data(), client.passwd, id.password.size());
      negotiated = std::chrono::milliseconds(zoo_recv_timeout(zh));
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
      now = ZkState::kExpired;
    } else if (state == ZOO_AUTH_FAILED_STATE) {
      now = ZkState::kAuthFailed;
    }
    handle.gate_->Post([listener = handle.listener_, number = handle.number_, now, id, negotiated] {
      if (const auto here = listener.lock()) here->OnState(number, now, id, negotiated);
    });
  }

  // Session events come to every watch too, and consume none of them: not a word about a path.
  static void OnPath(zhandle_t*, int type, int, const char* path, void* context) {
    ZkChange change;
    if (type == ZOO_CREATED_EVENT) {
      change = ZkChange::kCreated;
    } else if (type == ZOO_DELETED_EVENT) {
      change = ZkChange::kDeleted;
    } else if (type == ZOO_CHANGED_EVENT) {
      change = ZkChange::kData;
    } else if (type == ZOO_CHILD_EVENT) {
      change = ZkChange::kChildren;
    } else {
      return;
    }
    const auto& handle = *static_cast<const ZkHandle*>(context);
    handle.gate_->Post(
        [listener = handle.listener_, number = handle.number_, change, path = std::string(path)] {
          if (const auto here = listener.lock()) here->OnChange(number, change, path);
        });
  }

  static void Deliver(int number, ZkReply reply, const void* data) {
    const auto& tag = *static_cast<const Tag*>(data);
    reply.code = CodeOf(number);
    reply.number = number;
    tag.handle->gate_->Post([listener = tag.handle->listener_, handle = tag.handle->number_,
                             request = tag.request, reply = std::move(reply)]() mutable {
      if (const auto here = listener.lock()) here->OnReply(handle, request, std::move(reply));
    });
  }
  static void OnCreated(int rc, const char*, const void* data) { Deliver(rc, {}, data); }
  static void OnDone(int rc, const void* data) { Deliver(rc, {}, data); }
  static void OnStat(int rc, const Stat* stat, const void* data) {
    ZkReply reply;
    if (rc == ZOK && stat != nullptr) reply.owner = stat->ephemeralOwner;
    Deliver(rc, std::move(reply), data);
  }
  static void OnNames(int rc, const String_vector* names, const Stat* stat, const void* data) {
    ZkReply reply;
    if (rc == ZOK && names != nullptr) reply.names.assign(names->data, names->data + names->count);
    // The version of its children grows with each that comes or goes.
    reply.never_had_children = rc == ZOK && stat != nullptr && stat->numChildren == 0 && stat->cversion == 0;
    Deliver(rc, std::move(reply), data);
  }
  static void OnData(int rc, const char* value, int size, const Stat*, const void* data) {
    ZkReply reply;
    if (rc == ZOK && value != nullptr && size >= 0) reply.data.emplace(value, static_cast<std::size_t>(size));
    Deliver(rc, std::move(reply), data);
  }

  // "<time>:<pid>(<thread>):ZOO_ERROR@<function>@<line>: <text>"
  static void OnLog(const char* message) {
    const std::string_view line(message);
    const std::size_t level_at = line.find(":ZOO_ERROR@");
    if (level_at == std::string_view::npos) return;
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    if (!std::string_view(name.data()).starts_with(kThreadPrefix)) return;
    std::shared_ptr<LogRoute> route;
    {
      LogRoute::Table& table = LogRoute::All();
      const std::lock_guard lock(table.mutex);
      const auto at = table.routes.find(std::strtoull(name.data() + kThreadPrefix.size(), nullptr, 10));
      if (at != table.routes.end()) route = at->second;
    }
    if (route == nullptr || route->waits.exchange(true)) return;
    const std::size_t text_at = line.find(": ", level_at);
    std::string text(text_at == std::string_view::npos ? line : line.substr(text_at + 2));
    while (text.ends_with('\n')) text.pop_back();
    route->gate->Post([route, text = std::move(text)] {
      route->waits = false;
      if (const auto here = route->listener.lock()) here->OnLog(text);
    });
  }
};

ZkHandle::ZkHandle(std::shared_ptr<ZkGate> gate, std::weak_ptr<Listener> listener)
    : number_(next_number++), gate_(std::move(gate)), listener_(std::move(listener)), process_(getpid()) {
  auto route = std::make_shared<LogRoute>();
  route->gate = gate_;
  route->listener = listener_;
  const std::lock_guard lock(LogRoute::All().mutex);
  LogRoute::All().routes.emplace(number_, std::move(route));
}

ZkHandle::~ZkHandle() {
  Close();
  // A forked child may find the lock held for ever by a thread that is not there.
  if (getpid() != process_) return;
  const std::lock_guard lock(LogRoute::All().mutex);
  LogRoute::All().routes.erase(number_);
}

std::string ZkHandle::thread_name() const { return absl::StrCat("fl-zk-", number_); }

int ZkHandle::Open(const Target& target) {
  clientid_t id{};
  if (target.resume) {
    id.client_id = target.resume->id;
    std::memcpy(id.passwd, target.resume->password.data(), target.resume->password.size());
  }
  errno = 0;
  handle_ =
      zookeeper_init2(target.servers.c_str(), Calls::OnSession, static_cast<int>(target.session.count()),
                      target.resume ? &id : nullptr, this, ZOO_NO_LOG_CLIENTENV, Calls::OnLog);
  if (handle_ == nullptr) return errno != 0 ? errno : EINVAL;
  // Without it the library would resolve, were it only addresses, before every wait for the socket.
  zoo_set_servers_resolution_delay(handle_, -1);
  with_auth_ = !target.auth.empty();
  if (with_auth_) {
    zoo_add_auth(handle_, "digest", target.auth.data(), static_cast<int>(target.auth.size()), nullptr,
                 nullptr);
  }
  return 0;
}

void ZkHandle::Close() {
  _zhandle* const handle = std::exchange(handle_, nullptr);
  // A forked child shares the connection: closing would end the parent's session.
  if (handle == nullptr || getpid() != process_) return;
  zookeeper_close(handle);
}

ZkHandle::Tag& ZkHandle::NewTag(std::uint64_t request) {
  auto& place = tags_[request];
  place = std::make_unique<Tag>(Tag{this, request});
  return *place;
}

int ZkHandle::Sent(int number, std::uint64_t request) {
  if (number != ZOK) tags_.erase(request);
  return number;
}

void ZkHandle::Release(std::uint64_t request) { tags_.erase(request); }

int ZkHandle::Create(const std::string& path, bool ephemeral, std::uint64_t request) {
  return Sent(
      zoo_acreate(handle_, path.c_str(), "", 0, with_auth_ ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE,
                  ephemeral ? ZOO_EPHEMERAL : ZOO_PERSISTENT, Calls::OnCreated, &NewTag(request)),
      request);
}

int ZkHandle::Delete(const std::string& path, std::uint64_t request) {
  return Sent(zoo_adelete(handle_, path.c_str(), -1, Calls::OnDone, &NewTag(request)), request);
}

int ZkHandle::Replace(const std::string& path, bool ephemeral, std::uint64_t request) {
  std::array<zoo_op_t, 2> steps{};
  zoo_delete_op_init(&steps[0], path.c_str(), -1);
  zoo_create_op_init(&steps[1], path.c_str(), "", 0, with_auth_ ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE,
                     ephemeral ? ZOO_EPHEMERAL : ZOO_PERSISTENT, nullptr, 0);
  Tag& tag = NewTag(request);
  return Sent(zoo_amulti(handle_, static_cast<int>(steps.size()), steps.data(), tag.results.data(),
                         Calls::OnDone, &tag),
              request);
}

int ZkHandle::Exists(const std::string& path, bool watch, std::uint64_t request) {
  return Sent(zoo_awexists(handle_, path.c_str(), watch ? Calls::OnPath : nullptr, this, Calls::OnStat,
                           &NewTag(request)),
              request);
}

int ZkHandle::Children(const std::string& path, bool watch, std::uint64_t request) {
  return Sent(zoo_awget_children2(handle_, path.c_str(), watch ? Calls::OnPath : nullptr, this, Calls::OnNames,
                                  &NewTag(request)),
              request);
}

int ZkHandle::Data(const std::string& path, bool watch, std::uint64_t request) {
  return Sent(zoo_awget(handle_, path.c_str(), watch ? Calls::OnPath : nullptr, this, Calls::OnData,
                        &NewTag(request)),
              request);
}

}  // namespace fairlead::internal
