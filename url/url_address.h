#ifndef FAIRLEAD_URL_URL_ADDRESS_H_
#define FAIRLEAD_URL_URL_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/url/url_parts.h"

// Addresses as people write them, above all of registries: several hosts, missing ports, IPv6, odd passwords.
namespace fairlead {

// UrlParts::ParseAny for text that a person wrote. Beyond it:
//  - an IPv6 literal may stand with or without brackets, port and zone; alone it is a host without a port. The host
//    is kept in brackets, so that printing always has them; CanonicalHost gives the form to connect to.
//  - a '#' or '/' before the last '@' of the address belongs to the credentials, and `%23` in them is a '#' (any
//    escape is decoded; a '%' without two hex digits stands for itself). A '#' behind the path still begins a fragment.
//  - blanks around the text are dropped.
absl::StatusOr<UrlParts> ParseLenient(std::string_view text);

// One registry's address, with what it leaves out taken from `defaults` (protocol, credentials, port, path and
// parameters; then protocol `dubbo` and port 9090). Text without `://` and `?` may list several hosts by commas: the
// first becomes the host, the others the parameter `backup`. kInvalidArgument for an empty address.
absl::StatusOr<UrlParts> ParseAddress(std::string_view address, const UrlParts& defaults = {});
// Several registries, separated by `|` or `;`.
absl::StatusOr<std::vector<UrlParts>> ParseAddresses(std::string_view addresses, const UrlParts& defaults = {});

struct HostPort {
  std::string_view host;
  std::int32_t port = 0;  // 0 = absent
};
// `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 literal. kInvalidArgument when the port is no Java int.
absl::StatusOr<HostPort> SplitHostPort(std::string_view text);

// The url's address and those of its parameter `backup`, in order; `default_port`, unless 0, replaces a missing or
// zero port. A port that is no number is kept as it is.
std::vector<std::string> BackupAddresses(const UrlParts& url, std::int32_t default_port = 0);
// The url once for each of these addresses. An address without a port keeps the url's.
absl::StatusOr<std::vector<UrlParts>> BackupUrls(const UrlParts& url);

// `host` or `host:port`, split at the last colon; without a port the url's stays.
absl::Status SetAddress(std::string_view address, UrlParts& url);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_ADDRESS_H_
