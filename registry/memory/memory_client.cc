#include "fairlead/registry/memory/memory_client.h"

#include <chrono>
#include <utility>

namespace fairlead::internal {
MemoryClient::MemoryClient(std::shared_ptr<MemoryStore> store, RegistryContext context,
                           BurstWindow::Limits burst)
    : store_(std::move(store)), context_(std::move(context)), burst_(burst), random_(Mix64(context_.seed)) {}

void MemoryClient::Start(absl::AnyInvocable<void(RegistryBackend::Session)> on_session) {
  on_session_ = std::move(on_session);
  id_ = store_->Connect(context_.executor, weak_from_this());
}

void MemoryClient::Put(const RegistryKey& key, std::string text, bool dynamic, Done done) {
  store_->Put(id_, key, std::move(text), dynamic, std::move(done));
}

void MemoryClient::Remove(const RegistryKey& key, std::string text, Done done) {
  store_->Remove(id_, key, text, std::move(done));
}

void MemoryClient::Read(const RegistryKey& key, Children once) { store_->Read(id_, key, std::move(once)); }

void MemoryClient::Watch(const RegistryKey& key, Children on_full_list) {
  ListWatch& watch = lists_[key];
  watch.id = ++last_watch_;
  watch.on_list = std::move(on_full_list);
  // Rules are few and urgent.
  const bool rules = key.category == Category::kConfigurators || key.category == Category::kRouters;
  watch.window = BurstWindow(rules ? BurstWindow::Limits::Fixed(std::chrono::milliseconds(0)) : burst_);
  store_->Watch(id_, key, true);
  if (connected_) ReadWatched(key, watch);
}

void MemoryClient::Unwatch(const RegistryKey& key) {
  lists_.erase(key);
  store_->Watch(id_, key, false);
}

void MemoryClient::WatchServices(Names on_names) {
  on_names_ = std::move(on_names);
  ++names_id_;
  store_->WatchServices(id_, true);
  if (connected_) ReadServices();
}

void MemoryClient::UnwatchServices() {
  on_names_ = nullptr;
  ++names_id_;
  names_retry_.Cancel();
  store_->WatchServices(id_, false);
}

void MemoryClient::WatchConfig(std::string group, std::string key, ConfigValue on_value) {
  ConfigWatch& watch = configs_[{group, key}];
  watch.id = ++last_watch_;
  watch.on_value = std::move(on_value);
  store_->WatchConfig(id_, group, key, true);
  if (connected_) ReadConfig(group, key, watch);
}

void MemoryClient::UnwatchConfig(const std::string& group, const std::string& key) {
  configs_.erase({group, key});
  store_->WatchConfig(id_, group, key, false);
}

void MemoryClient::Stop(Done done) {
  Disconnect();
  connected_ = false;
  on_session_ = nullptr;
  UnwatchServices();
  lists_.clear();
  configs_.clear();
  context_.executor->Post([done = std::move(done)]() mutable { done(absl::OkStatus()); });
}

void MemoryClient::Disconnect() { store_->Disconnect(id_); }

void MemoryClient::OnSession(RegistryBackend::Session session) {
  using Session = RegistryBackend::Session;
  if (!on_session_) return;
  connected_ = session == Session::kConnected || session == Session::kReconnected || session == Session::kNew;
  on_session_(session);
  if (!connected_) return;
  for (auto& [key, watch] : lists_) {
    watch.reading = false;  // the answer may have gone with the link
    ReadWatched(key, watch);
  }
  if (on_names_) ReadServices();
  for (auto& [place, watch] : configs_) ReadConfig(place.first, place.second, watch);
}

void MemoryClient::OnChanged(const RegistryKey& key) {
  const auto at = lists_.find(key);
  if (at == lists_.end() || !connected_) return;
  const auto wait = at->second.window.OnEvent(context_.clock->SteadyNow());
  if (!wait) return;
  if (wait->count() == 0) return ReadWatched(key, at->second);
  at->second.timer = context_.executor->After(*wait, Guarded([key, id = at->second.id](MemoryClient& self) {
    const auto due = self.lists_.find(key);
    if (due != self.lists_.end() && due->second.id == id && self.connected_)
      self.ReadWatched(key, due->second);
  }));
}

void MemoryClient::ReadWatched(const RegistryKey& key, ListWatch& watch) {
  watch.again = std::exchange(watch.reading, true);
  if (watch.again) return;
  watch.timer.Cancel();
  watch.window.OnRead(context_.clock->SteadyNow());
  store_->Read(id_, key, Guarded([key, id = watch.id](MemoryClient& self, ChildrenAnswer answer) {
                 self.OnList(key, id, std::move(answer));
               }));
}

void MemoryClient::OnList(const RegistryKey& key, std::uint64_t id, ChildrenAnswer answer) {
  const auto at = lists_.find(key);
  if (at == lists_.end() || at->second.id != id) return;
  ListWatch& watch = at->second;
  watch.reading = false;
  if (answer.status.ok()) {
    watch.backoff.Reset();
    if (watch.again && connected_) ReadWatched(key, watch);
  } else if (!connected_) {
    return;  // read again with the session
  } else {
    watch.timer =
        context_.executor->After(watch.backoff.Next(random_), Guarded([key, id](MemoryClient& self) {
                                   const auto due = self.lists_.find(key);
                                   if (due != self.lists_.end() && due->second.id == id && self.connected_)
                                     self.ReadWatched(key, due->second);
                                 }));
  }
  watch.on_list(std::move(answer));
}

void MemoryClient::OnServices() {
  if (on_names_ && connected_) ReadServices();
}

void MemoryClient::ReadServices() {
  store_->ReadServices(id_, Guarded([id = names_id_](MemoryClient& self, auto names) {
                         if (self.names_id_ != id) return;
                         if (names.ok()) {
                           self.names_backoff_.Reset();
                         } else {
                           self.names_retry_ = self.context_.executor->After(
                               self.names_backoff_.Next(self.random_), self.Guarded([](MemoryClient& late) { late.OnServices(); }));
                         }
                         self.on_names_(std::move(names));
                       }));
}

void MemoryClient::OnConfig(const std::string& group, const std::string& key) {
  const auto at = configs_.find({group, key});
  if (at != configs_.end() && connected_) ReadConfig(group, key, at->second);
}

void MemoryClient::ReadConfig(const std::string& group, const std::string& key, ConfigWatch& watch) {
  store_->ReadConfig(id_, group, key, Guarded([group, key, id = watch.id](MemoryClient& self, auto value) {
                       const auto at = self.configs_.find({group, key});
                       if (at == self.configs_.end() || at->second.id != id) return;
                       if (value.ok()) {
                         at->second.backoff.Reset();
                       } else {
                         at->second.retry = self.context_.executor->After(
                             at->second.backoff.Next(self.random_),
                             self.Guarded([group, key](MemoryClient& late) { late.OnConfig(group, key); }));
                       }
                       at->second.on_value(std::move(value));
                     }));
}

}  // namespace fairlead::internal
