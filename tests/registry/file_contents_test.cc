#include "fairlead/registry/file/file_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/file/file_feed.h"
#include "fairlead/tests/registry/file_registry_fixture.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Outcome = FileContents::Outcome;

const RegistryKey kProvidersOfAB{"a.B", Category::kProviders};

class FileContentsTest : public FileRegistryFixture {
 protected:
  FileContents Of(std::string path) { return FileContents(std::move(path), pool_, log_); }
  static std::vector<std::string> Urls(const FileContents& contents) {
    return contents.Children(kProvidersOfAB).children;
  }
};

// What no stamp tells: a second write within the same tick of a coarse clock.
TEST_F(FileContentsTest, AnUnchangedStampIsReadAgainOnlyWhenAsked) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  FileContents contents = Of(directory_ / "p.txt");
  const FileScan scan = Scan(directory_ / "p.txt", {});
  EXPECT_EQ(contents.Update(scan, false, false), Outcome::kChanged);
  directory_.Write("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  EXPECT_EQ(contents.Update(scan, false, false), Outcome::kUnchanged);
  EXPECT_THAT(Urls(contents), ElementsAre("dubbo://10.0.0.1:1/a.B"));
  EXPECT_EQ(contents.Update(scan, true, false), Outcome::kChanged);
  EXPECT_THAT(Urls(contents), ElementsAre("dubbo://10.0.0.2:1/a.B"));
  EXPECT_EQ(contents.Update(scan, true, false), Outcome::kUnchanged);
}

TEST_F(FileContentsTest, OfADirectoryEachFileStandsForItself) {
  directory_.Write("b.txt", "dubbo://10.0.0.2:1/a.B\n");
  directory_.Write("a.txt", "dubbo://10.0.0.1:1/a.B\nbad\n");
  FileContents contents = Of(directory_.path());
  const auto update = [&] { return contents.Update(Scan(directory_.path(), {}), false, true); };
  EXPECT_EQ(update(), Outcome::kChanged);
  EXPECT_THAT(Urls(contents), ElementsAre("dubbo://10.0.0.1:1/a.B", "dubbo://10.0.0.2:1/a.B"));
  EXPECT_THAT(contents.Describe(), HasSubstr("2 urls in 2 files, 1 line skipped (a.txt:2: "));
  EXPECT_EQ(contents.FileOf(kProvidersOfAB, "dubbo://10.0.0.2:1/a.B"), directory_ / "b.txt");

  directory_.Write("a.txt", "");
  EXPECT_EQ(update(), Outcome::kUnchanged);
  EXPECT_THAT(Urls(contents), ElementsAre("dubbo://10.0.0.1:1/a.B", "dubbo://10.0.0.2:1/a.B")) << "kept";
  EXPECT_TRUE(contents.troubled());
  EXPECT_THAT(contents.Describe(), HasSubstr("a.txt: the file has no content"));
  EXPECT_EQ(Lines("FL-5-2").size(), 1u);

  std::filesystem::resize_file(directory_ / "b.txt", 17 << 20);
  EXPECT_EQ(update(), Outcome::kUnchanged);
  EXPECT_THAT(Lines("FL-5-2"), ::testing::Contains(HasSubstr("split it; the 1 urls it had stay in use")));

  directory_.Write("a.txt", "dubbo://10.0.0.3:1/a.B\n");
  directory_.Remove("b.txt");
  EXPECT_EQ(update(), Outcome::kChanged);
  EXPECT_THAT(Urls(contents), ElementsAre("dubbo://10.0.0.3:1/a.B")) << "deleted is gone";
  EXPECT_FALSE(contents.troubled());

  directory_.Remove("a.txt");
  EXPECT_EQ(update(), Outcome::kChanged);
  EXPECT_THAT(Urls(contents), IsEmpty());
  EXPECT_FALSE(contents.missing()) << "an empty directory is there, and says none";
}

TEST_F(FileContentsTest, AllFilesTogetherAreBounded) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    directory_.Write(name, std::string("dubbo://10.0.0.1:1/") + name + ".B\n");
    std::filesystem::resize_file(directory_ / name, 15 << 20);  // the rest is one bad line
  }
  FileContents contents = Of(directory_.path());
  EXPECT_EQ(contents.Update(Scan(directory_.path(), {}), false, true), Outcome::kChanged);
  EXPECT_THAT(contents.Services(), ElementsAre("a.B", "b.B", "c.B", "d.B"));
  EXPECT_THAT(Lines("FL-5-2"), ElementsAre(HasSubstr("split it")));
}

class FileFeedTest : public FileRegistryFixture {
 protected:
  void Open(FileFeed::Taken answer) {
    feed_.emplace(
        directory_ / "p.txt", Context(), watches_.Maker(), [=, this](const FileScan&, FileFeed::Reading how) {
          readings_.push_back(std::string(how.again ? "again" : "changed") + (how.final ? " final" : ""));
          return answer;
        });
    feed_->Start();
    Run();
  }
  std::vector<std::string> Take() { return std::exchange(readings_, {}); }
  std::optional<FileFeed> feed_;
  std::vector<std::string> readings_;
};

TEST_F(FileFeedTest, TheSlowLookAfterAChangeReadsInAnyCase) {
  directory_.Write("p.txt", "x\n");
  Open(FileFeed::Taken::kAll);
  EXPECT_THAT(Take(), ElementsAre("changed final")) << "the first is taken as it is";
  Advance(seconds(20));
  EXPECT_THAT(Take(), ElementsAre("again final"));
  directory_.Write("p.txt", "y\n");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("changed"));
  Advance(seconds(20));
  EXPECT_THAT(Take(), ElementsAre("again final"));
}

TEST_F(FileFeedTest, WhatCouldNotBeReadIsTriedByEverySlowLook) {
  directory_.Write("p.txt", "x\n");
  Open(FileFeed::Taken::kPartly);
  Take();
  Advance(seconds(15));
  EXPECT_EQ(Take().size(), 3u);
}

TEST_F(FileFeedTest, EventsOfOtherFilesReadNothing) {
  directory_.Write("p.txt", "x\n");
  Open(FileFeed::Taken::kAll);
  Take();
  directory_.Write("other.txt", "x\n");
  Settle();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(FileFeedTest, AfterStopThereIsNeitherWatchNorTimer) {
  Open(FileFeed::Taken::kAll);
  EXPECT_EQ(watches_.alive, 1);
  feed_->Stop();
  feed_->Nudge();
  EXPECT_EQ(watches_.alive, 0);
  EXPECT_EQ(executor_->pending_timers(), 0u);
}

}  // namespace
}  // namespace fairlead::internal
