#include "fairlead/directory/rule_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/tests/directory/findings.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

std::vector<Finding> OfCondition(const std::string& text) { return LintRule({"", text, RuleTextKind::kCondition}); }

struct Expected {
  const char* text;
  std::vector<std::string> places;
};

TEST(RuleLintTest, SaysOfAConditionWhereItDoesNotDoWhatItSeems) {
  const Expected cases[] = {
      {"method = find* => region = hz", {}},
      {"host = 10.0.0.1 => port = 20880 & address = 10.0.0.1:20880", {}},
      {"=>", {"1:1 blocks-all"}},
      {"method=pay =>", {"1:12 blacklist-without-force"}},
      {"region = hz", {"1:1 no-arrow"}},
      {"a=1 => b=1 =>c=2", {"1:13 second-arrow"}},
      {"host = 10.0.0.1 => true", {"1:20 key-without-value"}},
      {"host => region=hz", {"1:1 key-without-value"}},
      {"a=1 & b,c => d=1", {"1:7 key-without-value", "1:9 value-of-earlier-key"}},
      {"a=1 a=2 => d=1", {"1:5 key-replaced"}},
      {"a<=5 => d=1", {"1:1 no-operator"}},
      {"a=x & a!=x => d=1", {"1:7 never-holds"}},
      {"a!=* => d=1", {"1:1 never-holds"}},
      {"a=x,y & a!=x => d=1", {"1:3 value-excluded"}},
      {"a=find & method=get & methods=set => d=1", {"1:23 never-holds"}},
      {"=> port=020880", {"1:9 no-such-address"}},
      {"=> address=10.0.0.1", {"1:12 no-such-address"}},
      {"=> host=10.0.0.1:20880", {"1:9 no-such-address"}},
      {"=> host=10.0.0.0/8", {"1:9 no-such-address"}},
      {"host!=10.0.0.0/8 => a=1", {"1:7 no-such-address"}},
      {"=> host=10.0.0.1-20", {"1:9 no-such-address"}},
      {"=> host=10.0.0", {"1:9 no-such-address"}},
      {"=> host=010.0.0.1", {"1:9 no-such-address"}},
      {"=> host=10.0.0.0/8*", {"1:9 no-such-address"}},
      {"=> host=10.0.*:20880", {"1:9 no-such-address"}},
      {"=> host=fe80::/10", {"1:9 no-such-address"}},
      {"=> host=[fe80::1],10.0.*,orders-1.acme.com,$host & address=10.*:20880,[fe80::1]:20880", {}},
      {"=> host=1~9", {"1:9 no-such-address"}},
      {"=> address=10.0.0.0/8:20880", {"1:12 no-such-address"}},
      {"=> address=10.0.0.1:020880", {"1:12 no-such-address"}},
      {"=> region=x~y", {"1:11 range-unreadable"}},
      {"region=-5~5 => a=1", {"1:8 range-unreadable"}},
      {"region=1~2~3 => a=1", {"1:8 range-unreadable"}},
      {"region=1~2 => port=20880~20890", {}},
      {"=> address=10.0.0.1:1 & host=10.0.0.2", {"1:4 never-holds"}},
      {"=> level=9~1", {"1:4 never-holds", "1:10 range-empty"}},
      {"=> level=9~", {"1:10 range-unreadable"}},
      {"level=~ => a=1", {"1:1 never-holds", "1:7 range-unreadable"}},
      {"a=$b => c=$b", {"1:3 reference-literal"}},
      {"=> a=$address", {"1:6 reference-empty"}},
      {"=> a=x*y*", {"1:6 one-star"}},
      {"=> method=get", {"1:4 then-method"}},
      {"=> arguments[0]=1", {"1:4 then-reads-call"}},
      {"arguments[x]=1 => a=1", {"1:1 unreadable-key"}},
      {"arguments[300]=1 => a=1", {"1:1 argument-index"}},
      {"attachments[a.b]=1 => a=1", {"1:1 dotted-attachment"}},
      {"attachments=1 => a=1", {"1:1 unreadable-key"}},
      {"application=my.consumer.app => a=1", {"1:16 prefix-erased"}},
      {"consumer.application=app => provider.a=1", {}},
      {"a=x,x => b=1", {"1:5 value-repeated"}},
      {"a=x,x* => b=1", {"1:3 value-covered"}},
      {"a==1 => b=1", {"1:2 condition-syntax"}},
      {"", {"1:1 condition-syntax"}},
  };
  for (const Expected& one : cases) {
    SCOPED_TRACE(one.text);
    const std::vector<Finding> findings = OfCondition(one.text);
    EXPECT_EQ(Places(findings), one.places) << Shown(findings);
  }
}

