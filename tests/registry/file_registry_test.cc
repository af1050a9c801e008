#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "fairlead/tests/registry/file_registry_fixture.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class FileRegistryTest : public FileRegistryFixture {};

TEST_F(FileRegistryTest, ListsFollowTheFile) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\ndubbo://10.0.0.2:1/a.B\ndubbo://10.0.0.3:1/c.D\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  EXPECT_EQ(first_, absl::OkStatus());
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:1"));
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
  directory_.Replace("p.txt", "# none\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty")) << "the file says so";
}

TEST_F(FileRegistryTest, OneFileHoldsEveryCategory) {
  directory_.Write("p.txt",
                   "dubbo://10.0.0.1:1/a.B\noverride://10.0.0.1/a.B?weight=5\n"
                   "route://0.0.0.0/a.B?rule=x\nroute://1.1.1.1/*?rule=y\n");
  OpenFile("p.txt");
  const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=providers,configurators,routers");
  EXPECT_THAT(listener->Take(),
              UnorderedElementsAre("a.B/providers list 10.0.0.1:1", "a.B/configurators list 10.0.0.1",
                                   "a.B/routers list 0.0.0.0 1.1.1.1"));
  const auto other = Subscribe("consumer://10.0.0.9/c.D?category=routers");
  EXPECT_THAT(other->Take(), ElementsAre("c.D/routers list 1.1.1.1")) << "a rule for every service";
}

TEST_F(FileRegistryTest, GroupAndVersionMatchAsInEveryRegistry) {
  directory_.Write("p.txt",
                   "dubbo://10.0.0.1:1/a.B?version=1.0.0\ndubbo://10.0.0.2:1/a.B?version=2.0.0&group=g\n");
  OpenFile("p.txt");
  EXPECT_THAT(Subscribe("consumer://10.0.0.9/a.B?version=1.0.0")->Take(),
              ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_THAT(Subscribe("consumer://10.0.0.9/a.B?version=*&group=*")->Take(),
              ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:1"));
}

TEST_F(FileRegistryTest, NothingIsReadBeforeItIsStill) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Write("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  Event();
  Advance(kSettle - milliseconds(1));
  EXPECT_THAT(listener->Take(), IsEmpty());
  directory_.Append("p.txt", "dubbo://10.0.0.3:1/a.B\n");
  Advance(milliseconds(1));
  EXPECT_THAT(listener->Take(), IsEmpty()) << "it has changed meanwhile";
  Advance(kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1 10.0.0.3:1"));
}

TEST_F(FileRegistryTest, AFileThatIsNeverStillIsReadAllTheSame) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  for (int i = 0; i < 50; ++i) {
    directory_.Append("p.txt", "dubbo://10.0.1." + std::to_string(i) + ":1/a.B\n");
    Event();
    Advance(milliseconds(50));
  }
  EXPECT_EQ(listener->Take().size(), 1u) << "once in 2 s";
}

TEST_F(FileRegistryTest, ALastLineWithoutAnEndIsWaitedForASecond) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\ndubbo://10.0.0.2:2");
  Settle();
  Advance(milliseconds(500));
  EXPECT_THAT(listener->Take(), IsEmpty());
  directory_.Append("p.txt", "0880/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:20880"));
  directory_.Write("p.txt", "dubbo://10.0.0.3:1/a.B");
  Settle();
  EXPECT_THAT(listener->Take(), IsEmpty());
  Advance(seconds(1));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.3:1")) << "that was all";
}

TEST_F(FileRegistryTest, AnEncodedRuleArrivesAsAPlainOne) {
  const std::string rule = "route://0.0.0.0/a.B?category=routers&rule=a%3D%25%20%3D%3E%20host%3D10.0.0.1";
  directory_.Write("p.txt", rule + "&name=plain\n" + PercentEncode(rule + "&name=encoded") + "\n");
  OpenFile("p.txt");
  const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=routers");
  ASSERT_EQ(listener->all.size(), 1u);
  ASSERT_EQ(listener->all[0].urls.size(), 2u);
  for (const Url& url : listener->all[0].urls) EXPECT_EQ(url.Param("rule"), "a%3D%25%20%3D%3E%20host%3D10.0.0.1") << url.Param("name");
}

