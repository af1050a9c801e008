#ifndef FAIRLEAD_URL_HOST_H_
#define FAIRLEAD_URL_HOST_H_

#include <string>
#include <string_view>

#include "fairlead/url/url_parts.h"

namespace fairlead {

// The host to connect to and to compare by: an IPv6 literal without brackets and in its shortest form (RFC
// 5952), its zone kept after one '%' (`%25` is read as '%'). Every other host comes back as it is.
std::string CanonicalHost(std::string_view host);

// Is the whole text an IPv6 literal, with or without brackets and zone?
bool IsIpv6Literal(std::string_view text);

// The address is 0.0.0.0 or marked `anyhost=true`: every local address, or for a rule every provider.
bool IsAnyHost(const UrlParts& url);
// 127.x.x.x, `localhost` in any case, or marked `localhost=true`.
bool IsLocalHost(const UrlParts& url);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_HOST_H_