TEST(RuleLintTest, NamesPlacesInDocuments) {
  const std::vector<Finding> findings = LintRule({"com.acme.Orders::.condition-router",
                                                  "configVersion: v3.0\n"
                                                  "enabled: true\n"
                                                  "runtime: false\n"
                                                  "colour: red\n"
                                                  "enabled: true\n"
                                                  "conditions:\n"
                                                  "  - \"arguments[0]=x => region==hz\"\n"
                                                  "  - host => a=1\n"
                                                  "  - attachments[u]=vip => region=hz\n"});
  EXPECT_EQ(Places(findings), (std::vector<std::string>{"7:30 condition-syntax", "8:5 key-without-value", "9:24 runtime-ignored"}))
      << Shown(findings);
  // With the syntax mended what the reader of the document remarks is there too.
  const std::vector<Finding> mended = LintRule({"com.acme.Orders::.condition-router",
                                                "configVersion: v3.0\ncolour: red\nenabled: false\nenabled: true\n<<: {a: 1}\n"
                                                "conditions:\n  - \"=> region=hz\"\n  - \"=> region=hz\"\n  - \"=> region=sh\"\n"});
  EXPECT_EQ(Places(mended), (std::vector<std::string>{"2:1 unknown-field", "4:1 duplicate-key", "5:1 merge-key",
                                                      "8:5 rule-repeated", "9:5 rule-contradicts"}))
      << Shown(mended);
}

TEST(RuleLintTest, ComparesDestinations) {
  const std::vector<Finding> findings = LintRule({"shop.condition-router",
                                                  "configVersion: v3.1\n"
                                                  "conditions:\n"
                                                  "  - from: {match: \"\"}\n"
                                                  "    to:\n"
                                                  "      - {match: env=gray, weight: 0}\n"
                                                  "      - {match: env=gray, weight: -1}\n"
                                                  "  - {}\n"
                                                  "  - {from: {match: a=1}, to: [{match: b=1}]}\n"});
  EXPECT_EQ(Places(findings),
            (std::vector<std::string>{"5:7 weights-zero", "5:9 weight-as-default", "6:9 destination-repeated", "6:9 weight-as-default",
                                      "7:5 blocks-all", "7:5 no-destination", "8:5 rule-unreachable"}))
      << Shown(findings);
}

TEST(RuleLintTest, LooksAtTags) {
  const std::vector<Finding> findings = LintRule({"shop.tag-router",
                                                  "configVersion: v3.0\n"
                                                  "force: true\n"
                                                  "tags:\n"
                                                  "  - name: gray\n"
                                                  "    addresses: [\"*\", 10.0.0.1:99999, 127.0.0.1, \"10.0.0.9-1\", 10.0.0.0/x]\n"
                                                  "  - {name: gray, addresses: [10.0.0.2]}\n"
                                                  "  - {name: blue, addresses: [10.0.0.2]}\n"});
  EXPECT_EQ(Places(findings),
            (std::vector<std::string>{"5:17 tags-everybody", "5:22 address-never", "5:38 address-never", "5:49 address-never",
                                      "5:63 address-never", "6:12 tag-repeated", "7:30 address-in-two-tags"}))
      << Shown(findings);
  const std::vector<Finding> regex = LintRule(
      {"shop.tag-router", "configVersion: v3.0\nforce: true\ntags: [{name: a, match: [{key: k, value: {regex: \"(a{1000}){1000}\"}}]}]\n"});
  ASSERT_FALSE(regex.empty());
  EXPECT_EQ(regex.front().severity, Severity::kError);
  EXPECT_EQ(regex.front().code, "regex-over-budget") << Shown(regex);
  const std::vector<Finding> repeated = LintRule(
      {"shop.tag-router", "configVersion: v3.0\ntags: [{name: a, match: [{key: k, value: {regex: \"(?:a{1,40}b){1,100}\"}}]}]\n"});
  ASSERT_FALSE(repeated.empty());
  EXPECT_EQ(repeated.front().code, "regex-over-budget") << Shown(repeated);
}

