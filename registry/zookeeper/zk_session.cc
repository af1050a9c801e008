#include "fairlead/registry/zookeeper/zk_session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// A server accepts 1 048 575 bytes by default (jute.maxbuffer), and Replace says the path twice.
constexpr std::size_t kMostPathBytes = 500 * 1000;
constexpr std::size_t kMostWatchedBytes = 700 * 1000;
// Nobody sets a server's limit lower than this.
constexpr std::size_t kLargeBytes = 64 * 1000;
constexpr milliseconds kShortLife{500};
constexpr int kShortLives = 2;

constexpr milliseconds kStopLimit{1000};
constexpr milliseconds kResolveEvery{10000};
// How long a server is looked for before the handle is replaced: so many sessions, and no longer than that. A server that
// lost its data drops a client that has seen later changes without a word, however often the same handle comes.
constexpr int kPatience = 2;
constexpr milliseconds kMostPatience{10000};

}  // namespace

ZkSession::ZkSession(ZkOptions options, const RegistryContext& context)
    : options_(std::move(options)),
      context_(context),
      process_(getpid()),
      gate_(std::make_shared<ZkGate>(*context.executor)),
      helpers_(std::make_shared<ZkHelpers>(gate_)),
      random_(Mix64(context.seed)),
      backoff_(milliseconds(0), milliseconds(500), milliseconds(30000)),
      session_time_(options_.session),
      most_path_bytes_(kMostPathBytes) {}

ZkSession::~ZkSession() {
  if (!CheckProcess().ok()) {
    // In a forked child the threads are not there, to be joined or let go, and one of them may hold the gate
    // for ever.
    new std::shared_ptr<ZkHelpers>(helpers_);
    return;
  }
  gate_->Close();
  if (opened_) CloseElsewhere(handle_);
}

absl::Status ZkSession::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("ZooKeeper session of ", options_.address,
                                                    ": the process was forked; make a new registry here"));
}

void ZkSession::Post(absl::AnyInvocable<void()> task) {
  context_.executor->Post([weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock(); self != nullptr && !self->stopped_) task();
  });
}

Timer ZkSession::After(std::chrono::nanoseconds delay, absl::AnyInvocable<void()> task) {
  return context_.executor->After(delay, [weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock(); self != nullptr && !self->stopped_) task();
  });
}

void ZkSession::Start(Observer* observer) {
  observer_ = observer;
  Open();
}

void ZkSession::Open() {
  handle_ = std::make_shared<ZkHandle>(gate_, weak_from_this());
  opened_ = false;
  early_.reset();
  ZkHandle::Target target{addresses_, options_.auth, options_.session, std::nullopt};
  if (has_session_) target.resume = id_;
  trouble_ = "resolving the servers' names";
  const bool started = helpers_->Run(
      handle_->thread_name(), [handle = handle_, target = std::move(target), names = options_.servers,
                               gate = gate_, weak = weak_from_this()]() mutable {
        ZkAddresses found = ResolveServers(names);
        // While the names cannot be resolved the addresses they had go on being tried.
        if (!found.list.empty()) target.servers = found.list;
        const int error = target.servers.empty() ? ENOENT : handle->Open(target);
        gate->Post([handle = std::move(handle), error, found = std::move(found), weak]() mutable {
          if (const auto self = weak.lock()) {
            self->OnOpened(handle, error, found);
          } else {
            CloseElsewhere(handle);
          }
        });
      });
  if (!started) Post([this, handle = handle_] { OnOpened(handle, EAGAIN, {}); });
}

