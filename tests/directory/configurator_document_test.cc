#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/configurator.h"
#include "fairlead/directory/connection_key.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/url/url_parts.h"

// Documents of configurators as a directory applies them.
namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kLocal = "10.9.8.7";
constexpr std::string_view kTarget = "dubbo://10.0.0.1:20880/s?application=shop&side=consumer&weight=100";

UrlParts Parse(std::string_view text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  EXPECT_TRUE(url.ok()) << url.status();
  return url.ok() ? *url : UrlParts();
}

Configurators FromDocument(std::string_view text, std::vector<absl::Status>* rejected = nullptr) {
  absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, Compat::kStrict);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << text;
  return document.ok() ? Configurators::FromRules(document->rules, kLocal, rejected) : Configurators();
}

Configurators FromUrl(std::string_view text) { return Configurators::FromParts({Parse(text)}, kLocal); }

std::string Param(const Configurators& configurators, std::string_view url, std::string_view key) {
  return std::string(configurators.Apply(Parse(url)).Param(key));
}

std::string Setting(std::string_view parameters, std::string_view more = "") {
  return "key: s\nconfigVersion: v3.0\nconfigs:\n- side: consumer\n  parameters: " + std::string(parameters) + "\n  " +
         std::string(more) + "\n";
}

TEST(ConfiguratorDocuments, ApplyToTheirSide) {
  const Configurators consumers = FromDocument(Setting("{weight: 7}"));
  EXPECT_EQ(Param(consumers, kTarget, "weight"), "7");
  EXPECT_EQ(Param(consumers, "dubbo://10.0.0.1:20880/s?side=provider&weight=100", "weight"), "100");
  EXPECT_EQ(Param(consumers, "dubbo://10.0.0.1:20880/s?weight=100", "weight"), "100") << "no side: nobody's";
  const Configurators providers =
      FromDocument("key: s\nconfigVersion: v2.7\nconfigs: [{side: provider, addresses: ['10.0.0.1:20880'], "
                   "parameters: {weight: 7}}]\n");
  EXPECT_EQ(Param(providers, "dubbo://10.0.0.1:20880/s?side=provider", "weight"), "7");
  EXPECT_EQ(Param(providers, "dubbo://10.0.0.1:20881/s?side=provider", "weight"), "");
  EXPECT_EQ(Param(providers, kTarget, "weight"), "100");
}

TEST(ConfiguratorDocuments, ADisabledProviderAndOneOfAnAddress) {
  const Configurators one = FromDocument(Setting("{disabled: true}", "providerAddresses: ['10.0.0.1:20880']"));
  EXPECT_TRUE(IsDisabled(one.Apply(Parse(kTarget))));
  EXPECT_FALSE(IsDisabled(one.Apply(Parse("dubbo://10.0.0.2:20880/s?side=consumer"))));
}

TEST(ConfiguratorDocuments, AMatchNarrows) {
  const Configurators some = FromDocument(Setting("{weight: 7}", "match: {param: [{key: region, value: {exact: hz}}], "
                                                                 "address: {exact: 10.9.8.7}}"));
  EXPECT_EQ(Param(some, kTarget, "weight"), "100");
  EXPECT_EQ(Param(some, "dubbo://10.0.0.1:1/s?region=hz&side=consumer&weight=100", "weight"), "7");
  EXPECT_THAT(some.Describe(), HasSubstr(" if address exact \"10.9.8.7\" and param region exact \"hz\"\n"));
}

TEST(ConfiguratorDocuments, AMatchOfAnotherVersionIsNoMatch) {
  ConfiguratorRule rule{Parse("override://0.0.0.0/s?configVersion=v2.7&side=consumer&weight=7"),
                        std::make_shared<const ConfiguratorMatch>(ConfiguratorMatch{.address = AddressMatch()})};
  EXPECT_EQ(Param(Configurators::FromRules({rule}, kLocal), kTarget, "weight"), "7");
  rule.url = Parse("override://0.0.0.0/s?configVersion=v3.0&side=consumer&weight=7");
  EXPECT_EQ(Param(Configurators::FromRules({rule}, kLocal), kTarget, "weight"), "100");
}

TEST(ConfiguratorDocuments, NeverSetWhatNoDocumentMay) {
  const Configurators all = FromDocument(
      Setting("{accesslog.fixed.path: /x, router: script, rule: y, runtime: 'true', type: z, accesslog: 'true'}"));
  EXPECT_EQ(all.Apply(Parse(kTarget)).ToString(),
            "dubbo://10.0.0.1:20880/s?accesslog=true&application=shop&side=consumer&weight=100");
  // Of the registry they are set, as in Dubbo.
  EXPECT_EQ(Param(FromUrl("override://0.0.0.0/s?router=script"), kTarget, "router"), "script");
}

