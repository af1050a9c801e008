#include "fairlead/routing/tag/tag_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/tests/routing/routing_fixture.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TagRouterTest : public RoutingFixture {
 protected:
  // Rules read a provider's tag after overrides, unlike everything else.
  void PutTagged(Slot slot, const std::string& address, const std::string& tag, const std::string& params = "") {
    const Url original = Parse("dubbo://" + address + "/s.A?x=1" + params);
    const Url effective = Parse("dubbo://" + address + "/s.A?x=1" + params + (tag.empty() ? "" : "&dubbo.tag=" + tag));
    if (slot >= providers_.size() || !providers_[slot].listed()) by_rank_.push_back(slot);
    providers_.Set(slot, {original, effective});
    all_.Add(slot);
  }
  static TagRule::Tag Addressed(std::optional<std::string> name, const std::vector<std::string>& addresses) {
    TagRule::Tag tag{std::move(name), {}, {}};
    for (const std::string& address : addresses) tag.addresses.Add(address, Compat::kStrict);
    return tag;
  }
  static TagRule::Tag Matched(std::string name, std::string key, std::string value) {
    return {std::move(name), {}, {{std::move(key), *StringMatch::Compile({.exact = std::move(value)})}}};
  }
  static TagRouter With(std::vector<TagRule::Tag> tags, bool force = false, Compat compat = Compat::kStrict) {
    return TagRouter({{"", {force, std::move(tags), compat}}});
  }
  std::vector<Slot> Call(const RouteTable& table, const char* tag, const char* force = nullptr) {
    std::vector<Attachment> attachments = {{"other", "1"}};
    if (tag != nullptr) attachments.push_back({"dubbo.tag", tag});
    if (force != nullptr) attachments.push_back({"dubbo.force.tag", force});
    const Invocation invocation{.attachments = attachments};
    described_ = table.Describe(table.Classify({"find", invocation}));
    return Route(table, "find", invocation);
  }
  std::string described_;
};

TEST_F(TagRouterTest, ProvidersTagThemselves) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "gray");
  PutTagged(2, "10.0.0.3:1", "blue");
  const auto table = Compile(TagRouter());
  EXPECT_THAT(Call(*table, nullptr), ElementsAre(0));
  EXPECT_THAT(Call(*table, ""), ElementsAre(0));
  EXPECT_THAT(Call(*table, "gray"), ElementsAre(1));
  EXPECT_EQ(described_, "the call's tag is \"gray\"");
  EXPECT_THAT(Call(*table, "grey"), ElementsAre(0)) << "nobody has it";
  EXPECT_THAT(Call(*table, "grey", "TRUE"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("dubbo.force.tag"));
  EXPECT_THAT(Call(*table, "gray|x"), ElementsAre(0)) << "only rules have levels";
  EXPECT_EQ(Compile(TagRouter())->cases(), 8u);
}

TEST_F(TagRouterTest, ACallWithoutTagNeverEntersATaggedGroup) {
  PutTagged(0, "10.0.0.1:1", "gray");
  const auto table = Compile(TagRouter());
  EXPECT_THAT(Call(*table, nullptr), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("every provider has one"));
  EXPECT_THAT(Call(*table, "blue"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("every one has another"));
}

TEST_F(TagRouterTest, TheConsumersTagStandsInForTheCalls) {
  consumer_ = Parse("consumer://10.0.0.9/s.A?dubbo.tag=gray&dubbo.force.tag=true");
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "gray");
  const auto table = Compile(TagRouter());
  EXPECT_THAT(Call(*table, nullptr), ElementsAre(1));
  EXPECT_THAT(Call(*table, ""), ElementsAre(1));
  EXPECT_THAT(Call(*table, "blue"), IsEmpty());
  EXPECT_THAT(Call(*table, "blue", ""), IsEmpty()) << "an empty attachment is none";
  EXPECT_THAT(Call(*table, "blue", "no"), ElementsAre(0));
}

