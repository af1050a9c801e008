#include "fairlead/loadbalance/consistent_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> Urls(int n, const std::string& parameters = "side=provider") {
  std::vector<std::string> urls;
  for (int i = 0; i < n; ++i) urls.push_back("dubbo://10.0.0." + std::to_string(i) + ":20880/a.B?" + parameters);
  return urls;
}

class ConsistentHashTest : public ::testing::Test {
 protected:
  // With a ring and without; they must agree.
  Slot Owner(const SelectorInput& input, const Invocation& invocation) {
    const Slot planned = (*policy_->Build(input, nullptr))->Select(invocation, context_);
    EXPECT_EQ(*policy_->SelectUnplanned(input, invocation, context_), planned);
    return planned;
  }
  Slot OwnerOf(const SelectorInput& input, std::vector<Argument> arguments) {
    Invocation invocation;
    invocation.arguments = arguments;
    return Owner(input, invocation);
  }
  absl::Status Failure(const SelectorInput& input) {
    const absl::Status status = policy_->Build(input, nullptr).status();
    EXPECT_EQ(policy_->SelectUnplanned(input, {}, context_).status(), status);
    return status;
  }

  const std::shared_ptr<const LoadBalance> policy_ = MakeConsistentHashLoadBalance();
  Random random_;
  PickContext context_{random_};
};

TEST_F(ConsistentHashTest, SaysWhatItReads) {
  EXPECT_TRUE(policy_->reads_arguments());
  EXPECT_FALSE(policy_->per_method());
}

TEST_F(ConsistentHashTest, TheFirstArgumentIsTheKeyUnlessTold) {
  const MemberList members(Urls(50), "find");
  const SelectorInput input = members.Input("find");
  EXPECT_EQ(OwnerOf(input, {{"x"}, {"1"}}), OwnerOf(input, {{"x"}, {"2"}}));
  int distinct = 0;
  for (int i = 0; i < 50; ++i) distinct += OwnerOf(input, {{std::to_string(i)}}) != OwnerOf(input, {{"x"}});
  EXPECT_GT(distinct, 40);
}

TEST_F(ConsistentHashTest, ListedArgumentsAreJoinedAndMissingOnesSkipped) {
  const MemberList members(Urls(50, "hash.arguments=1,0,7,-1"), "");
  const SelectorInput input = members.Input();
  const Slot owner = OwnerOf(input, {{"bc"}, {"a"}});
  EXPECT_EQ(OwnerOf(input, {{"c"}, {"ab"}}), owner);
  EXPECT_EQ(OwnerOf(input, {{"abc"}}), owner);
  const std::string_view key[] = {"abc"};
  Invocation invocation;
  invocation.hash_key = RingPosition(key);
  EXPECT_EQ(Owner(input, invocation), owner) << "hash_key is the position itself";
}

TEST_F(ConsistentHashTest, NullIsTheTextNullAndAnUnsuppliedTextIsSkipped) {
  const MemberList members(Urls(50), "");
  const SelectorInput input = members.Input();
  EXPECT_EQ(OwnerOf(input, {{"", true}}), OwnerOf(input, {{"null"}}));
  EXPECT_EQ(OwnerOf(input, {{"", false, false}}), OwnerOf(input, {}));
}

TEST_F(ConsistentHashTest, MoreArgumentsThanFitOnTheStack) {
  std::string listed = "0";
  std::vector<Argument> arguments{{"p"}};
  std::string joined = "p";
  for (int i = 1; i < 30; ++i) {
    listed += "," + std::to_string(i);
    arguments.push_back({"q"});
    joined += 'q';
  }
  const MemberList many(Urls(50, "hash.arguments=" + listed), ""), one(Urls(50), "");
  EXPECT_EQ(OwnerOf(many.Input(), arguments), OwnerOf(one.Input(), {{joined}}));
}

TEST_F(ConsistentHashTest, TheFirstMemberDecidesMethodFormFirst) {
  std::vector<std::string> urls = Urls(20);
  urls[0] += "&hash.nodes=320&find.hash.nodes=4&find.hash.arguments=1";
  urls[1] += "&hash.nodes=3&hash.arguments=none";
  const MemberList members(urls, "");
  const auto find = policy_->Build(members.Input("find"), nullptr);
  const auto save = policy_->Build(members.Input("save"), nullptr);
  EXPECT_THAT((*find)->Describe(), HasSubstr("4 points each"));
  EXPECT_THAT((*save)->Describe(), HasSubstr("320 points each"));
  EXPECT_EQ(OwnerOf(members.Input("find"), {{"1"}, {"k"}}), OwnerOf(members.Input("find"), {{"2"}, {"k"}}));
}

