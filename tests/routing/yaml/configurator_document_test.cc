#include "fairlead/routing/yaml/configurator_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ConfiguratorDocument Read(std::string_view text) {
  absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, Compat::kStrict);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << text;
  return document.ok() ? *std::move(document) : ConfiguratorDocument();
}

std::vector<std::string> Urls(std::string_view text) {
  std::vector<std::string> urls;
  for (const ConfiguratorRule& rule : Read(text).rules) urls.push_back(rule.url.ToFullString());
  return urls;
}

std::vector<std::string> Remarks(std::string_view text) {
  std::vector<std::string> remarks;
  for (const YamlRemark& remark : Read(text).remarks) remarks.push_back(remark.mark.ToString() + ": " + remark.text);
  return remarks;
}

std::string Error(std::string_view text) {
  const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, Compat::kStrict);
  EXPECT_FALSE(document.ok()) << text;
  if (document.ok()) return "no error";
  EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(document.status().message());
}

TEST(ConfiguratorDocumentTest, AnItemIsAUrlOfEachAddressAndApplication) {
  EXPECT_THAT(Urls(R"(
configVersion: v2.7
scope: service
key: g/com.acme.Orders:1.0
configs:
- side: consumer
  addresses: [10.0.0.1, "10.0.0.2:20880"]
  applications: [shop, 7]
  providerAddresses: ["10.1.0.1:20880", 10.1.0.2]
  parameters: {timeout: 1_000, retries: 0, sticky: yes}
)"),
              ElementsAre("override://10.0.0.1/com.acme.Orders?application=shop&category=dynamicconfigurators&"
                          "configVersion=v2.7&enabled=true&group=g&providerAddresses=10.1.0.1:20880,10.1.0.2&retries=0&"
                          "side=consumer&sticky=true&timeout=1000&version=1.0",
                          HasSubstr("override://10.0.0.1/com.acme.Orders?application=7&"),
                          HasSubstr("override://10.0.0.2:20880/com.acme.Orders?application=shop&"),
                          HasSubstr("override://10.0.0.2:20880/com.acme.Orders?application=7&")));
}

TEST(ConfiguratorDocumentTest, AnApplicationsItemIsAUrlOfEachService) {
  EXPECT_THAT(Urls("scope: application\nkey: shop\nconfigVersion: v3.0\nconfigs:\n"
                   "- {side: consumer, services: [a.B, 'g/c.D:2.0'], parameters: {x: 1}}\n"
                   "- {side: consumer, parameters: {x: 2}}\n"),
              ElementsAre("override://0.0.0.0/a.B?application=shop&category=appdynamicconfigurators&configVersion=v3.0&"
                          "enabled=true&side=consumer&x=1",
                          "override://0.0.0.0/c.D?application=shop&category=appdynamicconfigurators&configVersion=v3.0&"
                          "enabled=true&group=g&side=consumer&version=2.0&x=1",
                          "override://0.0.0.0/*?application=shop&category=appdynamicconfigurators&configVersion=v3.0&"
                          "enabled=true&side=consumer&x=2"));
}

TEST(ConfiguratorDocumentTest, OfProvidersTheAddressesAreTheirsUnlessNamed) {
  EXPECT_THAT(Urls("key: s\nconfigs:\n- {side: provider, addresses: [a, b], parameters: {x: 1}}\n"
                   "- {side: provider, providerAddresses: [c], parameters: {x: 1}}\n"),
              ElementsAre(HasSubstr("&providerAddresses=a,b&"), HasSubstr("&providerAddresses=a,b&"),
                          AllOf(HasSubstr("override://0.0.0.0/s?"), HasSubstr("&providerAddresses=c&"))));
}

TEST(ConfiguratorDocumentTest, TheTypeSaysWhoseEnabledCounts) {
  struct Row {
    const char *outer, *type, *inner, *enabled;
  };
  for (const Row& row : std::vector<Row>{
           {"", "", "", "true"},
           {"enabled: FALSE", "", "", "false"},
           {"enabled: 'TrUe'", "", "", "true"},
           {"enabled: on", "", "", "true"},  // YAML 1.1
           {"enabled: 1", "", "", "false"},
           {"enabled: true", "", "enabled: false", "true"},
           {"enabled: true", "type: general", "enabled: false", "true"},
           {"enabled: false", "type: weight", "enabled: true", "true"},
           {"enabled: true", "type: weight", "enabled: false", "false"},
           {"enabled: true", "type: weight", "", "null"},
       }) {
    std::string text = std::string("key: s\n") + row.outer + "\nconfigs:\n- side: consumer\n";
    for (const char* line : {row.type, row.inner}) {
      if (*line != '\0') text += std::string("  ") + line + "\n";
    }
    text += "  parameters: {x: 1}\n";
    EXPECT_THAT(Urls(text), ElementsAre(HasSubstr(std::string("&enabled=") + row.enabled + "&"))) << text;
  }
}

