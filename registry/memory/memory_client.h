#ifndef FAIRLEAD_REGISTRY_MEMORY_MEMORY_CLIENT_H_
#define FAIRLEAD_REGISTRY_MEMORY_MEMORY_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/registry/memory/memory_store.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

// The client side of a MemoryStore: one session, and watches that read again after each event. Shared by the
// backend that owns it and, weakly, by tasks under way. REQUIRES: executor, but for the destructor.
class MemoryClient : public std::enable_shared_from_this<MemoryClient> {
 public:
  MemoryClient(std::shared_ptr<MemoryStore> store, RegistryContext context, BurstWindow::Limits burst);
  ~MemoryClient() { Disconnect(); }

  void Start(absl::AnyInvocable<void(RegistryBackend::Session)> on_session);
  void Put(const RegistryKey& key, std::string text, bool dynamic, Done done);
  void Remove(const RegistryKey& key, std::string text, Done done);
  void Read(const RegistryKey& key, Children once);
  void Watch(const RegistryKey& key, Children on_full_list);
  void Unwatch(const RegistryKey& key);
  void WatchServices(Names on_names);
  void UnwatchServices();
  void WatchConfig(std::string group, std::string key, ConfigValue on_value);
  void UnwatchConfig(const std::string& group, const std::string& key);
  void Stop(Done done);
  // Thread-safe.
  void Disconnect();

  // From the store, as tasks.
  void OnSession(RegistryBackend::Session session);
  void OnChanged(const RegistryKey& key);
  void OnServices();
  void OnConfig(const std::string& group, const std::string& key);

  bool connected() const { return connected_; }

 private:
  struct ListWatch {
    std::uint64_t id = 0;
    Children on_list;
    BurstWindow window;
    Timer timer;
    // One read at a time: a burst of changes must not queue as many lists as it has changes.
    bool reading = false, again = false;
    Backoff backoff = ReadBackoff();
  };
  struct ConfigWatch {
    std::uint64_t id = 0;
    ConfigValue on_value;
    Timer retry;
    Backoff backoff = ReadBackoff();
  };

  template <class F>
  auto Guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... args) mutable {
      if (const auto self = weak.lock()) f(*self, std::forward<decltype(args)>(args)...);
    };
  }

  void ReadWatched(const RegistryKey& key, ListWatch& watch);
  void OnList(const RegistryKey& key, std::uint64_t id, ChildrenAnswer answer);
  void ReadServices();
  void ReadConfig(const std::string& group, const std::string& key, ConfigWatch& watch);

  const std::shared_ptr<MemoryStore> store_;
  const RegistryContext context_;
  const BurstWindow::Limits burst_;
  Random random_;
  MemoryStore::ClientId id_ = 0;
  bool connected_ = false;
  std::uint64_t last_watch_ = 0;
  absl::AnyInvocable<void(RegistryBackend::Session)> on_session_;
  std::map<RegistryKey, ListWatch> lists_;
  Names on_names_;
  std::uint64_t names_id_ = 0;
  Timer names_retry_;
  Backoff names_backoff_ = ReadBackoff();
  std::map<std::pair<std::string, std::string>, ConfigWatch> configs_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MEMORY_MEMORY_CLIENT_H_
