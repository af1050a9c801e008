#include "fairlead/tests/chaos/world.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/url/percent.h"

namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;

constexpr int kCallers = 8;
constexpr std::size_t kKeptLines = 40;
constexpr std::string_view kStamp = "stamp=";
// There are a hundred of them in a garbage round, and they say nothing about anything else.
constexpr std::string_view kSkippedChild = "FL-1-2";

// The suite's own reading of a url, so that the library's parser is not its own judge. nullopt: none of the suite's.
std::optional<Identity> IdentityOf(const std::string& node) {
  const auto decoded = PercentDecode(node);
  if (!decoded.ok() || !decoded->starts_with("dubbo://")) return std::nullopt;
  const std::size_t path = decoded->find('/', 8), stamp = decoded->find(kStamp);
  if (path == std::string::npos || stamp == std::string::npos) return std::nullopt;
  const std::size_t begin = stamp + kStamp.size();
  return Identity{decoded->substr(8, path - 8), decoded->substr(begin, decoded->find('&', begin) - begin)};
}

std::string ProviderUrl(const Identity& member, std::string_view service) {
  return absl::StrCat("dubbo://", member.address, "/", ToAbsl(service), "?interface=", ToAbsl(service), "&",
                      ToAbsl(kStamp), member.stamp);
}

toy::TcpServer::Handler Answer() {
  return [](const toy::TcpServer::Request& request) { return std::string(request.argument); };
}

}  // namespace

milliseconds HealBound() {
  // Effort(20) is 1 under a sanitizer.
  return (kSession + milliseconds(15000)) * (Effort(20) == 1 ? 3 : 1);
}

absl::StatusOr<RegistryLink> RegistryLink::To(const ZookeeperServer& server, std::uint64_t seed) {
  RegistryLink link;
  link.wire = std::make_shared<ZkWire>();
  FAIRLEAD_ASSIGN_OR_RETURN(
      link.proxy, FaultProxy::Start({.target_port = server.port(),
                                     .seed = seed,
                                     .half_close = false,
                                     .observer = [wire = link.wire](std::uint64_t connection, FaultProxy::Way way,
                                                                    std::string_view bytes) {
                                       wire->Saw(connection, way, bytes);
                                     }}));
  return link;
}

std::string RegistryLink::Url(const std::string& parameters) const {
  return absl::StrCat("zookeeper://127.0.0.1:", proxy->port(), "?session=", kSession.count(), "&timeout=30000&",
                      parameters);
}

LogSink LastLines::sink() const {
  return [lines = lines_](const LogRecord& record) {
    if (record.code == kSkippedChild) return;
    const std::lock_guard lock(lines->mutex);
    if (lines->last.size() == kKeptLines) lines->last.pop_front();
    lines->last.push_back(absl::StrCat(ToAbsl(record.code), " ", ToAbsl(record.subject), ": ",
                                       ToAbsl(record.text).substr(0, 300)));
  };
}

std::vector<std::string> LastLines::Get() const {
  const std::lock_guard lock(lines_->mutex);
  return {lines_->last.begin(), lines_->last.end()};
}

absl::StatusOr<std::unique_ptr<World>> World::Make(std::uint64_t seed, int fleet) {
  std::unique_ptr<World> world(new World(seed));
  FAIRLEAD_RETURN_IF_ERROR(world->Start(fleet));
  return world;
}

