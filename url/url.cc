#include "fairlead/url/url.h"

#include <algorithm>
#include <array>

#include "fairlead/base/random.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_entry.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {"providers", "consumers",
                                                                         "configurators", "routers"};

std::string_view View(const std::optional<std::string>& field) {
  return field.has_value() ? std::string_view(*field) : std::string_view();
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

const UrlParts& Url::parts() const {
  static const UrlParts kEmpty;
  return entry_ == nullptr ? kEmpty : entry_->parts;
}

std::string_view Url::protocol() const { return View(parts().protocol); }
std::string_view Url::host() const { return View(parts().host); }
std::string_view Url::path() const { return View(parts().path); }

std::uint16_t Url::port() const {
  const std::int32_t port = parts().port;
  return port > 0 && port <= 65535 ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
}

bool Url::BoolParam(std::string_view key, bool fallback) const {
  return fairlead::BoolParam(parts(), key, fallback);
}

std::int64_t Url::IntParam(std::string_view key, std::int64_t fallback) const {
  const std::string_view value = Param(key);
  if (value.empty()) return fallback;
  const auto parsed = ParseJavaInt(value);
  return parsed.has_value() ? *parsed : fallback;
}

std::int64_t Url::timestamp_ms() const { return entry_ == nullptr ? 0 : entry_->timestamp_ms; }
Category Url::category() const { return entry_ == nullptr ? Category::kProviders : entry_->category; }

std::size_t Url::Hash() const {
  return entry_ == nullptr ? 0
                           : static_cast<std::size_t>(Mix64(entry_->address->hash ^ entry_->params->hash));
}

bool operator==(const Url& a, const Url& b) {
  if (a.entry_ == b.entry_) return true;
  if (a.entry_ == nullptr || b.entry_ == nullptr) return false;
  const internal::UrlEntry &x = *a.entry_, &y = *b.entry_;
  if (x.address == y.address && x.params == y.params) return true;
  // Within one pool different pointers mean different content, which nearly always shows in the hashes; urls
  // of two pools, or a true collision, are settled by content.
  return x.address->hash == y.address->hash && x.params->hash == y.params->hash &&
         x.address->text == y.address->text && x.params->params == y.params->params;
}

}  // namespace fairlead
