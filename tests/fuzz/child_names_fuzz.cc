// Children of registry paths, as ZooKeeper names them and as Redis has them as fields.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fairlead/registry/child_list.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/url_pool.h"
#ifdef FAIRLEAD_HAS_ZOOKEEPER
#include "fairlead/registry/zookeeper/zk_paths.h"
#endif
#ifdef FAIRLEAD_HAS_REDIS
#include "fairlead/registry/redis/redis_layout.h"
#endif

namespace fairlead::fuzz {
namespace {

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void CheckList(const internal::ChildList& list, std::size_t distinct, const std::string& text) {
  FUZZ_EXPECT(list.children().size() == distinct, text);
  std::size_t unreadable = 0;
  for (const auto& child : list.children()) unreadable += child.url.empty();
  FUZZ_EXPECT(unreadable == list.unreadable().size(), text);
  for (const auto& child : list.unreadable()) {
    FUZZ_EXPECT(list.children().at(child.child).url.empty() && child.text.size() < 1200, text);
  }
  // Of equal urls one is not shadowed.
  for (const auto& child : list.children()) {
    if (!child.shadowed) continue;
    FUZZ_EXPECT(std::count_if(list.children().begin(), list.children().end(),
                              [&](const auto& other) { return !other.shadowed && other.url == child.url; }) == 1,
                text);
  }
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  const std::vector<std::string> names = Split(text);
  const std::size_t distinct = std::set<std::string>(names.begin(), names.end()).size();
  for (const Category category : {Category::kProviders, Category::kRouters}) {
    UrlPool pool;
    const Url consumer = *Url::Parse("consumer://10.0.0.9/s.A?interface=s.A&group=*&category=providers,routers", pool);
    internal::ChildList list(pool, 1, internal::UrlMark(category, true));
    // Grown from half of it, or read at once: the same.
    list.Update({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2)});
    list.Update(names);
    CheckList(list, distinct, text);
    FUZZ_EXPECT(!list.Update(names), text);
    internal::ChildList whole(pool, 1, internal::UrlMark(category, true));
    whole.Update(names);
    for (std::size_t i = 0; i < distinct; ++i) {
      const auto& a = list.children()[i];
      const auto& b = whole.children()[i];
      FUZZ_EXPECT(a.url == b.url && a.shadowed == b.shadowed, text);
      if (a.url.empty()) continue;
      (void)internal::MatchesIn(category, consumer, a.url);
      (void)RegistryKeyOf(a.url.parts());
      (void)RegisteredText(a.url, {});
    }
  }
#ifdef FAIRLEAD_HAS_ZOOKEEPER
  std::vector<std::string> unreadable;
  const std::vector<std::string> services = internal::ZkServiceNames(names, unreadable);
  FUZZ_EXPECT(services.size() + unreadable.size() <= names.size(), text);
  for (const std::string& service : services) (void)internal::ZkCategoryPath("/dubbo", service, "providers");
#endif
#ifdef FAIRLEAD_HAS_REDIS
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const auto expiry = internal::RedisExpiry(names[i + 1]);
    const auto life = internal::RedisLifeOf(names[i], names[i + 1], 1'700'000'000'000);
    FUZZ_EXPECT(internal::RedisIsDynamic(names[i]) || life == internal::RedisLife::kLive, text);
    FUZZ_EXPECT(!internal::RedisIsDynamic(names[i]) || (life == internal::RedisLife::kUnreadable) == !expiry.has_value(), text);
    (void)internal::RedisListedService("/dubbo/", names[i]);
    (void)internal::RedisPrefixPattern(names[i]);
  }
#endif
}

}  // namespace fairlead::fuzz
