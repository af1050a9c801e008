#include "fairlead/url/service_key.h"

#include <vector>

#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

void AppendWithColon(std::string_view text, std::string& out) {
  if (text.empty()) return;
  out += ':';
  out += text;
}

}  // namespace

bool HasInterface(const UrlParts& url) { return url.path.has_value() || !url.Param(names::kInterface).empty(); }

std::string BuildServiceKey(std::string_view interface_name, std::string_view group, std::string_view version) {
  std::string key;
  if (!group.empty()) {
    key += group;
    key += '/';
  }
  key += interface_name;
  AppendWithColon(version, key);
  return key;
}

ServiceKeyParts ParseServiceKey(std::string_view key) {
  ServiceKeyParts parts;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos && slash > 0) {
    parts.group = key.substr(0, slash);
    key.remove_prefix(slash + 1);
  }
  if (const std::size_t colon = key.find(':'); colon != std::string_view::npos && colon > 0) {
    parts.version = key.substr(colon + 1);
    key = key.substr(0, colon);
  }
  parts.interface_name = key;
  return parts;
}

UrlParts EmptyUrl(std::string_view service_key, std::string_view category) {
  UrlParts url;
  url.protocol = "empty";
  url.host = "0.0.0.0";
  std::vector<UrlParams::value_type> params;
  params.emplace_back(names::kCategory, category);
  if (const std::size_t slash = service_key.find('/'); slash != std::string_view::npos && slash > 0) {
    params.emplace_back(names::kGroup, service_key.substr(0, slash));
    service_key.remove_prefix(slash + 1);
  }
  if (const std::size_t colon = service_key.rfind(':'); colon != std::string_view::npos && colon > 0) {
    params.emplace_back(names::kVersion, service_key.substr(colon + 1));
    service_key = service_key.substr(0, colon);
  }
  url.path = service_key;
  url.params = UrlParams::From(std::move(params));
  return url;
}

std::string PathKey(const UrlParts& url) {
  if (!HasInterface(url)) return {};
  const std::string_view path = url.path.has_value() ? std::string_view(*url.path) : std::string_view();
  return BuildServiceKey(path.empty() ? url.Param(names::kInterface) : path, url.Param(names::kGroup),
                         url.Param(names::kVersion));
}

std::string DisplayKey(const UrlParts& url) {
  if (!HasInterface(url)) return {};
  return BuildServiceKey(url.ServiceInterface(), {}, url.Param(names::kVersion));
}

std::string CompatibleColonKey(const UrlParts& url) {
  std::string key = url.ServiceInterface();
  AppendWithColon(url.Param(names::kVersion), key);
  AppendWithColon(url.Param(names::kGroup), key);
  return key;
}

std::string ServiceKeyWithProtocol(const UrlParts& url) {
  std::string key = url.ServiceKey();
  if (url.protocol != "consumer") AppendWithColon(url.protocol.value_or(std::string()), key);
  return key;
}

}  // namespace fairlead
