// What few calls ask for by an attachment, a mock provider or a tag at any price, of services with and without; and the
// stages of the chain that a consumer's url adds and takes out.
#include <gmock/gmock.h>

#include "fairlead/routing/filter_router.h"
#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";

class OnlyFirst final : public FilterRouter {
 public:
  std::string_view name() const override { return "only-first"; }
  int order() const override { return 160; }
  Reads reads() const override { return Reads::kMethod; }
  std::uint32_t cases() const override { return 2; }
  RouteCase Classify(const RouteCall&) const override { return 1; }
  bool Filter(RouteCase, const Provider& provider) const override { return provider.original.host() == "10.0.0.1"; }
  OnEmpty on_empty() const override { return OnEmpty::kStayEmpty; }
};

class OnlyFirstFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url& url, Compat) override {
    given = url.ToString();
    return std::make_shared<const OnlyFirst>();
  }
  std::string given;
};

class WishesTest : public DirectoryFixture {
 protected:
  void SetUp() override {
    more_routers_["only-first"] = factory_;
    DirectoryFixture::SetUp();
  }
  void OpenWithMock() {
    Open({});
    Notify(Category::kProviders, ListKind::kList,
           {Parse("dubbo://10.0.0.1:20880/com.acme.Orders"), Parse("mock://10.0.0.2:20880/com.acme.Orders")});
    executor_.RunReady();
  }
  static std::vector<Attachment> With(std::string_view key, std::string_view value) { return {{"x", "y"}, {key, value}}; }

  std::shared_ptr<OnlyFirstFactory> factory_ = std::make_shared<OnlyFirstFactory>();
};

TEST_F(WishesTest, ACallThatNeedsAMockHasNobodyWhereThereIsNone) {
  Open({"10.0.0.1", "10.0.0.2"});
  const auto needs = With("invocation.need.mock", "true"), declines = With("invocation.need.mock", "false");
  EXPECT_THAT(ListAddresses({.attachments = needs}), IsEmpty());
  EXPECT_THAT(PickAddress({.attachments = needs}), HasSubstr("no provider is of protocol mock"));
  EXPECT_THAT(ListAddresses({.attachments = declines}), ElementsAre(kA, kB));
  EXPECT_THAT(PickAddress({.attachments = declines}), HasSubstr("10.0.0."));
  EXPECT_THAT(handle_->Explain({}).routers, IsEmpty()) << "other calls have nothing to do with it";
  ASSERT_EQ(handle_->Explain({.attachments = needs}).routers.size(), 1u);
  EXPECT_EQ(handle_->Explain({.attachments = needs}).routers[0].router, "mock");
  EXPECT_FALSE(handle_->Needs(MethodId::kAny).attachments);
}

TEST_F(WishesTest, MocksAreForCallsThatNeedThem) {
  OpenWithMock();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  EXPECT_EQ(PickAddress(), kA);
  const auto needs = With("invocation.need.mock", "TRUE"), either = With("invocation.need.mock", "no");
  EXPECT_EQ(PickAddress({.attachments = needs}), kB);
  EXPECT_THAT(ListAddresses({.attachments = either}), ElementsAre(kA, kB));
  EXPECT_TRUE(handle_->Needs(MethodId::kAny).attachments);
  Providers({"10.0.0.1"});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses({.attachments = needs}), IsEmpty());
  EXPECT_FALSE(handle_->Needs(MethodId::kAny).attachments) << "the mock is gone";
}

TEST_F(WishesTest, AForcedTagHasNobodyWhereNobodyIsTagged) {
  Open({"10.0.0.1", "10.0.0.2"});
  const std::vector<Attachment> forced = {{"dubbo.tag", "gray"}, {"dubbo.force.tag", "true"}};
  const std::vector<Attachment> wished = {{"dubbo.tag", "gray"}, {"dubbo.force.tag", "false"}};
  const std::vector<Attachment> untagged = {{"dubbo.force.tag", "true"}};
  EXPECT_THAT(ListAddresses({.attachments = forced}), IsEmpty());
  EXPECT_THAT(PickAddress({.attachments = forced}), HasSubstr("dubbo.force.tag is true"));
  EXPECT_THAT(ListAddresses({.attachments = wished}), ElementsAre(kA, kB));
  EXPECT_THAT(ListAddresses({.attachments = untagged}), ElementsAre(kA, kB));
}

TEST_F(WishesTest, AConsumerAddsARouterByItsName) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&router=only-first");
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  EXPECT_THAT(factory_->given, HasSubstr("consumer://10.0.0.9/com.acme.Orders"));
  Rules({Parse("routers://0.0.0.0/com.acme.Orders?category=routers&router=only-first")});
  executor_.RunReady();
  EXPECT_EQ(handle_->Explain({}).routers.size(), 2u) << "the rule's is another one";
}

TEST_F(WishesTest, AConsumerTakesStagesOut) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&router=-mock");
  OpenWithMock();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&dubbo.tag=gray&dubbo.force.tag=true");
  Open({"10.0.0.1"});
  EXPECT_THAT(ListAddresses(), IsEmpty());
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&dubbo.tag=gray&dubbo.force.tag=true&router=-default");
  Open({"10.0.0.1"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
}

TEST_F(WishesTest, NamesThatAreNotKnownAreTold) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&router=nowhere,-nothing,default");
  Open({"10.0.0.1"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  EXPECT_EQ(log_.Count("FL-3-5"), 2u);
  std::string skipped;
  for (const std::string& line : handle_->Explain({}).skipped) skipped += line + "\n";
  EXPECT_THAT(skipped, HasSubstr("nowhere"));
  EXPECT_THAT(skipped, HasSubstr("there is no stage nothing to take out"));
}

TEST_F(WishesTest, WhatAConsumerLooksForIsNotWhatAProviderIs) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&group=*&version=*");
  Open({});
  Notify(Category::kProviders, ListKind::kList,
         {Parse("dubbo://10.0.0.1:20880"), Parse("dubbo://10.0.0.2:20880/com.acme.Orders?group=g1&version=2.0")});
  executor_.RunReady();
  const std::vector<Url> urls = handle_->List({});
  ASSERT_EQ(urls.size(), 2u);
  EXPECT_EQ(urls[0].Param("group"), "");
  EXPECT_EQ(urls[0].Param("version"), "");
  EXPECT_EQ(urls[0].path(), "com.acme.Orders");
  EXPECT_EQ(urls[1].Param("group"), "g1");
  EXPECT_EQ(urls[1].Param("version"), "2.0");
}

}  // namespace
}  // namespace fairlead
