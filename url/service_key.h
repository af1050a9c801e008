#ifndef FAIRLEAD_URL_SERVICE_KEY_H_
#define FAIRLEAD_URL_SERVICE_KEY_H_

#include <string>
#include <string_view>

#include "fairlead/url/url_parts.h"

// The texts by which a service is known: as a map key, in a registry, in the name of a rule.
namespace fairlead {

// Does the url name a service, even if by an empty path?
bool HasInterface(const UrlParts& url);

// `[group/]interface[:version]`.
std::string BuildServiceKey(std::string_view interface_name, std::string_view group, std::string_view version);

// A service key taken apart. Views of the key. Groups with '/' and versions with ':' are ambiguous: the group ends at
// the first '/', the version begins behind the first ':' of the rest; neither counts at the very beginning.
struct ServiceKeyParts {
  std::string_view group, interface_name, version;  // empty = absent
};
ServiceKeyParts ParseServiceKey(std::string_view key);

// Dubbo's marker "this category of the service has no entries": `empty://0.0.0.0/interface?category=..` with group and
// version, which here begins behind the last ':'.
UrlParts EmptyUrl(std::string_view service_key, std::string_view category);

// The service key with the path in the interface's place (the interface when there is no path). Like the next, empty
// for a url without interface and path.
std::string PathKey(const UrlParts& url);
// `interface[:version]`.
std::string DisplayKey(const UrlParts& url);
// `interface[:version][:group]`: the name of a rule as Dubbo before 2.7.2 wrote it.
std::string CompatibleColonKey(const UrlParts& url);
// The service key and `:protocol`, which a consumer url goes without.
std::string ServiceKeyWithProtocol(const UrlParts& url);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_SERVICE_KEY_H_
