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

template <class Self>
const UrlParts& UrlGetters<Self>::common() const {
  static const UrlParts kEmpty;
  return empty() ? kEmpty : common_half()->parts;
}

template <class Self>
UrlParts UrlGetters<Self>::parts() const {
  UrlParts parts = common();
  if (empty()) return parts;
  const internal::UrlOwn::Texts texts = own()->all();
  parts.host = texts.host;
  parts.port = own()->port();
  std::vector<UrlParams::value_type> params;
  if (texts.pid.has_value()) params.emplace_back(names::kPid, *texts.pid);
  if (texts.timestamp.has_value()) params.emplace_back(names::kTimestamp, *texts.timestamp);
  parts.params = parts.params.Joined(std::move(params));
  return parts;
}

template <class Self>
std::string_view UrlGetters<Self>::protocol() const { return View(common().protocol); }
template <class Self>
std::string_view UrlGetters<Self>::host() const { return empty() ? std::string_view() : own()->host().value_or(std::string_view()); }
template <class Self>
std::string_view UrlGetters<Self>::path() const { return View(common().path); }
template <class Self>
std::int32_t UrlGetters<Self>::port_as_written() const { return empty() ? 0 : own()->port(); }

template <class Self>
std::uint16_t UrlGetters<Self>::port() const {
  const std::int32_t port = port_as_written();
  return port > 0 && port <= 65535 ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
}

template <class Self>
std::string_view UrlGetters<Self>::Param(std::string_view key, std::string_view fallback) const {
  if (empty()) return fallback;
  if (key == names::kTimestamp || key == names::kPid) {
    const auto value = key == names::kPid ? own()->pid() : own()->timestamp();
    return value.has_value() && !value->empty() ? *value : fallback;
  }
  return common_half()->parts.Param(key, fallback);
}

template <class Self>
std::string_view UrlGetters<Self>::MethodParam(std::string_view method, std::string_view key, std::string_view fallback) const {
  const std::string* value = common().FindMethodParam(method, key);
  return value != nullptr && !value->empty() ? std::string_view(*value) : Param(key, fallback);
}

template <class Self>
bool UrlGetters<Self>::BoolParam(std::string_view key, bool fallback) const {
  const std::string_view value = Param(key);
  return value.empty() ? fallback : ParseJavaBool(value);
}

template <class Self>
std::int64_t UrlGetters<Self>::IntParam(std::string_view key, std::int64_t fallback) const {
  const std::string_view value = Param(key);
  if (value.empty()) return fallback;
  const auto parsed = ParseJavaInt(value);
  return parsed.has_value() ? *parsed : fallback;
}

template <class Self>
std::int64_t UrlGetters<Self>::timestamp_ms() const { return ParseJavaLong(Param(names::kTimestamp)).value_or(0); }
template <class Self>
Category UrlGetters<Self>::category() const { return CategoryOf(Param(names::kCategory)).value_or(Category::kProviders); }

template <class Self>
std::string UrlGetters<Self>::Address() const {
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

template <class Self>
std::string UrlGetters<Self>::ToIdentityString() const {
  UrlParts body;
  body.protocol = common().protocol;
  body.username = common().username;
  body.password = common().password;
  body.path = common().path;
  if (!empty()) body.host = own()->host();
  body.port = port_as_written();
  return body.ToIdentityString();
}

template <class Self>
std::size_t UrlGetters<Self>::Hash() const {
  if (empty()) return 0;
  const std::uint64_t seed = common_half()->hash + static_cast<std::uint64_t>(own()->port());
  const std::string_view host = this->host();
  return static_cast<std::size_t>(MayBeIpv6(host) ? HashBytes(CanonicalHost(host), seed) : HashBytes(host, seed));
}

template class UrlGetters<Url>;
template class UrlGetters<CompactUrl>;

CompactUrl::CompactUrl(const Url& url) : own_(url.own_) {
  if (url.empty() || own_->common() == url.common_) return;
  own_ = internal::UrlOwn::Create(own_->all(), own_->port(), {}, url.common_);
}

bool internal::SameUrl(const UrlOwn* a, const UrlCommon* a_common, const UrlOwn* b, const UrlCommon* b_common) {
  if (a == b && a_common == b_common) return true;
  if (a == nullptr || b == nullptr) return false;
  if (a->port() != b->port()) return false;
  if (a != b && !SameHost(a->host(), b->host())) return false;
  if (a_common == b_common) return true;
  // Within one pool different pointers mean different content, which nearly always shows in the hashes; urls
  // of two pools, or a true collision, are settled by content.
  return a_common->hash == b_common->hash && a_common->parts == b_common->parts;
}

}  // namespace fairlead
