#include "fairlead/url/url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "fairlead/base/hash.h"
#include "fairlead/url/host.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {"providers", "consumers",
                                                                         "configurators", "routers"};

std::string_view View(const std::optional<std::string>& field) {
  return field.has_value() ? std::string_view(*field) : std::string_view();
}

// Most hosts are what they are compared by.
bool MayBeIpv6(std::string_view host) { return host.find(':') != std::string_view::npos; }

bool SameHost(const std::optional<std::string_view>& a, const std::optional<std::string_view>& b) {
  if (a == b) return true;
  return a.has_value() && b.has_value() && MayBeIpv6(*a) && MayBeIpv6(*b) && CanonicalHost(*a) == CanonicalHost(*b);
}

}  // namespace

std::string_view CategoryName(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

std::optional<Category> CategoryOf(std::string_view name) {
  const auto at = std::find(kCategoryNames.begin(), kCategoryNames.end(), name);
  if (at == kCategoryNames.end()) return std::nullopt;
  return static_cast<Category>(at - kCategoryNames.begin());
}

absl::StatusOr<Url> Url::Parse(std::string_view text, UrlPool& pool) { return pool.Parse(text); }
Url Url::Of(UrlParts parts, UrlPool& pool) { return pool.Intern(std::move(parts)); }
Url Url::Edited(UrlParts parts, UrlPool& pool) const { return pool.Intern(std::move(parts), *this); }

const UrlParts& Url::common() const {
  static const UrlParts kEmpty;
  return empty() ? kEmpty : common_->parts;
}

UrlParts Url::parts() const {
  UrlParts parts = common();
  if (empty()) return parts;
  const internal::UrlOwn::Texts own = own_->all();
  parts.host = own.host;
  parts.port = own_->port();
  std::vector<UrlParams::value_type> params;
  if (own.pid.has_value()) params.emplace_back(names::kPid, *own.pid);
  if (own.timestamp.has_value()) params.emplace_back(names::kTimestamp, *own.timestamp);
  parts.params = parts.params.Joined(std::move(params));
  return parts;
}

std::string_view Url::protocol() const { return View(common().protocol); }
std::string_view Url::host() const { return empty() ? std::string_view() : own_->host().value_or(std::string_view()); }
std::string_view Url::path() const { return View(common().path); }
std::int32_t Url::port_as_written() const { return empty() ? 0 : own_->port(); }

std::uint16_t Url::port() const {
  const std::int32_t port = port_as_written();
  return port > 0 && port <= 65535 ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
}

std::string_view Url::Param(std::string_view key, std::string_view fallback) const {
  if (empty()) return fallback;
  if (key == names::kTimestamp || key == names::kPid) {
    const auto value = key == names::kPid ? own_->pid() : own_->timestamp();
    return value.has_value() && !value->empty() ? *value : fallback;
  }
  return common_->parts.Param(key, fallback);
}

std::string_view Url::MethodParam(std::string_view method, std::string_view key, std::string_view fallback) const {
  const std::string* value = common().FindMethodParam(method, key);
  return value != nullptr && !value->empty() ? std::string_view(*value) : Param(key, fallback);
}

bool Url::BoolParam(std::string_view key, bool fallback) const {
  const std::string_view value = Param(key);
  return value.empty() ? fallback : ParseJavaBool(value);
}

std::int64_t Url::IntParam(std::string_view key, std::int64_t fallback) const {
  const std::string_view value = Param(key);
  if (value.empty()) return fallback;
  const auto parsed = ParseJavaInt(value);
  return parsed.has_value() ? *parsed : fallback;
}

std::int64_t Url::timestamp_ms() const { return ParseJavaLong(Param(names::kTimestamp)).value_or(0); }
Category Url::category() const { return CategoryOf(Param(names::kCategory)).value_or(Category::kProviders); }

std::string Url::Address() const {
  std::string address(host());
  if (const std::int32_t port = port_as_written(); port > 0) {
    address += ':';
    address += std::to_string(port);
  }
  return address;
}

AddressText::AddressText(const Url& url) {
  constexpr std::size_t kPort = 11;  // a colon and ten digits
  const std::string_view host = url.host();
  if (host.size() + kPort > short_.size()) {
    long_ = url.Address();
    return;
  }
  size_ = host.copy(short_.data(), host.size());
  const std::int32_t port = url.port_as_written();
  if (port <= 0) return;
  short_[size_++] = ':';
  const auto end = std::to_chars(short_.data() + size_, short_.data() + short_.size(), port).ptr;
  size_ = static_cast<std::size_t>(end - short_.data());
}

std::string Url::ToIdentityString() const {
  UrlParts body;
  body.protocol = common().protocol;
  body.username = common().username;
  body.password = common().password;
  body.path = common().path;
  if (!empty()) body.host = own_->host();
  body.port = port_as_written();
  return body.ToIdentityString();
}

std::size_t Url::Hash() const {
  if (empty()) return 0;
  const std::uint64_t seed = common_->hash + static_cast<std::uint64_t>(own_->port());
  const std::string_view host = this->host();
  return static_cast<std::size_t>(MayBeIpv6(host) ? HashBytes(CanonicalHost(host), seed) : HashBytes(host, seed));
}

bool operator==(const Url& a, const Url& b) {
  if (a.Is(b)) return true;
  if (a.empty() || b.empty()) return false;
  if (a.own_->port() != b.own_->port()) return false;
  if (!(a.own_ == b.own_) && !SameHost(a.own_->host(), b.own_->host())) return false;
  if (a.common_ == b.common_) return true;
  // Within one pool different pointers mean different content, which nearly always shows in the hashes; urls
  // of two pools, or a true collision, are settled by content.
  return a.common_->hash == b.common_->hash && a.common_->parts == b.common_->parts;
}

}  // namespace fairlead
