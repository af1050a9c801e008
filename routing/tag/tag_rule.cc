#include "fairlead/routing/tag/tag_rule.h"

#include <algorithm>
#include <utility>

#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::string_view kAnyHost = "0.0.0.0:";

// The port of `0.0.0.0:port`, when it is written as Java writes numbers.
std::optional<std::int32_t> AnyHostPort(std::string_view text) {
  if (!text.starts_with(kAnyHost)) return std::nullopt;
  const std::string_view port = text.substr(kAnyHost.size());
  const std::optional<std::int32_t> number = ParseJavaInt(port);
  return number && std::to_string(*number) == port ? number : std::nullopt;
}

}  // namespace

void TagAddresses::Add(std::string_view text, Compat compat) {
  texts_.emplace_back(text);
  compat_ = compat;
  AddressPattern pattern(text, compat);
  const std::optional<std::int32_t> any_host = AnyHostPort(text);
  if (!pattern.literal() || any_host) return others_.push_back({std::move(pattern), any_host});
  const auto hosts = pattern.literals();
  if (hosts[0]) literals_.emplace(*hosts[0], pattern);
  if (hosts[1] && hosts[1] != hosts[0]) literals_.emplace(*hosts[1], pattern);
}

bool TagAddresses::Has(const Provider& provider) const {
  const std::optional<IpAddress> host = IpAddress::Parse(provider.original.host());
  const std::int32_t port = provider.original.port_as_written();
  if (host) {
    const auto [begin, end] = literals_.equal_range(*host);
    for (auto at = begin; at != end; ++at) {
      if (at->second.Match(host, port) == AddressPattern::Answer::kYes) return true;
    }
  }
  return std::any_of(others_.begin(), others_.end(), [&](const Address& address) {
    const AddressPattern::Answer answer = address.pattern.Match(host, port);
    if (answer == AddressPattern::Answer::kYes) return true;
    // Dubbo asks for it after the comparison, so not when that raised an error.
    const bool asked = answer == AddressPattern::Answer::kNo || compat_ == Compat::kFixed;
    return asked && address.any_host == port;
  });
}

// An IPv4 host in four parts and a port: as an address it fits exactly the providers there, however they write it.
std::optional<MatchedAddresses::Socket> MatchedAddresses::UsualOf(const Provider& provider) {
  const std::string_view text = provider.original.host();
  const std::optional<IpAddress> host = IpAddress::Parse(text);
  const std::int32_t port = provider.original.port_as_written();
  const bool usual = host && host->v4() && !host->AnyOrLoopbackV4() && port > 0 && std::count(text.begin(), text.end(), '.') == 3 &&
                     text.find(':') == text.npos;
  return usual ? std::optional<Socket>({*host, port}) : std::nullopt;
}

void MatchedAddresses::Add(const Provider& provider) {
  if (const std::optional<Socket> usual = UsualOf(provider)) {
    usual_.insert(*usual);
  } else {
    others_.Add(provider.original.Address(), Compat::kStrict);
  }
}

bool MatchedAddresses::Has(const Provider& provider) const {
  if (!usual_.empty()) {
    const std::optional<IpAddress> host = IpAddress::Parse(provider.original.host());
    const bool comparable = host && host->v4() && !host->AnyOrLoopbackV4();
    if (comparable && usual_.contains({*host, provider.original.port_as_written()})) return true;
  }
  return !others_.empty() && others_.Has(provider);
}

bool TagRule::Tag::Fits(const Provider& provider) const {
  if (!by_match()) return addresses.Has(provider);
  return std::all_of(match.begin(), match.end(),
                     [&provider](const ParameterMatch& one) { return one.Matches(provider.original); });
}

}  // namespace fairlead
