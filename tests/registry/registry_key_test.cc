#include "fairlead/registry/registry_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

UrlParts Parts(std::string_view text) { return UrlParts::Parse(text).value(); }

std::string Names(const std::vector<Category>& categories) {
  std::string names;
  for (const Category category : categories) names += std::string(CategoryName(category)) + " ";
  return names;
}

TEST(RegistryKey, ServiceIsTheInterfaceElseThePath) {
  const RegistryKey path = RegistryKeyOf(Parts("dubbo://h:1/a.B?group=g&version=1")).value();
  EXPECT_EQ(path, (RegistryKey{"a.B", Category::kProviders}));
  const RegistryKey named =
      RegistryKeyOf(Parts("override://0.0.0.0/x?interface=a.C&category=configurators")).value();
  EXPECT_EQ(named, (RegistryKey{"a.C", Category::kConfigurators}));
}

TEST(RegistryKey, RefusesWhatHasNoPlace) {
  const auto nameless = RegistryKeyOf(Parts("dubbo://u:secret@h:1"));
  EXPECT_TRUE(absl::IsInvalidArgument(nameless.status()));
  EXPECT_THAT(nameless.status().ToString(), Not(HasSubstr("secret")));
  const auto unknown = RegistryKeyOf(Parts("dubbo://h:1/a.B?category=dynamicconfigurators"));
  EXPECT_TRUE(absl::IsInvalidArgument(unknown.status()));
  EXPECT_THAT(unknown.status().ToString(), HasSubstr("dynamicconfigurators"));
}

TEST(SubscribedCategories, ListsAllAndRemovals) {
  const auto of = [](const std::string& category) {
    return Names(
        SubscribedCategories(Parts("consumer://h/a.B" + (category.empty() ? "" : "?category=" + category))));
  };
  EXPECT_EQ(of(""), "providers ");
  EXPECT_EQ(of("providers,configurators,routers"), "providers configurators routers ");
  EXPECT_EQ(of("*"), "providers consumers routers configurators ");
  EXPECT_EQ(of("*,-consumers"), "providers routers configurators ");
  EXPECT_EQ(of("-routers"), "providers consumers configurators ");
  EXPECT_EQ(of("providers,providers,nonsense"), "providers ");
  EXPECT_EQ(of("nonsense"), "");
}

class RegisteredTextTest : public ::testing::Test {
 protected:
  std::string Text(std::string_view url, bool simplified) {
    RegistryOptions options;
    options.simplified = simplified;
    return RegisteredText(Url::Parse(url, pool_).value(), options);
  }
  UrlPool pool_;
};

TEST_F(RegisteredTextTest, ProvidersLoseWhatOnlyTheirProcessReads) {
  EXPECT_EQ(
      Text(
          "dubbo://u:p@h:1/a.B?.hidden=1&triple.x=1&bind.ip=h&pid=7&qos.port=1&threads=9&timestamp=5&weight=2"
          "&find.threads=3&qos.portx=1",
          false),
      "dubbo://u:p@h:1/a.B?find.threads=3&qos.portx=1&timestamp=5&weight=2");
}

TEST_F(RegisteredTextTest, Simplified) {
  EXPECT_EQ(Text("dubbo://h:1/"
                 "a.B?application=x&interface=a.B&methods=f&revision=1&timestamp=5&weight=2&enabled=false"
                 "&version=1&retries=3",
                 true),
            "dubbo://h:1/a.B?application=x&enabled=false&timestamp=5&version=1&weight=2");
  // The interface stays when the path is another name.
  EXPECT_EQ(Text("dubbo://h:1/alias?interface=a.B&methods=f", true), "dubbo://h:1/alias?interface=a.B");
  EXPECT_EQ(
      Text("consumer://h/a.B?application=x&category=consumers&check=false&dubbo=2&group=g&interface=a.B&pid=1"
           "&release=3&side=consumer&version=1&timestamp=1",
           true),
      "consumer://h/a.B?application=x&category=consumers&check=false&dubbo=2&group=g&release=3&version=1");
}

TEST_F(RegisteredTextTest, RulesAndConsumersStayAsTheyAre) {
  const std::string_view rule = "override://0.0.0.0/a.B?category=configurators&dynamic=false&pid=1&threads=9";
  EXPECT_EQ(Text(rule, true), rule);
  const std::string_view consumer = "consumer://h/a.B?category=consumers&pid=1&threads=9";
  EXPECT_EQ(Text(consumer, false), consumer);
}

}  // namespace
}  // namespace fairlead