TEST_F(FileRegistryTest, AMissingFileIsWaitedFor) {
  OpenFile("d/e/p.txt");
  const auto listener = Subscribe();
  EXPECT_EQ(first_, absl::OkStatus());
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  EXPECT_THAT(Lines("FL-5-3"), ElementsAre(HasSubstr("does not exist")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("p.txt, missing"));
  EXPECT_THAT(watches_.directories, ElementsAre(directory_.path()));
  directory_.Mkdir("d/e");
  Event();
  EXPECT_THAT(watches_.directories, ElementsAre(directory_ / "d/e"));
  directory_.Write("d/e/p.txt", "dubbo://10.0.0.1:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_THAT(registry_->Describe(), HasSubstr("1 url in 1 file, inotify"));
}

TEST_F(FileRegistryTest, AFileThatVanishesLeavesTheLastListForItsGrace) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt", "?missing.grace=5000");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Remove("p.txt");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  Advance(std::chrono::minutes(1));  // the log says nothing twice before
  directory_.Write("p.txt", "");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown")) << "truncated, to be written";
  EXPECT_THAT(Lines("FL-5-3"), ::testing::Contains(HasSubstr("no content")));
  Advance(seconds(5));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
}

TEST_F(FileRegistryTest, AVanishingThatNobodySawIsNone) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Remove("p.txt");
  Event();
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\ndubbo://10.0.0.2:1/a.B\n");
  Advance(2 * kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:1"));
}

TEST_F(FileRegistryTest, WhatCannotBeReadIsUnknownAndTriedAgain) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Remove("p.txt");
  mkfifo((directory_ / "p.txt").c_str(), 0600);
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  EXPECT_THAT(registry_->status().last_error.message(), HasSubstr("neither a regular file nor a directory"));
  EXPECT_THAT(registry_->Describe(), HasSubstr("cannot read"));
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
  truncate((directory_ / "p.txt").c_str(), 17 << 20);
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown")) << "too large";
  directory_.Write("p.txt", "dubbo://10.0.0.3:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.3:1"));
}

