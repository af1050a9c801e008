#include "fairlead/registry/cached_lists.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/child_list.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kEscaped = "fairlead.escaped";
constexpr std::string_view kOwnKey = "_:";
constexpr std::string_view kBlanks = " \t\n\v\f\r";

bool EndsInPassword(std::string_view key) {
  constexpr std::string_view kPassword = "password";
  if (key.size() < kPassword.size()) return false;
  key.remove_prefix(key.size() - kPassword.size());
  return std::equal(key.begin(), key.end(), kPassword.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool IsControl(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Would `text`, printed, be read as something else? `special` are the letters that end this part of a url.
bool Breaks(std::string_view text, std::string_view special) {
  return std::any_of(text.begin(), text.end(),
                     [special](char c) { return IsControl(c) || special.find(c) != std::string_view::npos; });
}

constexpr std::string_view kInUser = ":/?#", kInPath = "?#", kInKey = "=&;", kInValue = "&;";

bool MustEscape(const UrlParts& url) {
  return Breaks(url.protocol.value_or(""), "") || Breaks(url.username.value_or(""), kInUser) ||
         Breaks(url.host.value_or(""), kInPath) || Breaks(url.path.value_or(""), kInPath) ||
         std::any_of(url.params.begin(), url.params.end(), [](const auto& item) {
           return Breaks(item.first, kInKey) || Breaks(item.second, kInValue);
         });
}

// Percent-encodes what Breaks finds, and what the encoding itself needs.
std::string Escaped(std::string_view text, std::string_view special) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (IsControl(c) || c == '%' || c == '+' || special.find(c) != std::string_view::npos) {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out;
}

template <class Field, class Params>
UrlParts Rewritten(const UrlParts& url, Field field, Params params) {
  UrlParts out = url;
  const std::pair<std::optional<std::string>*, std::string_view> fields[] = {
      {&out.protocol, ""}, {&out.username, kInUser}, {&out.host, kInPath}, {&out.path, kInPath}};
  for (const auto& [text, special] : fields) {
    if (text->has_value()) *text = field(**text, special);
  }
  out.params.clear();
  for (const auto& [key, value] : url.params) params(key, value, out.params);
  return out;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// Of a piece of a cached value; none: it is no category that is known.
std::optional<Category> CategoryOfPiece(std::string_view piece) {
  if (piece.find("category=") == std::string_view::npos) return Category::kProviders;
  const absl::StatusOr<UrlParts> url = UrlParts::Parse(piece);
  return url.ok() ? CategoryOf(url->Param(names::kCategory, "providers")) : Category::kProviders;
}

// The lists that subscriptions have of one category, as one. Null: none is known.
void AppendCategory(const std::vector<KnownLists>& subscriptions, std::size_t category, std::string& out) {
  const auto append = [&out](const UrlParts& url) {
    if (!out.empty()) out += ' ';
    out += CachedText(url);
  };
  const KnownLists* empty = nullptr;
  bool any = false;
  absl::flat_hash_set<Url, UrlHash> written;
  for (const KnownLists& one : subscriptions) {
    const Notification* list = one.lists[category].get();
    if (list == nullptr) continue;
    if (list->kind == ListKind::kEmpty) empty = &one;
    for (const Url& url : list->urls) {
      any = true;
      if (subscriptions.size() == 1 || written.insert(url).second) append(url.parts());
    }
  }
  if (any || empty == nullptr) return;
  UrlParts marker = empty->consumer.parts();
  marker.protocol = "empty";
  marker.params.insert_or_assign(names::kCategory, CategoryName(static_cast<Category>(category)));
  append(marker);
}

}  // namespace

std::string CacheKey(std::string_view service_key) {
  const bool dubbos = !service_key.empty() && (IsLetter(service_key.front()) || service_key.front() == '_');
  return dubbos ? std::string(service_key) : absl::StrCat(ToAbsl(kOwnKey), ToAbsl(service_key));
}

std::string CachedText(const UrlParts& url) {
  UrlParts safe = url;
  safe.password.reset();
  safe.params.EraseIf([](std::string_view key, std::string_view) { return EndsInPassword(key); });
  if (!MustEscape(safe)) return safe.ToFullString();
  safe = Rewritten(safe, Escaped, [](std::string_view key, std::string_view value, UrlParts::Params& to) {
    to.insert_or_assign(Escaped(key, kInKey), Escaped(value, kInValue));
  });
  safe.params.insert_or_assign(kEscaped, "true");
  return safe.ToFullString();
}

absl::StatusOr<Url> ParseCached(std::string_view text, UrlPool& pool) {
  if (text.find(kEscaped) == std::string_view::npos) return pool.Parse(text);
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts parts, UrlParts::Parse(text));
  if (parts.params.erase(kEscaped) == 0) return pool.Parse(text);
  const auto plain = [](std::string_view escaped) {
    return PercentDecode(escaped).value_or(std::string(escaped));
  };
  parts = Rewritten(
      parts, [&](std::string_view field, std::string_view) { return plain(field); },
      [&](std::string_view key, std::string_view value, UrlParts::Params& to) {
        to.insert_or_assign(plain(key), plain(value));
      });
  return Url::Of(std::move(parts), pool);
}

std::vector<std::string_view> SplitCached(std::string_view value) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = value.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(value.find_first_of(kBlanks, at), value.size());
    pieces.push_back(value.substr(at, end - at));
    at = value.find_first_not_of(kBlanks, end);
  }
  return pieces;
}

