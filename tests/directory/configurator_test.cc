#include "fairlead/directory/configurator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/connection_key.h"
#include "fairlead/url/url_parts.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kLocal = "10.9.8.7";

UrlParts Parse(std::string_view text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  EXPECT_TRUE(url.ok()) << url.status();
  return url.ok() ? *url : UrlParts();
}

Configurators Make(const std::vector<std::string>& texts, std::vector<absl::Status>* rejected = nullptr) {
  std::vector<UrlParts> urls;
  for (const std::string& text : texts) urls.push_back(Parse(text));
  return Configurators::FromParts(std::move(urls), kLocal, rejected);
}

std::string Apply(const std::vector<std::string>& rules, std::string_view url) {
  std::vector<absl::Status> rejected;
  const Configurators configurators = Make(rules, &rejected);
  EXPECT_THAT(rejected, IsEmpty());
  return configurators.Apply(Parse(url)).ToString();
}

TEST(Configurators, NoRulesChangeNothing) {
  const Configurators none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.Apply(Parse("dubbo://h:1/s?x=1")), Parse("dubbo://h:1/s?x=1"));
  EXPECT_EQ(none.Describe(), "");
}

TEST(Configurators, OverrideReplacesAndAbsentFills) {
  EXPECT_EQ(Apply({"override://0.0.0.0/s?x=2&y=3"}, "dubbo://h:1/s?side=consumer&x=1"),
            "dubbo://h:1/s?side=consumer&x=2&y=3");
  EXPECT_EQ(Apply({"absent://0.0.0.0/s?x=2&y=3"}, "dubbo://h:1/s?side=consumer&x=1"),
            "dubbo://h:1/s?side=consumer&x=1&y=3");
  EXPECT_EQ(Apply({"absent://0.0.0.0/s?x=2"}, "dubbo://h:1/s?side=consumer&x="),
            "dubbo://h:1/s?side=consumer&x=")
      << "an empty value is there";
}

TEST(Configurators, ControlParametersAreNeverSet) {
  EXPECT_EQ(Apply({"override://0.0.0.0/s?category=configurators&check=true&dynamic=false&enabled=true&"
                   "compatible_config=1&interfaces=s&application=*&x=1"},
                  "dubbo://h:1/s?side=consumer"),
            "dubbo://h:1/s?side=consumer&x=1");
  EXPECT_EQ(Apply({"override://0.0.0.0/s?configVersion=v2.7&group=g&side=consumer&version=1&x=1"},
                  "dubbo://h:1/s?group=g&side=consumer&version=1"),
            "dubbo://h:1/s?group=g&side=consumer&version=1&x=1");
}

TEST(Configurators, AnyInterfaceIsNotSetSoThatTheTargetKeepsItsService) {
  EXPECT_EQ(Apply({"override://0.0.0.0/*?interface=*&priority=1&x=1", "override://0.0.0.0/s?priority=2&y=1"},
                  "dubbo://h:1/s?interface=s&side=consumer"),
            "dubbo://h:1/s?interface=s&priority=2&side=consumer&x=1&y=1");
}

TEST(Configurators, LaterHostsAndLargerPrioritiesWin) {
  const Configurators configurators =
      Make({"override://10.0.0.2/s?priority=1&t=1", "override://0.0.0.0/s?priority=2&t=2",
            "override://10.0.0.10/s?t=3", "override://0.0.0.0/s?priority=-1&t=4", "override://0.0.0.0/s?t=5",
            "override://0.0.0.0/s?t=6"});
  std::vector<std::string> order;
  for (const Configurator& configurator : configurators.in_order()) {
    order.emplace_back(configurator.url().Param("t"));
  }
  EXPECT_THAT(order, ElementsAre("4", "5", "6", "2", "3", "1"));

  EXPECT_EQ(Apply({"override://10.9.8.7/s?t=7", "override://0.0.0.0/s?priority=9&t=9"},
                  "consumer://h/s?side=consumer"),
            "consumer://h/s?priority=9&side=consumer&t=7");
}