TEST(RuleLintTest, LooksAtConfigurators) {
  const std::vector<Finding> findings = LintRule({"com.acme.Orders::.configurators",
                                                  "configVersion: v3.0\n"
                                                  "key: com.acme.Payments\n"
                                                  "configs:\n"
                                                  "  - {side: consumer, parameters: {timeout: 1}}\n"
                                                  "  - {side: consumer, parameters: {timeout: 2, weight: many}}\n"
                                                  "  - {side: consumer, parameters: {disabled: true}}\n"
                                                  "  - {parameters: {a: 1}}\n"});
  EXPECT_EQ(Places(findings),
            (std::vector<std::string>{"1:1 key-mismatch", "4:5 setting-overruled", "5:5 setting-unusable", "6:5 disables-all",
                                      "7:5 no-side"}))
      << Shown(findings);
}

TEST(RuleLintTest, FindsPlacesInUrls) {
  const std::string begin = "route://0.0.0.0/com.acme.Orders?category=routers&runtime=true&rule=";
  // `a = b c` has its second key, c, at byte 6 of the rule, after two encoded blanks and an equals sign.
  const std::vector<Finding> findings = LintRule({"", begin + PercentEncode("a = b c => d = 1")});
  const int column = static_cast<int>(begin.size() + PercentEncode("a = b ").size()) + 1;
  EXPECT_EQ(Places(findings), std::vector<std::string>{"1:" + std::to_string(column) + " key-without-value"}) << Shown(findings);
  EXPECT_EQ(KindOf({"", PercentEncode(begin + PercentEncode("=> a=1"))}), RuleTextKind::kUrl);
  EXPECT_FALSE(LintRule({"", PercentEncode(begin + PercentEncode("a==1 => b=1"))}).empty());
  EXPECT_EQ(LintRule({"", "override://0.0.0.0/com.acme.Orders?disabled=true"}).front().code, "disables-all");
  EXPECT_EQ(LintRule({"", "override://0.0.0.0/com.acme.Orders"}).front().code, "sets-nothing");
  EXPECT_EQ(LintRule({"", "absent:///?x=1"}).front().code, "rule-unusable");
  EXPECT_EQ(LintRule({"", "script://0.0.0.0/com.acme.Orders?rule=x"}).front().code, "script-not-run");
}

TEST(RuleLintTest, ComparesRuleUrls) {
  const auto rule = [](const char* text, const char* more) {
    return RuleText{"", std::string("route://0.0.0.0/com.acme.Orders?category=routers&rule=") + PercentEncode(text) + more};
  };
  const RuleText rules[] = {rule("=> a=1", "&priority=2&force=true"), rule("=> a=1", "&priority=1&force=true"),
                            rule("method=x => b=1", "&priority=2")};
  const std::vector<Finding> findings = LintRules(rules);
  ASSERT_EQ(findings.size(), 2u) << Shown(findings);
  EXPECT_EQ(findings[0].rule, 0u);
  EXPECT_EQ(findings[0].code, "rule-repeated");
  EXPECT_EQ(findings[1].rule, 2u);
  EXPECT_EQ(findings[1].code, "priority-equal");
}

