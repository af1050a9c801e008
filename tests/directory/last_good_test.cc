#include "fairlead/directory/last_good.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Urls by a letter: a lower-case one has no name, of an upper-case one the letter is the name; the digit is its version.
// "a1!" is a broken one and "?1" a child that is no url.
class LastGoodTest : public ::testing::Test {
 protected:
  Url Rule(const std::string& text) {
    const std::string name = std::isupper(static_cast<unsigned char>(text[0])) != 0 ? text.substr(0, 1) : "";
    return *Url::Parse("route://0.0.0.0/s?name=" + name + "&rule=" + text, pool_);
  }
  std::vector<std::string> Kept(const std::vector<std::string>& list) {
    std::vector<Url> usable;
    std::vector<LastGood::Broken> broken;
    for (const std::string& text : list) {
      if (text[0] == '?') {
        broken.push_back({text, {}});
      } else if (text.back() == '!') {
        broken.push_back({text, IdentityOfRule(Rule(text).parts())});
      } else {
        usable.push_back(Rule(text));
      }
    }
    std::vector<std::string> kept;
    first_ = 0;
    for (const LastGood::Kept& one : last_.Update(usable, broken)) {
      kept.push_back(std::string(one.url.Param("rule")) + " for " + one.because);
      first_ += one.first;
    }
    return kept;
  }

  FakeClock clock_;
  UrlPool pool_{clock_};
  LastGood last_{IdentityOfRule};
  int first_ = 0;
};

TEST_F(LastGoodTest, WhatGoesWithoutABrokenSuccessorIsGone) {
  EXPECT_THAT(Kept({"a1", "B1"}), IsEmpty());
  EXPECT_THAT(Kept({"B2"}), IsEmpty());
  EXPECT_THAT(Kept({}), IsEmpty());
  EXPECT_THAT(Kept({"C1!", "?1"}), IsEmpty());
}

TEST_F(LastGoodTest, ANamedRuleStaysWhileItsBrokenSuccessorIsListed) {
  Kept({"A1", "B1"});
  EXPECT_THAT(Kept({"A2!"}), ElementsAre("A1 for A2!")) << "B went for good";
  EXPECT_EQ(first_, 1);
  EXPECT_THAT(Kept({"A2!", "c1"}), ElementsAre("A1 for A2!"));
  EXPECT_EQ(first_, 0);
  EXPECT_THAT(Kept({"A3!", "c1"}), ElementsAre("A1 for A3!")) << "wrong once more";
  EXPECT_THAT(Kept({"c1"}), IsEmpty());
  EXPECT_THAT(Kept({"c1", "A2!"}), IsEmpty()) << "it was gone in between";
}

TEST_F(LastGoodTest, ANamedRuleMayGoAfterItsBrokenSuccessorCame) {
  Kept({"A1"});
  EXPECT_THAT(Kept({"A1", "A2!"}), IsEmpty()) << "it is still listed";
  EXPECT_THAT(Kept({"A2!"}), ElementsAre("A1 for A2!"));
}

TEST_F(LastGoodTest, ANamedRuleGoesWhenAUsableVersionComes) {
  Kept({"A1"});
  EXPECT_THAT(Kept({"A2!"}), ElementsAre("A1 for A2!"));
  EXPECT_THAT(Kept({"A2!", "A3"}), IsEmpty());
  EXPECT_THAT(Kept({"A2!"}), ElementsAre("A3 for A2!"));
  Kept({"b1", "A3"});
  EXPECT_THAT(Kept({"A4", "?1"}), ElementsAre("b1 for ?1")) << "A was renewed, so it was b that became unreadable";
}

TEST_F(LastGoodTest, WithoutANameOnlyWhatGoesAsTheBrokenComesStays) {
  Kept({"a1", "b1", "C1"});
  EXPECT_THAT(Kept({"a1", "C1", "b2!"}), ElementsAre("b1 for b2!"));
  EXPECT_THAT(Kept({"b2!"}), ElementsAre("b1 for b2!")) << "a and C went later";
  EXPECT_THAT(Kept({"b3!"}), ElementsAre("b1 for b3!"));
  EXPECT_THAT(Kept({"d1"}), IsEmpty());
  EXPECT_THAT(Kept({"e2!"}), ElementsAre("d1 for e2!"));
}