TEST(ConfiguratorDocumentTest, WhatIsAbsentIsDubbosNullInTheUrl) {
  EXPECT_THAT(Urls("scope: application\nconfigs:\n- {side: consumer, parameters: {x: 1}}\n"),
              ElementsAre("override://0.0.0.0/*?application=null&category=appdynamicconfigurators&configVersion=null&"
                          "enabled=true&side=consumer&x=1"));
}

TEST(ConfiguratorDocumentTest, AnyScopeButApplicationIsTheService) {
  EXPECT_THAT(Urls("scope: Application\nkey: s\nconfigs:\n- {side: consumer, services: [t], parameters: {x: 1}}\n"),
              ElementsAre(HasSubstr("override://0.0.0.0/s?category=dynamicconfigurators&")));
}

TEST(ConfiguratorDocumentTest, AJsonArrayIsUrls) {
  const ConfiguratorDocument document =
      Read(" \n[\"override://0.0.0.0/s?timeout=1&x=a b\", \"absent:\\/\\/10.0.0.1/*?y=\\u00e4\"]");
  EXPECT_TRUE(document.is_url_list);
  ASSERT_THAT(document.rules, SizeIs(2));
  EXPECT_EQ(document.rules[0].url.ToFullString(), "override://0.0.0.0/s?timeout=1&x=a b");
  EXPECT_EQ(document.rules[1].url.ToFullString(), "absent://10.0.0.1/*?y=\xc3\xa4");
}

TEST(ConfiguratorDocumentTest, NoConfigsIsAnEmptyDocumentThatTakesBack) {
  EXPECT_TRUE(Read("key: s\nconfigs: []\n").empty());
}

