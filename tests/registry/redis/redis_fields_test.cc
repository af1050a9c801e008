#include "fairlead/registry/redis/redis_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RedisFieldsTest : public ::testing::Test {
 protected:
  RedisFields::Reading Read(const std::map<std::string, std::string>& hash) {
    std::vector<RedisReply> items;
    for (const auto& [field, value] : hash) {
      for (const std::string& text : {field, value}) {
        items.emplace_back().type = RedisReply::Type::kString;
        items.back().text = text;
      }
    }
    return fields_.Read(std::move(items), now_, Clock::SteadyTime(milliseconds(now_)));
  }
  std::int64_t now_ = 1'700'000'000'000;
  RedisFields fields_{milliseconds(60000)};
};

TEST_F(RedisFieldsTest, TheNextLookIsWhenTheFirstMayExpire) {
  const auto reading = Read({{"dubbo://a:1/s", std::to_string(now_ + 500)}, {"dubbo://b:1/s", std::to_string(now_ + 60000)}});
  EXPECT_THAT(reading.live, SizeIs(2));
  EXPECT_EQ(reading.look_again, milliseconds(501));
}

TEST_F(RedisFieldsTest, NothingThatChangesByItselfNeedsNoLook) {
  EXPECT_EQ(Read({}).look_again, std::nullopt);
  EXPECT_EQ(Read({{"override://h/s?dynamic=false", "5"}}).look_again, std::nullopt);
}

TEST_F(RedisFieldsTest, AnExpiredFieldIsLookedAfterForThreePeriods) {
  const std::map<std::string, std::string> dead{{"dubbo://a:1/s", std::to_string(now_ - 1)}};
  EXPECT_THAT(Read(dead).live, IsEmpty());
  EXPECT_EQ(Read(dead).look_again, milliseconds(30000));
  now_ += 179000;
  EXPECT_EQ(Read(dead).look_again, milliseconds(30000));
  now_ += 2000;
  EXPECT_EQ(Read(dead).look_again, std::nullopt);
}

TEST_F(RedisFieldsTest, OneThatComesBackAfterLongWasAwayNotLate) {
  Read({{"dubbo://a:1/s", std::to_string(now_ - 1)}});
  now_ += 3600000;
  const auto reading = Read({{"dubbo://a:1/s", std::to_string(now_ + 60000)}});
  EXPECT_THAT(reading.late, IsEmpty());
  now_ += 60001;
  EXPECT_THAT(Read({{"dubbo://a:1/s", std::to_string(now_ - 1)}}).live, IsEmpty());
}

TEST_F(RedisFieldsTest, OneThatIsExtendedLateStaysAPeriodLonger) {
  Read({{"dubbo://a:1/s", std::to_string(now_ - 10000)}});
  now_ += 30000;
  const std::map<std::string, std::string> late{{"dubbo://a:1/s", std::to_string(now_ - 10000)}};
  EXPECT_THAT(Read(late).late, ElementsAre("dubbo://a:1/s"));
  EXPECT_THAT(Read(late).live, SizeIs(1));
  now_ += 59999;
  EXPECT_THAT(Read(late).live, SizeIs(1));
  now_ += 1;
  EXPECT_THAT(Read(late).live, IsEmpty());
}

TEST_F(RedisFieldsTest, ValuesFarOffDoNotOverflow) {
  const auto reading = Read({{"dubbo://a:1/s", "9223372036854775807"}, {"dubbo://b:1/s", "-9223372036854775808"}});
  EXPECT_THAT(reading.live, ElementsAre("dubbo://a:1/s"));
  Read({{"dubbo://a:1/s", "-9223372036854775808"}, {"dubbo://b:1/s", "9223372036854775807"}});
}

TEST_F(RedisFieldsTest, AnOddNumberOfPartsIsNoHarm) {
  std::vector<RedisReply> items(3);
  items[0].text = "dubbo://a:1/s";
  items[1].text = std::to_string(now_);
  EXPECT_THAT(fields_.Read(std::move(items), now_, {}).live, SizeIs(1));
}

TEST_F(RedisFieldsTest, OfManyBadOnesAHundredAreNamed) {
  std::map<std::string, std::string> hash;
  for (int i = 0; i < 1000; ++i) hash["dubbo://h:" + std::to_string(i) + "/s"] = "bad";
  EXPECT_THAT(Read(hash).bad, SizeIs(RedisFields::kMostBad));
}

}  // namespace
}  // namespace fairlead::internal