void ZkSession::OnOpened(const std::shared_ptr<ZkHandle>& handle, int error, const ZkAddresses& found) {
  if (stopped_ || handle != handle_) {
    RetireHandle(handle);
    return;
  }
  if (!found.list.empty()) addresses_ = found.list;
  if (error == 0 && !found.unresolved.empty()) {
    context_.log->Warn("FL-2-1", options_.address,
                       absl::StrCat("cannot resolve ", found.unresolved, "; trying ", addresses_));
  }
  if (error != 0) {
    handle_.reset();
    last_error_ = error == ENOENT ? "no server name can be resolved" : std::string(std::strerror(error));
    trouble_ = "no client";
    context_.log->Warn("FL-2-1", options_.address,
                       absl::StrCat("no ZooKeeper client: ", last_error_, "; trying again"));
    next_step_ = After(backoff_.Next(random_), [this] { Open(); });
    return;
  }
  opened_ = true;
  trouble_ = "connecting";
  AwaitConnection();
  if (const auto early = std::exchange(early_, std::nullopt)) {
    OnState(handle->number(), early->state, early->id, early->negotiated);
  }
}

void ZkSession::OnState(std::uint64_t handle, ZkState state, const ZkSessionId& id, milliseconds negotiated) {
  if (stopped_ || handle_ == nullptr || handle != handle_->number()) return;
  if (!opened_) {
    early_ = LastState{state, id, negotiated};
    return;
  }
  switch (state) {
    case ZkState::kConnected:
      session_time_ = negotiated;
      OnConnected(id);
      return;
    case ZkState::kConnecting:
      OnSuspended();
      return;
    case ZkState::kAuthFailed:
      last_error_ = "the server refuses user and password of the registry url";
      context_.log->Error("FL-2-2", options_.address, last_error_);
      OnSessionOver();
      return;
    case ZkState::kExpired:
      OnSessionOver();
      return;
  }
}

void ZkSession::OnConnected(const ZkSessionId& id) {
  if (connected_) return;
  next_step_.Cancel();
  resolve_.Cancel();
  const bool same = has_session_ && id.id == id_.id;
  if (has_session_ && !same) observer_->OnSession(State::kExpired, true);
  if (stopped_) return;
  const State state = same ? State::kReconnected : generation_ > 0 ? State::kNew : State::kConnected;
  if (!same) {
    ++generation_;
    most_path_bytes_ = kMostPathBytes;  // what was suspected of a server may not hold of the next
  }
  id_ = id;
  has_session_ = true;
  connected_ = true;
  connected_at_ = context_.clock->SteadyNow();
  trouble_.clear();
  observer_->OnSession(state, std::exchange(watches_lost_, false));
}

void ZkSession::OnSuspended() {
  if (!connected_) return;
  connected_ = false;
  trouble_ = "connection lost";
  const bool short_life = context_.clock->SteadyNow() - connected_at_ < kShortLife;
  short_lives_ = short_life ? short_lives_ + 1 : 0;
  SuspectLargeRequest();
  // Before the requests that it ends are answered: what they met is told once, and not by each of them.
  observer_->OnSession(State::kSuspended, false);
  if (stopped_) return;
  if (watched_.bytes() > (short_lives_ < kShortLives ? kMostWatchedBytes : kLargeBytes)) {
    // With this handle each reconnect would fail on the packet of watches; another one has none to repeat,
    // and comes with a back-off.
    ReplaceHandle();
  } else {
    AwaitConnection();
  }
}

void ZkSession::SuspectLargeRequest() {
  std::size_t largest = 0;
  for (const auto& [request, pending] : pending_) largest = std::max(largest, pending.bytes);
  if (largest < kLargeBytes || ++losses_with_large_request_ < kShortLives) return;
  losses_with_large_request_ = 0;
  most_path_bytes_ = largest - 1;
  context_.log->Warn("FL-2-8", options_.address,
                     absl::StrCat("the connection ended twice while a path of ", largest,
                                  " bytes was sent; paths as long are refused from now on"));
}

void ZkSession::OnSessionOver() {
  connected_ = false;
  const bool had = std::exchange(has_session_, false);
  trouble_ = "session over";
  if (had) observer_->OnSession(State::kExpired, true);
  if (!stopped_) ReplaceHandle();
}

void ZkSession::AwaitConnection() {
  const milliseconds patience = std::min(kPatience * session_time_, kMostPatience);
  next_step_ = After(patience, [this, patience] {
    context_.log->Warn("FL-2-3", options_.address,
                       absl::StrCat("no server found within ", patience.count(), " ms; starting over"));
    backoff_.Reset();  // the library paces its attempts itself
    ReplaceHandle();
  });
  ResolveLater();
}

