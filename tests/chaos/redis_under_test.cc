#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/clock.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/tests/chaos/redis_wire.h"
#include "fairlead/tests/chaos/registry_under_test.h"
#include "fairlead/tests/support/redis_server.h"

namespace fairlead::chaos {
namespace {

// The fleet's entries last until the suite takes them away: its providers are there to come and go when it says so.
constexpr std::int64_t kLastingMs = 24 * 3600 * 1000;

std::string KeyOf(const ListName& list) {
  return absl::StrCat("/dubbo/", ToAbsl(list.service), "/", ToAbsl(list.category));
}

void MustBeFine(const std::string& answer) {
  if (answer.starts_with("(error)")) throw std::runtime_error("Redis: " + answer);
}

// Writes to, and reads, every server that counts.
class Client final : public RegistryClient {
 public:
  explicit Client(const std::vector<const ServerProcess*>& servers) {
    for (const ServerProcess* const server : servers) {
      redis_.push_back(std::make_unique<RedisTestClient>(server->port()));
      MustBeFine(redis_.back()->Ask({"PING"}));
    }
    if (redis_.empty()) throw std::runtime_error("no Redis server is awake");
  }

  std::vector<Entry> Entries(const ListName& list) override {
    std::map<std::string, Entry> all;
    std::map<std::string, std::size_t> seen;
    const std::int64_t now = RealClock().SystemMillis();
    for (const auto& redis : redis_) {
      const auto fields = redis->AskAll({"HGETALL", KeyOf(list)});
      if (fields.size() == 1) MustBeFine(fields.front());
      for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
        const std::string& value = fields[i + 1];
        std::int64_t expires = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), expires);
        // Of no time: still something that stands there.
        if (read.ec != std::errc() || read.ptr != value.data() + value.size()) expires = now;
        if (expires < now) continue;
        Entry& entry = all.try_emplace(fields[i], Entry{fields[i], fields[i]}).first->second;
        entry.expires = std::min(entry.expires, expires);
        ++seen[fields[i]];
      }
    }
    std::vector<Entry> entries;
    for (auto& [name, entry] : all) {
      entry.everywhere = seen[name] == redis_.size();
      entries.push_back(std::move(entry));
    }
    return entries;
  }
  std::int64_t OwnerOf(const ListName&, const Entry&) override { return 0; }

  std::string NameOf(const std::string& text) const override { return text; }
  void Add(const ListName& list, const std::vector<std::string>& texts) override {
    const std::string key = KeyOf(list), expires = std::to_string(RealClock().SystemMillis() + kLastingMs);
    std::vector<std::vector<std::string>> commands;
    for (const std::string& text : texts) {
      commands.push_back({"HSET", key, text, expires});
      commands.push_back({"PUBLISH", key, "register"});
    }
    Do(commands);
  }
  void Remove(const ListName& list, const std::string& name) override {
    Do({{"HDEL", KeyOf(list), name}, {"PUBLISH", KeyOf(list), "unregister"}});
  }
  bool Put(const ListName& list, const std::string& name, const std::string& data) override {
    const std::string value = data.empty() ? std::to_string(RealClock().SystemMillis() + kLastingMs) : data;
    Do({{"HSET", KeyOf(list), name, value}, {"PUBLISH", KeyOf(list), "register"}});
    return true;
  }
  void Delete(const ListName& list) override {
    if (list.service.empty()) return Do({{"FLUSHALL"}});
    if (!list.category.empty()) return Do({{"DEL", KeyOf(list)}});
    for (const char* category : {"providers", "consumers", "configurators", "routers"}) {
      Do({{"DEL", KeyOf({list.service, category})}});
    }
  }

 private:
  void Do(const std::vector<std::vector<std::string>>& commands) {
    for (const auto& redis : redis_) MustBeFine(redis->AskMany(commands));
  }

  std::vector<std::unique_ptr<RedisTestClient>> redis_;
};

