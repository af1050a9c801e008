#include "fairlead/registry/delegate/delegate_lists.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/match.h"
#include "fairlead/url/url_parts.h"

namespace fairlead::internal {
namespace {

constexpr char kAny[] = "classifier=*&enabled=*&group=*";

bool IsEmptyMark(const UrlParts& url) { return url.protocol == "empty"; }

}  // namespace

std::string QuestionFor(const RegistryKey& key) {
  return absl::StrCat("consumer://0.0.0.0/", key.service, "?category=", ToAbsl(CategoryName(key.category)), "&check=false&", kAny,
                      "&interface=", key.service, "&version=*");
}

std::string QuestionForServices() {
  return absl::StrCat("admin://0.0.0.0/*?category=providers,consumers,routers,configurators&check=false&", kAny,
                      "&interface=*&version=*");
}

std::optional<ChildrenAnswer> AnswerFor(const RegistryKey& key, std::vector<std::string> urls) {
  ChildrenAnswer answer;
  answer.missing = urls.empty();
  bool concerned = urls.empty();
  for (std::string& text : urls) {
    const absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
    if (url.ok() && IsEmptyMark(*url)) {
      concerned |= MatchesCategory(CategoryName(key.category), url->Param("category"));
      continue;
    }
    const absl::StatusOr<RegistryKey> its = url.ok() ? RegistryKeyOf(*url) : url.status();
    if (its.ok() && (its->category != key.category || (its->service != key.service && its->service != "*"))) continue;
    concerned = true;
    answer.children.push_back(std::move(text));
  }
  if (!concerned) return std::nullopt;
  return answer;
}

void DelegateServices::Add(const std::vector<std::string>& urls) {
  std::set<RegistryKey> filled, emptied;
  for (const std::string& text : urls) {
    const absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
    if (!url.ok()) continue;
    const std::string service = url->ServiceInterface();
    if (service.empty() || service == "*") continue;
    if (!IsEmptyMark(*url)) {
      if (const absl::StatusOr<RegistryKey> key = RegistryKeyOf(*url); key.ok()) filled.insert(*key);
      continue;
    }
    for (int category = 0; category < kCategoryCount; ++category) {
      const auto one = static_cast<Category>(category);
      if (MatchesCategory(CategoryName(one), url->Param("category"))) emptied.insert({service, one});
    }
  }
  for (const RegistryKey& key : emptied) known_.erase(key);
  known_.insert(filled.begin(), filled.end());
}

std::vector<std::string> DelegateServices::Names() const {
  std::vector<std::string> names;
  for (const RegistryKey& key : known_) {
    if (names.empty() || names.back() != key.service) names.push_back(key.service);
  }
  return names;
}

}  // namespace fairlead::internal