std::string WithoutCategories(std::string_view value, std::uint32_t categories) {
  std::string rest;
  for (const std::string_view piece : SplitCached(value)) {
    const std::optional<Category> category = CategoryOfPiece(piece);
    if (category && (categories >> static_cast<unsigned>(*category) & 1) != 0) continue;
    absl::StrAppend(&rest, rest.empty() ? "" : " ", ToAbsl(piece));
  }
  return rest;
}

bool HasProviders(std::string_view value) {
  const std::vector<std::string_view> pieces = SplitCached(value);
  return std::any_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
    return !piece.starts_with("empty:") && CategoryOfPiece(piece) == Category::kProviders;
  });
}

std::string CachedValue(const std::vector<KnownLists>& subscriptions) {
  std::string value;
  for (std::size_t category = 0; category < kCategoryCount; ++category) {
    AppendCategory(subscriptions, category, value);
  }
  return value;
}

CachedLists ReadCachedValue(std::string_view value, const Url& consumer, UrlPool& pool) {
  CachedLists found;
  for (const std::string_view piece : SplitCached(value)) {
    const absl::StatusOr<Url> url = ParseCached(piece, pool);
    if (!url.ok() || url->protocol().empty()) {
      ++found.unreadable;
      continue;
    }
    const std::optional<Category> category = CategoryOf(url->Param(names::kCategory, "providers"));
    if (!category) continue;
    std::optional<CachedList>& list = found.lists[static_cast<std::size_t>(*category)];
    if (url->protocol() == "empty") {
      if (!list) list.emplace();
      continue;
    }
    if (!MatchesIn(*category, consumer, *url)) continue;
    if (!list) list.emplace();
    list->kind = ListKind::kList;
    list->urls.push_back(*url);
  }
  return found;
}

std::string CacheFilePath(const Url& registry, std::string_view fallback) {
  if (!registry.BoolParam("file-cache", true) || !registry.BoolParam("file.cache", true)) return {};
  return std::string(registry.Param("file", fallback));
}

std::string DefaultCacheFile(const Url& registry, std::string_view home, std::string_view application,
                             std::string_view place) {
  if (application.empty()) application = "null";
  std::string address = registry.parts().Address();
  std::replace(address.begin(), address.end(), ':', '-');
  std::string name = absl::StrCat("dubbo-registry-", ToAbsl(registry.Param("application", application)), "-",
                                  address, place.empty() ? "" : "-", ToAbsl(place), ".cache");
  std::replace(name.begin(), name.end(), '/', '-');
  return absl::StrCat(ToAbsl(home), "/.dubbo/", name);
}

}  // namespace fairlead::internal