TEST(ConfiguratorDocumentTest, ErrorsNamePlaceAndRemedy) {
  EXPECT_THAT(Error("- a\n- b\n"), HasSubstr("the document, line 1, column 1: expected a map, found a list"));
  EXPECT_THAT(Error("[]"), HasSubstr("expected a map, found a list"));
  EXPECT_THAT(Error("key: s\n"), HasSubstr("`configs` is missing"));
  EXPECT_THAT(Error("key: s\nconfigs: {a: 1}\n"), HasSubstr("the document, line 2, column 10: configs: expected a list"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- x\n"), HasSubstr("configs[0], line 3, column 3: expected a map"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- parameters: {x: 1}\n- side: consumer\n"),
              HasSubstr("configs[1], line 4, column 3: parameters: expected a map of at least one parameter"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- parameters: {}\n"), HasSubstr("configs[0], line 3, column 15: parameters:"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- parameters: {x: }\n"), HasSubstr("x has no value; write \"\""));
  EXPECT_THAT(Error("key: s\nconfigs:\n- parameters: {7: x}\n"), HasSubstr("found the number 7; put it in quotes"));
  EXPECT_THAT(Error("configs:\n- parameters: {x: 1}\n"), HasSubstr("the document needs a `key`"));
  EXPECT_THAT(Error("key: 7\nconfigs: []\n"), HasSubstr("line 1, column 6: key: expected a text, found the number 7"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- type: 7\n  parameters: {x: 1}\n"), HasSubstr("type: expected a text"));
  EXPECT_THAT(Error("key: s\nconfigs:\n- {addresses: ['h:*'], parameters: {x: 1}}\n"),
              HasSubstr("configs[0], line 3, column 3: "));
  EXPECT_THAT(Error("[\"override://0.0.0.0/s?x=1\",\n 7]"),
              HasSubstr("url[1], line 2, column 2: expected the text of an override url, found the number 7"));
  EXPECT_THAT(Error("[\"override://h:x/s?x=1\"]"), HasSubstr("url[0], line 1, column 2: "));
  EXPECT_THAT(Error("key: s\nconfigs:\n- {a: b\n"), HasSubstr("line "));
  EXPECT_THAT(Error("---\nkey: s\nconfigs: []\n---\nkey: t\nconfigs: []\n"), testing::Not(IsEmpty()));
  EXPECT_THAT(Error(""), testing::Not(IsEmpty()));
}

TEST(ConfiguratorDocumentTest, RemarksWhatDoesNotDoWhatItsAuthorMayThink) {
  constexpr std::string_view kHead = "key: s\nconfigVersion: v2.7\nconfigs:\n- side: consumer\n  parameters: {x: 1}\n";
  EXPECT_THAT(Remarks(kHead), IsEmpty());
  const auto with = [&](std::string_view line) { return Remarks(std::string(kHead) + std::string(line)); };
  EXPECT_THAT(with("  addreses: [a]\n"), ElementsAre(AllOf(HasSubstr("line 6, column 3"), HasSubstr("addreses"))));
  EXPECT_THAT(with("force: true\n"), ElementsAre(HasSubstr("force")));
  EXPECT_THAT(with("  addresses: 10.0.0.1\n"), ElementsAre(HasSubstr("addresses: expected a list, found the text")));
  EXPECT_THAT(with("  enabled: false\n"), ElementsAre(HasSubstr("`enabled` of an item counts only with a `type`")));
  EXPECT_THAT(with("  type: weight\n"), ElementsAre(HasSubstr("so it is not")));
  EXPECT_THAT(with("  services: [a]\n"), ElementsAre(HasSubstr("`services` changes nothing")));
  EXPECT_THAT(with("scope: application\n"), IsEmpty());
  EXPECT_THAT(with("  applications: [a]\nscope: application\n"), ElementsAre(HasSubstr("`applications` changes nothing")));
  EXPECT_THAT(Remarks("key: s\nconfigs:\n- parameters: {x: 1}\n"), ElementsAre(HasSubstr("the item is for nobody")));
  EXPECT_THAT(Remarks("key: s\nconfigs:\n- {side: consumer, parameters: {x: 'a&b', router: y, side: z}}\n"),
              ElementsAre(HasSubstr("the value of x ends at the first &"), HasSubstr("router is never set"),
                          HasSubstr("side is never set")));
}

// Whatever a console stores, it is read or refused; errors are for people.
TEST(ConfiguratorDocumentTest, BrokenDocumentsAreReadOrRefused) {
  const std::vector<std::string> whole = {
      "configVersion: v3.0\nscope: application\nkey: g/s.A:1.0\nenabled: true\nconfigs:\n- side: consumer\n  addresses: "
      "['0.0.0.0', \"10.0.0.1:20880\"]\n  services: [\"*\"]\n  type: weight\n  parameters: {x: 1, 'y': [a]}\n  match:\n"
      "    address: {cird: 10.0.0.0/24}\n    service: {oneof: [{regex: 's.*'}]}\n    param: [{key: a, value: {exact: b}}]\n",
      "[\"override://u:p@10.0.0.1:20880/s.A?category=configurators&~x=1&y=2\", \"absent://0.0.0.0/*?a=b\"]"};
  constexpr std::string_view kPieces[] = {"\n", "- ", ": ", "[", "]", "{", "}", "\"", "'", "&", "*", "?", "/", ":", "null",
                                          "\t", "#", "%", "\xff", "99999999999"};
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole[random() % whole.size()];
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text.erase(at, 1 + random() % 6);
      } else {
        text.insert(at, kPieces[random() % std::size(kPieces)]);
      }
      if (text.empty()) text = "x";
    }
    const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, Compat::kStrict);
    if (document.ok()) {
      ++read;
      for (const ConfiguratorRule& rule : document->rules) {
        if (rule.match != nullptr) rule.match->Matches("10.0.0.1", rule.url);
      }
    } else {
      ++refused;
      EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument) << text;
      EXPECT_FALSE(document.status().message().empty());
      EXPECT_EQ(document.status().message().find("://u:p@"), absl::string_view::npos) << "a password: " << document.status();
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

constexpr std::string_view kMatchHead =
    "key: s\nconfigVersion: v3.0\nconfigs:\n- side: consumer\n  parameters: {x: 1}\n  match:\n";

