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
// Of the registrar's servers.
constexpr std::string_view kOwn = "server";

// The suite's own reading of a url, so that the library's parser is not its own judge. nullopt: none of the suite's.
std::optional<Identity> IdentityOf(const std::string& text) {
  if (!text.starts_with("dubbo://")) return std::nullopt;
  const std::size_t path = text.find('/', 8), stamp = text.find(kStamp);
  if (path == std::string::npos || stamp == std::string::npos) return std::nullopt;
  const std::size_t begin = stamp + kStamp.size();
  return Identity{text.substr(8, path - 8), text.substr(begin, text.find('&', begin) - begin)};
}

bool IsOfAFleet(const Identity& one) { return one.stamp.find_first_not_of("0123456789") == std::string::npos; }

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
  return milliseconds(17000) * (Effort(20) == 1 ? 3 : 1);
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

absl::StatusOr<std::unique_ptr<World>> World::Make(MakeRegistry make, std::uint64_t seed, int fleet) {
  std::unique_ptr<World> world(new World(make(), seed));
  FAIRLEAD_RETURN_IF_ERROR(world->Start(fleet));
  return world;
}

absl::Status World::Start(int fleet) {
  FAIRLEAD_RETURN_IF_ERROR(registry_->Start());
  FAIRLEAD_ASSIGN_OR_RETURN(consumer_link_, registry_->Link(random_.Next()));
  FAIRLEAD_ASSIGN_OR_RETURN(registrar_link_, registry_->Link(random_.Next()));
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
      const Identity own{absl::StrCat("127.0.0.1:", server->port()), std::string(kOwn)};
      FAIRLEAD_ASSIGN_OR_RETURN(
          registrations_.emplace_back(),
          registrar_->Register(registry_->Url(registrar_link_->addresses(), "file-cache=false&resync.period=0"),
                               ProviderUrl(own, service)));
    }
  }
  const auto client = registry_->Client();
  GrowFleet(*client, static_cast<std::size_t>(fleet));

  FAIRLEAD_ASSIGN_OR_RETURN(consumer_, Runtime::Create({.extensions = DefaultExtensions(),
                                                        .seed = random_.Next(),
                                                        .log = log_.sink(),
                                                        .local_address = "127.0.0.1"}));
  const std::string registry = registry_->Url(consumer_link_->addresses(),
                                              "resync.period=0&file.interval=100&file=" + cache_file());
  const auto protocol = std::make_shared<toy::TcpProtocol>();
  for (const char* service : {kOrders, kStock}) {
    FAIRLEAD_ASSIGN_OR_RETURN(
        (service == kOrders ? orders_ : stock_),
        consumer_->Refer(registry, absl::StrCat("consumer://127.0.0.1/", service, "?application=chaos"), protocol));
  }
  if (!TimeUntil([&] { return DirectoriesAreRight(*client) && EntriesAreBack(*client, 0); }, SteadyClock::now())) {
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

void World::ForEachProxy(const std::function<void(FaultProxy&)>& change) {
  consumer_link_->ForEach(change);
  registrar_link_->ForEach(change);
}

void World::ForEachProxyOf(std::size_t server, const std::function<void(FaultProxy&)>& change) {
  change(consumer_link_->proxy(server));
  change(registrar_link_->proxy(server));
}

std::string World::FleetName(const RegistryClient& client, const Identity& member) const {
  return client.NameOf(ProviderUrl(member, kOrders));
}

void World::Add(RegistryClient& client, const Identities& members) {
  std::vector<std::string> texts;
  for (const Identity& member : members) texts.push_back(ProviderUrl(member, kOrders));
  client.Add({kOrders}, texts);
}

void World::GrowFleet(RegistryClient& client, std::size_t by) {
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
  Add(client, fresh);
}

void World::ShrinkFleet(RegistryClient& client, std::size_t by) {
  for (; by > 0 && !fleet_.empty(); --by) {
    const auto gone = std::next(fleet_.begin(), static_cast<std::ptrdiff_t>(random_.Below(fleet_.size())));
    client.Remove({kOrders}, FleetName(client, {gone->first, gone->second}));
    fleet_.erase(gone);
  }
}

void World::RestartInFleet(RegistryClient& client, std::size_t how_many) {
  for (; how_many > 0 && !fleet_.empty(); --how_many) {
    const auto at = std::next(fleet_.begin(), static_cast<std::ptrdiff_t>(random_.Below(fleet_.size())));
    client.Remove({kOrders}, FleetName(client, {at->first, at->second}));
    at->second = std::to_string(++next_stamp_);
    Add(client, {{at->first, at->second}});
  }
}

void World::RestoreFleet(RegistryClient& client) {
  Identities missing;
  for (const auto& [address, stamp] : fleet_) missing.insert({address, stamp});
  for (const Entry& entry : client.Entries({kOrders})) {
    const auto identity = IdentityOf(entry.text);
    if (!identity || !IsOfAFleet(*identity)) continue;
    const auto member = fleet_.find(identity->address);
    if (member == fleet_.end() || member->second != identity->stamp) {
      client.Remove({kOrders}, entry.name);
    } else if (entry.everywhere) {
      missing.erase(*identity);
    }
  }
  Add(client, missing);
}

void World::Mark(RegistryClient& client) {
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

std::vector<Entry> World::Own(RegistryClient& client, const ListName& list) {
  std::vector<Entry> own = client.Entries(list);
  std::erase_if(own, [](const Entry& entry) {
    const auto identity = IdentityOf(entry.text);
    return !identity || identity->stamp != kOwn;
  });
  return own;
}

void World::ExpireConsumer() {
  const auto client = registry_->Client();
  std::vector<RegistryUnderTest::Held> held;
  for (const char* service : {kOrders, kStock}) {
    const ListName list{service, "consumers"};
    for (Entry& entry : client->Entries(list)) held.push_back({list, std::move(entry.name)});
  }
  registry_->Expire(*consumer_link_, held);
}

void World::ExpireRegistrar() {
  const auto client = registry_->Client();
  std::vector<RegistryUnderTest::Held> held;
  for (const char* service : {kOrders, kStock}) {
    for (Entry& entry : Own(*client, {service})) held.push_back({{service}, std::move(entry.name)});
  }
  registry_->Expire(*registrar_link_, held);
}

Identities World::Registered(RegistryClient& client, std::string_view service) {
  Identities registered;
  for (const Entry& entry : client.Entries({service})) {
    if (auto identity = IdentityOf(entry.text)) registered.insert(*std::move(identity));
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

bool World::DirectoriesAreRight(RegistryClient& client) const {
  for (const char* service : {kOrders, kStock}) {
    Identities callable;
    std::size_t all = 0;
    for (const Entry& entry : client.Entries({service})) {
      auto identity = IdentityOf(entry.text);
      if (!identity) continue;
      if (!entry.everywhere) return false;
      ++all;
      if (identity->stamp != kDead) callable.insert(*std::move(identity));
    }
    if (Listed(service) != callable || Of(service)->Explain({}).providers != all) return false;
  }
  return true;
}

bool World::EntriesAreBack(RegistryClient& client, std::int64_t until) const {
  const auto consumer = consumer_link_->session(), registrar = registrar_link_->session();
  if (!consumer || !registrar) return false;
  const auto is_back = [&](const ListName& list, const Entry& entry, std::int64_t owner) {
    return entry.everywhere && entry.expires >= until && client.OwnerOf(list, entry) == owner;
  };
  for (const char* service : {kOrders, kStock}) {
    const std::vector<Entry> own = Own(client, {service});
    if (own.size() != kServers) return false;
    for (const Entry& entry : own) {
      if (!is_back({service}, entry, *registrar)) return false;
    }
    const ListName consumers{service, "consumers"};
    const std::vector<Entry> entries = client.Entries(consumers);
    if (entries.size() != 1 || !is_back(consumers, entries.front(), *consumer)) return false;
  }
  return true;
}

std::string World::Difference(RegistryClient& client) const {
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
    absl::StrAppend(&text, " consumer entries: ", client.Entries({service, "consumers"}).size(), "; own entries:");
    for (const Entry& entry : Own(client, {service})) {
      absl::StrAppend(&text, entry.everywhere ? " of " : " not everywhere, of ",
                      absl::Hex(client.OwnerOf({service}, entry)), " until ", entry.expires);
    }
    absl::StrAppend(&text, "\n");
  }
  return absl::StrCat(text, "the registrar's session: ", absl::Hex(registrar_link_->session().value_or(0)));
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
