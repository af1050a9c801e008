#ifndef FAIRLEAD_TESTS_CHAOS_REGISTRY_UNDER_TEST_H_
#define FAIRLEAD_TESTS_CHAOS_REGISTRY_UNDER_TEST_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/tests/support/fault_proxy.h"
#include "fairlead/tests/support/server_process.h"

namespace fairlead::chaos {

// One list of a registry. An empty category is all of a service, an empty service is everything.
struct ListName {
  std::string_view service;
  std::string_view category = "providers";
};

// What stands in a list.
struct Entry {
  std::string name;  // as it is stored
  std::string text;  // decoded; empty where that cannot be done
  bool everywhere = true;  // each server that must have it has it
  // When it ends, in ms since the epoch, unless its owner extends it.
  std::int64_t expires = std::numeric_limits<std::int64_t>::max();
};

// The suite's own client, straight at the servers: the providers that are not ours, other people, and the judge. Each call
// waits for its answer; what cannot be done throws std::runtime_error. Not thread-safe.
class RegistryClient {
 public:
  virtual ~RegistryClient() = default;

  // Without those that have expired. Several servers: what stands at any that counts.
  virtual std::vector<Entry> Entries(const ListName& list) = 0;
  // Who holds it: the number of a session; 0 where there are none.
  virtual std::int64_t OwnerOf(const ListName& list, const Entry& entry) = 0;

  // The name under which a url's text is stored.
  virtual std::string NameOf(const std::string& text) const = 0;
  // As lasting providers do it, each by itself; quick also with many.
  virtual void Add(const ListName& list, const std::vector<std::string>& texts) = 0;
  virtual void Remove(const ListName& list, const std::string& name) = 0;
  // Any bytes under any name; `data` instead of what belongs to an entry, unless it is empty. False: the registry itself
  // refuses them.
  virtual bool Put(const ListName& list, const std::string& name, const std::string& data) = 0;
  // Gone without a word to anybody but those whom the registry itself tells.
  virtual void Delete(const ListName& list) = 0;
};

// One Runtime's way to the registry: a proxy before each server, which the suite breaks, and reads along.
class RegistryLink {
 public:
  virtual ~RegistryLink() = default;

  // The session that this Runtime has; 0 where there are none. nullopt: none yet.
  virtual std::optional<std::int64_t> session() const = 0;
  // Requests for lists of providers that went this way.
  virtual std::uint64_t list_reads() const = 0;
  // The peers of the connections on which changes are told vanish.
  virtual void VanishNotices() = 0;

  std::vector<std::string> addresses() const;
  FaultProxy& proxy(std::size_t server) { return *proxies_[server]; }
  void ForEach(const std::function<void(FaultProxy&)>& change);

 protected:
  // The observer is told of connections of one server only: numbers of connections are each proxy's own.
  absl::Status AddProxy(const ServerProcess& server, std::uint64_t seed,
                        std::function<void(std::uint64_t, FaultProxy::Way, std::string_view)> observer);

 private:
  std::vector<std::unique_ptr<FaultProxy>> proxies_;
};

// A registry product as the suite breaks it. All that is said of ZooKeeper or Redis is said behind this.
class RegistryUnderTest {
 public:
  virtual ~RegistryUnderTest() = default;

  virtual std::string_view name() const = 0;
  virtual std::span<ServerProcess* const> servers() = 0;
  // After how long those who are gone are noticed, as every client of the suite asks for it.
  virtual std::chrono::milliseconds session() const = 0;
  // May those who lose the way to one of several servers see another list than all others?
  virtual bool splits() const { return false; }
  // The url for whoever connects to these, one for each server.
  virtual std::string Url(const std::vector<std::string>& addresses, const std::string& parameters) const = 0;
  virtual absl::StatusOr<std::unique_ptr<RegistryLink>> Link(std::uint64_t seed) = 0;
  // Sees the servers that are awake now.
  virtual std::unique_ptr<RegistryClient> Client() = 0;
  // What `owner` holds, which is `entries`, is taken for dead and away, although it lives.
  struct Held {
    ListName list;
    std::string name;
  };
  virtual void Expire(const RegistryLink& owner, const std::vector<Held>& entries) = 0;

  // Reads go on, writes are answered with an error, also the suite's own. Nothing where the product has no such state.
  virtual void RefuseWrites(bool refuse) { static_cast<void>(refuse); }

  absl::Status Start();
  // Straight at the servers.
  std::string Url(const std::string& parameters);
};

using MakeRegistry = std::unique_ptr<RegistryUnderTest> (*)();
std::unique_ptr<RegistryUnderTest> MakeZookeeper();
std::unique_ptr<RegistryUnderTest> MakeRedis();
// Two servers, one before the other; two with the same.
std::unique_ptr<RegistryUnderTest> MakeRedisFailover();
std::unique_ptr<RegistryUnderTest> MakeRedisReplicate();

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_REGISTRY_UNDER_TEST_H_