TEST(Configurators, EqualRulesKeepTheOrderOfTheNotification) {
  std::vector<std::string> rules;
  for (int i = 0; i < 100; ++i) {
    rules.push_back("override://0.0.0.0/s?priority=" + std::to_string(i % 2) + "&t=" + std::to_string(i));
  }
  std::vector<int> order;
  const Configurators configurators = Make(rules);
  for (const Configurator& configurator : configurators.in_order()) {
    order.push_back(std::stoi(std::string(configurator.url().Param("t"))));
  }
  ASSERT_THAT(order, SizeIs(100));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], 2 * i);
    EXPECT_EQ(order[static_cast<std::size_t>(i + 50)], 2 * i + 1);
  }
}

TEST(Configurators, RulesSeeWhatEarlierOnesHaveSet) {
  EXPECT_EQ(
      Apply({"override://0.0.0.0/s?priority=1&region=hz", "override://0.0.0.0/s?priority=2&~region=hz&x=1"},
            "dubbo://h:1/s?region=bj&side=consumer"),
      "dubbo://h:1/s?priority=2&region=hz&side=consumer&x=1");
}

TEST(Configurators, EmptyClearsAndEnds) {
  EXPECT_TRUE(Make({"override://0.0.0.0/s?x=1", "empty://0.0.0.0/s?category=configurators"}).empty());
  EXPECT_TRUE(Make({"empty://0.0.0.0/s", "override://0.0.0.0/s?x=1"}).empty());
}

TEST(Configurators, UrlsThatSetNothingAreNoRules) {
  std::vector<absl::Status> rejected;
  EXPECT_TRUE(Make({"override://0.0.0.0/s", "override://0.0.0.0/s?anyhost=true"}, &rejected).empty());
  EXPECT_THAT(rejected, IsEmpty());
}

TEST(Configurators, ABadRuleIsRejectedAlone) {
  std::vector<absl::Status> rejected;
  const Configurators configurators =
      Make({"override://joe:s3cr3t@0.0.0.0/s?priority=high&x=1", "override:///s?x=2",
            "override://0.0.0.0?x=3", "overide://0.0.0.0/s?x=4",
            "override://0.0.0.0/s?priority=99999999999&x=5", "override://0.0.0.0/s?y=6"},
           &rejected);
  EXPECT_EQ(configurators.Apply(Parse("dubbo://h:1/s?side=consumer")),
            Parse("dubbo://h:1/s?side=consumer&y=6"));
  ASSERT_THAT(rejected, SizeIs(5));
  for (const absl::Status& status : rejected) EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(rejected[0].message()), HasSubstr("priority=high"));
  EXPECT_THAT(std::string(rejected[0].message()), HasSubstr("joe"));
  EXPECT_THAT(std::string(rejected[0].message()), Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(std::string(rejected[1].message()), HasSubstr("write 0.0.0.0 for all"));
  EXPECT_THAT(std::string(rejected[2].message()), HasSubstr("write * for all"));
  EXPECT_THAT(std::string(rejected[3].message()), HasSubstr("`override` or `absent`"));
  EXPECT_THAT(std::string(rejected[4].message()), HasSubstr("integer of 32 bits"));
  EXPECT_THAT(Make({"overide://0.0.0.0/s?x=4"}), testing::Property(&Configurators::empty, true))
      << "no list, no harm";
}

TEST(Configurators, DescribeShowsTheOrderAndNoPassword) {
  const std::string text =
      Make({"override://10.0.0.1/s?x=2", "override://app:s3cr3t@0.0.0.0/s?enabled=false&x=1"}).Describe();
  EXPECT_EQ(text,
            "override://app:***@0.0.0.0/s?enabled=false&x=1 (not enabled)\n"
            "override://10.0.0.1/s?x=2\n");
}

TEST(Configurators, FromUrlsReadsANotification) {
  UrlPool pool;
  const std::vector<Url> urls = {
      *Url::Parse("override://0.0.0.0/s?category=configurators&x=2", pool),
      *Url::Parse("override://0.0.0.0/s?category=configurators&priority=no", pool)};
  std::vector<absl::Status> rejected;
  const Configurators configurators = Configurators::FromUrls(urls, kLocal, &rejected);
  EXPECT_EQ(configurators.size(), 1u);
  EXPECT_THAT(rejected, SizeIs(1));
  EXPECT_EQ(configurators.Apply(Parse("dubbo://h:1/s?side=consumer&x=1")),
            Parse("dubbo://h:1/s?side=consumer&x=2"));
  EXPECT_TRUE(Configurators::FromUrls({}, kLocal).empty());
}

// Which targets a rule is for: each row changes one thing.
struct MatchCase {
  std::string_view rule, target;
  bool applies;
};