void ZkSession::ResolveLater() {
  resolve_ = After(std::min(kResolveEvery, session_time_), [this] { ResolveAgain(); });
}

void ZkSession::ResolveAgain() {
  if (connected_ || !opened_) return;
  ResolveLater();
  if (resolving_) return;
  resolving_ =
      helpers_->Run("fl-zk-names", [names = options_.servers, gate = gate_, weak = weak_from_this()] {
        gate->Post([found = ResolveServers(names), weak] {
          const auto self = weak.lock();
          if (self == nullptr || self->stopped_) return;
          self->resolving_ = false;
          if (found.list.empty() || found.list == self->addresses_) return;
          self->addresses_ = found.list;
          if (!self->connected_ && self->opened_) self->ReplaceHandle();
        });
      });
}

void ZkSession::ReplaceHandle() {
  if (opened_) RetireHandle(std::move(handle_));
  handle_.reset();
  opened_ = false;
  watches_lost_ = true;
  watched_.Clear();
  if (context_.clock->SteadyNow() - connected_at_ >= session_time_ && generation_ > 0) backoff_.Reset();
  next_step_ = After(backoff_.Next(random_), [this] { Open(); });
  FailPending();
}

void ZkSession::FailPending() {
  for (auto& [request, pending] : std::exchange(pending_, {})) {
    if (stopped_) return;
    pending.reply({.code = ZkCode::kLost});
  }
}

void ZkSession::RetireHandle(std::shared_ptr<ZkHandle> handle) {
  if (!helpers_->Run(handle->thread_name(), [handle] { handle->Close(); })) handle->Close();
}

void ZkSession::CloseElsewhere(const std::shared_ptr<ZkHandle>& handle) {
  if (!ZkHelpers::RunDetached(handle->thread_name(), [handle] { handle->Close(); })) handle->Close();
}

void ZkSession::Stop(Done done) {
  if (absl::Status status = CheckProcess(); !status.ok()) {
    stopped_ = true;
    context_.executor->Post([done = std::move(done), status = std::move(status)]() mutable {
      if (done) done(std::move(status));
    });
    return;
  }
  if (std::exchange(stopped_, true)) {
    if (!stop_done_.empty()) {
      stop_done_.push_back(std::move(done));
      return;
    }
    context_.executor->Post([done = std::move(done)]() mutable {
      if (done) done(absl::OkStatus());
    });
    return;
  }
  connected_ = false;
  stop_done_.push_back(std::move(done));
  next_step_.Cancel();
  resolve_.Cancel();
  pending_.clear();
  // One that is still being opened is closed when it is.
  if (opened_) RetireHandle(std::move(handle_));
  handle_.reset();
  opened_ = false;
  trouble_ = "stopped";
  const auto finish = [weak = weak_from_this()](const absl::Status& status) {
    if (const auto self = weak.lock()) self->FinishStop(status);
  };
  helpers_->WhenIdle([finish] { finish(absl::OkStatus()); });
  stop_limit_ = context_.executor->After(kStopLimit, [finish, address = options_.address] {
    finish(
        absl::DeadlineExceededError(absl::StrCat("ZooKeeper session of ", address, " was not closed within ",
                                                 kStopLimit.count(), " ms; it ends in the background")));
  });
}

void ZkSession::Abandon() {
  stopped_ = true;
  stop_done_.clear();
  observer_ = nullptr;
}

void ZkSession::FinishStop(const absl::Status& status) {
  stop_limit_.Cancel();
  for (Done& done : std::exchange(stop_done_, {})) {
    if (done) done(status);
  }
}

void ZkSession::Refuse(Reply reply, ZkReply answer) {
  Post([reply = std::move(reply), answer = std::move(answer)]() mutable { reply(std::move(answer)); });
}