absl::Status World::Start(int fleet) {
  FAIRLEAD_RETURN_IF_ERROR(server_.Start());
  FAIRLEAD_ASSIGN_OR_RETURN(consumer_link_, RegistryLink::To(server_, random_.Next()));
  FAIRLEAD_ASSIGN_OR_RETURN(registrar_link_, RegistryLink::To(server_, random_.Next()));
  for (int i = 0; i < kServers; ++i) {
    FAIRLEAD_ASSIGN_OR_RETURN(servers_.emplace_back(), toy::TcpServer::Start({}, Answer()));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(fleet_server_, toy::TcpServer::Start({.host = "0.0.0.0"}, Answer()));

  FAIRLEAD_ASSIGN_OR_RETURN(registrar_, Runtime::Create({.extensions = DefaultExtensions(),
                                                         .seed = random_.Next(),
                                                         .log = log_.sink(),
                                                         .local_address = "127.0.0.1"}));
  // Without the periodic look, which would hide that an event was lost.
  for (const auto& server : servers_) {
    for (const char* service : {kOrders, kStock}) {
      const Identity own{absl::StrCat("127.0.0.1:", server->port()), "server"};
      FAIRLEAD_ASSIGN_OR_RETURN(
          registrations_.emplace_back(),
          registrar_->Register(registrar_link_.Url("file-cache=false&resync.period=0"),
                               ProviderUrl(own, service)));
    }
  }
  GrowFleet(*Client(), static_cast<std::size_t>(fleet));

  FAIRLEAD_ASSIGN_OR_RETURN(consumer_, Runtime::Create({.extensions = DefaultExtensions(),
                                                        .seed = random_.Next(),
                                                        .log = log_.sink(),
                                                        .local_address = "127.0.0.1"}));
  const std::string registry = consumer_link_.Url(
      "resync.period=0&file.interval=100&file=" + cache_file());
  const auto protocol = std::make_shared<toy::TcpProtocol>();
  for (const char* service : {kOrders, kStock}) {
    FAIRLEAD_ASSIGN_OR_RETURN(
        (service == kOrders ? orders_ : stock_),
        consumer_->Refer(registry, absl::StrCat("consumer://127.0.0.1/", service, "?application=chaos"), protocol));
  }
  const auto client = Client();
  if (!TimeUntil([&] { return DirectoriesAreRight(*client) && NodesAreBack(*client); }, SteadyClock::now())) {
    return absl::UnavailableError("the world did not come up: " + Difference(*client) + "\n" + Explain());
  }
  callers_ = std::make_unique<Callers>(std::vector{orders_, stock_}, kCallers);
  return absl::OkStatus();
}

World::~World() {
  callers_ = nullptr;
  orders_ = stock_ = nullptr;
  registrations_.clear();
  End(std::move(consumer_));
  End(std::move(registrar_));
}

void World::ForEachLink(const std::function<void(FaultProxy&)>& change) {
  change(*consumer_link_.proxy);
  change(*registrar_link_.proxy);
}

std::string World::PathOf(std::string_view service, std::string_view category) {
  return absl::StrCat("/dubbo/", ToAbsl(service), "/", ToAbsl(category));
}

std::string World::FleetPath(const Identity& member) const {
  return PathOf(kOrders) + "/" + PercentEncode(ProviderUrl(member, kOrders));
}

void World::Create(ZkClient& client, const Identities& members) {
  if (!client.Exists(PathOf(kOrders))) client.Create(PathOf(kOrders));
  std::vector<std::string> paths;
  for (const Identity& member : members) paths.push_back(FleetPath(member));
  client.CreateMany(paths);
}

void World::GrowFleet(ZkClient& client, std::size_t by) {
  Identities fresh;
  for (std::size_t i = 0; i < by; ++i) {
    // An address of its own, answered by the one socket that listens on all of them.
    const std::uint32_t number = next_member_++;
    Identity member{absl::StrCat("127.", 1 + number / 62500 % 250, ".", number / 250 % 250, ".", 1 + number % 250, ":",
                                 fleet_server_->port()),
                    std::to_string(++next_stamp_)};
    fleet_.emplace(member.address, member.stamp);
    fresh.insert(std::move(member));
  }
  Create(client, fresh);
}

void World::ShrinkFleet(ZkClient& client, std::size_t by) {
  for (; by > 0 && !fleet_.empty(); --by) {
    const auto gone = std::next(fleet_.begin(), static_cast<std::ptrdiff_t>(random_.Below(fleet_.size())));
    client.Delete(FleetPath({gone->first, gone->second}));
    fleet_.erase(gone);
  }
}

void World::RestartInFleet(ZkClient& client, std::size_t how_many) {
  for (; how_many > 0 && !fleet_.empty(); --how_many) {
    const auto at = std::next(fleet_.begin(), static_cast<std::ptrdiff_t>(random_.Below(fleet_.size())));
    client.Delete(FleetPath({at->first, at->second}));
    at->second = std::to_string(++next_stamp_);
    client.Create(FleetPath({at->first, at->second}));
  }
}

void World::RestoreFleet(ZkClient& client) {
  Identities missing;
  const Identities there = Registered(client, kOrders);
  for (const auto& [address, stamp] : fleet_) {
    if (!there.contains({address, stamp})) missing.insert({address, stamp});
  }
  Create(client, missing);
}

void World::Mark(ZkClient& client) {
  GrowFleet(client, 1);
  ShrinkFleet(client, 1);
}

absl::Status World::RestartServer(int number) {
  auto& server = servers_[static_cast<std::size_t>(number)];
  const std::uint16_t port = server->port();
  server = nullptr;
  FAIRLEAD_ASSIGN_OR_RETURN(server, toy::TcpServer::Start({.port = port}, Answer()));
  return absl::OkStatus();
}

Identities World::Registered(ZkClient& client, std::string_view service) {
  Identities registered;
  for (const std::string& node : client.Children(PathOf(service)).value_or(std::vector<std::string>())) {
    if (auto identity = IdentityOf(node)) registered.insert(*std::move(identity));
  }
  return registered;
}

Identities World::Listed(std::string_view service) const {
  Identities listed;
  for (const Url& url : Of(service)->List({})) {
    listed.insert({url.Address(), std::string(url.Param("stamp"))});
  }
  return listed;
}

bool World::DirectoriesAreRight(ZkClient& client) const {
  for (const char* service : {kOrders, kStock}) {
    Identities registered = Registered(client, service);
    const std::size_t all = registered.size();
    std::erase_if(registered, [](const Identity& one) { return one.stamp == kDead; });
    if (Listed(service) != registered || Of(service)->Explain({}).providers != all) return false;
  }
  return true;
}

bool World::NodesAreBack(ZkClient& client) const {
  const auto consumer = consumer_link_.wire->session(), registrar = registrar_link_.wire->session();
  if (!consumer || !registrar) return false;
  for (const char* service : {kOrders, kStock}) {
    const std::string providers = PathOf(service), consumers = PathOf(service, "consumers");
    int own = 0;
    for (const std::string& node : client.Children(providers).value_or(std::vector<std::string>())) {
      const auto identity = IdentityOf(node);
      if (!identity || identity->stamp != "server") continue;
      own += client.EphemeralOwner(providers + "/" + node) == registrar->session ? 1 : 0;
    }
    if (own != kServers) return false;
    const auto nodes = client.Children(consumers).value_or(std::vector<std::string>());
    if (nodes.size() != 1 || client.EphemeralOwner(consumers + "/" + nodes.front()) != consumer->session) return false;
  }
  return true;
}

std::string World::Difference(ZkClient& client) const {
  std::string text;
  for (const char* service : {kOrders, kStock}) {
    const Identities registered = Registered(client, service), listed = Listed(service);
    const PickTrace trace = Of(service)->Explain({}, PickTrace::Detail::kAll);
    absl::StrAppend(&text, service, ": ", registered.size(), " registered, ", listed.size(), " listed, ",
                    trace.providers, " known;");
    for (const PickTrace::ProviderLine& line : trace.all) {
      if (line.down || !line.removed_by.empty()) absl::StrAppend(&text, " not offered ", line.url.substr(0, 100));
    }
    int shown = 0;
    for (const Identity& one : registered) {
      if (!listed.contains(one) && ++shown <= 3) absl::StrAppend(&text, " missing ", one.address, " ", one.stamp);
    }
    shown = 0;
    for (const Identity& one : listed) {
      if (!registered.contains(one) && ++shown <= 3) absl::StrAppend(&text, " too much ", one.address, " ", one.stamp);
    }
    const auto nodes = client.Children(PathOf(service, "consumers")).value_or(std::vector<std::string>());
    absl::StrAppend(&text, " consumer nodes: ", nodes.size(), "; owners of the servers' nodes:");
    for (const std::string& node : client.Children(PathOf(service)).value_or(std::vector<std::string>())) {
      const auto identity = IdentityOf(node);
      if (!identity || identity->stamp != "server") continue;
      absl::StrAppend(&text, " ", absl::Hex(client.EphemeralOwner(PathOf(service) + "/" + node)));
    }
    absl::StrAppend(&text, "\n");
  }
  const auto registrar = registrar_link_.wire->session();
  return absl::StrCat(text, "the registrar's session: ", absl::Hex(registrar ? registrar->session : 0));
}

std::string World::Explain() const {
  std::string text;
  for (const auto& directory : {orders_, stock_}) {
    if (directory == nullptr) continue;
    PickTrace trace = directory->Explain({});
    trace.skipped.resize(std::min<std::size_t>(trace.skipped.size(), 3));
    text += trace.ToString();
  }
  return text;
}

std::optional<std::chrono::nanoseconds> TimeUntil(const std::function<bool()>& wanted, SteadyClock::time_point start,
                                                  std::chrono::nanoseconds bound) {
  const auto deadline = SteadyClock::now() + bound;
  while (!wanted()) {
    if (SteadyClock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return SteadyClock::now() - start;
}

void End(std::unique_ptr<Runtime> runtime) {
  if (runtime == nullptr) return;
  std::promise<void> over;
  runtime->Shutdown(std::chrono::seconds(5), [&](absl::Status) { over.set_value(); });
  over.get_future().wait();
}

}  // namespace fairlead::chaos
