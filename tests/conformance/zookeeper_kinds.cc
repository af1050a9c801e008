#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/registry/registry_key.h"
#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/url/url_parts.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

UrlParts ParseUrl(const Json& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text.get_ref<const std::string&>());
  if (!url.ok()) throw std::runtime_error(std::string(url.status().message()));
  return *std::move(url);
}

Json Paths(const Case& c) {
  const std::string root = c.in.at("root");
  const UrlParts url = ParseUrl(c.in.at("url"));
  const std::string service = url.ServiceInterface();
  const std::string category(url.Param("category", "providers"));
  Json categories = Json::array();
  for (const Category each : SubscribedCategories(url)) {
    categories.push_back(internal::ZkCategoryPath(root, service, CategoryName(each)));
  }
  return {{"service_path", internal::ZkServicePath(root, service)},
          {"category_path", internal::ZkCategoryPath(root, service, category)},
          {"categories_path", std::move(categories)},
          {"url_path", internal::ZkUrlPath(root, service, category, url.ToFullString())}};
}

Json RuleKeys(const Case& c) {
  const UrlParts consumer = ParseUrl(c.in);
  const std::string key = consumer.ColonKey();
  const std::string root = internal::ZkConfigRoot({});
  return {{"rule_key", key},
          {"configurators", internal::ZkConfigPath(root, "dubbo", key + ".configurators")},
          {"condition_router", internal::ZkConfigPath(root, "dubbo", key + ".condition-router")}};
}

}  // namespace

void RegisterZookeeperKinds(KindTable& kinds) {
  kinds.Add("registry.zk_paths", ExactKind(Paths));
  kinds.Add("registry.zk_root_from_group", ExactKind([](const Case& c) {
              return Json(internal::ZkRoot(c.in.is_null() ? "" : c.in.get<std::string>()));
            }));
  kinds.Add("registry.zk_rule_keys", ExactKind(RuleKeys));
}

}  // namespace fairlead::conformance