TEST(RuleLintTest, ComparesTheDocumentOfAServiceWithWhatComesAfterIt) {
  const auto url = [](const char* service, const char* rule) {
    return RuleText{"", std::string("route://0.0.0.0/") + service + (std::string(service).find('?') == std::string::npos ? "?" : "&") +
                            "category=routers&priority=1&rule=" + PercentEncode(rule)};
  };
  const RuleText service{"com.acme.Orders:1.0:g.condition-router",
                         "configVersion: v3.0\nforce: true\nconditions:\n- 'method=pay =>'\n- '=> region=hz'\n"};
  const RuleText application{"shop.condition-router", "conditions:\n- '=> city=a'\n- 'method=pay,p => zone=b'\n- 'method=pay & a=1 => x=c'\n"
                                                      "- 'method=get => region=hz'\n- 'method=get => region=sh'\n"};
  const char* const ours = "com.acme.Orders?version=1.0&group=g";
  const auto said = [](const std::vector<RuleText>& rules) {
    std::vector<std::string> all;
    for (const Finding& one : LintRules(rules)) {
      if (one.code == "blacklist-without-force" || one.code == "control-unreadable") continue;
      all.push_back(std::to_string(one.rule) + " " + std::to_string(one.line) + " " + one.ToString().substr(one.ToString().find(' ') + 1));
    }
    return all;
  };
  using ::testing::ElementsAre;
  using ::testing::HasSubstr;
  using ::testing::StartsWith;
  // Its urls come after it, in whatever order the texts are given; those of other versions are others.
  EXPECT_THAT(said({url(ours, "method=pay => a=1"), service, url("com.acme.Orders", "method=pay => a=1")}),
              ElementsAre(StartsWith("0 1 warning rule-unreachable: rule 1: conditions[0] of com.acme.Orders:1.0:g.condition-router (line 4, "
                                     "column 3) leaves nobody")));
  EXPECT_THAT(said({service, url(ours, "=> region=hz")}), ElementsAre(StartsWith("1 1 info rule-repeated: rule 2: conditions[1] of com")));
  // An application's document may say more of other services.
  EXPECT_THAT(said({application, service}),
              ElementsAre(StartsWith("0 4 info rule-unreachable: for calls of com.acme.Orders:1.0:g, conditions[2] of shop.condition-router: "
                                     "conditions[0] of com.acme.Orders:1.0:g.condition-router"),
                          StartsWith("0 5 info rule-repeated"), StartsWith("0 6 warning rule-contradicts: conditions[4]: "),
                          StartsWith("0 6 info rule-contradicts: for calls of")));
  // What is switched off or cannot be read decides nothing, nor do two applications' documents meet for certain.
  RuleText off = service;
  off.text = "enabled: false\n" + off.text;
  EXPECT_THAT(said({off, url(ours, "=> region=hz")}), ElementsAre(HasSubstr("0 1 info disabled")));
  off.text = service.text + "- 'a==b'\n";
  EXPECT_THAT(said({off, url(ours, "=> region=hz")}), ElementsAre(HasSubstr("error condition-syntax")));
  EXPECT_THAT(said({{"a.condition-router", service.text}, {"b.condition-router", service.text}}), ::testing::IsEmpty());
}

TEST(RuleLintTest, OfManyRulesTheFirstAreCompared) {
  std::string text = "conditions:\n";
  for (int i = 0; i < 310; ++i) text += "- 'method=m" + std::to_string(i) + " => a=1'\n";
  const RuleText url{"", "route://0.0.0.0/a.B?category=routers&rule=" + PercentEncode("method=m0 => a=1")};
  const std::vector<Finding> findings = LintRules(std::vector<RuleText>{{"a.B::.condition-router", text}, url});
  ASSERT_EQ(findings.size(), 2u) << Shown(findings);
  for (const Finding& one : findings) EXPECT_EQ(one.code, "not-compared") << Shown(findings);
}

TEST(RuleLintTest, TheLastDestinationMayNeverBeDrawn) {
  const auto places = [](const std::string& text, Compat compat) {
    LintOptions options;
    options.compat = compat;
    return Places(LintRule({"", text}, options));
  };
  const std::string conditions = "configVersion: v3.1\nconditions:\n- to:\n  - {match: a=1, weight: 1}\n  - {match: a=2, weight: 1}\n";
  EXPECT_EQ(places(conditions, Compat::kStrict), std::vector<std::string>{"5:5 never-drawn"});
  EXPECT_TRUE(places(conditions, Compat::kFixed).empty());
  EXPECT_TRUE(places("configVersion: v3.1\nconditions:\n- to: [{match: a=1, weight: 1}, {match: a=2, weight: 2}]\n", Compat::kStrict).empty());
  EXPECT_TRUE(places("configVersion: v3.1\nconditions:\n- to: [{match: a=1, weight: 1}]\n", Compat::kStrict).empty());
  const std::string mesh = "apiVersion: v1\nkind: VirtualService\nmetadata: {name: s}\nspec:\n  dubbo:\n  - routedetail:\n    - route:\n"
                           "      - destination: {subset: a}\n      - destination: {subset: b}\n---\nkind: DestinationRule\nmetadata: {name: s}\n"
                           "spec: {subsets: [{name: a, labels: {x: y}}, {name: b, labels: {x: z}}]}\n";
  EXPECT_EQ(places(mesh, Compat::kStrict), std::vector<std::string>{"9:9 never-drawn"});
  EXPECT_TRUE(places(mesh, Compat::kFixed).empty());
}

