#ifndef FAIRLEAD_TESTS_CHAOS_WORLD_H_
#define FAIRLEAD_TESTS_CHAOS_WORLD_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/log.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/examples/toy_rpc.h"
#include "fairlead/tests/chaos/callers.h"
#include "fairlead/tests/chaos/registry_under_test.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead::chaos {

using SteadyClock = std::chrono::steady_clock;

// How long anything may take that has to come right by itself: a session of 2 s at most, and a generous rest, for a busy
// machine.
std::chrono::milliseconds HealBound();

// Two services. Orders is offered by real TCP servers that our own registrar announces, and by a fleet whose entries the
// suite's own client writes; Stock by the real servers alone, so that with them its whole list goes.
inline constexpr char kOrders[] = "com.acme.Orders";
inline constexpr char kStock[] = "com.acme.Stock";

// The last lines of the library's log, for the report of a failure. Takes bounded memory. Thread-safe.
class LastLines {
 public:
  LogSink sink() const;
  std::vector<std::string> Get() const;

 private:
  struct Lines {
    std::mutex mutex;
    std::deque<std::string> last;
  };
  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

// The stamp of a provider that is registered and never answers, so that a directory keeps it and does not offer it.
inline constexpr std::string_view kDead = "dead";

struct Identity {
  std::string address, stamp;  // the stamp tells one life of a provider from the next
  auto operator<=>(const Identity&) const = default;
};
using Identities = std::set<Identity>;

// Everything that the suite breaks, and the calls that must not notice: a registry; a consumer and a registrar, each a
// Runtime behind proxies of its own; providers; callers. Used from the thread that made it.
class World {
 public:
  static constexpr int kServers = 3;

  // With `fleet` fleet providers. kUnavailable says what did not start.
  static absl::StatusOr<std::unique_ptr<World>> Make(MakeRegistry make, std::uint64_t seed, int fleet);
  // Ends everything in order and waits for it.
  ~World();

  RegistryUnderTest& registry() { return *registry_; }
  RegistryLink& consumer_link() { return *consumer_link_; }
  // Of both links.
  void ForEachProxy(const std::function<void(FaultProxy&)>& change);
  // The proxies before one server.
  void ForEachProxyOf(std::size_t server, const std::function<void(FaultProxy&)>& change);
  Callers& callers() { return *callers_; }
  const LastLines& log() const { return log_; }
  std::string cache_file() const { return files_ / "lists.cache"; }
  std::string path_of(std::string_view file) const { return files_ / file; }

  // The fleet: what the suite wants registered, and the registry with it.
  std::size_t fleet() const { return fleet_.size(); }
  void GrowFleet(RegistryClient& client, std::size_t by);
  void ShrinkFleet(RegistryClient& client, std::size_t by);  // anybody
  void RestartInFleet(RegistryClient& client, std::size_t how_many);  // gone and back, with new stamps
  // The registry lists the fleet, and no former one: whatever lost entries, or found old ones again.
  void RestoreFleet(RegistryClient& client);
  // One comes and one goes, so that a directory that stopped listening is found out.
  void Mark(RegistryClient& client);

  // A real server dies at once and is started again on its port.
  absl::Status RestartServer(int number);
  // What the consumer, or the registrar, has in the registry is taken for dead, though it lives.
  void ExpireConsumer();
  void ExpireRegistrar();

  // What the registry lists now, read by the suite itself; what the consumer's directory lists.
  static Identities Registered(RegistryClient& client, std::string_view service);
  Identities Listed(std::string_view service) const;
  // Both services: the same number of providers, and all that can be called are in either list, at every server.
  bool DirectoriesAreRight(RegistryClient& client) const;
  // All entries of the registrar and the consumer are there, in their present sessions, for no shorter than until `until`,
  // in ms since the epoch.
  bool EntriesAreBack(RegistryClient& client, std::int64_t until) const;
  // For a report.
  std::string Difference(RegistryClient& client) const;
  std::string Explain() const;

 private:
  World(std::unique_ptr<RegistryUnderTest> registry, std::uint64_t seed)
      : random_(seed), registry_(std::move(registry)) {}
  const std::shared_ptr<Directory>& Of(std::string_view service) const { return service == kOrders ? orders_ : stock_; }
  absl::Status Start(int fleet);
  std::string FleetName(const RegistryClient& client, const Identity& member) const;
  void Add(RegistryClient& client, const Identities& members);
  // Entries that the registrar has in a list of providers.
  static std::vector<Entry> Own(RegistryClient& client, const ListName& list);

  Random random_;
  const TempDirectory files_;
  const LastLines log_;
  const std::unique_ptr<RegistryUnderTest> registry_;
  std::unique_ptr<RegistryLink> consumer_link_, registrar_link_;
  std::vector<std::unique_ptr<toy::TcpServer>> servers_;
  std::unique_ptr<toy::TcpServer> fleet_server_;  // answers at every address of the loopback network
  std::uint32_t next_member_ = 0;
  std::uint64_t next_stamp_ = 0;
  std::map<std::string, std::string> fleet_;  // address to stamp
  std::unique_ptr<Runtime> registrar_, consumer_;
  std::vector<Registration> registrations_;
  std::shared_ptr<Directory> orders_, stock_;
  std::unique_ptr<Callers> callers_;
};

// Waits for `wanted`. Returns the time it took since `start`; nullopt when it did not come true within `bound` of now.
std::optional<std::chrono::nanoseconds> TimeUntil(const std::function<bool()>& wanted, SteadyClock::time_point start,
                                                  std::chrono::nanoseconds bound = HealBound());
// Orderly, and waits for it.
void End(std::unique_ptr<Runtime> runtime);

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_WORLD_H_
