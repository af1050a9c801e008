#include "fairlead/registry/child_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ChildListTest : public ::testing::Test {
 protected:
  // Addresses in order; unreadable ones as "?", shadowed ones in brackets.
  static std::vector<std::string> Show(const ChildList& list) {
    std::vector<std::string> all;
    for (const ChildList::Child& child : list.children()) {
      std::string text = child.url.empty() ? "?" : child.url.Address();
      all.push_back(child.shadowed ? "(" + text + ")" : text);
    }
    return all;
  }
  static std::vector<std::uint32_t> Origins(const ChildList& list) {
    std::vector<std::uint32_t> all;
    for (const ChildList::Child& child : list.children()) all.push_back(child.came_from);
    return all;
  }

  UrlPool pool_;
  ChildList list_{pool_, 7, ""};
};

TEST_F(ChildListTest, TheSameSetChangesNothingNotEvenTheOrder) {
  EXPECT_TRUE(list_.Update({"dubbo://a:1/s", "dubbo://b:1/s", "dubbo://c:1/s"}));
  EXPECT_FALSE(list_.Update({"dubbo://c:1/s", "dubbo://a:1/s", "dubbo://b:1/s"}));
  EXPECT_FALSE(list_.Update({"dubbo://a:1/s", "dubbo://a:1/s", "dubbo://b:1/s", "dubbo://c:1/s"}));
  EXPECT_THAT(Show(list_), ElementsAre("a:1", "b:1", "c:1"));
}

TEST_F(ChildListTest, AChangedSetTakesTheNewOrder) {
  list_.Update({"dubbo://a:1/s", "dubbo://b:1/s", "dubbo://c:1/s"});
  EXPECT_TRUE(list_.Update({"dubbo://d:1/s", "dubbo://c:1/s", "dubbo://a:1/s", "dubbo://d:1/s"}));
  EXPECT_THAT(Show(list_), ElementsAre("d:1", "c:1", "a:1"));
  EXPECT_THAT(Origins(list_), ElementsAre(ChildList::kNew, 2u, 0u));
  EXPECT_TRUE(list_.Update({}));
  EXPECT_TRUE(list_.empty());
  EXPECT_FALSE(list_.Update({}));
}

TEST_F(ChildListTest, EqualUrlsCollapseToTheNewest) {
  list_.Update({"dubbo://a:1/s?pid=1&timestamp=5", "dubbo://a:1/s?pid=2&timestamp=9",
                "dubbo://a:1/s?pid=3&timestamp=7"});
  EXPECT_THAT(Show(list_), ElementsAre("(a:1)", "a:1", "(a:1)"));
  EXPECT_EQ(list_.children()[1].url.timestamp_ms(), 9);
  // The newest goes: the next one counts again.
  list_.Update({"dubbo://a:1/s?pid=1&timestamp=5", "dubbo://a:1/s?pid=3&timestamp=7"});
  EXPECT_THAT(Show(list_), ElementsAre("(a:1)", "a:1"));
  list_.Update({"dubbo://a:1/s?pid=1&timestamp=5"});
  EXPECT_THAT(Show(list_), ElementsAre("a:1"));
}

TEST_F(ChildListTest, UnreadableChildrenAreNamedWithoutPassword) {
  EXPECT_TRUE(list_.Update({"dubbo://u:secret@h:port/s", "dubbo://a:1/s", "junk"}));
  EXPECT_THAT(Show(list_), ElementsAre("?", "a:1", "?"));
  ASSERT_EQ(list_.unreadable().size(), 2u);
  EXPECT_THAT(list_.unreadable()[0].text, AllOf(HasSubstr("h:port"), Not(HasSubstr("secret"))));
  EXPECT_THAT(list_.unreadable()[1].text, HasSubstr("junk"));
  EXPECT_FALSE(list_.nothing_readable());
  EXPECT_TRUE(list_.Update({"junk", "dubbo://u:secret@h:port/s"}));
  EXPECT_TRUE(list_.nothing_readable());
  EXPECT_THAT(list_.unreadable()[0].text, HasSubstr("junk"));
  EXPECT_THAT(list_.unreadable()[1].text, HasSubstr("h:port"));
  EXPECT_THAT(Origins(list_), ElementsAre(2u, 0u));
}

