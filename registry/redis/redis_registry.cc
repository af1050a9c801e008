#include "fairlead/registry/redis/redis_registry.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/redis/redis_backend.h"
#include "fairlead/registry/redis/redis_options.h"

namespace fairlead {
namespace {

class RedisRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "redis"; }
  std::string Place(const Url& registry) const override {
    const std::string_view db = registry.Param("db.index", "0"), cluster = registry.Param("cluster", "failover");
    std::string place;
    if (db != "0") absl::StrAppend(&place, "db", ToAbsl(db));
    if (cluster != "failover") absl::StrAppend(&place, place.empty() ? "" : "-", ToAbsl(cluster));
    return place;
  }
  absl::Status Check(const Url& registry) const override { return internal::RedisOptions::Parse(registry).status(); }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(internal::RedisOptions options, internal::RedisOptions::Parse(registry));
    return std::make_unique<internal::RedisBackend>(std::move(options), context);
  }
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeRedisRegistryFactory() { return std::make_unique<RedisRegistryFactory>(); }

}  // namespace fairlead
