#include "fairlead/url/merge.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

UrlParams Merged(const char* provider, const UrlParams& consumer) {
  return MergeConsumer(*UrlParts::Parse(provider), consumer).params;
}

TEST(MergeTest, TheConsumerWinsWhatDoesNotDescribeTheProvider) {
  EXPECT_EQ(Merged("dubbo://h:1/p?timeout=1&weight=5&group=pg&methods=a&timestamp=1&pid=1",
                   {{"timeout", "2"}, {"group", "*"}, {"version", "*"}, {"methods", "c"}, {"timestamp", "9"},
                    {"dubbo.tag", "ct"}, {"pid", "2"}}),
            (UrlParams{{"timeout", "2"}, {"weight", "5"}, {"group", "pg"}, {"version", "*"}, {"methods", "a"},
                       {"timestamp", "1"}, {"pid", "2"}}));
}

TEST(MergeTest, RemembersTheProvidersApplication) {
  EXPECT_EQ(Merged("dubbo://h:1/p?application=prov", {{"application", "cons"}}),
            (UrlParams{{"application", "cons"}, {"remote.application", "prov"}}));
  EXPECT_EQ(Merged("dubbo://h:1/p", {{"application", "cons"}}), (UrlParams{{"application", "cons"}}));
}

TEST(MergeTest, ServerSideParametersDoNotTravel) {
  EXPECT_EQ(Merged("dubbo://h:1/p?threads=1&threadpool=x&default.queues=3&iothreads=2", {{"threads", "7"}}),
            (UrlParams{{"threads", "7"}, {"iothreads", "2"}}));
}

TEST(MergeTest, FiltersAddUp) {
  EXPECT_EQ(*Merged("dubbo://h:1/p?reference.filter=pf", {{"reference.filter", "cf"}}).Find("reference.filter"),
            "pf,cf");
  EXPECT_EQ(*Merged("dubbo://h:1/p", {{"reference.filter", "cf"}}).Find("reference.filter"), "cf");
}

TEST(MergeTest, EmptyConsumerValuesCount) {
  EXPECT_EQ(*Merged("dubbo://h:1/p?x=1", {{"x", ""}}).Find("x"), "");
}

TEST(MergeTest, LeavesItsInputsAlone) {
  const UrlParts provider = *UrlParts::Parse("dubbo://h:1/p?threads=1&application=a");
  const UrlParts before = provider;
  const UrlParams consumer{{"reference.filter", "cf"}, {"group", "g"}};
  MergeConsumer(provider, consumer);
  EXPECT_EQ(provider, before);
  EXPECT_EQ(consumer.size(), 2u);
}

}  // namespace
}  // namespace fairlead
