#include "fairlead/registry/cache_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kRegistry = "zookeeper://h:1 group dubbo";
constexpr const char* kDate = "Mon Jan 01 00:00:00 UTC 2024";

CacheContent Content(std::vector<std::pair<std::string, std::string>> entries) {
  CacheContent content;
  for (auto& [key, text] : entries) content[key].text = std::make_shared<const std::string>(text);
  return content;
}

class CacheFileTest : public ::testing::Test {
 protected:
  Properties Load(CacheFile& file) {
    remarks_.clear();
    const auto loaded = file.Load(remarks_);
    return loaded ? loaded->entries : Properties();
  }
  Properties Load() {
    CacheFile file(name_, kRegistry);
    return Load(file);
  }
  void Write(CacheFile& file, const std::string& value) {
    const auto written = file.Write(Content({{"a.B", value}}), kDate);
    ASSERT_TRUE(written.ok()) << written.status();
  }
  // Puts a file's time `seconds` before now.
  static void Age(const std::string& path, int seconds) {
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  TempDirectory dir_;
  const std::string name_ = dir_ / "deep/er/lists.cache";
  std::vector<std::string> remarks_;
};

TEST_F(CacheFileTest, IsInDubbosFormatAndItsUsersAlone) {
  CacheFile file(name_, kRegistry);
  ASSERT_TRUE(*file.Write(Content({{"b.C:1", "x://h:1"}, {"a.B", "dubbo://h:1/a.B?x=1 y"}, {"c.D", ""}}), kDate));
  EXPECT_THAT(FileText(name_), ::testing::StartsWith("#Dubbo Registry Cache\n#Mon Jan 01 00:00:00 UTC 2024\n"
                                                     "#Fairlead lists of zookeeper://h:1 group dubbo\n"
                                                     "a.B=dubbo\\://h\\:1/a.B?x\\=1 y\nb.C\\:1=x\\://h\\:1\n#Fairlead end "));
  struct stat about;
  ASSERT_EQ(::stat(name_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_FALSE(std::filesystem::exists(name_ + ".tmp"));
  EXPECT_THAT(Load(), ElementsAre(Pair("a.B", "dubbo://h:1/a.B?x=1 y"), Pair("b.C:1", "x://h:1")));
}

TEST_F(CacheFileTest, WritesOnlyWhatIsNew) {
  CacheFile file(name_, kRegistry);
  EXPECT_TRUE(*file.Write(Content({{"a.B", "x"}}), kDate));
  EXPECT_FALSE(*file.Write(Content({{"a.B", "x"}}), "later"));
  EXPECT_TRUE(*file.Write(Content({{"a.B", "y"}}), kDate));
  std::filesystem::remove(name_);
  EXPECT_TRUE(*file.Write(Content({{"a.B", "y"}}), kDate)) << "somebody took it away";
}

TEST_F(CacheFileTest, ReadsWhatDubboWrote) {
  std::filesystem::create_directories(dir_ / "deep/er");
  PutFile(name_,
          "#Dubbo Registry Cache\n#Tue Mar 05 10:11:12 CST 2024\n"
          "g/a.B\\:1.0=dubbo\\://10.0.0.1\\:20880/a.B?application\\=x empty\\://10.0.0.7/a.B?category\\=routers\n");
  EXPECT_THAT(Load(), ElementsAre(Pair("g/a.B:1.0", "dubbo://10.0.0.1:20880/a.B?application=x empty://10.0.0.7/a.B?category=routers")));
  EXPECT_THAT(remarks_, IsEmpty());
}

TEST_F(CacheFileTest, EachProcessHasAFileOfItsOwnAndTheNewestIsRead) {
  auto first = std::make_unique<CacheFile>(name_, kRegistry);
  auto second = std::make_unique<CacheFile>(name_, kRegistry);
  Write(*first, "1");
  Write(*second, "2");
  EXPECT_EQ(first->path(), name_);
  EXPECT_EQ(second->path(), name_ + ".1");
  Age(name_, 10);
  EXPECT_THAT(Load(), ElementsAre(Pair("a.B", "2")));
  Age(name_ + ".1", 20);
  EXPECT_THAT(Load(), ElementsAre(Pair("a.B", "1")));
  first.reset();
  CacheFile third(name_, kRegistry);
  Write(third, "3");
  EXPECT_EQ(third.path(), name_) << "the lock was given up";
  EXPECT_TRUE(std::filesystem::exists(name_ + ".lock"));
}

TEST_F(CacheFileTest, AnotherProcessIsLockedOut) {
  CacheFile mine(name_, kRegistry);
  ASSERT_TRUE(mine.Acquire().ok());
  const pid_t child = ::fork();
  if (child == 0) {
    CacheFile theirs(name_, kRegistry);
    const bool apart = theirs.Write(Content({{"a.B", "child"}}), kDate).ok() && theirs.path() == name_ + ".1";
    ::_exit(apart ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(FileText(name_), "");
  EXPECT_THAT(Load(mine), ElementsAre(Pair("a.B", "child")));
}

TEST_F(CacheFileTest, ALockFileThatDubboDeletedIsMadeAgain) {
  CacheFile mine(name_, kRegistry);
  Write(mine, "1");
  std::filesystem::remove(name_ + ".lock");
  CacheFile other(name_, kRegistry);
  Write(other, "other");
  EXPECT_EQ(other.path(), name_);
  Write(mine, "2");
  EXPECT_EQ(mine.path(), name_ + ".1") << "no longer ours to write";
}

TEST_F(CacheFileTest, RegistriesMayShareAName) {
  {
    CacheFile a(name_, kRegistry), b(name_, "zookeeper://other:1 group dubbo");
    Write(a, "a");
    Write(b, "b");
  }
  // In the other order, and the younger file is b's.
  Age(name_, 10);
  CacheFile b(name_, "zookeeper://other:1 group dubbo"), a(name_, kRegistry);
  EXPECT_THAT(Load(a), ElementsAre(Pair("a.B", "a")));
  EXPECT_THAT(Load(b), ElementsAre(Pair("a.B", "b")));
  Write(b, "b2");
  Write(a, "a2");
  EXPECT_EQ(b.path(), name_ + ".1");
  EXPECT_EQ(a.path(), name_);
}

TEST_F(CacheFileTest, OursCutAnywhereIsReportedAndIgnored) {
  std::string whole;
  {
    CacheFile file(name_, kRegistry);
    ASSERT_TRUE(file.Write(Content({{"a.B", "dubbo://h:1/a.B dubbo://i:1/a.B"}, {"c.D", "dubbo://h:1/c.D"}}), kDate).ok());
    whole = FileText(name_);
  }
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    PutFile(name_, whole.substr(0, cut));
    ASSERT_THAT(Load(), IsEmpty()) << cut;
    ASSERT_THAT(remarks_, SizeIs(1)) << cut;
    ASSERT_THAT(remarks_[0], HasSubstr(name_));
  }
  PutFile(name_, whole);
  EXPECT_THAT(Load(), SizeIs(2));
  Random random(4);
  for (int round = 0; round < Effort(400); ++round) {
    std::string changed = whole;
    changed[random.Below(changed.size())] ^= static_cast<char>(1 + random.Below(255));
    PutFile(name_, changed);
    for (const auto& [key, value] : Load()) {
      ASSERT_TRUE(value == "dubbo://h:1/a.B dubbo://i:1/a.B" || value == "dubbo://h:1/c.D" ||
                  changed.find("#Fairlead lists of ") == std::string::npos)
          << changed;
    }
  }
}

TEST_F(CacheFileTest, WhatACrashLeftIsIgnoredForAnOlderFile) {
  std::filesystem::create_directories(dir_ / "deep/er");
  PutFile(name_, "a.B=old\n");
  Age(name_, 10);
  for (const std::string& bad : {std::string(), std::string(5000, '\0'), std::string("a.B=x\n\0\0\0", 9), std::string("a.B=cut"),
                                std::string("a.B=\\u12\n"), std::string("#only\n#comments\n")}) {
    PutFile(name_ + ".1", bad);
    EXPECT_THAT(Load(), ElementsAre(Pair("a.B", "old")));
    EXPECT_THAT(remarks_, ElementsAre(HasSubstr(name_ + ".1")));
  }
}

TEST_F(CacheFileTest, NoFileIsNothingToReport) {
  EXPECT_THAT(Load(), IsEmpty());
  EXPECT_THAT(remarks_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "deep")) << "looking makes nothing";
}

TEST_F(CacheFileTest, APlaceThatCannotBeWrittenIsNamed) {
  PutFile(dir_ / "deep", "a file, no directory");
  CacheFile file(name_, kRegistry);
  const absl::Status status = file.Write(Content({{"a.B", "x"}}), kDate).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir_ / "deep/er"));
  EXPECT_THAT(Load(), IsEmpty());

  std::filesystem::remove(dir_ / "deep");
  std::filesystem::create_directories(name_);  // a directory has the file's name
  EXPECT_FALSE(file.Write(Content({{"a.B", "x"}}), kDate).ok());
  EXPECT_FALSE(std::filesystem::exists(name_ + ".tmp"));
  EXPECT_THAT(Load(), IsEmpty());
  EXPECT_THAT(remarks_, ElementsAre(HasSubstr("no file")));
}

TEST_F(CacheFileTest, DatesAreJavas) {
  EXPECT_EQ(JavaDate(1704067200), kDate);
  EXPECT_EQ(JavaDate(1709210096), "Thu Feb 29 12:34:56 UTC 2024");
}

}  // namespace
}  // namespace fairlead::internal
