#include "fairlead/registry/memory/memory_store.h"

#include <algorithm>

#include "fairlead/base/random.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/registry/memory/memory_client.h"

namespace fairlead {
namespace {

constexpr Category kCategories[] = {Category::kProviders, Category::kConsumers, Category::kConfigurators,
                                    Category::kRouters};

RegistryKey Path(std::string_view service, Category category) { return {std::string(service), category}; }

}  // namespace

absl::Status MemoryStore::Put(std::string_view url_text) {
  FAIRLEAD_ASSIGN_OR_RETURN(const UrlParts url, UrlParts::Parse(url_text));
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryKey key, RegistryKeyOf(url));
  PutChild(key.service, key.category, url_text);
  return absl::OkStatus();
}

absl::Status MemoryStore::Remove(std::string_view url_text) {
  FAIRLEAD_ASSIGN_OR_RETURN(const UrlParts url, UrlParts::Parse(url_text));
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryKey key, RegistryKeyOf(url));
  RemoveChild(key.service, key.category, url_text);
  return absl::OkStatus();
}

void MemoryStore::PutChild(std::string_view service, Category category, std::string_view text) {
  const std::lock_guard lock(mutex_);
  StoreChild(Path(service, category), std::string(text), 0);
}

void MemoryStore::RemoveChild(std::string_view service, Category category, std::string_view text) {
  const std::lock_guard lock(mutex_);
  EraseChild(Path(service, category), std::string(text));
}

void MemoryStore::RemovePath(std::string_view service, Category category) {
  const std::lock_guard lock(mutex_);
  const RegistryKey key = Path(service, category);
  if (paths_.erase(key) == 0) return;
  Changed(key);
  const bool last = std::none_of(paths_.begin(), paths_.end(),
                                 [&key](const auto& path) { return path.first.service == key.service; });
  if (last) ServicesChanged();
}

void MemoryStore::RemoveService(std::string_view service) {
  for (const Category category : kCategories) RemovePath(service, category);
}

void MemoryStore::SetConfig(std::string_view group, std::string_view key, std::optional<std::string> value) {
  const std::lock_guard lock(mutex_);
  const ConfigKey place{std::string(group), std::string(key)};
  if (value) {
    configs_[place] = *std::move(value);
  } else {
    configs_.erase(place);
  }
  for (const auto& [id, session] : sessions_) {
    if (!session.connected || !session.watched_configs.contains(place)) continue;
    session.executor->Post([weak = session.client, place] {
      if (const auto client = weak.lock()) client->OnConfig(place.group, place.key);
    });
  }
}

std::vector<std::string> MemoryStore::List(std::string_view service, Category category) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  if (const auto path = paths_.find(Path(service, category)); path != paths_.end()) {
    for (const Child& child : path->second) texts.push_back(child.text);
  }
  return texts;
}

std::vector<std::string> MemoryStore::Services() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& [key, children] : paths_) names.insert(key.service);
  return {names.begin(), names.end()};
}

template <class F>
void MemoryStore::ForClients(ClientId client, F f) {
  for (auto& [id, session] : sessions_) {
    if (client == kEveryClient || client == id) f(session);
  }
}

void MemoryStore::Suspend(ClientId client) {
  const std::lock_guard lock(mutex_);
  if (client == kEveryClient) suspended_ = true;
  ForClients(client, [this](Session& session) {
    if (std::exchange(session.connected, false)) Tell(session, RegistryBackend::Session::kSuspended);
  });
}

void MemoryStore::Resume(ClientId client) {
  const std::lock_guard lock(mutex_);
  if (client == kEveryClient) suspended_ = false;
  ForClients(client, [this](Session& session) {
    if (std::exchange(session.connected, true)) return;
    if (session.number == 0) {
      session.number = ++last_session_;
      Tell(session, RegistryBackend::Session::kConnected);
    } else if (session.expired) {
      Renew(session);
    } else {
      Tell(session, RegistryBackend::Session::kReconnected);
    }
  });
}

void MemoryStore::Expire(ClientId client) {
  const std::lock_guard lock(mutex_);
  ForClients(client, [this](Session& session) {
    if (session.number == 0) return;
    EraseOwned(session.number);
    session.expired = true;
    if (session.connected) Renew(session);
  });
}

void MemoryStore::Renew(Session& session) {
  session.expired = false;
  Tell(session, RegistryBackend::Session::kExpired);
  session.number = ++last_session_;
  Tell(session, RegistryBackend::Session::kNew);
}

