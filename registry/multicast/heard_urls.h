#ifndef FAIRLEAD_REGISTRY_MULTICAST_HEARD_URLS_H_
#define FAIRLEAD_REGISTRY_MULTICAST_HEARD_URLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

// What others have announced of the services that somebody here asks for. There is a limit, as anybody may announce. Not
// thread-safe.
class HeardUrls {
 public:
  static constexpr std::size_t kMost = 100'000;
  enum class Added { kNews, kKnown, kFull };

  struct Heard {
    std::string text;
    std::int64_t timestamp = 0;
    std::string host;  // of the one who may be probed; empty: nobody
    std::uint16_t port = 0;
    Clock::SteadyTime lives_at;  // was heard of, or answered a probe, last
    bool probing = false;
    Timer second_try;
  };
  using List = std::map<std::string, Heard, std::less<>>;  // by identity

  // A later life replaces an earlier one, and never the other way round: datagrams overtake each other.
  Added Add(const HeardUrl& url, Clock::SteadyTime now);
  // False when there was no such url, or a later life of it is known.
  bool Remove(const HeardUrl& url);
  // Nobody has said that it is gone.
  void Drop(const RegistryKey& key, const std::string& identity);
  void Forget(const std::string& service);

  void AddTo(const RegistryKey& key, NewestUrls& urls) const;
  void AddServicesTo(std::set<std::string>& services) const;
  List* Find(const RegistryKey& key);
  Heard* Find(const RegistryKey& key, const std::string& identity);
  // The last url of the list was taken back by its owner, and none has come since.
  bool taken_back(const RegistryKey& key) const { return taken_back_.contains(key); }
  std::size_t size() const { return size_; }
  std::size_t taken_back_count() const { return taken_back_.size(); }

 private:
  void Erase(std::map<RegistryKey, List>::iterator list, List::iterator url);

  std::map<RegistryKey, List> lists_;  // none is empty
  std::set<RegistryKey> taken_back_;
  std::size_t size_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_HEARD_URLS_H_
