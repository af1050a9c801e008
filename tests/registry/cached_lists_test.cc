#include "fairlead/registry/cached_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kProviders = 0, kConfigurators = 2, kRouters = 3;

class CachedListsTest : public ::testing::Test {
 protected:
  Url U(std::string_view text) {
    absl::StatusOr<Url> url = Url::Parse(text, pool_);
    EXPECT_TRUE(url.ok()) << url.status();
    return url.ok() ? *url : Url();
  }
  std::shared_ptr<const Notification> List(Category category, std::vector<std::string> urls) {
    Notification list{"a.B", category, 1, urls.empty() ? ListKind::kEmpty : ListKind::kList, {}};
    for (const std::string& url : urls) list.urls.push_back(U(url));
    return std::make_shared<const Notification>(std::move(list));
  }
  static std::vector<std::string> Addresses(const std::optional<CachedList>& list) {
    std::vector<std::string> all;
    if (!list) return {"nothing"};
    for (const Url& url : list->urls) all.push_back(url.parts().Address());
    return all;
  }

  UrlPool pool_;
  const Url consumer_ = U("consumer://10.0.0.9/a.B?interface=a.B&category=providers,configurators,routers&version=1");
};

TEST_F(CachedListsTest, KeysThatDubboDoesNotLookUpAreOurOwn) {
  EXPECT_EQ(CacheKey("g/a.B:1"), "g/a.B:1");
  EXPECT_EQ(CacheKey("_x"), "_x");
  EXPECT_EQ(CacheKey("\xe4\xb8\xad/a.B"), "\xe4\xb8\xad/a.B");
  EXPECT_EQ(CacheKey("*/a.B"), "_:*/a.B");
  EXPECT_EQ(CacheKey("1/a.B"), "_:1/a.B");
}

TEST_F(CachedListsTest, ATextHasTheUserAndNoPassword) {
  EXPECT_EQ(CachedText(U("dubbo://me:secret@h:1/a.B?b=2&a=1&password=x&redis.PassWord=y").parts()), "dubbo://me@h:1/a.B?a=1&b=2");
}

TEST_F(CachedListsTest, BlanksDoNotTearAUrlApart) {
  const Url url = U("dubbo://h:1/a.B?a=x y%20+z&b= c &d=1");
  const std::string text = CachedText(url.parts());
  EXPECT_EQ(SplitCached(text).size(), 1u);
  EXPECT_THAT(text, StartsWith("dubbo://h:1/a.B?a=x%20y")) << "Dubbo sees the provider too";
  const absl::StatusOr<Url> again = ParseCached(text, pool_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, url);
  EXPECT_EQ(again->Param("a"), "x y%20+z");
  EXPECT_EQ(again->Param("b"), " c ");
}

TEST_F(CachedListsTest, EveryUrlWithoutPasswordsIsReadBackEqual) {
  const std::vector<std::string> pieces = {"a",   "1", ".",  "-", "%2520", "+",   "%25", "%3A", "%2F", "%253D", "%2526",
                                           "%23", "%2B", "%09", ";", "@",  "%40", ",",   "%E4%B8%AD", "%253B"};
  Random random(3);
  const auto word = [&](bool may_be_empty) {
    std::string text = may_be_empty ? "" : "w";
    for (std::uint64_t left = random.Below(5); left > 0; --left) text += pieces[random.Below(pieces.size())];
    return text;
  };
  int escaped = 0;
  for (int round = 0; round < Effort(20000); ++round) {
    // As registries push them.
    std::string raw = "dubbo%3A%2F%2F10.0.0.1%3A20880%2F" + word(false) + "%3Fside%3Dprovider%26timestamp%3D" + std::to_string(round);
    for (std::uint64_t left = random.Below(4); left > 0; --left) raw += "%26" + word(false) + "%3D" + word(true);
    const absl::StatusOr<Url> pushed = Url::Parse(raw, pool_);
    if (!pushed.ok() || pushed->parts().host != "10.0.0.1" || pushed->parts().Find("") != nullptr) continue;
    const std::string text = CachedText(pushed->parts());
    escaped += text.find("fairlead.escaped") != std::string::npos ? 1 : 0;
    ASSERT_EQ(SplitCached(text).size(), 1u) << text;
    const absl::StatusOr<Url> read = ParseCached(text, pool_);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(*read, *pushed) << raw << "\n" << text;
    ASSERT_EQ(read->timestamp_ms(), round);
  }
  EXPECT_GT(escaped, 0);
}

