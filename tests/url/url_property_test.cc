#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

// Equality against a map-based oracle: a random url is written in random spellings (order, escapes,
// `default.` keys, slashes, port 0, repeated keys, pid and timestamp), read back through a pool, and compared
// with the others.
namespace fairlead {
namespace {

struct Meaning {
  std::string protocol, host, path;
  std::optional<std::string> user;
  int port = 0;
  std::map<std::string, std::string> params;  // without pid and timestamp

  auto Tie() const { return std::tie(protocol, host, path, user, port, params); }
  bool operator==(const Meaning& other) const { return Tie() == other.Tie(); }
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  Meaning RandomMeaning() {
    Meaning m;
    m.protocol = Any({"dubbo", "tri"});
    m.host = Any({"10.0.0.1", "10.0.0.2", "h"});
    m.path = Any({"s.A", "s.B", "a//b"});
    if (Chance(4)) m.user = "u";
    m.port = Chance(3) ? 0 : 20880;
    for (auto left = random_.Below(4); left > 0; --left) {
      m.params[Any({"a", "b", "remote.timestamp", "mypid", "find.k", "中"})] =
          Any({"1", "2", "x y", "50%", "中", "a+b"});
    }
    if (Chance(3)) {
      m.params["default.k"] = "d";
      m.params.emplace("k", "d");
    }
    return m;
  }

  // A text that means `m`.
  std::string Spell(const Meaning& m) {
    std::vector<std::pair<std::string, std::string>> items(m.params.begin(), m.params.end());
    if (m.params.count("default.k") > 0 && m.params.at("k") == m.params.at("default.k") && Chance(2)) {
      std::erase_if(items, [](const auto& item) { return item.first == "k"; });
    }
    if (Chance(2)) items.emplace_back("timestamp", std::to_string(random_.Below(100)));
    if (Chance(2)) items.emplace_back("pid", std::to_string(random_.Below(100)));
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_.Below(i)]);
    if (!items.empty() && Chance(3)) {
      const auto [key, value] = items[random_.Below(items.size())];
      // The first `default.k` is the one that counts for `k`.
      if (key != "default.k") items.insert(items.begin(), {key, "overwritten later"});
    }
    std::string text = m.protocol + "://";
    if (m.user.has_value()) text += *m.user + "@";
    text += m.host;
    if (m.port != 0) text += ":" + std::string(Chance(4) ? "+" : "") + std::to_string(m.port);
    if (m.port == 0 && Chance(2)) text += Any({":0", ":-1", ":00"});
    text += Any({"/", "//", "///"}) + m.path;
    const bool encoded = Chance(2);
    if (!encoded) {
      // Decoded text cannot hold escapes: its values are what they are.
      return text + Query(items, encoded);
    }
    return Escaped(text) + Query(items, encoded);
  }

  bool Chance(std::uint64_t n) { return random_.Below(n) == 0; }

 private:
  std::string Any(std::initializer_list<const char*> choices) {
    return *(choices.begin() + random_.Below(choices.size()));
  }

  // Either case of hex, and escapes where none is needed.
  std::string Escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      std::string one = PercentEncode(std::string_view(&c, 1));
      if (one.size() == 1 && one[0] == c && Chance(6)) {
        constexpr char kHex[] = "0123456789ABCDEF";
        one = {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[c & 15]};
      }
      if (one.size() == 3 && Chance(4))
        std::transform(one.begin(), one.end(), one.begin(),
                       [](char x) { return x >= 'A' && x <= 'F' ? static_cast<char>(x - 'A' + 'a') : x; });
      out += one;
    }
    return out;
  }

  std::string Query(const std::vector<std::pair<std::string, std::string>>& items, bool encoded) {
    std::string out;
    for (const auto& [key, value] : items) {
      const std::string mark = out.empty() ? "?" : Any({"&", ";", "&&"});
      out += encoded ? PercentEncode(mark) + Escaped(key) + "%3D" + Escaped(value) : mark + key + "=" + value;
    }
    return out;
  }

  Random random_;
};

TEST(UrlPropertyTest, EqualityIsTheOraclesOnRandomSpellings) {
  std::size_t equal_pairs = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Writer writer(seed);
    UrlPool pool, other_pool;
    std::vector<std::pair<Meaning, Url>> urls;
    for (int i = 0; i < 24; ++i) {
      const Meaning meaning = urls.empty() || writer.Chance(2) ? writer.RandomMeaning() : urls.back().first;
      const std::string text = writer.Spell(meaning);
      const absl::StatusOr<Url> url = (writer.Chance(8) ? other_pool : pool).Parse(text);
      ASSERT_TRUE(url.ok()) << text << ": " << url.status();
      urls.emplace_back(meaning, *url);
      ASSERT_EQ(Url::Of(url->parts(), pool), *url) << text;
    }
    for (const auto& [meaning_a, a] : urls) {
      for (const auto& [meaning_b, b] : urls) {
        ASSERT_EQ(a == b, meaning_a == meaning_b) << a.ToFullString() << "\n" << b.ToFullString();
        if (a == b) {
          ASSERT_EQ(a.Hash(), b.Hash());
        }
        equal_pairs += &a != &b && a == b ? 1 : 0;
      }
    }
  }
  EXPECT_GT(equal_pairs, 1000u) << "the test must meet equal urls";
}

TEST(UrlPropertyTest, ThePoolReturnsToTheLiveCountAfterASweep) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Writer writer(seed);
    FakeClock clock;
    UrlPool pool(clock, std::chrono::seconds(0));
    std::vector<std::pair<std::string, Url>> live;
    for (int step = 0; step < 400; ++step) {
      const std::string text = writer.Spell(writer.RandomMeaning());
      const Url url = *pool.Parse(text);
      if (writer.Chance(3)) live.emplace_back(text, url);
      if (live.size() > 20) live.erase(live.begin());
      if (writer.Chance(20)) pool.Sweep();
    }
    pool.Sweep();
    std::set<std::string> texts;
    std::vector<Url> distinct;
    for (const auto& [text, url] : live) {
      texts.insert(text);
      if (std::find(distinct.begin(), distinct.end(), url) == distinct.end()) distinct.push_back(url);
    }
    EXPECT_EQ(pool.sizes().entries, texts.size());
    EXPECT_EQ(pool.sizes().in_use, texts.size());
    EXPECT_LE(pool.sizes().common, distinct.size());
    live.clear();
    distinct.clear();
    pool.Sweep();
    EXPECT_EQ(pool.sizes().entries + pool.sizes().common, 0u);
  }
}

}  // namespace
}  // namespace fairlead