TEST_F(ConsistentHashTest, ErrorsNameParameterAndRemedy) {
  const auto failure = [&](const std::string& parameters) {
    const MemberList members(Urls(3, parameters), "");
    return Failure(members.Input());
  };
  EXPECT_EQ(failure("hash.nodes=3").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(failure("hash.nodes=3").message(), HasSubstr("hash.nodes=3"));
  EXPECT_THAT(failure("hash.nodes=many").message(), HasSubstr("many"));
  EXPECT_THAT(failure("hash.arguments=0,x").message(), HasSubstr("\"x\""));
}

TEST_F(ConsistentHashTest, TheNumberOfPointsIsBounded) {
  const auto describe = [&](int members, const std::string& nodes) {
    const MemberList list(Urls(members, "hash.nodes=" + nodes), "");
    return (*policy_->Build(list.Input(), nullptr))->Describe();
  };
  EXPECT_THAT(describe(2, "65536"), EndsWith(" 65536 points each"));
  EXPECT_THAT(describe(2, "65543"), EndsWith(" 65536 points each, not the 65540 asked for"));
  EXPECT_THAT(describe(2, "2147483647"), HasSubstr(" 65536 points each, not the 2147483644 asked for"));
  // What is left are the first of the points asked for, so that the members keep most of their keys.
  const MemberList most(Urls(5, "hash.nodes=65536"), ""), more(Urls(5, "hash.nodes=2000000000"), "");
  const auto a = *policy_->Build(most.Input(), nullptr), b = *policy_->Build(more.Input(), nullptr);
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string(i);
    const Argument argument{key};
    Invocation invocation;
    invocation.arguments = {&argument, 1};
    EXPECT_EQ(a->Select(invocation, context_), b->Select(invocation, context_));
  }
}

TEST_F(ConsistentHashTest, TheRingOfManyMembersIsBounded) {
  std::vector<std::string> urls;
  for (int i = 0; i < 5000; ++i) {
    urls.push_back("dubbo://10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":20880/a.B?hash.nodes=50000");
  }
  const MemberList list(urls, "");
  // 2^24 / 5000 = 3355
  const auto selector = *policy_->Build(list.Input(), nullptr);
  EXPECT_THAT(selector->Describe(), EndsWith("5000 providers with 2048 points each, not the 50000 asked for"));
}

TEST_F(ConsistentHashTest, WeightsDoNotCount) {
  const MemberList plain(Urls(5), ""), weighted(Urls(5, "weight=0"), "");
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    EXPECT_EQ(OwnerOf(plain.Input(), {{key}}), OwnerOf(weighted.Input(), {{key}}));
  }
}

TEST_F(ConsistentHashTest, AMemberThatIsDownGivesItsCallsToTheNextPoints) {
  MemberList members(Urls(10), "");
  const MemberList without = [] {
    MemberList list;
    const auto urls = Urls(10);
    for (std::size_t i = 0; i < urls.size(); ++i) {
      if (i != 4) list.Add(urls[i], "", i);
    }
    return list;
  }();
  const SelectorInput input = members.Input();
  const auto selector = *policy_->Build(input, nullptr);
  const auto expected = *policy_->Build(without.Input(), nullptr);
  members.state(4).Report(false);
  for (int i = 0; i < 2000; ++i) {
    Invocation invocation;
    invocation.hash_key = static_cast<std::uint32_t>(Mix64(static_cast<std::uint64_t>(i)));
    const Slot owner = selector->Select(invocation, context_);
    ASSERT_EQ(owner, expected->Select(invocation, context_));
    if (i < 50) {
      ASSERT_EQ(*policy_->SelectUnplanned(input, invocation, context_), owner);
    }
  }
  for (std::size_t i = 0; i < 10; ++i) members.state(i).Report(false);
  Invocation invocation;
  invocation.hash_key = 99;
  EXPECT_LT(selector->Select(invocation, context_), 10u) << "all down: still a member";
}

