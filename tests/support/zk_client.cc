#include "fairlead/tests/support/zk_client.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace fairlead {
namespace {

constexpr std::chrono::seconds kPatience{30};

void Check(int rc, const std::string& what) {
  if (rc != ZOK) throw std::runtime_error(what + ": " + zerror(rc));
}

// The library's chatter about refused connections is expected in tests that stop servers.
void DropLog(const char*) {}

// nullptr: the session is over.
_zhandle* Connect(const std::string& address, int session_ms, const clientid_t* id) {
  _zhandle* const handle =
      zookeeper_init2(address.c_str(), nullptr, session_ms, id, nullptr, ZOO_NO_LOG_CLIENTENV, DropLog);
  if (handle == nullptr) throw std::runtime_error("zookeeper_init failed for " + address);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (zoo_state(handle) != ZOO_CONNECTED_STATE) {
    if (std::chrono::steady_clock::now() > deadline || is_unrecoverable(handle) != ZOK) {
      const int state = zoo_state(handle);
      zookeeper_close(handle);
      if (state == ZOO_EXPIRED_SESSION_STATE) return nullptr;
      throw std::runtime_error("not connected to " + address + ", state " + std::to_string(state));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return handle;
}

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

ZkClient::ZkClient(const std::string& address, const std::string& auth, int session_ms)
    : handle_(Connect(address, session_ms, nullptr)), auth_(auth) {
  if (!auth_.empty()) {
    Check(zoo_add_auth(handle_, "digest", auth_.data(), static_cast<int>(auth_.size()), nullptr, nullptr),
          "auth");
  }
}

ZkClient::~ZkClient() { zookeeper_close(handle_); }

void ZkClient::Create(const std::string& path, std::string_view data, bool ephemeral) {
  CreateAs(path, data, ephemeral, auth_.empty());
}

void ZkClient::CreateOpen(const std::string& path) { CreateAs(path, {}, false, true); }

void ZkClient::CreateAs(const std::string& path, std::string_view data, bool ephemeral, bool open) {
  const ACL_vector* const acl = open ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
  const auto create = [&] {
    return zoo_create(handle_, path.c_str(), data.data() == nullptr ? "" : data.data(),
                      static_cast<int>(data.size()), acl, ephemeral ? ZOO_EPHEMERAL : 0, nullptr, 0);
  };
  int rc = create();
  if (rc == ZNONODE) {
    CreateAs(ParentOf(path), {}, false, open);
    rc = create();
  }
  if (rc == ZNODEEXISTS) {
    Set(path, data);
  } else {
    Check(rc, "create " + path);
  }
}

void ZkClient::CreateMany(const std::vector<std::string>& paths) {
  struct Awaited {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t missing;
    int worst = ZOK;
  } awaited;
  awaited.missing = paths.size();
  for (const std::string& path : paths) {
    Check(zoo_acreate(
              handle_, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0,
              [](int rc, const char*, const void* data) {
                auto& all = *static_cast<Awaited*>(const_cast<void*>(data));
                const std::lock_guard lock(all.mutex);
                if (rc != ZOK) all.worst = rc;
                --all.missing;
                all.changed.notify_one();
              },
              &awaited),
          "create " + path);
  }
  // Without a limit: the completions write to this frame, and the library calls every one of them.
  std::unique_lock lock(awaited.mutex);
  awaited.changed.wait(lock, [&] { return awaited.missing == 0; });
  Check(awaited.worst, "create many");
}

void ZkClient::Set(const std::string& path, std::string_view data) {
  Check(zoo_set(handle_, path.c_str(), data.data() == nullptr ? "" : data.data(),
                static_cast<int>(data.size()), -1),
        "set " + path);
}

void ZkClient::Delete(const std::string& path) {
  for (;;) {
    const int rc = zoo_delete(handle_, path.c_str(), -1);
    if (rc == ZOK || rc == ZNONODE) return;
    if (rc != ZNOTEMPTY) Check(rc, "delete " + path);
    const auto children = Children(path);
    if (!children) return;
    for (const std::string& child : *children) Delete((path == "/" ? "" : path) + "/" + child);
  }
}

void ZkClient::Load(const std::vector<ZkTreeNode>& tree) {
  for (const ZkTreeNode& node : tree) Create(node.path, node.data, node.ephemeral);
}

bool ZkClient::Exists(const std::string& path) {
  const int rc = zoo_exists(handle_, path.c_str(), 0, nullptr);
  if (rc == ZNONODE) return false;
  Check(rc, "exists " + path);
  return true;
}

std::optional<std::string> ZkClient::Get(const std::string& path) {
  std::string buffer(1 << 20, '\0');
  int size = static_cast<int>(buffer.size());
  const int rc = zoo_get(handle_, path.c_str(), 0, buffer.data(), &size, nullptr);
  if (rc == ZNONODE) return std::nullopt;
  Check(rc, "get " + path);
  buffer.resize(static_cast<std::size_t>(std::max(size, 0)));
  return buffer;
}

std::optional<std::vector<std::string>> ZkClient::Children(const std::string& path) {
  String_vector names{};
  const int rc = zoo_get_children(handle_, path.c_str(), 0, &names);
  if (rc == ZNONODE) return std::nullopt;
  Check(rc, "children of " + path);
  std::vector<std::string> children(names.data, names.data + names.count);
  deallocate_String_vector(&names);
  std::sort(children.begin(), children.end());
  return children;
}

std::int64_t ZkClient::EphemeralOwner(const std::string& path) {
  Stat stat{};
  const int rc = zoo_exists(handle_, path.c_str(), 0, &stat);
  if (rc == ZNONODE) return 0;
  Check(rc, "exists " + path);
  return stat.ephemeralOwner;
}

std::string ZkClient::Acl(const std::string& path) {
  ACL_vector acl{};
  Stat stat{};
  Check(zoo_get_acl(handle_, path.c_str(), &acl, &stat), "acl of " + path);
  std::string text;
  for (int i = 0; i < acl.count; ++i) {
    if (i > 0) text += ",";
    text += std::string(acl.data[i].id.scheme) + ":" + acl.data[i].id.id + ":" +
            std::to_string(acl.data[i].perms);
  }
  deallocate_ACL_vector(&acl);
  return text;
}

ZkClientId ZkClient::id() const {
  const clientid_t& own = *zoo_client_id(handle_);
  ZkClientId id;
  id.session = own.client_id;
  std::memcpy(id.password.data(), own.passwd, id.password.size());
  return id;
}

void ExpireSession(const std::string& address, const ZkClientId& id) {
  clientid_t twin{};
  twin.client_id = id.session;
  std::memcpy(twin.passwd, id.password.data(), id.password.size());
  while (_zhandle* const handle = Connect(address, 4000, &twin)) zookeeper_close(handle);
}

std::vector<ZkTreeNode> ReadDubboTree(std::string_view scenario) {
  std::ifstream in(FAIRLEAD_TEST_DATA "/data/dubbo_zookeeper_tree.json");
  const nlohmann::json all = nlohmann::json::parse(in);
  for (const auto& candidate : all.at("scenarios")) {
    if (candidate.at("name").get<std::string>() != scenario) continue;
    std::vector<ZkTreeNode> tree;
    for (const auto& node : candidate.at("znodes")) {
      tree.push_back({node.at("path"), node.at("data"), node.at("ephemeral")});
    }
    return tree;
  }
  throw std::runtime_error("no scenario " + std::string(scenario));
}

}  // namespace fairlead