TEST(ConfiguratorDocuments, AUrlListMayAlsoFillAndOneBadUrlIsLeftOutAlone) {
  std::vector<absl::Status> rejected;
  const Configurators list = FromDocument(
      R"(["absent://0.0.0.0/s?weight=7&x=1", "route://0.0.0.0/s?x=2", "override://0.0.0.0/s?y=1"])", &rejected);
  EXPECT_EQ(list.Apply(Parse(kTarget)).ToString(),
            "dubbo://10.0.0.1:20880/s?application=shop&side=consumer&weight=100&x=1&y=1");
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_THAT(std::string(rejected[0].message()), HasSubstr("route://"));
}

TEST(ConfiguratorDocuments, TheServicesWinsOverTheApplicationsOverTheRegistrys) {
  const Configurators registry = FromUrl("override://10.9.8.7/s?a=r&b=r&c=r&priority=9");
  const Configurators application = FromDocument(
      "scope: application\nkey: shop\nconfigVersion: v2.7\nconfigs: [{side: consumer, parameters: {b: a, c: a}}]\n");
  const Configurators service = FromDocument(Setting("{c: s}"));
  const UrlParts url = Configurators::InTurn(std::array{registry, application, service}).Apply(Parse(kTarget));
  EXPECT_EQ(url.Param("a"), "r");
  EXPECT_EQ(url.Param("b"), "a");
  EXPECT_EQ(url.Param("c"), "s");
  EXPECT_EQ(url, service.Apply(application.Apply(registry.Apply(Parse(kTarget)))));
  EXPECT_EQ(Param(application, "dubbo://h:1/s?application=other&side=consumer", "b"), "");
}

TEST(ConfiguratorDocuments, InTurnOfNothingAndOfOne) {
  EXPECT_TRUE(Configurators::InTurn({}).empty());
  EXPECT_TRUE(Configurators::InTurn(std::array{Configurators(), Configurators()}).empty());
  const Configurators one = FromDocument(Setting("{x: 1}"));
  EXPECT_EQ(Configurators::InTurn(std::array{Configurators(), one}).Describe(), one.Describe());
}

TEST(ConfiguratorDocuments, DeletingTheLastRestoresTheBase) {
  const UrlParts original = Parse(kTarget);
  EXPECT_EQ(Param(FromDocument(Setting("{weight: 200}")), kTarget, "weight"), "200");
  EXPECT_EQ(FromDocument("key: s\nconfigs: []\n").Apply(original), original);
}

// ---- Random documents against an oracle that reads no YAML.

struct Item {
  std::string address;                        // of consumers
  std::optional<std::string> provider;        // one of providerAddresses
  std::optional<std::string> narrowed;        // to an application (service scope) or service (application scope)
  std::optional<std::string> region;          // match: param
  bool enabled = true;
  std::map<std::string, std::string> settings;

  bool IsFor(const UrlParts& target, bool of_application) const {
    if (!enabled || (address != "0.0.0.0" && address != kLocal)) return false;
    if (provider.has_value() && *provider != target.Address()) return false;
    if (narrowed.has_value() && *narrowed != (of_application ? target.ServiceKey() : target.Param("application"))) return false;
    return !region.has_value() || *region == target.Param("region");
  }
};

struct Document {
  bool of_application = false;
  std::vector<Item> items;

  std::string Yaml() const {
    std::string text = of_application ? "scope: application\nkey: shop\n" : "scope: service\nkey: s\n";
    text += "configVersion: v3.0\nconfigs:" + std::string(items.empty() ? " []\n" : "\n");
    for (const Item& item : items) {
      text += "- side: consumer\n  type: weight\n  enabled: " + std::string(item.enabled ? "yes" : "no") + "\n";
      if (item.address != "0.0.0.0") text += "  addresses: [" + item.address + "]\n";
      if (item.provider) text += "  providerAddresses: ['1.1.1.1:1', '" + *item.provider + "']\n";
      if (item.narrowed) text += std::string(of_application ? "  services" : "  applications") + ": [" + *item.narrowed + "]\n";
      if (item.region) text += "  match: {param: [{key: region, value: {exact: " + *item.region + "}}]}\n";
      text += "  parameters:\n";
      for (const auto& [key, value] : item.settings) text += "    " + key + ": " + value + "\n";
    }
    return text;
  }

  void Apply(UrlParts* url, const UrlParts& original) const {
    std::vector<Item> sorted = items;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Item& a, const Item& b) { return a.address < b.address; });
    for (const Item& item : sorted) {
      // `region` is a setting too: what an earlier item has set decides, all else stays as it was.
      UrlParts seen = original;
      seen.params = url->params;
      if (!item.IsFor(seen, of_application)) continue;
      for (const auto& [key, value] : item.settings) url->params.insert_or_assign(key, value);
      if (item.provider) url->params.insert_or_assign("providerAddresses", "1.1.1.1:1," + *item.provider);
    }
  }
};

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}
  std::size_t Below(std::size_t n) { return engine_() % n; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  const char* Any(std::initializer_list<const char*> list) { return list.begin()[Below(list.size())]; }

  Item MakeItem(bool of_application) {
    Item item;
    item.address = Any({"0.0.0.0", "0.0.0.0", "10.9.8.7", "10.0.0.1"});
    if (OneIn(3)) item.provider = Any({"10.0.0.1:20880", "10.0.0.2:20880"});
    if (OneIn(3)) item.narrowed = of_application ? Any({"s", "t"}) : Any({"shop", "cart"});
    if (OneIn(4)) item.region = Any({"hz", "bj"});
    item.enabled = !OneIn(6);
    item.settings["weight"] = std::to_string(Below(300));
    if (OneIn(3)) item.settings["timeout"] = std::to_string(1 + Below(9000));
    if (OneIn(3)) item.settings["region"] = Any({"hz", "bj"});
    if (OneIn(5)) item.settings["disabled"] = Any({"true", "false"});
    return item;
  }
  UrlParts Target() {
    return Parse(std::string("dubbo://") + Any({"10.0.0.1:20880", "10.0.0.2:20880"}) + "/s?application=" +
                 Any({"shop", "shop", "cart"}) + "&side=consumer&weight=100" + Any({"", "&region=hz", "&region=bj"}));
  }

 private:
  std::mt19937 engine_;
};