void MemoryStore::Reorder(std::string_view service, Category category, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  const RegistryKey key = Path(service, category);
  const auto path = paths_.find(key);
  if (path == paths_.end()) return;
  Random random(seed);
  std::vector<Child>& children = path->second;
  for (std::size_t left = children.size(); left > 1; --left) {
    std::swap(children[left - 1], children[random.Below(left)]);
  }
  Changed(key);
}

void MemoryStore::Duplicate(bool on) {
  const std::lock_guard lock(mutex_);
  duplicates_ = on;
}

void MemoryStore::HoldAnswers(bool on) {
  {
    const std::lock_guard lock(mutex_);
    holds_ = on;
  }
  if (!on) ReleaseAnswers();
}

std::size_t MemoryStore::ReleaseAnswers(std::size_t count) {
  const std::lock_guard lock(mutex_);
  count = std::min(count, held_.size());
  for (std::size_t i = 0; i < count; ++i) {
    held_.front().executor->Post(std::move(held_.front().task));
    held_.pop_front();
  }
  return count;
}

void MemoryStore::FailNext(Operation operation, absl::Status status, int times, bool carried_out) {
  const std::lock_guard lock(mutex_);
  failures_[operation].push_back({std::move(status), times, carried_out});
}

std::uint64_t MemoryStore::operations(Operation operation) const {
  const std::lock_guard lock(mutex_);
  const auto count = operations_.find(operation);
  return count == operations_.end() ? 0 : count->second;
}

std::vector<MemoryStore::ClientId> MemoryStore::clients() const {
  const std::lock_guard lock(mutex_);
  std::vector<ClientId> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  return ids;
}

MemoryStore::ClientId MemoryStore::Connect(std::shared_ptr<Executor> executor,
                                           std::weak_ptr<internal::MemoryClient> client) {
  const std::lock_guard lock(mutex_);
  const ClientId id = ++last_client_;
  Session& session = sessions_[id];
  session.executor = std::move(executor);
  session.client = std::move(client);
  if (!suspended_) {
    session.connected = true;
    session.number = ++last_session_;
    Tell(session, RegistryBackend::Session::kConnected);
  }
  return id;
}

void MemoryStore::Disconnect(ClientId client) {
  // Destroyed after the lock is gone: it may hold the last reference to an executor.
  std::map<ClientId, Session>::node_type gone;
  const std::lock_guard lock(mutex_);
  gone = sessions_.extract(client);
  if (!gone.empty() && gone.mapped().number != 0) EraseOwned(gone.mapped().number);
}

void MemoryStore::Put(ClientId client, const RegistryKey& key, std::string text, bool dynamic, Done done) {
  const std::lock_guard lock(mutex_);
  const Session* session = Find(client);
  const Outcome outcome = Begin(Operation::kPut, session);
  if (outcome.carried_out) StoreChild(key, std::move(text), dynamic ? session->number : 0);
  if (session == nullptr) return;
  Send(*session, [done = std::move(done), status = outcome.status]() mutable { done(status); });
}

void MemoryStore::Remove(ClientId client, const RegistryKey& key, const std::string& text, Done done) {
  const std::lock_guard lock(mutex_);
  const Session* session = Find(client);
  const Outcome outcome = Begin(Operation::kRemove, session);
  if (outcome.carried_out) EraseChild(key, text);
  if (session == nullptr) return;
  Send(*session, [done = std::move(done), status = outcome.status]() mutable { done(status); });
}

void MemoryStore::Read(ClientId client, const RegistryKey& key, Children answer) {
  const std::lock_guard lock(mutex_);
  const Session* session = Find(client);
  const Outcome outcome = Begin(Operation::kRead, session);
  if (session == nullptr) return;
  ChildrenAnswer content{session->number, outcome.status, false, {}};
  if (content.status.ok()) {
    const auto path = paths_.find(key);
    content.missing = path == paths_.end();
    if (!content.missing) {
      for (const Child& child : path->second) {
        content.children.push_back(child.text);
        if (duplicates_) content.children.push_back(child.text);
      }
    }
  }
  Send(*session,
       [answer = std::move(answer), content = std::move(content)]() mutable { answer(std::move(content)); });
}

void MemoryStore::ReadServices(ClientId client, Names answer) {
  const std::lock_guard lock(mutex_);
  const Session* session = Find(client);
  const Outcome outcome = Begin(Operation::kReadServices, session);
  if (session == nullptr) return;
  absl::StatusOr<std::vector<std::string>> names;
  if (!outcome.status.ok()) {
    names = outcome.status;
  } else {
    std::set<std::string> unique;
    for (const auto& [key, children] : paths_) unique.insert(key.service);
    names.emplace(unique.begin(), unique.end());
  }
  Send(*session,
       [answer = std::move(answer), names = std::move(names)]() mutable { answer(std::move(names)); });
}

