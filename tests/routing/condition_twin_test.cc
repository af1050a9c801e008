// The compiled router against its slow twin, over random rules, consumers, providers and calls.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "fairlead/base/random.h"
#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/tests/routing/routing_fixture.h"
#include "fairlead/tests/support/slow_condition.h"

namespace fairlead {
namespace {

class ConditionTwinTest : public RoutingFixture {
 protected:
  template <std::size_t N>
  std::string Any(const std::array<std::string_view, N>& of) {
    return std::string(of[random_.Below(N)]);
  }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }

  std::string Blank() {
    static constexpr std::array<std::string_view, 6> kBlanks = {"", "", "", " ", "  ", "\t"};
    return Any(kBlanks);
  }
  std::string Value() {
    static constexpr std::array<std::string_view, 26> kValues = {
        "hz",      "sh",      "h*",    "*z",    "*",        "**",   "h*z",   "a",     "1",
        "3",       "42",      "1~5",   "~3",    "2~",       "1~~9", "x~2",   "~",     "null",
        "$region", "$nosuch", "$host", "$port", "10.0.0.*", "find", "20880", "dubbo*"};
    return Any(kValues);
  }
  std::string Key() {
    static constexpr std::array<std::string_view, 30> kKeys = {"region",
                                                               "region",
                                                               "level",
                                                               "level",
                                                               "method",
                                                               "methods",
                                                               "host",
                                                               "port",
                                                               "address",
                                                               "path",
                                                               "protocol",
                                                               "application",
                                                               "nosuch",
                                                               "username",
                                                               "consumer.region",
                                                               "provider.level",
                                                               "arguments[0]",
                                                               "arguments[1]",
                                                               "arguments[00]",
                                                               "arguments[7]",
                                                               "arguments[x]",
                                                               "arguments",
                                                               "arguments[0].name",
                                                               "attachments[a]",
                                                               "attachments[b]",
                                                               "attachments[none]",
                                                               "attachments[x.y]",
                                                               "attachments[]",
                                                               "attachments",
                                                               "env"};
    return Any(kKeys);
  }
  std::string Side() {
    static constexpr std::array<std::string_view, 7> kJunk = {"&", "=", ",", "!", "!=", " ", "=="};
    if (Chance(4)) return Chance(50) ? "true" : "false";
    std::string side;
    for (std::uint64_t keys = random_.Below(4); keys > 0; --keys) {
      side += Key() + Blank();
      for (std::uint64_t lists = Chance(90) ? 1 : random_.Below(4); lists > 0; --lists) {
        side += (Chance(65) ? "=" : "!=") + Blank() + Value();
        while (Chance(25)) side += Blank() + "," + Blank() + Value();
      }
      if (keys > 1) side += Blank() + (Chance(90) ? "&" : " ") + Blank();
    }
    // A damaged rule must be refused, or understood, by both.
    if (Chance(12)) side.insert(random_.Below(side.size() + 1), Any(kJunk));
    return side;
  }
  std::string Rule() {
    if (Chance(3)) return Side();
    return Blank() + Side() + Blank() + "=>" + Blank() + Side() + Blank();
  }
  std::string Params() {
    static constexpr std::array<std::string_view, 10> kParams = {
        "region=hz", "region=sh",         "region=hangz",  "level=1", "level=3",
        "level=abc", "level=99999999999", "application=a", "env=a*",  "method=find"};
    std::string params;
    for (std::uint64_t n = random_.Below(4); n > 0; --n)
      params += (params.empty() ? "?" : "&") + Any(kParams);
    return params;
  }

  Random random_{20240611};
};

TEST_F(ConditionTwinTest, EveryDecisionIsTheTwins) {
  static constexpr std::array<std::string_view, 4> kHosts = {"10.0.0.1:20880", "10.0.0.2:20881", "10.0.1.3:3",
                                                             "u:p@h"};
  static constexpr std::array<std::string_view, 4> kMethods = {"find", "findAll", "save", "1"};
  static constexpr std::array<std::string_view, 7> kTexts = {"a", "hz", "1", "4", "", "-3", "null"};
  constexpr int kRules = 5000;
  std::map<std::string, int> seen;
  for (int i = 0; i < kRules; ++i) {
    const SlowCondition slow{Rule(), Chance(50)};
    SCOPED_TRACE("rule " + std::to_string(i) + ": \"" + slow.rule + "\"");
    consumer_ = Parse("consumer://" + Any(kHosts) + "/s.A" + Params());
    Provide({});
    std::vector<UrlParts> plain;
    for (std::uint64_t n = random_.Below(6); n > 0; --n) {
      Put(static_cast<Slot>(plain.size()),
          (Chance(80) ? "dubbo://" : "tri://") + Any(kHosts) + "/s.A" + Params());
      plain.push_back(providers_[static_cast<Slot>(providers_.size() - 1)].original.parts());
    }
    absl::StatusOr<ConditionRule> rule = ParseConditionRule(slow.rule, Compat::kStrict);
    std::shared_ptr<const ConditionRouter> router;
    std::shared_ptr<const RouteTable> table;
    if (rule.ok()) {
      router = std::make_shared<const ConditionRouter>(*rule, ConditionOptions{.force = slow.force});
      table = Compile(*router);
    }
    for (int call = 0; call < 3; ++call) {
      std::vector<std::string> texts;
      for (std::uint64_t n = random_.Below(3); n > 0; --n) texts.push_back(Any(kTexts));
      std::vector<Argument> arguments;
      for (const std::string& text : texts) arguments.push_back({text, Chance(10), !Chance(10)});
      const std::string a = Any(kTexts), b = Any(kTexts);
      std::vector<Attachment> attachments;
      if (Chance(60)) attachments.push_back({"a", a});
      if (Chance(60)) attachments.push_back({"b", b});
      if (Chance(20)) attachments.push_back({"x.y", a});
      const std::string method = Any(kMethods);
      const Invocation invocation{.arguments = arguments, .attachments = attachments};

      const auto expected = slow.Route(consumer_.parts(), plain, {method, invocation});
      ASSERT_EQ(rule.ok(), expected.has_value()) << rule.status();
      if (!rule.ok()) {
        ++seen["rejected"];
        continue;
      }
      const std::vector<Slot> got = Route(*table, method, invocation);
      ASSERT_EQ(std::vector<std::size_t>(got.begin(), got.end()), *expected);
      ++seen[plain.empty()                ? "no providers"
             : got.empty()                ? "nobody"
             : got.size() == plain.size() ? "all"
                                          : "some"];

      // What the router does not say it reads must not matter.
      const Reads reads = router->reads();
      const Invocation blind{
          .arguments = Has(reads, Reads::kArguments) ? invocation.arguments : std::span<const Argument>(),
          .attachments =
              Has(reads, Reads::kAttachments) ? invocation.attachments : std::span<const Attachment>()};
      ASSERT_EQ(table->Classify({Has(reads, Reads::kMethod) ? method : "another", blind}),
                table->Classify({method, invocation}));
    }
  }
  // The generator reaches every kind of outcome.
  for (const char* outcome : {"rejected", "no providers", "nobody", "all", "some"}) {
    EXPECT_GT(seen[outcome], kRules / 40) << outcome;
  }
}

}  // namespace
}  // namespace fairlead