// Items come, change and go in random order in the documents of application and service: the effective url depends on
// the present items and the original alone, no connection is made anew for a policy, and the last delete restores.
TEST(ConfiguratorDocumentsProperty, TheEffectiveUrlIsTheOriginalWithThePresentDocuments) {
  std::size_t changed = 0, both = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Generator random(seed);
    const UrlParts original = random.Target();
    const Configurators registry = FromUrl("override://0.0.0.0/s?timeout=77");
    std::array<Document, 2> documents = {Document{true, {}}, Document{false, {}}};  // in turn
    const auto check = [&] {
      const Configurators all = Configurators::InTurn(
          std::array{registry, FromDocument(documents[0].Yaml()), FromDocument(documents[1].Yaml())});
      const UrlParts effective = all.Apply(original);
      UrlParts expected = registry.Apply(original);
      const UrlParts base = expected;
      // The application's document is only for its own.
      if (original.Param("application") == "shop") documents[0].Apply(&expected, base);
      documents[1].Apply(&expected, base);
      ASSERT_EQ(effective, expected) << "seed " << seed << "\n" << documents[0].Yaml() << documents[1].Yaml();
      if (effective == base) return;
      ++changed;
      if (!documents[0].items.empty() && !documents[1].items.empty()) ++both;
      if (effective.Param("region") == original.Param("region")) {
        EXPECT_EQ(ConnectionKey(effective), ConnectionKey(original)) << effective.ToString();
      }
    };
    for (int step = 0; step < 30; ++step) {
      Document& document = documents[random.Below(2)];
      std::vector<Item>& items = document.items;
      const std::size_t what = random.Below(3);
      if (items.empty() || what == 0) {
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(random.Below(items.size() + 1)),
                     random.MakeItem(document.of_application));
      } else if (what == 1) {
        items[random.Below(items.size())] = random.MakeItem(document.of_application);
      } else {
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(random.Below(items.size())));
      }
      check();
    }
    for (Document& document : documents) {
      while (!document.items.empty()) {
        document.items.erase(document.items.begin() + static_cast<std::ptrdiff_t>(random.Below(document.items.size())));
        check();
      }
    }
    EXPECT_EQ(Configurators::InTurn(std::array{FromDocument(documents[0].Yaml()), FromDocument(documents[1].Yaml())})
                  .Apply(original),
              original)
        << "the last delete restores";
  }
  // The cases must not be vacuous.
  EXPECT_GT(changed, 2000u);
  EXPECT_GT(both, 500u);
}

}  // namespace
}  // namespace fairlead