TEST(ConfiguratorMatchTest, IsKeptBesideTheUrl) {
  const ConfiguratorDocument document = Read(std::string(kMatchHead) +
                                             "    address: {cird: 10.0.0.0/8}\n"
                                             "    providerAddress: {wildcard: '10.1.*', exact: h}\n"
                                             "    service: {oneof: [{exact: s}, {prefix: g/}]}\n"
                                             "    app: {oneof: [{noempty: true}]}\n"
                                             "    param: [{key: region, value: {exact: 7}}, {key: e, value: {empty: yes}}]\n");
  EXPECT_THAT(document.remarks, IsEmpty());
  ASSERT_THAT(document.rules, SizeIs(1));
  ASSERT_NE(document.rules[0].match, nullptr);
  EXPECT_EQ(document.rules[0].match->ToString(),
            "address cird \"10.0.0.0/8\" and providerAddress wildcard \"10.1.*\" or exact \"h\" and service exact \"s\" or "
            "prefix \"g/\" and app noempty \"true\" and param region exact \"7\" and param e empty \"true\"");
}

TEST(ConfiguratorMatchTest, EveryPartMustHold) {
  const auto matches = [](std::string_view part, std::string_view url) {
    const ConfiguratorDocument document = Read(std::string(kMatchHead) + "    " + std::string(part) + "\n");
    const absl::StatusOr<UrlParts> target = UrlParts::Parse(url);
    return !document.rules.empty() && target.ok() && document.rules[0].match->Matches("10.9.8.7", *target);
  };
  constexpr std::string_view kTarget = "dubbo://10.1.0.1:20880/a.B?application=shop&group=g&region=hz&version=1&z=";
  EXPECT_TRUE(matches("address: {exact: 10.9.8.7}", kTarget));
  EXPECT_FALSE(matches("address: {exact: 10.1.0.1}", kTarget)) << "it is the host given";
  EXPECT_TRUE(matches("providerAddress: {exact: '10.1.0.1:20880'}", kTarget));
  EXPECT_FALSE(matches("providerAddress: {exact: 10.1.0.1}", kTarget));
  EXPECT_TRUE(matches("service: {oneof: [{exact: x}, {exact: 'g/a.B:1'}]}", kTarget));
  EXPECT_FALSE(matches("service: {oneof: [{exact: a.B}]}", kTarget));
  EXPECT_FALSE(matches("service: {oneof: []}", kTarget));
  EXPECT_TRUE(matches("app: {oneof: [{regex: 's.*p'}]}", kTarget));
  EXPECT_FALSE(matches("app: {oneof: [{regex: 's.*'}]}", "dubbo://h/s"));
  EXPECT_TRUE(matches("param: [{key: region, value: {exact: hz}}, {key: group, value: {noempty: y}}]", kTarget));
  EXPECT_FALSE(matches("param: [{key: region, value: {exact: hz}}, {key: z, value: {noempty: y}}]", kTarget));
  EXPECT_TRUE(matches("param: [{key: z, value: {empty: y}}, {key: not.there, value: {empty: y}}]", kTarget));
  EXPECT_TRUE(matches("{}", kTarget));
  EXPECT_FALSE(matches("{app: {oneof: [{exact: shop}]}, param: [{key: region, value: {exact: bj}}]}", kTarget));
}

TEST(ConfiguratorMatchTest, CountsWithVersion30Alone) {
  for (const char* version : {"v3.0", "v3.0.1"}) {
    EXPECT_NE(Read(std::string("key: s\nconfigVersion: ") + version +
                   "\nconfigs: [{side: consumer, parameters: {x: 1}, match: {}}]\n").rules.at(0).match, nullptr);
  }
  for (const char* version : {"v2.7", "v3.1", "V3.0", "'3.0'"}) {
    const std::string text = std::string("key: s\nconfigVersion: ") + version +
                             "\nconfigs: [{side: consumer, parameters: {x: 1}, match: {address: 7}}]\n";
    EXPECT_EQ(Read(text).rules.at(0).match, nullptr) << version;
    EXPECT_THAT(Remarks(text), ElementsAre(HasSubstr("`match` counts only with `configVersion: v3.0`"))) << version;
  }
}