TEST_F(LastGoodTest, AChildThatIsNoUrlKeepsAllThatWentWithItsComing) {
  Kept({"a1", "B1", "c1"});
  EXPECT_THAT(Kept({"c1", "?1"}), UnorderedElementsAre("a1 for ?1", "B1 for ?1"));
  EXPECT_THAT(Kept({"?1"}), UnorderedElementsAre("a1 for ?1", "B1 for ?1")) << "c went later";
  EXPECT_THAT(Kept({"?1", "?2"}), UnorderedElementsAre("a1 for ?1", "B1 for ?1"));
  EXPECT_THAT(Kept({"?2"}), IsEmpty()) << "?2 came later";
}

TEST_F(LastGoodTest, OfSeveralThatCameTogetherTheLastOneKeeps) {
  Kept({"a1"});
  EXPECT_THAT(Kept({"?1", "?2"}), ElementsAre("a1 for ?1"));
  EXPECT_THAT(Kept({"?2"}), ElementsAre("a1 for ?2"));
  EXPECT_THAT(Kept({"?3"}), ElementsAre("a1 for ?3"));
  EXPECT_THAT(Kept({"a1", "?3"}), IsEmpty()) << "listed again";
  EXPECT_THAT(Kept({"?3"}), IsEmpty()) << "and gone for good";
}

TEST_F(LastGoodTest, AnEmptyListClearsAll) {
  Kept({"a1", "B1"});
  EXPECT_EQ(Kept({"?1", "B2!"}).size(), 2u);
  last_.Clear();
  EXPECT_THAT(Kept({"?1", "B2!"}), IsEmpty());
}

// A registry where somebody writes a good rule, replaces it by an unreadable one, and clears old mistakes away.
TEST_F(LastGoodTest, WhatStaysDoesNotGrowWithTheMistakesMade) {
  for (const bool is_url : {false, true}) {
    last_.Clear();
    const auto broken = [&](int i) { return is_url ? "x" + std::to_string(i) + "!" : "?" + std::to_string(i); };
    for (int i = 0; i < 3000; ++i) {
      const std::string good = "a" + std::to_string(i);
      Kept({good, broken(i - 1), broken(i - 2), broken(i - 3)});
      const std::vector<std::string> kept = Kept({broken(i), broken(i - 1), broken(i - 2)});
      ASSERT_LE(kept.size(), 3u) << i;
      ASSERT_EQ(kept.front(), good + " for " + broken(i));
    }
    EXPECT_THAT(Kept({broken(2999), broken(2997)}), ElementsAre("a2999 for " + broken(2999), "a2997 for " + broken(2997)));
    EXPECT_THAT(Kept({broken(2997)}), ElementsAre("a2997 for " + broken(2997)));
    EXPECT_THAT(Kept({}), IsEmpty());
  }
}

TEST_F(LastGoodTest, WhatComesForAListedRuleInheritsNothing) {
  Kept({"a1"});
  EXPECT_THAT(Kept({"?1"}), ElementsAre("a1 for ?1"));
  Kept({"?1", "b1"});
  EXPECT_THAT(Kept({"?2"}), ElementsAre("b1 for ?2")) << "?1 was cleared away as ?2 replaced b1";
  Kept({"?2", "c1"});
  EXPECT_THAT(Kept({"d2!"}), ElementsAre("c1 for d2!"));
}

TEST_F(LastGoodTest, OneOfSeveralThatWentPassesItsOwnOn) {
  Kept({"a1", "b1"});
  Kept({"b1", "?1"});
  EXPECT_THAT(Kept({"?1", "?2"}), UnorderedElementsAre("a1 for ?1", "b1 for ?2"));
  EXPECT_THAT(Kept({"?3"}), ElementsAre("b1 for ?3")) << "the newest";
  EXPECT_THAT(Kept({"?4"}), ElementsAre("b1 for ?4"));
  EXPECT_EQ(last_.dropped(), 0u);
}

TEST_F(LastGoodTest, TheBoundDropsTheOldest) {
  LastGood last(IdentityOfRule, 3);
  const std::vector<LastGood::Broken> one = {{"?1", {}}}, two = {{"?1", {}}, {"?2", {}}};
  last.Update({Rule("a1"), Rule("a2")}, {});
  EXPECT_EQ(last.Update({Rule("b1"), Rule("b2")}, one).size(), 2u);
  EXPECT_EQ(last.dropped(), 0u);
  const std::vector<LastGood::Kept> kept = last.Update({}, two);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].because, "?2");
  EXPECT_EQ(kept[1].because, "?2");
  EXPECT_EQ(kept[2].because, "?1");
  EXPECT_EQ(last.dropped(), 1u);
  EXPECT_EQ(last.Update({}, two).size(), 3u);
  EXPECT_EQ(last.dropped(), 0u) << "said once";
}

}  // namespace
}  // namespace fairlead::internal