TEST_F(FileRegistryTest, BadLinesAreNamedByFileAndNumber) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\ndubbo://10.0.0.2:port/a.B\n\nnonsense\n");
  OpenFile("p.txt");
  EXPECT_THAT(Subscribe()->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_THAT(Lines("FL-5-1"), ElementsAre(HasSubstr((directory_ / "p.txt") + ":2 "),
                                           HasSubstr((directory_ / "p.txt") + ":4 ")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("1 url in 1 file, 2 lines skipped (p.txt:2: "));
}

TEST_F(FileRegistryTest, AFileWithLinesButNoUrlIsUnknown) {
  for (const std::string& garbage :
       {std::string("junk\n"), std::string(16, '\0') + "\n", std::string("# none\nroute:/x\n")}) {
    SCOPED_TRACE(garbage);
    directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
    OpenFile("p.txt", "?missing.grace=5000");
    const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=providers,routers");
    listener->Take();
    directory_.Replace("p.txt", garbage);
    Settle();
    EXPECT_THAT(listener->Take(), UnorderedElementsAre("a.B/providers unknown", "a.B/routers unknown"));
    EXPECT_THAT(registry_->Describe(), HasSubstr("no line of it is a url (p.txt:"));
    Advance(seconds(60));
    EXPECT_THAT(listener->Take(), IsEmpty()) << "as long as it lasts";
    directory_.Replace("p.txt", "# none\n");
    Settle();
    EXPECT_THAT(listener->Take(), UnorderedElementsAre("a.B/providers empty", "a.B/routers empty"));
    EXPECT_THAT(registry_->Unreadable("a.B"), IsEmpty());
  }
}

TEST_F(FileRegistryTest, InADirectoryAFileThatTurnsToGarbageKeepsItsUrls) {
  directory_.Mkdir("d");
  directory_.Write("d/a", "dubbo://10.0.0.1:1/a.B\n");
  directory_.Write("d/b", "dubbo://10.0.0.2:1/a.B\n");
  OpenFile("d");
  const auto listener = Subscribe();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:1"));
  directory_.Replace("d/a", "junk\n");
  Settle();
  EXPECT_THAT(listener->Take(), IsEmpty());
  EXPECT_THAT(Lines("FL-5-2"), ElementsAre(HasSubstr("no line of it is a url (a:1: ")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("no line of it is a url (a:1: "));
  directory_.Replace("d/a", "# none\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
  EXPECT_THAT(registry_->Describe(), HasSubstr("1 url in 2 files, inotify"));
}

TEST_F(FileRegistryTest, BadLinesAreToldThoughNoListChanges) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe(), other = Subscribe("consumer://10.0.0.9/c.D");
  listener->Take();
  listener->registry_changes = other->registry_changes = 0;
  directory_.Append("p.txt", "nonsense\n");
  Settle();
  EXPECT_EQ(listener->registry_changes, 1);
  EXPECT_EQ(other->registry_changes, 1) << "it is no service's";
  EXPECT_THAT(registry_->Unreadable("c.D"), ElementsAre(HasSubstr("p.txt:2: ")));
  directory_.Append("p.txt", "rubbish\n");
  Settle();
  EXPECT_EQ(listener->registry_changes, 2);
  EXPECT_THAT(registry_->status().unreadable, ElementsAre(HasSubstr("nonsense"), HasSubstr("rubbish")));
  directory_.Append("p.txt", "# a comment\n");
  Settle();
  EXPECT_EQ(listener->registry_changes, 2) << "nothing new";
  directory_.Replace("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  Settle();
  EXPECT_EQ(listener->registry_changes, 3);
  EXPECT_THAT(registry_->Unreadable("a.B"), IsEmpty());
  EXPECT_THAT(registry_->Describe(), ::testing::Not(HasSubstr("skipped")));
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(FileRegistryTest, AnotherBadTextInTheSamePlaceIsLogged) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\nnonsense\n");
  OpenFile("p.txt");
  EXPECT_THAT(Lines("FL-5-1"), ElementsAre(HasSubstr("nonsense")));
  // The same reason, other texts.
  for (const char* text : {"a\x01\n", "b\x01\n", "b\x01\n"}) {
    directory_.Replace("p.txt", "dubbo://10.0.0.1:1/a.B\n" + std::string(text) + "# " +
                                    std::to_string(Lines("FL-5-1").size()) + "\n");
    Settle();
  }
  EXPECT_THAT(Lines("FL-5-1"), ElementsAre(HasSubstr("nonsense"), HasSubstr("control"), HasSubstr("control")))
      << "and the very same one not again";
}

TEST_F(FileRegistryTest, AnEmptyDirectoryInPlaceOfTheFileIsAMissingOne) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt", "?missing.grace=5000");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Remove("p.txt");
  directory_.Mkdir("p.txt");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  EXPECT_THAT(Lines("FL-5-3"), ElementsAre(HasSubstr("an empty directory stands where the file was")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("p.txt, missing"));
  Advance(seconds(5));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  directory_.Write("p.txt/a", "dubbo://10.0.0.2:1/a.B\n");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1")) << "a directory like any other";
  directory_.Remove("p.txt/a");
  Settle();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
}

TEST_F(FileRegistryTest, TheLastErrorGoesWithItsReason) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  const auto all = Subscribe("admin://10.0.0.9/*?interface=*&category=providers&check=false");
  directory_.Replace("p.txt", "junk\n");
  Settle();
  EXPECT_THAT(registry_->Describe(), HasSubstr("last error: "));
  listener->registry_changes = 0;
  directory_.Replace("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  Settle();
  EXPECT_EQ(registry_->status().last_error, absl::OkStatus());
  EXPECT_THAT(registry_->Describe(), ::testing::Not(HasSubstr("last error")));
  EXPECT_EQ(listener->registry_changes, 1);
  // A wish that ended with its error, which its caller was told, fails no more.
  EXPECT_FALSE(Register("dubbo://10.0.0.2:1/a.B").ok());
  EXPECT_THAT(registry_->Describe(), ::testing::Not(HasSubstr("last error")));
}

TEST_F(FileRegistryTest, WithoutEventsASlowLookFindsTheChange) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  listener->Take();
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  Advance(seconds(5) - milliseconds(1));
  EXPECT_THAT(listener->Take(), IsEmpty());
  Advance(milliseconds(1) + kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
}

TEST_F(FileRegistryTest, WithoutInotifyFilesAreLookedAtEverySecond) {
  watches_.make_status = absl::ResourceExhaustedError("no inotify instance; raise the limit");
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_THAT(Lines("FL-5-4"),
              ElementsAre(HasSubstr("raise the limit; the files are looked at every 1000 ms")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("polled"));
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  Advance(seconds(1) + kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
  watches_.make_status = absl::OkStatus();
  Advance(seconds(1));
  EXPECT_EQ(watches_.alive, 1) << "healed";
  EXPECT_THAT(registry_->Describe(), HasSubstr("inotify"));
  watches_.set_status = absl::ResourceExhaustedError("no watch left");
  Event();
  EXPECT_THAT(registry_->Describe(), HasSubstr("polled"));
  directory_.Replace("p.txt", "dubbo://10.0.0.3:1/a.B\n");
  Advance(seconds(5) + seconds(1) + kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.3:1"));
}

TEST_F(FileRegistryTest, ServicesAndLookups) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\nroute://0.0.0.0/*?rule=x\n");
  OpenFile("p.txt");
  const auto all = Subscribe("admin://10.0.0.9/*?interface=*&category=providers&check=false");
  EXPECT_THAT(all->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  directory_.Replace("p.txt", "dubbo://10.0.0.1:1/a.B\ndubbo://10.0.0.3:1/c.D\n");
  Settle();
  EXPECT_THAT(all->Take(), ElementsAre("c.D/providers list 10.0.0.3:1"));
  std::optional<absl::StatusOr<std::vector<Url>>> found;
  registry_->Lookup(U("consumer://10.0.0.9/c.D"), [&](auto urls) { found = std::move(urls); });
  Run();
  ASSERT_TRUE(found.has_value() && found->ok());
  EXPECT_EQ((*found)->size(), 1u);
}

TEST_F(FileRegistryTest, ALookupBeforeTheFirstReadIsAnsweredByIt) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  auto backend = std::make_unique<internal::FileBackend>(directory_ / "p.txt", Context(), watches_.Maker());
  registry_ = FailbackRegistry::Create(U("file:///x"), std::move(backend), Context());
  std::optional<absl::StatusOr<std::vector<Url>>> found;
  registry_->Lookup(U("consumer://10.0.0.9/a.B"), [&](auto urls) { found = std::move(urls); });
  Run();
  ASSERT_TRUE(found.has_value() && found->ok());
  EXPECT_EQ((*found)->size(), 1u);
}

TEST_F(FileRegistryTest, AListenerMayEndTheRegistry) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const auto listener = Subscribe();
  Subscribe("consumer://10.0.0.9/c.D");
  listener->then = [this] { registry_.reset(); };
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\ndubbo://10.0.0.2:1/c.D\n");
  Settle();
  EXPECT_EQ(watches_.alive, 0);
  EXPECT_EQ(executor_->pending_timers(), 0u);
}

}  // namespace
}  // namespace fairlead