void MemoryStore::ReadConfig(ClientId client, const std::string& group, const std::string& key,
                             ConfigValue answer) {
  const std::lock_guard lock(mutex_);
  const Session* session = Find(client);
  const Outcome outcome = Begin(Operation::kReadConfig, session);
  if (session == nullptr) return;
  absl::StatusOr<std::optional<std::string>> value;
  if (!outcome.status.ok()) {
    value = outcome.status;
  } else {
    const auto place = configs_.find({group, key});
    value = place == configs_.end() ? std::nullopt : std::optional<std::string>(place->second);
  }
  Send(*session,
       [answer = std::move(answer), value = std::move(value)]() mutable { answer(std::move(value)); });
}

void MemoryStore::Watch(ClientId client, const RegistryKey& key, bool on) {
  const std::lock_guard lock(mutex_);
  Session* session = Find(client);
  if (session == nullptr) return;
  if (on) {
    session->watched.insert(key);
  } else {
    session->watched.erase(key);
  }
}

void MemoryStore::WatchServices(ClientId client, bool on) {
  const std::lock_guard lock(mutex_);
  if (Session* session = Find(client)) session->watches_services = on;
}

void MemoryStore::WatchConfig(ClientId client, const std::string& group, const std::string& key, bool on) {
  const std::lock_guard lock(mutex_);
  Session* session = Find(client);
  if (session == nullptr) return;
  if (on) {
    session->watched_configs.insert({group, key});
  } else {
    session->watched_configs.erase({group, key});
  }
}

MemoryStore::Outcome MemoryStore::Begin(Operation operation, const Session* session) {
  ++operations_[operation];
  if (session == nullptr || !session->connected) {
    return {absl::UnavailableError("the session with the memory store is suspended or over"), false};
  }
  std::deque<Failure>& failures = failures_[operation];
  if (failures.empty()) return {};
  const Outcome outcome{failures.front().status, failures.front().carried_out};
  if (--failures.front().times <= 0) failures.pop_front();
  return outcome;
}

MemoryStore::Session* MemoryStore::Find(ClientId client) {
  const auto at = sessions_.find(client);
  return at == sessions_.end() ? nullptr : &at->second;
}

void MemoryStore::Send(const Session& session, absl::AnyInvocable<void()> task) {
  if (holds_ || !held_.empty()) {
    held_.push_back({session.executor, std::move(task)});
  } else {
    session.executor->Post(std::move(task));
  }
}

void MemoryStore::Tell(const Session& session, RegistryBackend::Session event) {
  session.executor->Post([weak = session.client, event] {
    if (const auto client = weak.lock()) client->OnSession(event);
  });
}

void MemoryStore::Changed(const RegistryKey& key) {
  for (const auto& [id, session] : sessions_) {
    if (!session.connected || !session.watched.contains(key)) continue;
    session.executor->Post([weak = session.client, key] {
      if (const auto client = weak.lock()) client->OnChanged(key);
    });
  }
}

void MemoryStore::ServicesChanged() {
  for (const auto& [id, session] : sessions_) {
    if (!session.connected || !session.watches_services) continue;
    session.executor->Post([weak = session.client] {
      if (const auto client = weak.lock()) client->OnServices();
    });
  }
}

void MemoryStore::StoreChild(const RegistryKey& key, std::string text, std::uint64_t owner) {
  const bool new_service = std::none_of(
      paths_.begin(), paths_.end(), [&key](const auto& path) { return path.first.service == key.service; });
  const auto [path, new_path] = paths_.try_emplace(key);
  std::vector<Child>& children = path->second;
  const auto known = std::find_if(children.begin(), children.end(),
                                  [&text](const Child& child) { return child.text == text; });
  if (known != children.end()) {
    known->owner = owner;
  } else {
    children.push_back({std::move(text), owner});
    Changed(key);
  }
  if (new_service) ServicesChanged();
}

void MemoryStore::EraseChild(const RegistryKey& key, const std::string& text) {
  const auto path = paths_.find(key);
  if (path == paths_.end()) return;
  if (std::erase_if(path->second, [&text](const Child& child) { return child.text == text; }) > 0)
    Changed(key);
}

void MemoryStore::EraseOwned(std::uint64_t session) {
  for (auto& [key, children] : paths_) {
    if (std::erase_if(children, [session](const Child& child) { return child.owner == session; }) > 0)
      Changed(key);
  }
}

}  // namespace fairlead
