#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/tests/chaos/registry_under_test.h"
#include "fairlead/tests/chaos/zk_wire.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "fairlead/url/percent.h"

namespace fairlead::chaos {
namespace {

std::string PathOf(const ListName& list) {
  if (list.service.empty()) return "/dubbo";
  return absl::StrCat("/dubbo/", ToAbsl(list.service), list.category.empty() ? "" : "/", ToAbsl(list.category));
}

class Client final : public RegistryClient {
 public:
  explicit Client(const std::string& address) : zk_(address) {}

  std::vector<Entry> Entries(const ListName& list) override {
    std::vector<Entry> entries;
    for (std::string& node : zk_.Children(PathOf(list)).value_or(std::vector<std::string>())) {
      auto text = PercentDecode(node);
      entries.push_back({std::move(node), text.ok() ? *std::move(text) : std::string()});
    }
    return entries;
  }
  std::int64_t OwnerOf(const ListName& list, const Entry& entry) override {
    return zk_.EphemeralOwner(PathOf(list) + "/" + entry.name);
  }

  std::string NameOf(const std::string& text) const override { return PercentEncode(text); }
  void Add(const ListName& list, const std::vector<std::string>& texts) override {
    const std::string parent = PathOf(list);
    if (!zk_.Exists(parent)) zk_.Create(parent);
    std::vector<std::string> paths;
    for (const std::string& text : texts) paths.push_back(parent + "/" + PercentEncode(text));
    if (paths.size() == 1) return zk_.Create(paths.front());
    zk_.CreateMany(paths);
  }
  void Remove(const ListName& list, const std::string& name) override { zk_.Delete(PathOf(list) + "/" + name); }
  bool Put(const ListName& list, const std::string& name, const std::string& data) override {
    try {
      zk_.Create(PathOf(list) + "/" + name, data);
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  void Delete(const ListName& list) override { zk_.Delete(PathOf(list)); }

 private:
  ZkClient zk_;
};

class Link final : public RegistryLink {
 public:
  absl::Status Open(const ServerProcess& server, std::uint64_t seed) {
    return AddProxy(server, seed, [wire = wire_](std::uint64_t connection, FaultProxy::Way way, std::string_view bytes) {
      wire->Saw(connection, way, bytes);
    });
  }
  std::optional<std::int64_t> session() const override {
    const auto id = wire_->session();
    return id ? std::optional(id->session) : std::nullopt;
  }
  std::uint64_t list_reads() const override { return wire_->list_reads("/providers"); }
  void VanishNotices() override {
    ForEach([](FaultProxy& proxy) { proxy.Vanish(); });
  }
  const ZkWire& wire() const { return *wire_; }

 private:
  const std::shared_ptr<ZkWire> wire_ = std::make_shared<ZkWire>();
};

class Zookeeper final : public RegistryUnderTest {
 public:
  using RegistryUnderTest::Url;

  std::string_view name() const override { return "zookeeper"; }
  std::chrono::milliseconds session() const override { return std::chrono::milliseconds(2000); }
  std::span<ServerProcess* const> servers() override { return servers_; }
  std::string Url(const std::vector<std::string>& addresses, const std::string& parameters) const override {
    return absl::StrCat("zookeeper://", absl::StrJoin(addresses, ","), "?session=", session().count(),
                        "&timeout=30000&", parameters);
  }
  absl::StatusOr<std::unique_ptr<RegistryLink>> Link(std::uint64_t seed) override {
    auto link = std::make_unique<chaos::Link>();
    FAIRLEAD_RETURN_IF_ERROR(link->Open(server_, seed));
    return link;
  }
  std::unique_ptr<RegistryClient> Client() override { return std::make_unique<chaos::Client>(server_.address()); }
  // By a duplicate client that ends the session.
  void Expire(const RegistryLink& owner, const std::vector<Held>&) override {
    const auto session = static_cast<const chaos::Link&>(owner).wire().session();
    if (!session) throw std::runtime_error("no session seen on the wire");
    ExpireSession(server_.address(), *session);
  }

 private:
  ZookeeperServer server_;
  const std::vector<ServerProcess*> servers_{&server_};
};

}  // namespace

std::unique_ptr<RegistryUnderTest> MakeZookeeper() { return std::make_unique<Zookeeper>(); }

}  // namespace fairlead::chaos