class Link final : public RegistryLink {
 public:
  absl::Status Open(std::span<ServerProcess* const> servers, std::uint64_t seed) {
    for (const ServerProcess* const server : servers) {
      const auto& wire = wires_.emplace_back(std::make_shared<RedisWire>());
      FAIRLEAD_RETURN_IF_ERROR(
          AddProxy(*server, seed++, [wire](std::uint64_t connection, FaultProxy::Way way, std::string_view bytes) {
            wire->Saw(connection, way, bytes);
          }));
    }
    return absl::OkStatus();
  }
  std::optional<std::int64_t> session() const override { return 0; }
  std::uint64_t list_reads() const override {
    std::uint64_t sum = 0;
    for (const auto& wire : wires_) sum += wire->list_reads("/providers");
    return sum;
  }
  void VanishNotices() override {
    for (std::size_t i = 0; i < wires_.size(); ++i) {
      proxy(i).Vanish([&wire = *wires_[i]](std::uint64_t connection) { return wire.subscribed(connection); });
    }
  }

 private:
  std::vector<std::shared_ptr<RedisWire>> wires_;  // one for each server
};

class Redis final : public RegistryUnderTest {
 public:
  using RegistryUnderTest::Url;

  // `cluster`: empty: one server.
  Redis(std::string_view name, std::string_view cluster) : name_(name), cluster_(cluster) {
    for (std::size_t i = 0; i < (cluster.empty() ? 1 : 2); ++i) {
      processes_.push_back(std::make_unique<RedisServer>());
      servers_.push_back(processes_.back().get());
    }
  }

  std::string_view name() const override { return name_; }
  std::chrono::milliseconds session() const override { return std::chrono::milliseconds(1000); }
  bool splits() const override { return cluster_ == "failover"; }
  std::span<ServerProcess* const> servers() override { return servers_; }
  // The library's own patience is for a session of a minute.
  std::string Url(const std::vector<std::string>& addresses, const std::string& parameters) const override {
    const auto patience = session().count() * 2 / 3;
    std::string url = absl::StrCat("redis://", addresses.front(), "?session=", session().count(), "&timeout=30000",
                                   "&so.timeout=", patience, "&connection.timeout=", patience,
                                   "&reconnect.period=", patience, "&", parameters);
    if (!cluster_.empty()) {
      absl::StrAppend(&url, "&cluster=", ToAbsl(cluster_), "&backup=",
                      absl::StrJoin(addresses.begin() + 1, addresses.end(), ","));
    }
    return url;
  }
  absl::StatusOr<std::unique_ptr<RegistryLink>> Link(std::uint64_t seed) override {
    auto link = std::make_unique<chaos::Link>();
    FAIRLEAD_RETURN_IF_ERROR(link->Open(servers_, seed));
    return link;
  }
  // As every writer does: to the first server that works, or to all that do.
  std::unique_ptr<RegistryClient> Client() override {
    std::vector<const ServerProcess*> counted;
    for (const ServerProcess* const server : servers_) {
      if (server->awake() && (counted.empty() || cluster_ == "replicate")) counted.push_back(server);
    }
    return std::make_unique<chaos::Client>(counted);
  }
  // By an admin whose clock is far ahead, as Dubbo's cleans.
  void Expire(const RegistryLink&, const std::vector<Held>& entries) override {
    const auto client = Client();
    for (const Held& entry : entries) client->Remove(entry.list, entry.name);
  }
  // Out of memory, which Redis has in common with a full disk and a replica.
  void RefuseWrites(bool refuse) override {
    for (const ServerProcess* const server : servers_) {
      MustBeFine(RedisTestClient(server->port()).Ask({"CONFIG", "SET", "maxmemory", refuse ? "1" : "0"}));
    }
  }

 private:
  const std::string_view name_, cluster_;
  std::vector<std::unique_ptr<RedisServer>> processes_;
  std::vector<ServerProcess*> servers_;
};

}  // namespace

std::unique_ptr<RegistryUnderTest> MakeRedis() { return std::make_unique<Redis>("redis", ""); }
std::unique_ptr<RegistryUnderTest> MakeRedisFailover() { return std::make_unique<Redis>("redis-failover", "failover"); }
std::unique_ptr<RegistryUnderTest> MakeRedisReplicate() {
  return std::make_unique<Redis>("redis-replicate", "replicate");
}

}  // namespace fairlead::chaos