TEST(Configurators, WhichTargetsARuleIsFor) {
  for (const MatchCase& row : std::vector<MatchCase>{
           // before 2.7, no port: a consumer's host
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://10.9.8.7/s?x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://10.0.0.1/s?x=1", "dubbo://10.0.0.1:1/s?side=consumer", false},
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s?side=provider", true},
           {"override://h/s?x=1", "dubbo://h:1/s?side=provider", false},
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s", false},
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s?side=other", false},
           // before 2.7, a port: one provider
           {"override://h:1/s?x=1", "dubbo://h:1/s", true},
           {"override://h:1/s?x=1", "dubbo://h:2/s", false},
           {"override://g:1/s?x=1", "dubbo://h:1/s", false},
           {"override://0.0.0.0:1/s?x=1", "dubbo://h:1/s", true},
           {"override://0.0.0.0:1/s?x=1", "dubbo://h:2/s", false},
           // since 2.7
           {"override://0.0.0.0/s?configVersion=v2.7&side=consumer&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?configVersion=v2.7&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?configVersion=v2.7&side=provider&x=1", "dubbo://h:1/s?side=consumer",
            false},
           {"override://0.0.0.0/s?configVersion=v2.7&side=other&x=1", "dubbo://h:1/s?side=other", false},
           {"override://10.9.8.7/s?configVersion=v2.7&side=consumer&x=1", "dubbo://h:1/s?side=consumer",
            true},
           {"override://h/s?configVersion=v2.7&side=consumer&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://h/s?configVersion=v2.7&side=provider&x=1", "dubbo://h:1/s?side=provider", true},
           {"override://h:9/s?configVersion=v2.7&side=provider&x=1", "dubbo://h:1/s?side=provider", true},
           {"override://10.9.8.7/s?configVersion=v2.7&side=provider&x=1", "dubbo://h:1/s?side=provider",
            false},
           // enabled
           {"override://0.0.0.0/s?enabled=TRUE&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?enabled=&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?enabled=false&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?enabled=yes&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?x=1", "dubbo:///s?side=consumer", false},
           // service
           {"override://0.0.0.0/t?x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/*?x=1", "dubbo://h:1/s?group=g&side=consumer", true},
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s?group=g&side=consumer", false},
           {"override://0.0.0.0/s?group=g&x=1", "dubbo://h:1/s?group=g&side=consumer", true},
           {"override://0.0.0.0/s?x=1", "dubbo://h:1/s?side=consumer&version=1", false},
           {"override://0.0.0.0/s?group=*&x=1", "dubbo://h:1/s?group=g&side=consumer", false},
           {"override://0.0.0.0/t?interface=s&x=1", "dubbo://h:1/s?interface=s&side=consumer", true},
           // application
           {"override://0.0.0.0/s?application=a&x=1", "dubbo://h:1/s?application=a&side=consumer", true},
           {"override://0.0.0.0/s?application=a&x=1", "dubbo://h:1/s?application=b&side=consumer", false},
           {"override://0.0.0.0/s?application=*&x=1", "dubbo://h:1/s?application=b&side=consumer", true},
           {"override://a@0.0.0.0/s?x=1", "dubbo://h:1/s?application=a&side=consumer", true},
           {"override://a@0.0.0.0/s?x=1", "dubbo://h:1/s?application=b&side=consumer", false},
           {"override://a@0.0.0.0/s?x=1", "dubbo://h:1/s?side=consumer", false},
           // providerAddresses
           {"override://0.0.0.0/s?providerAddresses=g:2,h:1&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?providerAddresses=h&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?providerAddresses=0.0.0.0&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?providerAddresses=0.0.0.0:*&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?providerAddresses=0.0.0.0:1&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?providerAddresses=0.0.0.0:2&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?providerAddresses=h:2&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?providerAddresses=hh:1&x=1", "dubbo://h:1/s?side=consumer", false},
           // conditions
           {"override://0.0.0.0/s?x=1&~region=hz", "dubbo://h:1/s?region=hz&side=consumer", true},
           {"override://0.0.0.0/s?x=1&~region=hz", "dubbo://h:1/s?region=bj&side=consumer", false},
           {"override://0.0.0.0/s?x=1&~region=hz", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?x=1&~region=*", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?side=provider&x=1", "dubbo://h:1/s?side=consumer", false},
           {"override://0.0.0.0/s?side=*&x=1", "dubbo://h:1/s?side=consumer", true},
           {"override://0.0.0.0/s?configVersion=v2.7&side=consumer&x=1&~region=hz",
            "dubbo://h:1/s?region=bj&side=consumer", false},
           {"override://0.0.0.0/s?configVersion=v3.0&side=consumer&x=1&~region=hz",
            "dubbo://h:1/s?region=bj&side=consumer", true},
       }) {
    const UrlParts target = Parse(row.target);
    const UrlParts effective = Make({std::string(row.rule)}).Apply(target);
    EXPECT_EQ(effective.Param("x") == "1", row.applies) << row.rule << "\n  on " << row.target;
    if (!row.applies) {
      EXPECT_EQ(effective, target) << row.rule << "\n  on " << row.target;
    }
  }
}