TEST_F(TagRouterTest, WithoutTagsOnlyAForcedCallIsRouted) {
  PutTagged(0, "10.0.0.1:1", "");
  const auto table = Compile(TagRouter());
  const Attachment tag[] = {{"dubbo.tag", "gray"}};
  EXPECT_EQ(table->Classify({"find", {}}), 0u);
  EXPECT_EQ(table->Classify({"find", {.attachments = tag}}), 0u);
  EXPECT_THAT(Call(*table, "gray", "true"), IsEmpty());
  EXPECT_THAT(Call(*table, nullptr, "true"), ElementsAre(0));
}

TEST_F(TagRouterTest, ARuleDecidesWhoHasATagThatItNames) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "gray");
  PutTagged(2, "10.0.0.3:1", "blue");
  PutTagged(3, "10.0.0.4:1", "");
  const auto table = Compile(With({Addressed("gray", {"10.0.0.1", "10.0.0.9:1"})}));
  EXPECT_THAT(Call(*table, "gray"), ElementsAre(0)) << "not slot 1, which says so itself";
  EXPECT_THAT(Call(*table, "blue"), ElementsAre(2)) << "the rule does not name it";
  EXPECT_THAT(Call(*table, nullptr), ElementsAre(3));
  EXPECT_THAT(Call(*table, "red"), ElementsAre(3));
}

TEST_F(TagRouterTest, ForceOfTheRuleAndOfTheCall) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "blue");
  const auto lax = Compile(With({Addressed("gray", {"10.9.9.9"})}));
  EXPECT_THAT(Call(*lax, "gray"), ElementsAre(0));
  EXPECT_THAT(Call(*lax, "gray", "true"), IsEmpty());
  const auto strict = Compile(With({Addressed("gray", {"10.9.9.9"})}, true));
  EXPECT_THAT(Call(*strict, "gray"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("the rule has force=true"));
  EXPECT_THAT(Call(*strict, "red"), ElementsAre(0)) << "the rule's force is only for tags that it names";
  EXPECT_THAT(Call(*strict, "red", "true"), IsEmpty());
}

TEST_F(TagRouterTest, ShorterLevelsAreTriedUnlessForced) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "");
  PutTagged(2, "10.0.0.3:1", "a|b|s");
  PutTagged(3, "10.0.0.4:1", "");
  const auto table = Compile(With({Addressed("a", {"10.0.0.1"}), Addressed("a|b", {"10.0.0.2"}), Addressed("", {"10.0.0.4"})}));
  EXPECT_THAT(Call(*table, "a|b|c"), ElementsAre(1));
  EXPECT_EQ(described_, "the call's tag begins with \"a|b\", which a rule names");
  EXPECT_THAT(Call(*table, "a|x|y"), ElementsAre(0));
  EXPECT_THAT(Call(*table, "a|"), ElementsAre(0));
  EXPECT_THAT(Call(*table, "|x"), ElementsAre(3)) << "the tag without a text";
  EXPECT_THAT(Call(*table, "a|b|s"), ElementsAre(1)) << "levels come before what providers say";
  EXPECT_THAT(Call(*table, "a|b|s", "true"), ElementsAre(2));
  EXPECT_THAT(Call(*table, "a|b|c", "true"), IsEmpty());
  EXPECT_THAT(Call(*table, "a|b", "true"), ElementsAre(1));
}

TEST_F(TagRouterTest, MatchTagsByParametersAndSharedAddresses) {
  PutTagged(0, "10.0.0.1:1", "", "&region=hz");
  PutTagged(1, "10.0.0.1:1", "", "&region=sh");
  PutTagged(2, "10.0.0.1:2", "", "&region=sh");
  const auto strict = Compile(With({Matched("gray", "region", "hz")}));
  EXPECT_THAT(Call(*strict, "gray"), ElementsAre(0, 1)) << "Dubbo keeps addresses";
  EXPECT_THAT(Call(*strict, nullptr), ElementsAre(2));
  const auto fixed = Compile(With({Matched("gray", "region", "hz")}, false, Compat::kFixed));
  EXPECT_THAT(Call(*fixed, "gray"), ElementsAre(0));
  EXPECT_THAT(Call(*fixed, nullptr), ElementsAre(1, 2));
}