template <class Send>
void ZkSession::Request(const std::string& path, Pending pending, const Send& send) {
  pending.bytes = path.size();
  if (path.size() > most_path_bytes_) {
    return Refuse(std::move(pending.reply), {.code = ZkCode::kBadArgument, .limit = most_path_bytes_});
  }
  if (!connected_) return Refuse(std::move(pending.reply), {.code = ZkCode::kLost});
  const std::uint64_t request = ++last_request_;
  if (const int error = send(*handle_, request); error != 0) {
    return Refuse(std::move(pending.reply), {.code = ZkHandle::CodeOf(error), .number = error});
  }
  pending_.emplace(request, std::move(pending));
}

void ZkSession::Create(const std::string& path, bool ephemeral, Reply reply) {
  Request(path, {.reply = std::move(reply)},
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Create(path, ephemeral, request); });
}

void ZkSession::Delete(const std::string& path, Reply reply) {
  Request(path, {.reply = std::move(reply)},
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Delete(path, request); });
}

void ZkSession::Replace(const std::string& path, bool ephemeral, Reply reply) {
  Request(path, {.reply = std::move(reply)},
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Replace(path, ephemeral, request); });
}

void ZkSession::Exists(const std::string& path, bool watch, Reply reply) {
  Pending pending{std::move(reply), watch ? std::optional(Watch::kNode) : std::nullopt, path, true};
  Request(path, std::move(pending),
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Exists(path, watch, request); });
}

void ZkSession::Children(const std::string& path, bool watch, Reply reply) {
  Pending pending{std::move(reply), watch ? std::optional(Watch::kChildren) : std::nullopt, path, false};
  Request(path, std::move(pending),
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Children(path, watch, request); });
}

void ZkSession::Data(const std::string& path, bool watch, Reply reply) {
  Pending pending{std::move(reply), watch ? std::optional(Watch::kNode) : std::nullopt, path, false};
  Request(path, std::move(pending),
          [&](ZkHandle& handle, std::uint64_t request) { return handle.Data(path, watch, request); });
}

void ZkSession::OnReply(std::uint64_t handle, std::uint64_t request, ZkReply reply) {
  if (stopped_ || handle_ == nullptr || handle != handle_->number()) return;
  handle_->Release(request);
  auto node = pending_.extract(request);
  if (node.empty()) return;
  Pending& pending = node.mapped();
  const bool set = reply.code == ZkCode::kOk || (reply.code == ZkCode::kNoNode && pending.looks_for_node);
  if (pending.watch && set) watched_.Add(*pending.watch, pending.path);
  if (reply.code != ZkCode::kLost) last_error_.clear();
  if (reply.code == ZkCode::kOk && pending.bytes >= kLargeBytes) losses_with_large_request_ = 0;
  pending.reply(std::move(reply));
}

void ZkSession::OnChange(std::uint64_t handle, ZkChange change, const std::string& path) {
  if (stopped_ || handle_ == nullptr || handle != handle_->number()) return;
  if (change != ZkChange::kChildren) watched_.Remove(Watch::kNode, path);
  if (change == ZkChange::kChildren || change == ZkChange::kDeleted) watched_.Remove(Watch::kChildren, path);
  observer_->OnChange(change, path);
}

void ZkSession::OnLog(const std::string& text) {
  if (stopped_) return;
  last_error_ = text;
  context_.log->Warn("FL-2-4", options_.address, text);
}

std::string ZkSession::Describe() const {
  if (!CheckProcess().ok()) return "forked, not usable";
  std::string text;
  if (generation_ > 0) {
    absl::StrAppend(&text, "session 0x", absl::Hex(static_cast<std::uint64_t>(id_.id)), " ");
  }
  if (connected_) {
    absl::StrAppend(&text, "connected, timeout ", session_time_.count(), " ms, ", watched_.size(),
                    " watches");
  } else {
    absl::StrAppend(&text,
                    generation_ == 0 ? "no session yet: "
                    : has_session_   ? "suspended: "
                                     : "over: ",
                    trouble_);
    if (!last_error_.empty()) absl::StrAppend(&text, "; last: ", last_error_);
  }
  return text;
}

}  // namespace fairlead::internal
