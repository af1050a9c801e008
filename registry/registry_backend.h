#ifndef FAIRLEAD_REGISTRY_REGISTRY_BACKEND_H_
#define FAIRLEAD_REGISTRY_REGISTRY_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/registry/registry.h"
#include "fairlead/url/url.h"

namespace fairlead {

// One answer about one path. `children` are raw names as stored (percent-encoded for ZooKeeper).
struct ChildrenAnswer {
  std::uint64_t generation = 0;  // of the session that read it; a later session has a larger one
  absl::Status status;           // not OK: nothing is known; a watch keeps trying and another answer follows
  bool missing = false;          // the path does not exist, or is new: it never had a child
  std::vector<std::string> children;
};
using Children = absl::AnyInvocable<void(ChildrenAnswer)>;
using Names = absl::AnyInvocable<void(absl::StatusOr<std::vector<std::string>>)>;
using ConfigValue = absl::AnyInvocable<void(absl::StatusOr<std::optional<std::string>>)>;

// All that a binding to a registry product writes: storing, reading and watching names. It never sees retries
// of operations, matching or caches; FailbackRegistry has those.
//
// Every method is called on the executor and returns at once. Every callback is called on the executor, never
// inside a method of the backend. Answers about one path come in the order in which the product gave them.
// Put, Remove and Read are asked for only while a session is connected; each is answered once, or not at all
// when the session was suspended or lost meanwhile (they are asked for again). Watches may be set at any
// time; one at a time for a path, the services, or a document. After Unwatch no callback of that watch
// follows. Services and raw urls are decoded text; the binding encodes for its product.
//
// Destroyed on the executor after Stop's `done`, or together with an executor that runs nothing any more; the
// destructor calls nothing back.
class RegistryBackend {
 public:
  enum class Session : std::uint8_t {
    kConnected,    // the first session
    kSuspended,    // the link is down; the session may still live
    kReconnected,  // the same session again: what was registered is still there
    kExpired,      // the session is over: what was dynamic is gone
    kNew,          // a new session after an expired one: register and read everything again
  };

  virtual ~RegistryBackend() = default;

  // Begins to connect, and keeps at it until Stop. Called once, before everything else.
  virtual void Start(absl::AnyInvocable<void(Session)> on_session) = 0;

  // Stores one url text. `dynamic`: vanishes with the session. OK when it already stands there as ours.
  virtual void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
                   Done done) = 0;
  // OK when nothing was there.
  virtual void Remove(std::string_view service, Category category, std::string_view url_text, Done done) = 0;

  // Look once: no watch, nothing created.
  virtual void Read(std::string_view service, Category category, Children once) = 0;
  // The full list now and again after each change, until Unwatch, also across sessions.
  virtual void Watch(std::string_view service, Category category, Children on_full_list) = 0;
  virtual void Unwatch(std::string_view service, Category category) = 0;
  // The names of all services now and after each change.
  virtual void WatchServices(Names on_names) = 0;
  virtual void UnwatchServices() = 0;

  // A document of the config center: nullopt = there is none.
  virtual void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) = 0;
  virtual void UnwatchConfig(std::string_view group, std::string_view key) = 0;

  // Which applications offer a service at application level, where the product has Dubbo 3's mapping of services to
  // applications: names joined by commas, empty = none. Looked at once, to tell why an interface has no provider.
  virtual void ReadMapping(std::string_view service, absl::AnyInvocable<void(absl::StatusOr<std::string>)> once) {
    (void)service;
    once(std::string());
  }

  // The opposite of the encoding a child name is stored with: decoded url text, or the raw text where the
  // product stores plain text. Parsing is FailbackRegistry's.
  virtual bool ChildrenAreEncoded() const = 0;

  // For Explain: address without password, session state.
  virtual std::string Describe() const = 0;
  // What it passes over that belongs to no service, as a bad line of a file: each with its place and the reason, without
  // passwords; at most a hundred. Shown with every service of the registry.
  virtual std::vector<std::string> Skipped() const { return {}; }
  // `on_change` is called when Describe or Skipped say something new that no answer tells. Set once, before Start.
  virtual void OnDescriptionChange(absl::AnyInvocable<void()> on_change) { (void)on_change; }
  // Why there is no session and will be none until somebody mends something, as when every server refuses the credentials,
  // and how to mend it. OK while waiting may help. Told by OnDescriptionChange.
  virtual absl::Status Refusal() const { return absl::OkStatus(); }

  // Ends the session (dynamic entries vanish) and every thread. No callback but `done` follows.
  virtual void Stop(Done done) = 0;
};

// What a registry is made with. The executor, clock, pool and logger outlive it.
struct RegistryContext {
  std::shared_ptr<Executor> executor;
  const Clock* clock = nullptr;
  UrlPool* pool = nullptr;
  Logger* log = nullptr;
  std::uint64_t seed = 0;
  // Where the last lists are kept when the registry's url has no `file`; empty: nowhere.
  std::string cache_file = {};
  // Where that file is read and written, which may take as long as the disk likes. Null: `executor`.
  std::shared_ptr<Executor> file_executor = nullptr;
};

// Makes the backend of a registry url's scheme ("zookeeper", "memory" ...). kInvalidArgument for a url it
// cannot read. Called on the executor.
class RegistryFactory {
 public:
  virtual ~RegistryFactory() = default;
  virtual std::string_view scheme() const = 0;
  // Are lists of such a registry worth keeping in a file when nobody asked for one?
  virtual bool CachesByDefault() const { return true; }
  // What of the url, beside address, credentials, backups and group, says which registry it is, as the number of a
  // database: urls that differ in it share neither a connection nor a file of Dubbo's naming. A few plain letters and digits;
  // empty for what Dubbo's default is.
  virtual std::string Place(const Url& registry) const {
    (void)registry;
    return {};
  }
  // Why no registry can be made of `registry`, as Create says it. Asked of each url, also where one of the same place is open
  // already and will be shared.
  virtual absl::Status Check(const Url& registry) const {
    (void)registry;
    return absl::OkStatus();
  }
  virtual absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                                  const RegistryContext& context) = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_BACKEND_H_