TEST(ConfiguratorMatchTest, ErrorsNameThePlace) {
  const auto error = [](std::string_view part) { return Error(std::string(kMatchHead) + "    " + std::string(part) + "\n"); };
  EXPECT_THAT(error("[]"), HasSubstr("configs[0].match, line 7, column 5: expected a map, found a list"));
  EXPECT_THAT(error("address: 10.0.0.1"), HasSubstr("configs[0].match.address, line 7, column 14: expected a map"));
  EXPECT_THAT(error("address: {exact: [a]}"), HasSubstr("exact: expected a text, found a list"));
  EXPECT_THAT(error("service: [{exact: a}]"), HasSubstr("configs[0].match.service, line 7, column 14: expected a map"));
  EXPECT_THAT(error("service: {oneof: {exact: a}}"), HasSubstr("oneof: expected a list, found a map"));
  EXPECT_THAT(error("app: {oneof: [{regex: '('}]}"), HasSubstr("configs[0].match.app.oneof[0], line 7, column 27"));
  EXPECT_THAT(error("param: {key: a}"), HasSubstr("param: expected a list"));
  EXPECT_THAT(error("param: [{value: {exact: a}}]"), HasSubstr("configs[0].match.param[0], line 7, column 13: expected a `key`"));
  EXPECT_THAT(error("param: [{key: a}]"), HasSubstr("expected a `value`"));
}

TEST(ConfiguratorMatchTest, RemarksWhatCanNeverMatch) {
  const auto remarks = [](std::string_view part) { return Remarks(std::string(kMatchHead) + "    " + std::string(part) + "\n"); };
  EXPECT_THAT(remarks("address: {cidr: 10.0.0.0/8}"),
              ElementsAre(HasSubstr("cidr"), HasSubstr("none of cird, wildcard and exact")));
  EXPECT_THAT(remarks("address: {cird: 10.0.0.0/x}"), ElementsAre(HasSubstr("configs[0].match.address: cird: ")));
  EXPECT_THAT(remarks("providerAddress: {cird: 10.0.0.0/8}"), ElementsAre(HasSubstr("never fits a host:port")));
  EXPECT_THAT(remarks("service: {}"), ElementsAre(HasSubstr("nothing in `oneof`")));
  EXPECT_THAT(remarks("method: {}"), ElementsAre(HasSubstr("method")));
}

TEST(ConfiguratorMatchTest, TheRegexesOfAllItemsHaveOneBudget) {
  std::string text = "configVersion: v3.0\nscope: application\nkey: shop\nconfigs:\n";
  for (int i = 0; i < 400; ++i) {
    text += "- side: consumer\n  match: {app: {oneof: [{regex: '[\\x{80}-\\x{10ffff}]{600}'}]}}\n  parameters: {a: b}\n";
  }
  EXPECT_THAT(Error(text), HasSubstr("and those before it need more than"));
}

// What an item stands for is refused before it is there: these would be gigabytes.
TEST(ConfiguratorDocumentTest, ProductsOfListsAreBounded) {
  const auto list = [](const char* prefix, int count) {
    std::string texts = "[";
    for (int i = 0; i < count; ++i) texts += prefix + std::to_string(i) + ", ";
    return texts + "]";
  };
  const auto item = [](const std::string& scope, const std::string& fields) {
    return "scope: " + scope + "\nkey: s.A\nconfigs:\n- {" + fields + "}\n";
  };
  EXPECT_THAT(Error(item("service", "side: consumer, addresses: " + list("a", 5000) + ", applications: " + list("b", 5000) +
                                        ", parameters: {a: b}")),
              AllOf(HasSubstr("configs[0], line 4, column 3: more than 20000 urls")));
  EXPECT_THAT(Error(item("application", "side: consumer, addresses: " + list("a", 5000) + ", services: " + list("b", 5000) +
                                            ", parameters: {a: b}")),
              HasSubstr("more than 20000 urls"));
  std::string parameters = "{";
  for (int i = 0; i < 10'000; ++i) parameters += "p" + std::to_string(i) + ": 1, ";
  EXPECT_THAT(Error(item("service", "side: consumer, addresses: " + list("a", 10'000) + ", parameters: " + parameters + "}")),
              HasSubstr("16777216 bytes"));
  EXPECT_THAT(Error(item("service", "side: provider, addresses: " + list("10.0.0.0:", 10'000) + ", parameters: {a: b}")),
              HasSubstr("16777216 bytes"))
      << "each of the urls has all addresses";
  EXPECT_THAT(Read(item("service", "side: provider, addresses: " + list("10.0.0.0:", 500) + ", parameters: {a: b}")).rules, SizeIs(500));
  EXPECT_THAT(Read(item("service", "side: consumer, addresses: " + list("a", 100) + ", applications: " + list("b", 200) +
                                       ", parameters: {a: b}")).rules,
              SizeIs(20'000));
}

}  // namespace
}  // namespace fairlead
