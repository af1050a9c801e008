#include "fairlead/registry/file/file_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <string>
#include <vector>

#include "fairlead/tests/support/temp_directory.h"
#include "fairlead/url/url_address.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = FileScan::Kind;

class FileScanTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> PathOf(std::string_view text) {
    auto parts = ParseLenient(text);
    EXPECT_TRUE(parts.ok()) << parts.status();
    return FilePathOf(Url::Of(*std::move(parts), pool_));
  }
  FileScan ScanOf(std::string_view name) { return Scan(directory_ / name, {}); }
  std::vector<std::string> Names(const FileScan& scan) {
    std::vector<std::string> names;
    for (const auto& [path, stamp] : scan.files) names.push_back(path.substr(directory_.path().size() + 1));
    return names;
  }
  // The part behind the test's directory; "." is the directory itself.
  std::vector<std::string> Watched(std::string_view name) {
    std::set<std::string> directories;
    AddDirectoriesOf(directory_ / name, directories);
    std::vector<std::string> names;
    for (const std::string& path : directories) {
      names.push_back(path == directory_.path() ? "." : path.substr(directory_.path().size() + 1));
    }
    return names;
  }
  TempDirectory directory_;
  UrlPool pool_;
};

TEST_F(FileScanTest, AUrlNamesAnAbsolutePath) {
  EXPECT_EQ(*PathOf("file:///etc/acme/providers.txt"), "/etc/acme/providers.txt");
  EXPECT_EQ(*PathOf("file:///etc/acme/?timeout=100"), "/etc/acme");
  EXPECT_EQ(*PathOf("file:/etc/acme"), "/etc/acme");
  EXPECT_EQ(*PathOf("file://localhost/etc/acme"), "/etc/acme");
  EXPECT_EQ(*PathOf("file:///a%20b/c+d%40e%"), "/a b/c+d@e%");
  for (const char* wrong : {"file://etc/acme", "file://host:1/x", "file:///", "file://", "file:///a%00b"}) {
    const auto path = PathOf(wrong);
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(path.status().message(), HasSubstr("file:///absolute/path"));
  }
}

TEST_F(FileScanTest, AFileStandsForItself) {
  EXPECT_EQ(ScanOf("a").kind, Kind::kMissing);
  EXPECT_EQ(ScanOf("a/b").kind, Kind::kMissing);
  directory_.Write("a", "x");
  const FileScan before = ScanOf("a");
  EXPECT_EQ(before.kind, Kind::kFile);
  EXPECT_THAT(Names(before), ElementsAre("a"));
  EXPECT_EQ(ScanOf("a"), before);
  directory_.Replace("a", "x");
  EXPECT_NE(ScanOf("a"), before) << "same content, another file";
  EXPECT_EQ(ScanOf("a/b").kind, Kind::kMissing) << "a file is no directory";
}

TEST_F(FileScanTest, OfADirectoryTheRegularFilesCount) {
  for (const char* name :
       {"b.txt", "a.txt", ".hidden", "a.txt~", ".a.txt.swp", "a.swp", "c.tmp", "d.bak", "#e#"}) {
    directory_.Write(name, "x");
  }
  directory_.Mkdir("config/group");
  directory_.Link("b.txt", "link");
  directory_.Link("nowhere", "dangling");
  mkfifo((directory_ / "pipe").c_str(), 0600);
  const FileScan scan = Scan(directory_.path(), {});
  EXPECT_EQ(scan.kind, Kind::kDirectory);
  EXPECT_THAT(Names(scan), ElementsAre("a.txt", "b.txt", "link"));
  EXPECT_EQ(ScanOf("pipe").kind, Kind::kUnreadable);
}

TEST_F(FileScanTest, ADirectoryOfTooManyFilesIsRefused) {
  for (int i = 0; i <= 1000; ++i) directory_.Write("f" + std::to_string(i), "");
  const FileScan scan = Scan(directory_.path(), {});
  EXPECT_EQ(scan.kind, Kind::kUnreadable);
  EXPECT_THAT(scan.trouble, HasSubstr("1000"));
}

TEST_F(FileScanTest, WhatCanChangeAFileIsWatched) {
  directory_.Write("a", "x");
  EXPECT_THAT(Watched("a"), ElementsAre("."));
  directory_.Mkdir("d");
  EXPECT_THAT(Watched("d"), ElementsAre(".", "d"));
  EXPECT_THAT(Watched("d/../a"), ElementsAre("."));
  EXPECT_THAT(Watched("d/missing"), ElementsAre("d"));
  EXPECT_THAT(Watched("e/f/g"), ElementsAre(".")) << "the last there is";
}

TEST_F(FileScanTest, EveryLinkOnTheWayIsWatched) {
  // A Kubernetes ConfigMap, and a release directory.
  directory_.Mkdir("mount/..1");
  directory_.Write("mount/..1/a.txt", "x");
  directory_.Link("..1", "mount/..data");
  directory_.Link("..data/a.txt", "mount/a.txt");
  EXPECT_THAT(Watched("mount/a.txt"), ElementsAre("mount", "mount/..1"));
  directory_.Mkdir("releases/42/etc");
  directory_.Write("releases/42/etc/a.txt", "x");
  directory_.Link(directory_ / "releases/42", "current");
  EXPECT_THAT(Watched("current/etc/a.txt"), ElementsAre(".", "releases/42/etc"));
  directory_.Link("circle", "circle");
  EXPECT_THAT(Watched("circle"), ElementsAre("."));
  EXPECT_EQ(ScanOf("circle").kind, Kind::kUnreadable);
}

TEST_F(FileScanTest, ReadingIsBounded) {
  directory_.Write("a", std::string(100000, 'x'));
  EXPECT_EQ(ReadWholeFile(directory_ / "a", 100000)->size(), 100000u);
  EXPECT_EQ(ReadWholeFile(directory_ / "a", 99999).status().code(), absl::StatusCode::kResourceExhausted);
  directory_.Write("empty", "");
  EXPECT_EQ(*ReadWholeFile(directory_ / "empty", 10), "");
  EXPECT_TRUE(absl::IsNotFound(ReadWholeFile(directory_ / "missing", 10).status()));
  mkfifo((directory_ / "pipe").c_str(), 0600);
  EXPECT_FALSE(ReadWholeFile(directory_ / "pipe", 10).ok()) << "and does not hang";
  EXPECT_FALSE(ReadWholeFile(directory_.path(), 10).ok());
  // Says 0 bytes and has some.
  EXPECT_THAT(*ReadWholeFile("/proc/self/stat", 100000), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace fairlead::internal
