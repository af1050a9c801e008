#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

// The runner as a program: what it counts, prints and exits with.
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRight[] = R"({"in":{"op":"glob","pattern":"a*","value":"abc"},"out":{"match":true}})";
constexpr char kWrong[] = R"({"in":{"op":"glob","pattern":"a*","value":"xbc"},"out":{"match":true}})";
constexpr char kWrongId[] = "4cfda797447e";

class RunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ("fairlead_conformance_" + std::string(info->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Declare("");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void Declare(const std::string& classes) {
    std::filesystem::create_directories(folder_ / "sub");
    Write("sub/deviations.json", R"({"classes":[)" + classes + "]}");
  }

  // Runs over the folder; the exit status comes back, the output is in output_.
  int Run(const std::string& arguments = "") {
    const std::string command = std::string(FAIRLEAD_CONFORMANCE_RUNNER) + " '" + folder_.string() +
                                "' --deviations '" + (folder_ / "sub/deviations.json").string() + "' " +
                                arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    output_.clear();
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output_.append(buffer, got);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::filesystem::path folder_;
  std::string output_;
};

TEST_F(RunnerTest, PassesWhatIsRightAndIgnoresSubFolders) {
  Write("glob.jsonl", std::string(kRight) + "\n");
  Write("sub/glob.jsonl", std::string(kWrong) + "\n");
  EXPECT_EQ(Run(), 0) << output_;
  EXPECT_THAT(output_,
              HasSubstr("glob                                        1        1          0        0"));
}

TEST_F(RunnerTest, FailsOnAnAlteredCase) {
  Write("glob.jsonl", std::string(kRight) + "\n" + kWrong + "\n");
  EXPECT_EQ(Run(), 1) << output_;
  EXPECT_THAT(output_,
              HasSubstr("glob                                        2        1          0        1"));
  EXPECT_THAT(output_, HasSubstr(std::string("glob ") + kWrongId + " (glob.jsonl, line 2)"));
  EXPECT_THAT(output_, HasSubstr(R"(got      {"match":false})"));
  EXPECT_EQ(Run("--failures 0"), 1);
  EXPECT_THAT(output_, Not(HasSubstr(kWrongId)));
}

TEST_F(RunnerTest, ReadsCompressedFilesAndNoticesDamage) {
  const std::string path = (folder_ / "glob.jsonl.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kWrong);
  gzclose(file);
  EXPECT_EQ(Run(), 1) << output_;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 6);
  EXPECT_EQ(Run(), 2) << output_;
}

TEST_F(RunnerTest, ReadsBothFormsOfVectors) {
  Write("registry_vectors.json", R"({"groups":{"glob":{"vectors":[{"id":"gl-1","in":["a*","b"],"out":true}]},
                                               "unheard":{"vectors":[{"in":1,"out":2}]}}})");
  Write("routing_vectors.json",
        R"({"vectors":[{"kind":"glob","in":{"pattern":"a","value":"a"},"expect":true}]})");
  EXPECT_EQ(Run(), 1) << output_;
  EXPECT_THAT(output_,
              HasSubstr("registry.glob                               1        0          0        1"));
  EXPECT_THAT(output_,
              HasSubstr("routing.glob                                1        1          0        0"));
  EXPECT_THAT(output_, HasSubstr("registry.unheard                            1  not supported yet"));
  EXPECT_THAT(output_, HasSubstr("registry_vectors.json, gl-1"));
  EXPECT_EQ(Run("--kind routing"), 0) << output_;
  EXPECT_EQ(Run("--kind registry.glob"), 1) << output_;
  EXPECT_EQ(Run("--kind nothing"), 2) << output_;
}

class DeviationTest : public RunnerTest {
 protected:
  void DeclareWrong(const std::string& kind) {
    Declare(R"({"name":"n","reason":"r","right":"x","kinds":[")" + kind + R"("],"ids":[")" + kWrongId +
            "\"]}");
  }
};

