#ifndef FAIRLEAD_TESTS_SUPPORT_ZK_CLIENT_H_
#define FAIRLEAD_TESTS_SUPPORT_ZK_CLIENT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace fairlead {

// A node of a tree to load: path and data byte for byte.
struct ZkTreeNode {
  std::string path;
  std::string data;
  bool ephemeral = false;
};

// Who may prove to be a session's owner.
struct ZkClientId {
  std::int64_t session = 0;
  std::array<char, 16> password{};
};

// The other side of a test: changes and looks at a server's tree, each call waiting for its answer. What
// cannot be done throws std::runtime_error, which fails the test. Not thread-safe.
class ZkClient {
 public:
  // Waits until connected. `auth` is empty or "user:password" (digest); what is created then is for that user
  // only.
  explicit ZkClient(const std::string& address, const std::string& auth = {}, int session_ms = 4000);
  ~ZkClient();
  ZkClient(const ZkClient&) = delete;
  ZkClient& operator=(const ZkClient&) = delete;

  // Missing parents are created, persistent and empty. An existing node keeps its kind and gets the data.
  void Create(const std::string& path, std::string_view data = {}, bool ephemeral = false);
  // The same for everybody, also from a client with `auth`.
  void CreateOpen(const std::string& path);
  // Creates many nodes quickly: all requests are sent, then awaited. The parents must exist.
  void CreateMany(const std::vector<std::string>& paths);
  void Set(const std::string& path, std::string_view data);
  // With everything below; nothing happens when it is not there.
  void Delete(const std::string& path);
  void Load(const std::vector<ZkTreeNode>& tree);

  bool Exists(const std::string& path);
  std::optional<std::string> Get(const std::string& path);                    // nullopt: no such node
  std::optional<std::vector<std::string>> Children(const std::string& path);  // sorted; nullopt: no such node
  std::int64_t EphemeralOwner(const std::string& path);                       // 0: persistent or no such node
  std::string Acl(const std::string& path);                                   // "scheme:id:permissions,..."

  ZkClientId id() const;

 private:
  void CreateAs(const std::string& path, std::string_view data, bool ephemeral, bool open);

  _zhandle* handle_ = nullptr;
  std::string auth_;
};

// Ends another client's session at the server: joins it under its id and closes it, as often as it takes, for the
// other client joins again meanwhile.
void ExpireSession(const std::string& address, const ZkClientId& id);

// The znodes of one scenario of tests/data/dubbo_zookeeper_tree.json, in order: parents first.
std::vector<ZkTreeNode> ReadDubboTree(std::string_view scenario);

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_ZK_CLIENT_H_
