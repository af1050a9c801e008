#include "fairlead/registry/zookeeper/zk_paths.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

std::string WithSlash(std::string_view path) {
  return path.starts_with('/') ? std::string(path) : absl::StrCat("/", ToAbsl(path));
}

std::string Normalise(std::string_view path) {
  std::string text(path.substr(0, path.find('?')));
  while (absl::StrReplaceAll({{"//", "/"}}, &text) > 0) {
  }
  return text;
}

// Dubbo's join forgets a segment that it has already seen in the same join.
std::string Join(std::string_view base, std::string_view segment) {
  if (segment.empty() || segment == base) return Normalise(base);
  return Normalise(absl::StrCat(ToAbsl(base), "/", ToAbsl(segment)));
}

}  // namespace

std::string ZkRoot(std::string_view group) { return WithSlash(group.empty() ? "dubbo" : group); }

std::string ZkServicePath(std::string_view root, std::string_view service) {
  if (service == "*") return std::string(root);
  return absl::StrCat(ToAbsl(root), root == "/" ? "" : "/", PercentEncode(service));
}

std::string ZkCategoryPath(std::string_view root, std::string_view service, std::string_view category) {
  return absl::StrCat(ZkServicePath(root, service), "/", ToAbsl(category));
}

std::string ZkUrlPath(std::string_view root, std::string_view service, std::string_view category,
                      std::string_view url_text) {
  return absl::StrCat(ZkCategoryPath(root, service, category), "/", PercentEncode(url_text));
}

std::string ZkConfigRoot(const UrlParts& registry) {
  if (const std::string_view given = registry.Param("dubbo.config-center.root-path"); !given.empty()) {
    std::string root = Normalise(WithSlash(given));
    if (root.ends_with('/')) root.pop_back();
    return root;
  }
  return absl::StrCat("/", ToAbsl(registry.Param("namespace", "dubbo")),
                      WithSlash(registry.Param("dubbo.config-center.base-path", "config")));
}

std::string ZkConfigPath(std::string_view config_root, std::string_view group, std::string_view key) {
  return Join(Join(config_root, group), key);
}

std::vector<std::string> ZkParents(std::string_view path) {
  std::vector<std::string> parents;
  for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    parents.emplace_back(path.substr(0, slash));
  }
  return parents;
}

std::vector<std::string> ZkServiceNames(const std::vector<std::string>& children,
                                        std::vector<std::string>& unreadable) {
  std::vector<std::string> names;
  names.reserve(children.size());
  for (const std::string& child : children) {
    if (child == "config" || child == "mapping" || child == "metadata") continue;
    absl::StatusOr<std::string> name = PercentDecode(child);
    if (name.ok()) {
      names.push_back(*std::move(name));
    } else {
      unreadable.push_back(child);
    }
  }
  return names;
}

}  // namespace fairlead::internal