TEST_F(DeviationTest, ADeclaredDeviationIsNoFailure) {
  std::string cases = std::string(kWrong) + "\n";
  for (int i = 0; i < 19; ++i) {
    cases += R"({"in":{"op":"glob","pattern":"a*","value":"a)" + std::to_string(i) +
             R"("},"out":{"match":true}})"
             "\n";
  }
  Write("glob.jsonl", cases);
  EXPECT_EQ(Run(), 1) << output_;
  DeclareWrong("is_match");
  EXPECT_EQ(Run(), 1) << output_;
  DeclareWrong("glob");
  EXPECT_EQ(Run(), 0) << output_;
  EXPECT_THAT(output_,
              HasSubstr("glob                                       20       19          1        0"));
}

TEST_F(DeviationTest, MoreThanFivePercentAreTooMany) {
  Write("glob.jsonl", std::string(kWrong) + "\n" + kRight + "\n");
  DeclareWrong("glob");
  EXPECT_EQ(Run(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("more than 5 %"));
}

TEST_F(DeviationTest, ADeviationThatPassesIsAFailure) {
  std::string right = kWrong;
  right.replace(right.rfind("true"), 4, "false");
  Write("glob.jsonl", right + "\n");
  DeclareWrong("glob");
  EXPECT_EQ(Run(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("passes, yet is declared as deviation: n"));
}

TEST_F(DeviationTest, AClassNeedsItsReason) {
  Write("glob.jsonl", std::string(kRight) + "\n");
  Declare(R"({"name":"n","reason":"","right":"x","kinds":["glob"],"ids":[]})");
  EXPECT_EQ(Run(), 2) << output_;
  Declare(R"({"name":"n","right":"x","kinds":["glob"],"ids":[]})");
  EXPECT_EQ(Run(), 2) << output_;
}

constexpr char kOpenRange[] = R"({"in":{"op":"range","pattern":"3~","value":"5","when":true},"out":{"match":false}})";
constexpr char kClosedRange[] = R"({"in":{"op":"range","pattern":"3~4","value":"5","when":true},"out":{"match":false}})";
constexpr char kOpenRangeId[] = "dc52336f602d";

TEST_F(RunnerTest, ModesDifferInTheListedCasesOnly) {
  const auto compare = [this](const std::string& ids) {
    Write("sub/differences.json", R"({"classes":[{"name":"n","reason":"r","right":"x","kinds":["range"],"ids":[)" + ids + "]}]}");
    return Run("--compat-differences '" + (folder_ / "sub/differences.json").string() + "'");
  };
  Write("range.jsonl", std::string(kOpenRange) + "\n" + kClosedRange + "\n");
  EXPECT_EQ(compare(""), 1);
  EXPECT_THAT(output_, HasSubstr(std::string("range ") + kOpenRangeId));
  EXPECT_THAT(output_, HasSubstr("differs, yet is not listed"));
  EXPECT_EQ(compare('"' + std::string(kOpenRangeId) + '"'), 0) << output_;
  Write("range.jsonl", std::string(kClosedRange) + "\n" + kOpenRange + "\n");
  EXPECT_EQ(compare('"' + std::string(kOpenRangeId) + "\",\"9e8e143602f5\""), 1);
  EXPECT_THAT(output_, HasSubstr("is the same, yet is listed: n"));
}

TEST_F(RunnerTest, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(Run(), 2) << "a folder without cases: " << output_;
  for (const char* text : {"{", "[]", R"({"in":1})", R"({"out":1})", "{\"in\":\"\xFF\",\"out\":1}"}) {
    Write("glob.jsonl", std::string(kRight) + "\n" + text + "\n");
    EXPECT_EQ(Run(), 2) << text << output_;
    EXPECT_THAT(output_, HasSubstr("glob.jsonl, line 2"));
  }
  Write("glob.jsonl", kRight);
  EXPECT_EQ(Run("--no-such-option"), 2);
  EXPECT_EQ(Run("--failures x"), 2);
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(Run(), 2) << "no folder: " << output_;
}

}  // namespace
