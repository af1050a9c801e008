#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/tests/registry/file_registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileWritingTest : public FileRegistryFixture {
 protected:
  // Hidden ones too.
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "d")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(FileWritingTest, AFileIsOnlyRead) {
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("p.txt");
  const absl::Status refused = Register("dubbo://10.0.0.2:1/a.B");
  EXPECT_THAT(refused.message(),
              HasSubstr("only reads: add the url to it as a line, or register in a directory"));
  EXPECT_EQ(directory_.Read("p.txt"), "dubbo://10.0.0.1:1/a.B\n");
  EXPECT_TRUE(Register("consumer://10.0.0.9/a.B?category=consumers").ok()) << "consumers are not stored";
  EXPECT_EQ(directory_.Read("p.txt"), "dubbo://10.0.0.1:1/a.B\n");
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
  EXPECT_THAT(Unregister("dubbo://10.0.0.1:1/a.B").message(), HasSubstr("delete the line there"));
}

TEST_F(FileWritingTest, NothingIsMadeWhereNothingIs) {
  OpenFile("d");
  EXPECT_THAT(Register("dubbo://10.0.0.2:1/a.B").message(), HasSubstr("make a directory there"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "d"));
  // A provider that does not insist is registered when the directory is made.
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B?check=false").ok());
  directory_.Mkdir("d");
  Advance(seconds(10));
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(FileWritingTest, InADirectoryAProcessKeepsAFileOfItsOwn) {
  directory_.Mkdir("d");
  directory_.Write("d/others.txt", "dubbo://10.0.0.1:1/a.B\n");
  OpenFile("d");
  const auto listener = Subscribe();
  listener->Take();
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B?timestamp=1").ok());
  EXPECT_TRUE(Register("dubbo://10.0.0.3:1/c.D").ok());
  ASSERT_EQ(Files().size(), 2u) << "and nothing temporary";
  std::string own;
  for (const std::string& name : Files()) {
    if (name != "others.txt") own = name;
  }
  EXPECT_THAT(own, ::testing::MatchesRegex("fairlead-[0-9]+-[0-9a-f]{16}\\.urls"));
  EXPECT_THAT(
      directory_.Read("d/" + own),
      ::testing::MatchesRegex("#[^\n]*\ndubbo://10.0.0.2:1/a.B\\?timestamp=1\ndubbo://10.0.0.3:1/c.D\n"));
  Advance(2 * kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.2:1 10.0.0.1:1"));

  EXPECT_TRUE(Unregister("dubbo://10.0.0.2:1/a.B").ok());
  Advance(2 * kSettle);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_TRUE(Unregister("dubbo://10.0.0.3:1/c.D").ok());
  EXPECT_THAT(Files(), ElementsAre("others.txt")) << "the file goes with its last url";
}

TEST_F(FileWritingTest, AtTheEndDynamicUrlsGoAndOthersStay) {
  directory_.Mkdir("d");
  OpenFile("d");
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B").ok());
  registry_.reset();
  Run();
  EXPECT_THAT(Files(), IsEmpty());

  OpenFile("d");
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B").ok());
  EXPECT_TRUE(Register("dubbo://10.0.0.3:1/a.B?dynamic=false").ok());
  registry_.reset();
  Run();
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_THAT(directory_.Read("d/" + Files().front()),
              ::testing::MatchesRegex("#[^\n]*\ndubbo://10.0.0.3:1/a.B\\?dynamic=false\n"));
}

TEST_F(FileWritingTest, DestroyedWithoutStopItTakesItsUrlsAlong) {
  directory_.Mkdir("d");
  {
    internal::FileBackend backend(directory_ / "d", Context(), watches_.Maker());
    backend.Start([](RegistryBackend::Session) {});
    backend.Put("a.B", Category::kProviders, "dubbo://10.0.0.2:1/a.B", true, [](const absl::Status&) {});
    EXPECT_EQ(Files().size(), 1u);
  }
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(FileWritingTest, AFileThatSomebodyDeletesComesBack) {
  directory_.Mkdir("d");
  OpenFile("d");
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B").ok());
  Advance(seconds(1));
  const std::string own = Files().front(), text = directory_.Read("d/" + own);
  directory_.Remove("d/" + own);
  Settle();
  EXPECT_EQ(directory_.Read("d/" + own), text);
  EXPECT_EQ(Lines("FL-5-6").size(), 1u);
  Advance(2 * kSettle);
  EXPECT_THAT(Subscribe()->Take(), ElementsAre("a.B/providers list 10.0.0.2:1"));
}

TEST_F(FileWritingTest, ALineBreakCannotForgeALine) {
  directory_.Mkdir("d");
  OpenFile("d");
  EXPECT_THAT(Register("dubbo://10.0.0.2:1/a.B?x=1\ndubbo://6.6.6.6:1/a.B").message(),
              HasSubstr("percent-encode"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(FileWritingTest, WhatNobodyWouldReadIsRefused) {
  directory_.Mkdir("d");
  OpenFile("d");
  const std::string url = "dubbo://u:secret@10.0.0.2:1/a.B?x=";
  for (const auto& [value, limit] : {std::pair(std::string(64 * 1024, 'x'), "at most 65536"),
                                     std::pair(std::string("a\0b", 3), "control characters"),
                                     std::pair(std::string("a\nb"), "control characters")}) {
    const absl::Status refused = Register(url + value);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
    EXPECT_THAT(refused.message(), HasSubstr(limit));
    EXPECT_THAT(refused.message(), ::testing::Not(HasSubstr("secret")));
  }
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_TRUE(Register(url + "1").ok());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(FileWritingTest, TwoOfOneProcessDoNotShareAFile) {
  directory_.Mkdir("d");
  OpenFile("d");
  EXPECT_TRUE(Register("dubbo://10.0.0.2:1/a.B").ok());
  FakeWatches watches;
  internal::FileBackend other(directory_ / "d", Context(2), watches.Maker());
  other.Start([](RegistryBackend::Session) {});
  other.Put("a.B", Category::kProviders, "dubbo://10.0.0.3:1/a.B", true, [](const absl::Status&) {});
  EXPECT_EQ(Files().size(), 2u);
}

class FileConfigTest : public FileWritingTest {
 protected:
  void WatchConfig(std::string_view group, std::string_view key) {
    file_->WatchConfig(group, key, [this](absl::StatusOr<std::optional<std::string>> value) {
      told_.push_back(!value.ok() ? std::string(value.status().message()) : value->value_or("none"));
    });
    Run();
  }
  std::vector<std::string> Take() { return std::exchange(told_, {}); }
  std::vector<std::string> told_;
};

TEST_F(FileConfigTest, DocumentsAreFilesUnderConfig) {
  directory_.Mkdir("d/config/dubbo");
  directory_.Write("d/config/dubbo/a.B::.condition-router", "one");
  OpenFile("d");
  WatchConfig("dubbo", "a.B::.condition-router");
  EXPECT_THAT(Take(), ElementsAre("one"));
  EXPECT_THAT(watches_.directories, ::testing::Contains(directory_ / "d/config/dubbo"));
  directory_.Replace("d/x", "");
  Settle();
  EXPECT_THAT(Take(), IsEmpty()) << "it did not change";
  directory_.Write("d/config/dubbo/a.B::.condition-router", "two");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("two"));
  directory_.Remove("d/config");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("none"));
  directory_.Mkdir("d/config/dubbo");
  Event();
  directory_.Write("d/config/dubbo/a.B::.condition-router", "three");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("three"));
  file_->UnwatchConfig("dubbo", "a.B::.condition-router");
  directory_.Write("d/config/dubbo/a.B::.condition-router", "four");
  Settle();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(FileConfigTest, ASingleFileHasNoDocuments) {
  directory_.Write("p.txt", "# none\n");
  OpenFile("p.txt");
  WatchConfig("dubbo", "a.B");
  EXPECT_THAT(Take(), ElementsAre("none"));
}

TEST_F(FileConfigTest, NamesDoNotLeadOutOfTheDirectory) {
  directory_.Mkdir("d");
  directory_.Write("secret", "secret");
  OpenFile("d");
  WatchConfig("..", "../secret");
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("without a slash")));
  WatchConfig("..", "..");
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("without a slash")));
}

}  // namespace
}  // namespace fairlead
