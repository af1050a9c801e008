#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_KEEPER_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/redis/redis_link.h"
#include "fairlead/registry/registry.h"

namespace fairlead::internal {

// Writes what is registered, and keeps it from expiring: every half session each dynamic field is extended (its
// heartbeat), and readers are told of those that had gone meanwhile. Fields that others left behind are cleaned away when
// this process looks at everything, as Dubbo's admin does. REQUIRES: executor.
class RedisKeeper {
 public:
  using Links = std::vector<RedisLink*>;

  // At most this many extensions are under way at a time.
  static constexpr std::size_t kMostExtensions = 512;

  RedisKeeper(const RedisOptions& options, const RegistryContext& context) : options_(options), context_(context) {}

  // To each of `links`. OK when one of them did it; `done` is not called when all were lost meanwhile.
  void Put(const Links& links, const std::string& key, const std::string& field, bool dynamic, Done done);
  void Remove(const Links& links, const std::string& key, const std::string& field, Done done);

  // Extends every dynamic field; with `all`, writes the others too, as to a server that may not have them.
  void Extend(RedisLink& link, bool all);
  // Takes away what was removed while `link` could not be reached and would stay there for ever.
  void CatchUp(RedisLink& link);
  // Deletes the dynamic fields of everybody's lists that expired more than a session ago, and tells of each key that
  // changed. Dubbo deletes them the moment they are past by the admin's clock, which may be ahead of all others.
  void Clean(RedisLink& link);
  // The session is over: what was put is gone, and put again by whoever wants it.
  void Forget();
  std::vector<std::pair<std::string, std::string>> Dynamic() const;
  std::size_t size() const;

 private:
  struct Field {
    bool dynamic = true;
    std::int64_t expires = 0;  // as last written
  };
  using Fields = std::map<std::string, Field>;
  using Place = std::pair<std::string, std::string>;  // key, field
  struct Round;
  class Write;
  class Leg;
  struct Cleaning;

  // The clock that says later, so that nobody takes for expired what was just written.
  std::int64_t Now(const RedisLink& link) const;
  Field* Find(const std::string& key, const std::string& field);
  void Carry(const Links& links, const RedisWords& command, std::string_view message, std::shared_ptr<Write> write);
  void Continue(const std::shared_ptr<Round>& round);
  bool ExtendOne(const std::shared_ptr<Round>& round, const Place& place);
  void CleanNext(const std::shared_ptr<Cleaning>& cleaning);
  void CleanKey(const std::shared_ptr<Cleaning>& cleaning, const std::string& key, std::vector<RedisReply> hash);

  const RedisOptions& options_;
  const RegistryContext& context_;
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::map<std::string, Fields> owned_;
  std::map<const RedisLink*, std::weak_ptr<Round>> rounds_;
  std::map<const RedisLink*, std::weak_ptr<Cleaning>> cleanings_;
  // Where fields stand that never expire, and those of them that are still to be removed there.
  std::map<Place, std::set<const RedisLink*>> lasting_;
  std::map<const RedisLink*, std::set<Place>> missed_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_KEEPER_H_