TEST_F(ChildListTest, AnEncodedPasswordIsHiddenToo) {
  list_.Update({PercentEncode("dubbo://u:secret@h:port/s"), "dubbo%3A%2F%2Fu%3Asecret%40h%3A1%2Fs%"});
  ASSERT_EQ(list_.unreadable().size(), 2u);
  for (const ChildList::Unreadable& child : list_.unreadable())
    EXPECT_THAT(child.text, Not(HasSubstr("secret")));
}

TEST_F(ChildListTest, ALongTextIsCut) {
  list_.Update({"dubbo://h:" + std::string(100'000, 'x')});
  EXPECT_LT(list_.unreadable().at(0).text.size(), 1000u);
}

TEST_F(ChildListTest, AChildWithoutTheMarkIsAsGoodAsAbsent) {
  ChildList rules(pool_, 7, UrlMark(Category::kRouters, true));
  rules.Update({"garbage", "condition://0.0.0.0/s"});
  EXPECT_THAT(Show(rules), ElementsAre("?", "?"));
  EXPECT_FALSE(rules.nothing_readable());
  rules.Update({"garbage", PercentEncode("condition://h:port/s")});
  EXPECT_TRUE(rules.nothing_readable());
  rules.Update({"garbage", PercentEncode("condition://0.0.0.0/s")});
  EXPECT_THAT(Show(rules), ElementsAre("?", "0.0.0.0"));
}

// Against a slow twin, over random sequences of lists with twins and junk.
TEST_F(ChildListTest, AfterAnyEditsTheListIsThatOfOneFromScratch) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ChildList stepped(pool_, seed, "");
    for (int step = 0; step < 60; ++step) {
      std::vector<std::string> texts;
      const std::uint64_t count = random.Below(12);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::string host = "h" + std::to_string(random.Below(6));
        const std::string stamp = std::to_string(random.Below(3));
        texts.push_back(random.Below(8) == 0
                            ? "junk" + stamp
                            : "dubbo://" + host + ":1/s?pid=" + stamp + "&timestamp=" + stamp);
      }
      const std::vector<std::string> before = Show(stepped);
      const bool changed = stepped.Update(texts);
      ChildList fresh(pool_, seed, "");
      fresh.Update(texts);
      if (changed) {
        EXPECT_EQ(Show(stepped), Show(fresh));
        EXPECT_EQ(stepped.unreadable().size(), fresh.unreadable().size());
        EXPECT_EQ(stepped.nothing_readable(), fresh.nothing_readable());
      } else {
        EXPECT_EQ(Show(stepped), before);
        std::vector<std::string> a = Show(stepped), b = Show(fresh);
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        EXPECT_EQ(a.size(), b.size());
      }
    }
  }
}

// Lists long enough that texts move, leave and come in the middle of others that stay.
TEST_F(ChildListTest, OriginsOfLongListsAreRight) {
  Random random(3);
  ChildList list(pool_, 7, "");
  std::vector<std::string> before;
  for (int step = 0; step < 200; ++step) {
    std::vector<std::string> now = before;
    const auto any = [&] { return static_cast<std::ptrdiff_t>(random.Below(now.size())); };
    for (std::uint64_t edits = random.Below(5); edits > 0; --edits) {
      const std::uint64_t kind = random.Below(5);
      if (kind < 2 || now.empty()) {
        now.insert(now.begin() + (now.empty() ? 0 : any()), "dubbo://h" + std::to_string(random.Below(100'000)) + ":1/s");
      } else if (kind == 2) {
        now.erase(now.begin() + any());
      } else if (kind == 3) {
        std::swap(now[static_cast<std::size_t>(any())], now[static_cast<std::size_t>(any())]);
      } else {
        now.push_back(now[static_cast<std::size_t>(any())]);  // a second time
      }
    }
    std::vector<std::string> distinct;
    for (const std::string& text : now) {
      if (std::find(distinct.begin(), distinct.end(), text) == distinct.end()) distinct.push_back(text);
    }
    const auto sorted = [](std::vector<std::string> texts) {
      std::sort(texts.begin(), texts.end());
      return texts;
    };
    const bool changed = sorted(distinct) != sorted(before);
    ASSERT_EQ(list.Update(now), changed) << step;
    if (!changed) continue;
    std::vector<std::uint32_t> origins;
    for (const std::string& text : distinct) {
      const auto at = std::find(before.begin(), before.end(), text);
      origins.push_back(at == before.end() ? ChildList::kNew : static_cast<std::uint32_t>(at - before.begin()));
    }
    ASSERT_EQ(Origins(list), origins) << step;
    before = distinct;
  }
}

}  // namespace
}  // namespace fairlead::internal
