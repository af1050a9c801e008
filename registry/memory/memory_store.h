#ifndef FAIRLEAD_REGISTRY_MEMORY_MEMORY_STORE_H_
#define FAIRLEAD_REGISTRY_MEMORY_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead {

namespace internal {
class MemoryClient;
}

// The server side of `memory://name`: a registry within the process. A host fills it when its providers are
// known without any registry product; tests also script what goes wrong with one. Every client (a registry of
// some Runtime) has a session; what a client stores as dynamic goes with its session, what the host puts
// stays.
//
// Thread-safe. Clients hear of changes by tasks on their own executors, never inside a call. Changes are
// linear in the children of the path, reads in what they return.
class MemoryStore {
 public:
  using ClientId = std::uint64_t;  // 1, 2, ... in the order in which clients appeared
  static constexpr ClientId kEveryClient = 0;

  enum class Operation : std::uint8_t { kPut, kRemove, kRead, kReadServices, kReadConfig };
  static constexpr std::size_t kOperations = 5;

  MemoryStore() = default;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // --- Content ---

  // Stores a url under its interface and category (`category`, default providers), until removed.
  // kInvalidArgument for a text that says neither.
  absl::Status Put(std::string_view url_text);
  // OK when nothing was there. The text is compared as a whole.
  absl::Status Remove(std::string_view url_text);
  // Any text anywhere, urls or not.
  void PutChild(std::string_view service, Category category, std::string_view text);
  void RemoveChild(std::string_view service, Category category, std::string_view text);
  // The path itself goes, not only its children; storing a child brings it back.
  void RemovePath(std::string_view service, Category category);
  // All paths of a service.
  void RemoveService(std::string_view service);
  // A document of the config center; nullopt removes it.
  void SetConfig(std::string_view group, std::string_view key, std::optional<std::string> value);

  std::vector<std::string> List(std::string_view service, Category category) const;
  std::vector<std::string> Services() const;

  // --- Scripts ---

  // The link breaks: operations fail, events are not heard, sessions live on. Clients that come now wait.
  void Suspend(ClientId client = kEveryClient);
  // The link is back: in the same session, or in a new one when it expired meanwhile.
  void Resume(ClientId client = kEveryClient);
  // The session ends and its dynamic urls with it. With the link up the client hears of it and gets a new
  // session at once, else at Resume.
  void Expire(ClientId client = kEveryClient);
  // Shuffles the children of a path, by `seed`, and reports a change, as products do that promise no order.
  void Reorder(std::string_view service, Category category, std::uint64_t seed);
  // While on, answers list each child twice.
  void Duplicate(bool on);
  // While on, answers are made but kept back, until released in their order.
  void HoldAnswers(bool on);
  // Lets go the first `count` answers kept back. Returns how many went.
  std::size_t ReleaseAnswers(std::size_t count = ~std::size_t{0});
  // The next `times` operations of this kind, of any client, answer `status`. `carried_out`: they happen all
  // the same, as when only the answer was lost.
  void FailNext(Operation operation, absl::Status status, int times = 1, bool carried_out = false);

  // Operations that clients asked for, failed ones included.
  std::uint64_t operations(Operation operation) const;
  std::vector<ClientId> clients() const;

 private:
  friend class internal::MemoryClient;

  struct Child {
    std::string text;
    std::uint64_t owner = 0;  // the session; 0 = stays
  };
  struct ConfigKey {
    std::string group, key;
    auto operator<=>(const ConfigKey&) const = default;
  };
  struct Session {
    std::shared_ptr<Executor> executor;
    std::weak_ptr<internal::MemoryClient> client;
    std::uint64_t number = 0;  // of the session, grows over the whole store; 0 = none yet
    bool connected = false;
    bool expired = false;  // and the client does not know
    std::set<RegistryKey> watched;
    std::set<ConfigKey> watched_configs;
    bool watches_services = false;
  };
  struct Failure {
    absl::Status status;
    int times = 0;
    bool carried_out = false;
  };
  struct HeldAnswer {
    std::shared_ptr<Executor> executor;
    absl::AnyInvocable<void()> task;
  };
  // What a client's operation comes back with: the operation's own failure or the scripted one.
  struct Outcome {
    absl::Status status;
    bool carried_out = true;
  };

  // For clients. Each answer goes out as a task on the client's executor.
  ClientId Connect(std::shared_ptr<Executor> executor, std::weak_ptr<internal::MemoryClient> client);
  void Disconnect(ClientId client);
  void Put(ClientId client, const RegistryKey& key, std::string text, bool dynamic, Done done);
  void Remove(ClientId client, const RegistryKey& key, const std::string& text, Done done);
  void Read(ClientId client, const RegistryKey& key, Children answer);
  void ReadServices(ClientId client, Names answer);
  void ReadConfig(ClientId client, const std::string& group, const std::string& key, ConfigValue answer);
  void Watch(ClientId client, const RegistryKey& key, bool on);
  void WatchServices(ClientId client, bool on);
  void WatchConfig(ClientId client, const std::string& group, const std::string& key, bool on);

  // REQUIRES: mutex_ held, for all below.
  Outcome Begin(Operation operation, const Session* session);
  Session* Find(ClientId client);
  void Send(const Session& session, absl::AnyInvocable<void()> task);
  void Tell(const Session& session, RegistryBackend::Session event);
  void Changed(const RegistryKey& key);
  void ServicesChanged();
  void StoreChild(const RegistryKey& key, std::string text, std::uint64_t owner);
  void EraseChild(const RegistryKey& key, const std::string& text);
  void EraseOwned(std::uint64_t session);
  void Renew(Session& session);
  template <class F>
  void ForClients(ClientId client, F f);

  mutable std::mutex mutex_;
  std::map<RegistryKey, std::vector<Child>> paths_;
  std::map<ConfigKey, std::string> configs_;
  std::map<ClientId, Session> sessions_;
  ClientId last_client_ = 0;
  std::uint64_t last_session_ = 0;
  bool suspended_ = false;  // for clients to come
  bool duplicates_ = false;
  bool holds_ = false;
  std::deque<HeldAnswer> held_;
  std::map<Operation, std::deque<Failure>> failures_;
  std::map<Operation, std::uint64_t> operations_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_MEMORY_MEMORY_STORE_H_