// As addresses these fit nobody, not even whoever has them, or all with that port.
TEST_F(TagRouterTest, MatchTagsNobodyWhoseAddressFitsNobody) {
  const char* const hosts[] = {"10.0.0.1:1", "localhost:1", "127.0.0.1:1", "orders.acme.com:1", "[fe80::1]:1", "10.2:1", "010.0.0.3:1"};
  for (Slot slot = 0; slot < 7; ++slot) PutTagged(slot, hosts[slot], "", "&region=hz");
  PutTagged(7, "10.0.0.3:1", "", "&region=sh");
  const auto strict = Compile(With({Matched("gray", "region", "hz")}));
  EXPECT_THAT(Call(*strict, "gray"), ElementsAre(0, 4, 6, 7)) << "010.0.0.3 is 10.0.0.3";
  EXPECT_THAT(Call(*strict, nullptr), ElementsAre(1, 2, 3, 5));
  const auto fixed = Compile(With({Matched("gray", "region", "hz")}, false, Compat::kFixed));
  EXPECT_THAT(Call(*fixed, "gray"), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Call(*fixed, nullptr), ElementsAre(7));
  // The rule names the tag although nobody can have it.
  Provide({});
  PutTagged(0, "localhost:1", "", "&region=hz");
  PutTagged(1, "10.0.0.1:1", "gray", "&region=sh");
  const auto nobody = Compile(With({Matched("gray", "region", "hz")}));
  EXPECT_THAT(Call(*nobody, "gray"), ElementsAre(0)) << "those without a tag";
  EXPECT_THAT(Call(*Compile(With({Matched("gray", "region", "hz")}, true)), "gray"), IsEmpty());
  // As an address `0.0.0.0:1` is every host with that port.
  Provide({});
  PutTagged(0, "0.0.0.0:1", "", "&region=hz");
  PutTagged(1, "10.0.0.1:1", "", "&region=sh");
  PutTagged(2, "10.0.0.1:2", "", "&region=sh");
  EXPECT_THAT(Call(*Compile(With({Matched("gray", "region", "hz")})), "gray"), ElementsAre(1));
}

TEST_F(TagRouterTest, OfOneNameTheLastThatHasProvidersCounts) {
  PutTagged(0, "10.0.0.1:1", "", "&region=hz");
  PutTagged(1, "10.0.0.2:1", "", "&region=sh");
  EXPECT_THAT(Call(*Compile(With({Addressed("t", {"10.0.0.1"}), Addressed("t", {"10.0.0.2"})})), nullptr), ElementsAre(0));
  EXPECT_THAT(Call(*Compile(With({Matched("t", "region", "hz"), Addressed("t", {"10.0.0.2"})})), "t"), ElementsAre(0));
  EXPECT_THAT(Call(*Compile(With({Matched("t", "region", "bj"), Addressed("t", {"10.0.0.2"})})), "t"), ElementsAre(1));
  EXPECT_THAT(Call(*Compile(With({Matched("t", "region", "bj")}, true)), "t"), ElementsAre(0, 1)) << "names nobody";
}

