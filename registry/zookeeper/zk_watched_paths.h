#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHED_PATHS_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHED_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace fairlead::internal {

// What the library will repeat to the server after a reconnect, in one packet; the server refuses a large
// one.
class ZkWatchedPaths {
 public:
  enum class Kind : std::uint8_t { kNode, kChildren };

  void Add(Kind kind, const std::string& path) {
    if (paths_.emplace(kind, path).second) bytes_ += path.size() + kBytesPerWatch;
  }
  void Remove(Kind kind, const std::string& path) {
    if (paths_.erase({kind, path}) > 0) bytes_ -= path.size() + kBytesPerWatch;
  }
  void Clear() {
    paths_.clear();
    bytes_ = 0;
  }
  std::size_t size() const { return paths_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kBytesPerWatch = 4;  // the length before each path

  std::set<std::pair<Kind, std::string>> paths_;
  std::size_t bytes_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_WATCHED_PATHS_H_
