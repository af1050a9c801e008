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
#include <vector>

#include "fairlead/base/log.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/examples/toy_rpc.h"
#include "fairlead/tests/chaos/callers.h"
#include "fairlead/tests/chaos/zk_wire.h"
#include "fairlead/tests/support/fault_proxy.h"
#include "fairlead/tests/support/temp_directory.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead::chaos {

using SteadyClock = std::chrono::steady_clock;

// Asked for by every client of the suite; the server grants up to 4 s.
inline constexpr std::chrono::milliseconds kSession{2000};
// How long anything may take that has to come right by itself: a session and a generous rest, for a busy machine.
std::chrono::milliseconds HealBound();

// Two services. Orders is offered by real TCP servers that our own registrar announces, and by a fleet whose nodes a raw
// client writes; Stock by the real servers alone, so that with them its whole list goes.
inline constexpr char kOrders[] = "com.acme.Orders";
inline constexpr char kStock[] = "com.acme.Stock";

// A registry's server with the proxy that stands before it, and the words for its url.
struct RegistryLink {
  std::shared_ptr<ZkWire> wire;
  std::unique_ptr<FaultProxy> proxy;

  static absl::StatusOr<RegistryLink> To(const ZookeeperServer& server, std::uint64_t seed);
  std::string Url(const std::string& parameters) const;
};

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

// Everything that the suite breaks, and the calls that must not notice: a ZooKeeper server; a consumer and a registrar,
// each a Runtime behind a proxy of its own; providers; callers. Used from the thread that made it.
class World {
 public:
  static constexpr int kServers = 3;

  // With `fleet` fleet providers. kUnavailable says what did not start.
  static absl::StatusOr<std::unique_ptr<World>> Make(std::uint64_t seed, int fleet);
  // Ends everything in order and waits for it.
  ~World();

  ZookeeperServer& server() { return server_; }
  RegistryLink& consumer_link() { return consumer_link_; }
  RegistryLink& registrar_link() { return registrar_link_; }
  // Both of them.
  void ForEachLink(const std::function<void(FaultProxy&)>& change);
  Callers& callers() { return *callers_; }
  const LastLines& log() const { return log_; }
  std::string cache_file() const { return files_ / "lists.cache"; }

  // A client of the suite's own, straight at the server.
  std::unique_ptr<ZkClient> Client() const { return std::make_unique<ZkClient>(server_.address()); }
  static std::string PathOf(std::string_view service, std::string_view category = "providers");

  // The fleet: what the suite wants registered, and the registry with it.
  std::size_t fleet() const { return fleet_.size(); }
  void GrowFleet(ZkClient& client, std::size_t by);
  void ShrinkFleet(ZkClient& client, std::size_t by);  // anybody
  void RestartInFleet(ZkClient& client, std::size_t how_many);  // gone and back, with new stamps
  // Writes all nodes of the fleet that are not there.
  void RestoreFleet(ZkClient& client);
  // One comes and one goes, so that a directory that stopped listening is found out.
  void Mark(ZkClient& client);

  // A real server dies at once and is started again on its port.
  absl::Status RestartServer(int number);
  int first_server_port() const { return servers_.front()->port(); }

  // What the registry lists now, read by the suite itself; what the consumer's directory lists.
  static Identities Registered(ZkClient& client, std::string_view service);
  Identities Listed(std::string_view service) const;
  // Both services: the same number of providers, and all that can be called are in either list.
  bool DirectoriesAreRight(ZkClient& client) const;
  // All nodes of the registrar and the consumer are there, in their present sessions.
  bool NodesAreBack(ZkClient& client) const;
  // For a report.
  std::string Difference(ZkClient& client) const;
  std::string Explain() const;

 private:
  explicit World(std::uint64_t seed) : random_(seed) {}
  const std::shared_ptr<Directory>& Of(std::string_view service) const { return service == kOrders ? orders_ : stock_; }
  absl::Status Start(int fleet);
  std::string FleetPath(const Identity& member) const;
  void Create(ZkClient& client, const Identities& members);

  Random random_;
  const TempDirectory files_;
  const LastLines log_;
  ZookeeperServer server_;
  RegistryLink consumer_link_, registrar_link_;
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