TEST_F(TagRouterTest, AddressesOfEveryForm) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.1:2", "");
  PutTagged(2, "[fe80::1]:1", "");
  PutTagged(3, "name:1", "");
  PutTagged(4, "127.0.0.1:1", "");
  const auto of = [this](const std::vector<std::string>& addresses) {
    return Call(*Compile(With({Addressed("t", addresses)}, true)), "t");
  };
  EXPECT_THAT(of({"10.0.0.1"}), ElementsAre(0, 1));
  EXPECT_THAT(of({"10.0.0.1:2", "10.0.0.1:3", "010.0.0.1:1"}), ElementsAre(0, 1));
  EXPECT_THAT(of({"10.0.0.1:2", "10.0.0.1:3"}), ElementsAre(1));
  EXPECT_THAT(of({"[FE80:0::1]:1"}), ElementsAre(2));
  EXPECT_THAT(of({"fe80::1"}), ElementsAre(2));
  EXPECT_THAT(of({"0.0.0.0:1"}), ElementsAre(0)) << "Dubbo raises an error for the others";
  EXPECT_THAT(of({"name:1", "name", "127.0.0.1"}), IsEmpty());
  EXPECT_THAT(of({"bad host", "::ffff:127.0.0.1"}), ElementsAre(4));
  EXPECT_THAT(of({"10.0.0.0/8", "fe80::/64"}), ElementsAre(0, 1, 2));
  EXPECT_THAT(of({"*"}), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(TagRouterTest, ATagWithoutNameKeepsItsProvidersFromOthers) {
  PutTagged(0, "10.0.0.1:1", "");
  PutTagged(1, "10.0.0.2:1", "");
  const auto table = Compile(With({Addressed(std::nullopt, {"10.0.0.1"})}));
  EXPECT_THAT(Call(*table, nullptr), ElementsAre(1));
  EXPECT_THAT(Call(*table, "x"), ElementsAre(1));
}

TEST_F(TagRouterTest, EachApplicationHasItsOwnRule) {
  PutTagged(0, "10.0.0.1:1", "", "&application=a");
  PutTagged(1, "10.0.0.2:1", "gray", "&application=a");
  PutTagged(2, "10.0.0.1:2", "", "&application=b");
  PutTagged(3, "10.0.0.2:2", "gray", "&application=b");
  PutTagged(4, "10.0.0.2:3", "gray", "&application=c");
  PutTagged(5, "10.0.0.3:3", "", "&application=c");
  const TagRouter router({{"a", {false, {Addressed("gray", {"10.0.0.1"}), Addressed("t", {"10.0.0.1"})}, Compat::kStrict}},
                          {"b", {true, {Addressed("t|u", {"10.9.9.9"})}, Compat::kStrict}}});
  const auto table = Compile(router);
  EXPECT_THAT(Call(*table, "gray"), ElementsAre(0, 3, 4)) << "of a by its rule, of the others by themselves";
  EXPECT_THAT(Call(*table, nullptr), ElementsAre(2, 5));
  EXPECT_THAT(Call(*table, "t|u|v"), ElementsAre(0)) << "a's t; b's t|u has nobody here, but somebody has the tag";
  EXPECT_THAT(Call(*table, "t|u", "true"), IsEmpty());
  all_.Remove(0);
  EXPECT_THAT(Call(*table, "t|u"), ElementsAre(5)) << "b's rule forces, c has none";
  EXPECT_THAT(Call(*table, "t"), ElementsAre(2, 5));
}

TEST_F(TagRouterTest, ManyTagsOfProvidersNeedNoMaskEach) {
  constexpr Slot kProviders = 20'000;
  for (Slot slot = 0; slot < kProviders; ++slot) PutTagged(slot, "10.0.0.1:" + std::to_string(slot + 1), "t" + std::to_string(slot));
  const auto table = Compile(TagRouter());
  EXPECT_THAT(Call(*table, "t0"), ElementsAre(0));
  EXPECT_THAT(Call(*table, "t19999"), ElementsAre(19999));
  EXPECT_THAT(Call(*table, "t20000"), IsEmpty());
  // Without a plan, in memory that is there.
  InvokerSet drawn(all_.capacity());
  Random random(1);
  Outcomes out(all_, drawn, random, false);
  const Attachment tag[] = {{"dubbo.tag", "t17777"}};
  table->Route(table->Classify({"find", {.attachments = tag}}), all_, out);
  ASSERT_EQ(out.count(), 1u);
  EXPECT_EQ(out.drawn().Nth(0), 17777u);
  EXPECT_EQ(out.drawn().count(), 1u);
}

}  // namespace
}  // namespace fairlead