// Two registrations of one address share every point; while the later one is down they are the earlier one's.
TEST_F(ConsistentHashTest, AMemberThatIsDownGivesASharedPointToItsOtherOwner) {
  std::vector<std::string> urls = Urls(6);
  urls.push_back(urls[2] + "&version=2.0");
  MemberList members(urls, "");
  const SelectorInput input = members.Input();
  const auto selector = *policy_->Build(input, nullptr);
  int moved = 0;
  for (int i = 0; i < 2000; ++i) {
    Invocation invocation;
    invocation.hash_key = static_cast<std::uint32_t>(Mix64(static_cast<std::uint64_t>(i)));
    const Slot before = selector->Select(invocation, context_);
    EXPECT_NE(before, 2u) << "the later registration owns what both have";
    members.state(6).Report(false);
    const Slot owner = selector->Select(invocation, context_);
    ASSERT_EQ(owner, before == 6 ? 2u : before);
    if (i < 50) {
      ASSERT_EQ(*policy_->SelectUnplanned(input, invocation, context_), owner);
    }
    moved += owner != before;
    members.state(6).Report(true);
  }
  EXPECT_GT(moved, 150);
}

// A part of a list reads the ring of the whole one, in a pick and when its own is built.
TEST_F(ConsistentHashTest, APartOfAListUsesTheRingOfTheWhole) {
  std::vector<std::string> urls = Urls(60, "hash.nodes=40");
  urls.push_back(urls[7] + "&version=2.0");  // shares all its points
  MemberList whole(urls, "");
  const auto ring = *policy_->Build(whole.Input(), nullptr);
  Random random(9);
  for (int round = 0; round < 60; ++round) {
    // From nearly all to very few, which do better without the ring.
    const std::uint64_t one_in = round % 3 == 0 ? 30 : 1 + random.Below(4);
    std::vector<Member> part;
    for (const Member& member : whole.members()) {
      if (random.Below(one_in) == 0) part.push_back(member);
      whole.state(member.slot).Report(random.Below(5) != 0);
    }
    if (part.empty()) part.push_back(whole.members()[static_cast<std::size_t>(round)]);
    SelectorInput input = whole.Input();
    input.by_rank = part;
    const auto alone = *policy_->Build(input, nullptr);
    SelectorInput with_ring = input;
    with_ring.whole = ring.get();
    const auto from_ring = *policy_->Build(with_ring, nullptr);
    for (std::uint32_t i = 0; i < 100; ++i) {
      Invocation invocation;
      invocation.hash_key = static_cast<std::uint32_t>(random.Next());
      const Slot owner = *policy_->SelectUnplanned(input, invocation, context_);
      ASSERT_EQ(*policy_->SelectUnplanned(with_ring, invocation, context_), owner);
      ASSERT_EQ(from_ring->Select(invocation, context_), alone->Select(invocation, context_));
    }
  }
  for (std::size_t i = 0; i < urls.size(); ++i) whole.state(i).Report(true);
}

TEST_F(ConsistentHashTest, ARingOfOtherNodesIsNotUsed) {
  std::vector<std::string> urls = Urls(20, "hash.nodes=40");
  urls[0] += "&find.hash.nodes=80";
  const MemberList whole(urls, "");
  const auto ring = *policy_->Build(whole.Input("find"), nullptr);
  SelectorInput input = whole.Input();
  for (std::uint32_t i = 0; i < 200; ++i) {
    Invocation invocation;
    invocation.hash_key = i * 21474836u;
    input.whole = nullptr;
    const Slot owner = *policy_->SelectUnplanned(input, invocation, context_);
    input.whole = ring.get();
    ASSERT_EQ(*policy_->SelectUnplanned(input, invocation, context_), owner);
    ASSERT_EQ((*policy_->Build(input, nullptr))->Select(invocation, context_), owner);
  }
}

TEST_F(ConsistentHashTest, ASuccessorTakesOverTheRing) {
  const MemberList before(Urls(30), "");
  MemberList after;
  const auto urls = Urls(33);
  for (std::size_t i = 3; i < urls.size(); ++i) after.Add(urls[i], "", i);
  const auto first = *policy_->Build(before.Input(), nullptr);
  const auto grown = *policy_->Build(after.Input(), first.get());
  const auto fresh = *policy_->Build(after.Input(), nullptr);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    Invocation invocation;
    invocation.hash_key = i * 858993u;
    ASSERT_EQ(grown->Select(invocation, context_), fresh->Select(invocation, context_));
  }
}

}  // namespace
}  // namespace fairlead
