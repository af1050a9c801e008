#include "fairlead/url/provider.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/match.h"
#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

// Protocols of urls that are no providers, whatever category they were put under.
constexpr std::array<std::string_view, 8> kNoProviders = {"empty",  "consumer", "provider",  "override",
                                                          "absent", "route",    "condition", "registry"};
constexpr std::int32_t kLargestPort = 65535;

bool IsProtocolCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '.' || c == '-' ||
         c == '_';
}

}  // namespace

bool IsProtocolName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsProtocolCharacter);
}

std::string_view WhyNoProvider(const UrlParts& url) {
  if (url.protocol && std::find(kNoProviders.begin(), kNoProviders.end(), *url.protocol) != kNoProviders.end()) {
    return "no provider's protocol";
  }
  if (url.protocol && !IsProtocolName(*url.protocol)) return "no such protocol";
  if (!url.host || url.host->empty()) return "no host to connect to";
  if (url.host->find_first_of(" \t,;") != std::string::npos) return "no such host";
  if (url.host->front() == '[' && url.host->find(']') == std::string::npos) return "no such host";
  // An absent port is the protocol's usual one.
  if (url.port > kLargestPort) return "no such port";
  return {};
}

std::string_view EffectiveProtocol(std::string_view accepted, const UrlParts& url) {
  const std::string_view own = url.protocol ? std::string_view(*url.protocol) : std::string_view();
  const std::string_view preferred = url.Param("preferred.protocol", own);
  const std::string_view first = accepted.substr(0, accepted.find(','));
  if (first.empty() || first == preferred) return preferred;
  if (first == own) return own;
  for (std::string_view rest = url.Param("ext.protocol"); !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (absl::EqualsIgnoreCase(ToAbsl(rest.substr(0, comma)), ToAbsl(first))) return first;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return preferred;
}

}  // namespace fairlead