TEST(RuleLintTest, ComparesWithWhoIsThere) {
  UrlPool pool;
  LintOptions options;
  for (const char* url : {"dubbo://10.0.0.1:20880/com.acme.Orders?region=hz", "dubbo://10.0.0.2:20880/com.acme.Orders?region=sh"}) {
    options.providers.push_back(*Url::Parse(url, pool));
  }
  options.consumer = *Url::Parse("consumer://10.0.0.9/com.acme.Orders?application=shop&region=bj", pool);
  const auto code = [&](const RuleText& rule) {
    const std::vector<Finding> findings = LintRule(rule, options);
    return findings.empty() ? std::string() : std::string(findings.back().code);
  };
  EXPECT_EQ(code({"", "=> region=$region", RuleTextKind::kCondition}), "no-provider-now");
  EXPECT_EQ(code({"", "=> region=hz", RuleTextKind::kCondition}), "");
  EXPECT_EQ(code({"", "=> zone=$zone", RuleTextKind::kCondition}), "reference-missing");
  EXPECT_EQ(code({"", "application=other => region=hz", RuleTextKind::kCondition}), "not-for-consumer");
  EXPECT_EQ(code({"shop.tag-router", "tags: [{name: gray, addresses: [10.0.0.3]}]"}), "no-provider-now");
  const RuleText by_match{"shop.tag-router", "configVersion: v3.0\ntags: [{name: gray, match: [{key: zone, value: {exact: a}}]}]"};
  options.providers.push_back(*Url::Parse("dubbo://localhost:20880/com.acme.Orders?zone=a", pool));
  EXPECT_EQ(code(by_match), "no-provider-now");
  options.compat = Compat::kFixed;
  EXPECT_EQ(code(by_match), "");
  options.compat = Compat::kStrict;
  options.providers.pop_back();
  EXPECT_EQ(code({"shop.affinity-router", "affinityAware: {key: region, ratio: 20}"}), "no-provider-now");
  EXPECT_EQ(code({"", "override://10.0.0.3:20880/com.acme.Orders?weight=1"}), "no-provider-now");
  EXPECT_EQ(code({"", "override://10.0.0.1:20880/com.acme.Orders?weight=1"}), "");
}

TEST(RuleLintTest, AnErrorIsSaidHoweverManyWarningsThereAre) {
  std::string addresses;
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&addresses, "'10.0.0.", 300 + i, ":1', ");
  const std::vector<Finding> findings =
      LintRule({"s.A.configurators", "configs:\n- side: consumer\n  addresses: [" + addresses + "]\n  parameters: 5\n"});
  EXPECT_THAT(findings, ::testing::Contains(::testing::Field(&Finding::severity, Severity::kError)));
  EXPECT_EQ(findings.back().code, "too-many");
}

TEST(RuleLintTest, KnowsKindsByNameAndByLook) {
  EXPECT_EQ(KindOf({"shop.tag-router", ""}), RuleTextKind::kTags);
  EXPECT_EQ(KindOf({"com.acme.Orders::.condition-router", ""}), RuleTextKind::kConditions);
  EXPECT_EQ(KindOf({"shop.affinity-router", ""}), RuleTextKind::kAffinity);
  EXPECT_EQ(KindOf({"shop.configurators", ""}), RuleTextKind::kConfigurators);
  EXPECT_EQ(KindOf({"shop.MESHAPPRULE", ""}), RuleTextKind::kMesh);
  EXPECT_EQ(KindOf({"shop.script-router", ""}), RuleTextKind::kScript);
  EXPECT_EQ(KindOf({"", "tags: []"}), RuleTextKind::kTags);
  EXPECT_EQ(KindOf({"", "conditions: []"}), RuleTextKind::kConditions);
  EXPECT_EQ(KindOf({"", "configs: []"}), RuleTextKind::kConfigurators);
  EXPECT_EQ(KindOf({"", "[\"override://0.0.0.0/a?x=1\"]"}), RuleTextKind::kConfigurators);
  EXPECT_EQ(KindOf({"", "method=get => a=1"}), RuleTextKind::kCondition);
  EXPECT_EQ(KindOf({"", "hello"}), RuleTextKind::kGuess);
  EXPECT_EQ(LintRule({"", "hello"}).front().code, "kind-unknown");
}

