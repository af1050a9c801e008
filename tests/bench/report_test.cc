#include "fairlead/bench/report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace fairlead::bench {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ReportTest, WritesJsonAndCsv) {
  Report report("sample", ThisMachine("abc123"), "quick");
  Row row = Compared("pick/random", 1000, kFloor, DifferenceAtMost(2));
  row.value = 4.5;
  row.base = 1.5;
  row.note = "a \"note\", with a comma";
  report.Add(row);
  Row alone = Compared("memory", 10, "");
  alone.unit = "B";
  alone.value = 200;
  report.Add(alone);
  EXPECT_EQ(report.Find("pick/random", 1000)->value, 4.5);
  EXPECT_EQ(report.Find("pick/random", 10), nullptr);

  const std::string folder = ::testing::TempDir();
  ASSERT_TRUE(report.Write(folder));
  const std::string json = ReadAll(folder + "/sample.json"), csv = ReadAll(folder + "/sample.csv");
  EXPECT_NE(json.find("\"commit\": \"abc123\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"difference\": 3, \"ratio\": 3"), std::string::npos) << json;
  EXPECT_NE(json.find("\"verdict\": \"MISSED\""), std::string::npos) << json;
  EXPECT_NE(json.find("a \\\"note\\\", with"), std::string::npos) << json;
  EXPECT_NE(json.find("\"base\": null"), std::string::npos) << json;
  EXPECT_NE(csv.find("# sample (quick), commit abc123"), std::string::npos) << csv;
  EXPECT_NE(csv.find("pick/random,1000,1,ns,4.5,floor,1.5,3,3"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\"a \"\"note\"\", with a comma\""), std::string::npos) << csv;
  EXPECT_FALSE(report.Write(folder + "/no such folder"));
}

}  // namespace
}  // namespace fairlead::bench