TEST(Configurators, ATargetWithoutASideIsNamed) {
  const Configurators configurators = Make(
      {"override://0.0.0.0/s?x=1", "override://0.0.0.0/s?configVersion=v2.7&enabled=false&side=consumer&y=1",
       "override://10.0.0.1/s?configVersion=v2.7&side=consumer&z=1"});
  EXPECT_TRUE(configurators.CheckTarget(Parse("dubbo://h:1/s?side=consumer")).ok());
  const absl::Status status = configurators.CheckTarget(Parse("dubbo://h:1/s?password=s3cr3t"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("z=1"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cr3t")));
  EXPECT_EQ(configurators.Apply(Parse("dubbo://h:1/s")), Parse("dubbo://h:1/s"));
  EXPECT_TRUE(Make({"override://0.0.0.0/s?x=1"}).CheckTarget(Parse("dubbo://h:1/s")).ok());
}

// Apache Dubbo #6963, #8042: the last deleted override stayed in force.
TEST(Configurators, DeletingTheLastRuleRestoresTheBaseWeight) {
  const UrlParts original = Parse("dubbo://10.0.0.1:20880/s?side=consumer&weight=100");
  const Configurators overridden = Make({"override://10.0.0.1:20880/s?weight=200"});
  EXPECT_EQ(overridden.Apply(original).Param("weight"), "200");
  EXPECT_EQ(Make({}).Apply(original), original);
  EXPECT_EQ(Make({"empty://0.0.0.0/s?category=configurators"}).Apply(original), original);
}

// Apache Dubbo #98: a delete whose text spelled out `enabled=true` did not find the stored rule.
TEST(ConfiguratorIdentity, ADeleteFindsItsRuleWhateverItSpellsOut) {
  std::vector<UrlParts> stored = {Parse("override://0.0.0.0/s?dynamic=false&x=1"),
                                  Parse("override://10.0.0.1:20880/s?dynamic=false&x=1")};
  const UrlParts asked = Parse("override://0.0.0.0/s?category=configurators&dynamic=false&enabled=true&x=1");
  std::erase_if(
      stored, [&](const UrlParts& url) { return ConfiguratorIdentity(url) == ConfiguratorIdentity(asked); });
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(stored.front().port, 20880);
}

TEST(ConfiguratorIdentity, IsWhatARuleIsForAndNotWhatItSets) {
  const auto identity = [](std::string_view text) { return ConfiguratorIdentity(Parse(text)); };
  const std::string rule = identity("override://0.0.0.0/s?application=a&x=1");
  EXPECT_EQ(rule, identity("override://0.0.0.0/s?application=a&enabled=false&priority=2&x=2&y=1"));
  EXPECT_EQ(rule, identity("override://a@0.0.0.0/s?x=1"));
  EXPECT_EQ(identity("override://0.0.0.0/s?x=1"), identity("override://0.0.0.0/s?application=*&x=1"));
  const std::set<std::string> all = {
      rule,
      identity("absent://0.0.0.0/s?application=a&x=1"),
      identity("override://10.0.0.1/s?application=a&x=1"),
      identity("override://0.0.0.0:1/s?application=a&x=1"),
      identity("override://0.0.0.0/t?application=a&x=1"),
      identity("override://0.0.0.0/s?application=a&group=g&x=1"),
      identity("override://0.0.0.0/s?application=b&x=1"),
      identity("override://0.0.0.0/s?x=1"),
      identity("override://0.0.0.0/s?application=a&side=consumer&x=1"),
      identity("override://0.0.0.0/s?application=a&providerAddresses=h&x=1"),
      identity("override://0.0.0.0/s?application=a&x=1&~region=hz"),
  };
  EXPECT_THAT(all, SizeIs(11));
}

// The slow, obvious twin: the rules are selected one by one, read again for every target, nothing is
// prepared.
class Oracle {
 public:
  static UrlParts Apply(const std::vector<UrlParts>& rules, UrlParts url) {
    std::vector<const UrlParts*> left;
    for (const UrlParts& rule : rules) left.push_back(&rule);
    while (!left.empty()) {
      auto first = left.begin();
      for (auto at = left.begin(); at != left.end(); ++at) {
        if (Before(**at, **first)) first = at;
      }
      if (IsFor(**first, url)) Set(**first, url);
      left.erase(first);
    }
    return url;
  }

 private:
  static bool Before(const UrlParts& a, const UrlParts& b) {
    if (a.host != b.host) return a.host < b.host;
    return std::stoi(std::string(a.Param("priority", "0"))) <
           std::stoi(std::string(b.Param("priority", "0")));
  }

  static bool IsFor(const UrlParts& rule, const UrlParts& url) {
    if (rule.Param("enabled", "true") != "true") return false;
    const std::string_view side = url.Param("side");
    std::string host(kLocal);
    if (!rule.Param("configVersion").empty()) {
      if (side != rule.Param("side")) return false;
      if (side == "provider") host = *url.host;
    } else if (rule.port > 0) {
      if (rule.port != url.port) return false;
      host = *url.host;
    } else if (side == "provider") {
      host = "0.0.0.0";
    }
    if (rule.host != "0.0.0.0" && rule.host != host) return false;
    if (rule.ServiceKey() != "*" && rule.ServiceKey() != url.ServiceKey()) return false;
    if (const std::string* addresses = rule.Find("providerAddresses")) {
      const std::string padded = "," + *addresses + ",";
      bool found = false;
      for (const std::string& accepted : {url.Address(), *url.host, std::string("0.0.0.0"),
                                          std::string("0.0.0.0:*"), "0.0.0.0:" + std::to_string(url.port)}) {
        found |= padded.find("," + accepted + ",") != std::string::npos;
      }
      if (!found) return false;
    }
    for (const auto& [key, value] : rule.params) {
      if (value == "*") continue;
      if (key == "application" && url.Param("application") != value) return false;
      if (rule.Param("configVersion") == "v3.0") continue;
      if (key == "side" && url.Param("side") != value) return false;
      if (key[0] == '~' && url.Param(key.substr(1)) != value) return false;
    }
    return true;
  }

  static void Set(const UrlParts& rule, UrlParts& url) {
    for (const auto& [key, value] : rule.params) {
      if (key == "enabled" || key == "group" || key == "version" || key == "application" || key == "side" ||
          key == "configVersion" || key == "category" || key == "dynamic") {
        continue;
      }
      if (key[0] == '~' && rule.Param("configVersion") != "v3.0") continue;
      if (rule.protocol == "absent" && url.Find(key) != nullptr) continue;
      url.params.insert_or_assign(std::string(key), std::string(value));
    }
  }
};

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}

  std::size_t Below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_);
  }
  std::string_view Any(std::initializer_list<std::string_view> choices) {
    return *(choices.begin() + Below(choices.size()));
  }
  bool OneIn(std::size_t n) { return Below(n) == 0; }

  UrlParts Target() {
    std::string text = "dubbo://";
    text += Any({"10.0.0.1", "10.0.0.2", "10.9.8.7"});
    text += Any({":20880", ":20881", ""});
    text += "/s?weight=100&application=";
    text += Any({"app-c", "app-p"});
    text += "&side=";
    text += Any({"consumer", "consumer", "provider"});
    text += "&region=";
    text += Any({"hz", "bj"});
    text += Any({"", "", "&group=g&version=1"});
    text += Any({"", "&timeout=10", "&find.timeout=10&methods=find,get"});
    return Parse(text);
  }

  UrlParts Rule() {
    std::string text(Any({"override", "override", "absent"}));
    text += "://";
    text += Any({"0.0.0.0", "0.0.0.0", "0.0.0.0", "10.9.8.7", "10.0.0.1", "10.0.0.10"});
    text += Any({"", "", "", ":20880"});
    text += Any({"/s", "/s", "/s", "/*", "/t"});
    text += "?category=configurators&dynamic=false";
    if (OneIn(3)) text += "&group=g&version=1";
    if (OneIn(6)) text += "&enabled=false";
    if (OneIn(2))
      text += "&configVersion=" + std::string(Any({"v2.7", "v3.0"})) +
              "&side=" + std::string(Any({"consumer", "provider"}));
    if (OneIn(4)) text += "&application=" + std::string(Any({"app-c", "app-p", "*"}));
    if (OneIn(4)) text += "&~region=" + std::string(Any({"hz", "bj", "*"}));
    if (OneIn(4))
      text +=
          "&providerAddresses=" + std::string(Any({"10.0.0.1:20880,10.0.0.2", "0.0.0.0:20881", "0.0.0.0:*"}));
    if (OneIn(2)) text += "&priority=" + std::string(Any({"-1", "0", "1", "2"}));
    if (OneIn(2)) text += "&weight=" + std::to_string(Below(300));
    if (OneIn(3)) text += "&timeout=" + std::to_string(Below(300));
    if (OneIn(4)) text += "&find.timeout=" + std::to_string(Below(300));
    if (OneIn(4)) text += "&loadbalance=" + std::string(Any({"random", "leastactive"}));
    if (OneIn(6)) text += "&disabled=true";
    if (OneIn(8)) text += "&serialization=" + std::string(Any({"hessian2", "fastjson"}));
    return Parse(text);
  }

 private:
  std::mt19937 engine_;
};