TEST(RuleLintTest, EveryCodeIsInTheCatalogueOnce) {
  const auto codes = LintCodes();
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end(), [](const LintCode& a, const LintCode& b) { return a.code < b.code; }));
  EXPECT_EQ(std::adjacent_find(codes.begin(), codes.end(), [](const LintCode& a, const LintCode& b) { return a.code == b.code; }),
            codes.end());
  std::ifstream file(std::string(FAIRLEAD_TEST_DATA) + "/../docs/rules.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const LintCode& code : codes) {
    EXPECT_NE(page.find("| `" + std::string(code.code) + "` |"), std::string::npos) << code.code << " is not in docs/rules.md";
  }
}

// Nothing crashes, whatever is cut off.
TEST(RuleLintTest, TakesTextsCutAnywhere) {
  const std::string documents[][2] = {
      {"a.condition-router", "configVersion: v3.1\nconditions:\n- from: {match: 'a=1 & arguments[0]=~5'}\n  to: [{match: \"b!=x*\", weight: 3}]\n"},
      {"a.condition-router", "force: true\nconditions: [\"consumer.a=$x & attachments[u.v]!=1~2 => provider.address=1:2,a\"]\n"},
      {"a.tag-router", "configVersion: v3.0\ntags:\n- {name: a, addresses: ['[fe80::1]:80', 10.0.*.1-20, ::/0]}\n- {name: b, match: [{key: k, value: {regex: 'a(b|c)*'}}]}\n"},
      {"a.affinity-router", "affinityAware: {key: region, ratio: 20}\n"},
      {"s::.configurators", "configVersion: v3.0\nkey: s\nconfigs: [{side: consumer, match: {param: [{key: a, value: {exact: b}}]}, parameters: {weight: 1, a: \"b&c\"}}]\n"},
      {"a.MESHAPPRULE", "kind: VirtualService\nspec: {dubbo: []}\n---\nkind: DestinationRule\n"},
      {"a.script-router", "script: |\n  function route() {}\n"},
      {"", "route%3A%2F%2F0.0.0.0%2Fs%3Frule%3Da%253D1%2520%253D%253E%2520b%253D2"},
      {"", "override://0.0.0.0:20880/s?~a=b&weight=1&disabled=true&enabled=no"},
  };
  for (const auto& [name, text] : documents) {
    for (std::size_t size = 0; size <= text.size(); ++size) LintRule({name, text.substr(0, size)});
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string broken = text;
      broken[at] = '\0';
      LintRule({name, broken});
      broken[at] = static_cast<char>(0xff);
      LintRule({name, broken, KindOf({name, text})});
    }
  }
}

TEST(RuleLintTest, StaysWithinBoundsOnHostileTexts) {
  for (const char* name : {"a.condition-router", "a.tag-router", "a.affinity-router", "a.configurators", "a.MESHAPPRULE", "a.script-router"}) {
    LintRule({name, std::string(100'000, '[')});
    LintRule({name, std::string(20'000, '{')});
    std::string aliases = "a: &a [x]\n";
    for (char c = 'b'; c < 'k'; ++c) {
      aliases += std::string(1, c) + ": &" + c + " [";
      for (int i = 0; i < 10; ++i) aliases += std::string(i ? "," : "") + "*" + static_cast<char>(c - 1);
      aliases += "]\n";
    }
    const std::vector<Finding> findings = LintRule({name, aliases});
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().code, "yaml-limit");
  }
  std::string values = "=> a=x", keys = "=> k=v", rules = "conditions:\n", tags = "tags:\n- name: t\n  addresses: [a";
  for (int i = 0; i < 20'000; ++i) {
    values += ",x*" + std::to_string(i % 7);
    keys += " & consumer.k" + std::to_string(i) + "!=v";
    rules += "- \"method=a" + std::to_string(i % 500) + " => b=1,2,3\"\n";
    tags += ",10.0.0.1";
  }
  for (const RuleText& text : {RuleText{"", values}, RuleText{"", keys}, RuleText{"a.condition-router", rules}, RuleText{"a.tag-router", tags + "]\n"}}) {
    EXPECT_LE(LintRule(text).size(), 3001u);
  }
}

}  // namespace
}  // namespace fairlead