TEST_F(CachedListsTest, AValueHasAllCategoriesAndSaysWhichAreEmpty) {
  KnownLists known{consumer_, {}};
  known.lists[kProviders] = List(Category::kProviders, {"dubbo://1.1.1.1:1/a.B?version=1", "dubbo://1.1.1.2:1/a.B?version=1"});
  known.lists[kRouters] = List(Category::kRouters, {});
  const std::string value = CachedValue({known});
  EXPECT_THAT(value, StartsWith("dubbo://1.1.1.1:1/a.B?version=1 dubbo://1.1.1.2:1/a.B?version=1 empty://10.0.0.9/a.B?category=routers&"));

  const CachedLists read = ReadCachedValue(value, consumer_, pool_);
  EXPECT_THAT(Addresses(read.lists[kProviders]), ElementsAre("1.1.1.1:1", "1.1.1.2:1"));
  EXPECT_FALSE(read.lists[kConfigurators].has_value());
  ASSERT_TRUE(read.lists[kRouters].has_value());
  EXPECT_EQ(read.lists[kRouters]->kind, ListKind::kEmpty);
}

TEST_F(CachedListsTest, SubscriptionsOfOneServiceDoNotOverwriteEachOther) {
  KnownLists a{consumer_, {}}, b{U("consumer://10.0.0.9/a.B?version=1&classifier=x"), {}};
  a.lists[kProviders] = List(Category::kProviders, {"dubbo://1.1.1.1:1/a.B?version=1"});
  a.lists[kRouters] = List(Category::kRouters, {});
  b.lists[kProviders] = List(Category::kProviders, {"dubbo://1.1.1.2:1/a.B?version=1", "dubbo://1.1.1.1:1/a.B?version=1&timestamp=7"});
  const CachedLists read = ReadCachedValue(CachedValue({a, b}), consumer_, pool_);
  EXPECT_THAT(Addresses(read.lists[kProviders]), ElementsAre("1.1.1.1:1", "1.1.1.2:1"));
  EXPECT_TRUE(read.lists[kRouters].has_value());
}

TEST_F(CachedListsTest, WhatDoesNotMatchOrCannotBeReadIsLeftOut) {
  const CachedLists read = ReadCachedValue(
      " garbage dubbo://h:nan/x \t dubbo://1.1.1.1:1/a.B?version=2\ndubbo://1.1.1.2:1/a.B?version=1 x://h?category=nosuch ",
      consumer_, pool_);
  EXPECT_THAT(Addresses(read.lists[kProviders]), ElementsAre("1.1.1.2:1"));
  EXPECT_EQ(read.unreadable, 2);
  EXPECT_FALSE(ReadCachedValue("dubbo://1.1.1.1:1/a.B?version=2", consumer_, pool_).lists[kProviders].has_value());
}

TEST_F(CachedListsTest, CategoriesCanBeTakenOut) {
  const std::string value = "dubbo://h:1/a.B empty://h/a.B?category=routers override://0.0.0.0/a.B?category=configurators dubbo://i:1/a.B";
  EXPECT_EQ(WithoutCategories(value, 1u << kProviders),
            "empty://h/a.B?category=routers override://0.0.0.0/a.B?category=configurators");
  EXPECT_EQ(WithoutCategories(value, 1u << kRouters | 1u << kConfigurators), "dubbo://h:1/a.B dubbo://i:1/a.B");
  EXPECT_EQ(WithoutCategories(value, 15), "");
}

TEST_F(CachedListsTest, TheFileIsWhereTheUrlTheHostOrDubboSays) {
  const auto path = [&](const char* url) { return CacheFilePath(U(url), "/fallback"); };
  EXPECT_EQ(path("zookeeper://h:1"), "/fallback");
  EXPECT_EQ(path("zookeeper://h:1?file="), "/fallback");
  EXPECT_EQ(path("zookeeper://h:1?file=/x/y"), "/x/y");
  EXPECT_EQ(path("zookeeper://h:1?file=/x/y&file-cache=false"), "");
  EXPECT_EQ(path("zookeeper://h:1?file=/x/y&file.cache=FALSE"), "");
  EXPECT_EQ(DefaultCacheFile(U("zookeeper://[::1]:2181?backup=i:1&application=shop"), "/home/me", "other"),
            "/home/me/.dubbo/dubbo-registry-shop-[--1]-2181.cache");
  EXPECT_EQ(DefaultCacheFile(U("zookeeper://h:1"), "/h", "other"), "/h/.dubbo/dubbo-registry-other-h-1.cache");
  EXPECT_EQ(DefaultCacheFile(U("zookeeper://h:1?application=../../x"), "/h", ""), "/h/.dubbo/dubbo-registry-..-..-x-h-1.cache");
  EXPECT_THAT(DefaultCacheFile(U("zookeeper://me:secret@h:1"), "/h", ""), Not(HasSubstr("secret")));
  EXPECT_EQ(DefaultCacheFile(U("redis://h:1"), "/h", "a", "db3/../x"), "/h/.dubbo/dubbo-registry-a-h-1-db3-..-x.cache");
}

}  // namespace
}  // namespace fairlead::internal