// Rules come, change and go in random order: the effective url depends on the present rules and the original
// alone, and only what a transport reads makes another connection.
TEST(ConfiguratorsProperty, TheEffectiveUrlIsTheOriginalWithThePresentRules) {
  std::size_t applied = 0, kept = 0, remade = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Generator random(seed);
    const UrlParts original = random.Target();
    const std::string original_key = ConnectionKey(original);
    std::vector<UrlParts> stored;
    const auto check = [&] {
      const UrlParts effective = Configurators::FromParts(stored, kLocal).Apply(original);
      EXPECT_EQ(effective, Oracle::Apply(stored, original)) << "seed " << seed;
      if (effective == original) return;
      ++applied;
      // No target has a serialization and no other setting of a rule is a transport's.
      const bool same_transport = effective.Find("serialization") == nullptr;
      // `find.timeout` is a policy's also where `methods` is absent.
      EXPECT_EQ(ConnectionKey(effective) == original_key, same_transport)
          << "seed " << seed << " " << effective.ToString();
      ++(same_transport ? kept : remade);
    };
    for (int step = 0; step < 40; ++step) {
      const std::size_t what = random.Below(3);
      if (stored.empty() || what == 0) {
        stored.insert(stored.begin() + static_cast<std::ptrdiff_t>(random.Below(stored.size() + 1)),
                      random.Rule());
      } else if (what == 1) {
        stored[random.Below(stored.size())] = random.Rule();
      } else {
        stored.erase(stored.begin() + static_cast<std::ptrdiff_t>(random.Below(stored.size())));
      }
      check();
    }
    while (!stored.empty()) {
      stored.erase(stored.begin() + static_cast<std::ptrdiff_t>(random.Below(stored.size())));
      check();
    }
    EXPECT_EQ(Configurators::FromParts(stored, kLocal).Apply(original), original)
        << "the last delete restores";
  }
  // The cases must not be vacuous.
  EXPECT_GT(applied, 1000u);
  EXPECT_GT(kept, 500u);
  EXPECT_GT(remade, 200u);
}

// The same rules in another order of notification give the same url, unless host and priority leave the order
// open.
TEST(ConfiguratorsProperty, TheOrderOfANotificationDoesNotMatter) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Generator random(seed);
    std::vector<UrlParts> rules;
    for (int i = 0; i < 6; ++i) {
      rules.push_back(random.Rule());
      rules.back().params.insert_or_assign("priority", std::to_string(i));
    }
    const UrlParts original = random.Target();
    const UrlParts effective = Configurators::FromParts(rules, kLocal).Apply(original);
    for (int i = 0; i < 5; ++i) {
      std::swap(rules[random.Below(rules.size())], rules[random.Below(rules.size())]);
      EXPECT_EQ(Configurators::FromParts(rules, kLocal).Apply(original), effective) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace fairlead
