// What lint says of documents that can be read, or are refused, and are easily taken for something else.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/directory/rule_lint.h"
#include "fairlead/tests/directory/findings.h"

namespace fairlead {
namespace {

// Where `consumer.` is not erased nobody has such a parameter.
TEST(RuleTrapsTest, SaysWhereAPrefixStays) {
  const std::vector<Finding> findings = LintRule({"shop.condition-router",
                                                  "configVersion: v3.1\n"
                                                  "conditions:\n"
                                                  "  - from: {match: \"a=1 & consumer.region=hz\"}\n"
                                                  "    to:\n"
                                                  "      - {match: \"provider.v=1\"}\n"
                                                  "      - {match: \"region=$consumer.region, consumer.x\"}\n"});
  EXPECT_EQ(Places(findings), (std::vector<std::string>{"3:26 prefix-kept", "5:18 prefix-kept", "6:25 prefix-kept"})) << Shown(findings);
  EXPECT_EQ(Places(LintRule({"shop.tag-router", "configVersion: v3.0\ntags: [{name: a, match: [{key: provider.v, value: {exact: b}}]}]\n"})),
            std::vector<std::string>{"2:32 prefix-kept"});
  EXPECT_EQ(Places(LintRule({"shop.affinity-router", "affinityAware: {key: consumer.region, ratio: 20}\n"})),
            std::vector<std::string>{"1:1 prefix-kept"});
  EXPECT_EQ(Places(LintRule({"a.B::.configurators",
                             "configVersion: v3.0\nkey: a.B\nconfigs: [{side: consumer, match: {param: [{key: consumer.r, value: {exact: b}}]}, "
                             "parameters: {timeout: 1}}]\n"})),
            std::vector<std::string>{"3:50 prefix-kept"});
}

// The forgotten `configVersion: v3.1`: what each map's text happens to say is beside the point.
TEST(RuleTrapsTest, SaysThatAConditionIsNoText) {
  for (const char* version : {"", "configVersion: v3.0\n"}) {
    const std::vector<Finding> findings =
        LintRule({"shop.condition-router", std::string(version) + "force: true\nconditions: [{from: {match: a=1}, to: [{match: b=1}]}, ~, 5, [a]]\n"});
    const std::string line = *version == '\0' ? "2:" : "3:";
    EXPECT_EQ(Places(findings), (std::vector<std::string>{line + "14 condition-no-text", line + "56 condition-no-text",
                                                          line + "59 condition-no-text", line + "62 condition-no-text"}))
        << Shown(findings);
  }
  // What Dubbo refuses is an error all the same.
  EXPECT_EQ(LintRule({"shop.condition-router", "conditions: [{a==b: 1}]\n"}).front().code, "condition-syntax");
}

TEST(RuleTrapsTest, SaysOfWhichFlagsNothingCanBeRead) {
  const auto places = [](const char* name, const std::string& rest) {
    const std::vector<Finding> findings =
        LintRule({name, "configVersion: v3,1\nforce: tru\nruntime: 0\nenabled: 'yes'\nscope: bogus\ndynamic:\nvalid: True\n" + rest});
    std::vector<std::string> kept;
    for (const std::string& one : Places(findings)) {
      if (one.ends_with("control-unreadable") || one.ends_with("version-unusual")) kept.push_back(one);
    }
    return kept;
  };
  const std::vector<std::string> all = {"1:1 version-unusual",    "2:1 control-unreadable", "3:1 control-unreadable",
                                        "4:1 control-unreadable", "5:1 control-unreadable", "6:1 control-unreadable"};
  EXPECT_EQ(places("shop.condition-router", "conditions: ['a=1 => b=1']\n"), all);
  EXPECT_EQ(places("shop.tag-router", "tags: [{name: a, addresses: [10.0.0.1]}]\n"), all);
  EXPECT_EQ(places("shop.affinity-router", "affinityAware: {key: a, ratio: 1}\n"), all);
  EXPECT_EQ(places("shop.script-router", "script: a\n"), all);
  EXPECT_EQ(places("shop.configurators", "key: a.B\nconfigs: [{side: consumer, type: a, parameters: {b: 1}, enabled: 1}]\n"),
            (std::vector<std::string>{"1:1 version-unusual", "4:1 control-unreadable", "5:1 control-unreadable", "9:57 control-unreadable"}));
  // As Dubbo reads them.
  const std::vector<Finding> fine = LintRule({"shop.condition-router", "configVersion: V3.0\nforce: on\nruntime: 'TRUE'\nenabled: yes\n"
                                                                       "scope: application\nconditions: ['a=1 => b=1']\n"});
  EXPECT_TRUE(fine.empty()) << Shown(fine);
}

// What is refused says nothing, so nothing else is said of it.
TEST(RuleTrapsTest, SaysOfARefusedEntryOnlyThat) {
  for (const char* conditions : {"[x]", "[{from: x, to: []}]", "[{to: {}}]", "[{from: [], to: [{match: a=1}]}]", "[{to: [x]}]", "[[]]"}) {
    const std::vector<Finding> findings =
        LintRule({"shop.condition-router", std::string("configVersion: v3.1\nconditions: ") + conditions + "\n"});
    ASSERT_EQ(findings.size(), 1u) << conditions << "\n" << Shown(findings);
    EXPECT_EQ(findings.front().severity, Severity::kError) << Shown(findings);
  }
}

TEST(RuleTrapsTest, LooksAtAddressesOfConfigurators) {
  const std::vector<Finding> findings = LintRule({"a.B::.configurators",
                                                  "configVersion: v3.0\nkey: a.B\nconfigs:\n"
                                                  "  - {side: consumer, parameters: {a: 1}, addresses: [10.0.0.0/8, 10.0.0.1, shop.acme.com, \"10.0.*\"]}\n"
                                                  "  - {side: consumer, parameters: {b: 1}, providerAddresses: [\"10.0.0.1-9:20880\", \"0.0.0.0:*\",\n"
                                                  "       \"0.0.0.0:20880\", 10.0.0.1, \"[fe80::1]:20880\", \"10.0.0.1:x\"]}\n"});
  EXPECT_EQ(Places(findings), (std::vector<std::string>{"4:54 no-such-address", "4:91 no-such-address", "5:62 no-such-address",
                                                        "6:54 no-such-address"}))
      << Shown(findings);
  EXPECT_EQ(Places(LintRule({"", "override://0.0.0.0/a.B?weight=1&providerAddresses=10.0.0.0/8"})),
            std::vector<std::string>{"1:1 no-such-address"});
}

}  // namespace
}  // namespace fairlead
