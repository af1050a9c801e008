#include "fairlead/url/url_params.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "fairlead/base/random.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using Oracle = std::map<std::string, std::string, std::less<>>;

void ExpectSame(const UrlParams& params, const Oracle& oracle) {
  ASSERT_EQ(params.size(), oracle.size());
  auto expected = oracle.begin();
  for (const auto& [key, value] : params) {
    ASSERT_EQ(key, expected->first);
    ASSERT_EQ(value, expected->second);
    ++expected;
  }
}

TEST(UrlParamsTest, InitializerKeepsTheFirstFromTheLast) {
  const UrlParams first{{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(*first.Find("a"), "1");
  EXPECT_EQ(*UrlParams::From({{"a", "1"}, {"a", "2"}, {"b", "3"}}).Find("a"), "2");
}

TEST(UrlParamsTest, FindsAMethodsKeyWithoutJoiningIt) {
  const UrlParams params{{"find", "0"}, {"find.timeout", "1"}, {"find-x.timeout", "2"}, {"findtimeout", "3"}};
  EXPECT_EQ(*params.Find("find", "timeout"), "1");
  EXPECT_EQ(*params.Find("find-x", "timeout"), "2");
  EXPECT_EQ(params.Find("find", ""), nullptr);
  EXPECT_EQ(params.Find("fin", "timeout"), nullptr);
  EXPECT_EQ(params.Find("finds", "timeout"), nullptr);
}

TEST(UrlParamsTest, ValuesMayBeViewsOfTheObjectItself) {
  UrlParams params{{"a", "a value that needs the heap, so that moving it would be seen"}, {"b", ""}};
  const UrlParams copy = params;
  params.insert_or_assign("b", *params.Find("a"));
  EXPECT_EQ(*params.Find("b"), *copy.Find("a"));
  EXPECT_EQ(*copy.Find("b"), "");
}

// Every operation against std::map, on objects that share their content with others: copies, and the parameters of
// interned urls, which hold `pid` and `timestamp` apart from the rest.
TEST(UrlParamsTest, PropertyBehavesAsAMap) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    UrlPool pool;
    const char* const kKeys[] = {"a", "b", "find.timeout", "pid", "timestamp", "zz", "", "methods"};
    const auto key = [&] { return std::string(kKeys[random.Below(std::size(kKeys))]); };
    UrlParams params;
    Oracle oracle;
    std::vector<std::pair<UrlParams, Oracle>> copies;
    for (int step = 0; step < 60; ++step) {
      const std::string k = key(), v = std::to_string(random.Below(5));
      switch (random.Below(10)) {
        case 0:
          params[k] = v;
          oracle[k] = v;
          break;
        case 1:
          params.insert_or_assign(k, v);
          oracle.insert_or_assign(k, v);
          break;
        case 2: ASSERT_EQ(params.emplace(k, v), oracle.emplace(k, v).second); break;
        case 3: ASSERT_EQ(params.erase(k), oracle.erase(k)); break;
        case 4:
          if (const auto at = params.find(k); at != params.end()) {
            const auto next = params.erase(at);
            const auto oracle_next = oracle.erase(oracle.find(k));
            ASSERT_EQ(next == params.end(), oracle_next == oracle.end());
            if (oracle_next != oracle.end()) {
              ASSERT_EQ(next->first, oracle_next->first);
            }
          } else {
            ASSERT_EQ(oracle.count(k), 0u);
          }
          break;
        case 5: copies.emplace_back(params, oracle); break;
        case 6: {
          UrlParams over{{k, v}, {key(), "over"}};
          params.Overlay(over);
          for (const auto& [over_key, over_value] : over) oracle.insert_or_assign(over_key, over_value);
          break;
        }
        case 7: {
          const auto drop = [&](std::string_view a, std::string_view) { return a == k || a.empty(); };
          params.EraseIf(drop);
          std::erase_if(oracle, [&](const auto& item) { return drop(item.first, item.second); });
          break;
        }
        default: {
          UrlParts parts;
          parts.params = params;
          params = pool.Intern(std::move(parts)).parts().params;
        }
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSame(params, oracle));
      const auto at = params.find(k);
      ASSERT_EQ(at == params.end(), oracle.find(k) == oracle.end());
      ASSERT_EQ(params.contains(k), oracle.count(k) == 1);
      for (const auto& [copy, copy_oracle] : copies) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(copy, copy_oracle));
        ASSERT_EQ(copy == params, copy_oracle == oracle);
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
