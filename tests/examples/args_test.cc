#include "fairlead/examples/args.h"

#include <gtest/gtest.h>

namespace toy {
namespace {

// Owns the texts that argv points at.
class CommandLine {
 public:
  explicit CommandLine(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
  }
  Args Parse() { return Args(static_cast<int>(pointers_.size()), pointers_.data(), "usage: program THING\n"); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

TEST(Args, TakesWhatIsNamedInBothSpellings) {
  CommandLine line({"program", "--port", "80", "thing", "--param=a=b", "--param", "c=d", "--explain"});
  Args args = line.Parse();
  EXPECT_EQ(args.Number("--port", 0, 65535), 80);
  EXPECT_EQ(args.Option("--param"), "a=b");
  EXPECT_EQ(args.Option("--param"), "c=d");
  EXPECT_EQ(args.Option("--param"), std::nullopt);
  EXPECT_EQ(args.Option("--host", "127.0.0.1"), "127.0.0.1");
  EXPECT_TRUE(args.Flag("--explain"));
  EXPECT_FALSE(args.Flag("--explain"));
  EXPECT_EQ(args.Positional("THING"), "thing");
  args.Finish();
}

TEST(Args, AnOptionIsNotTheBeginningOfAnother) {
  CommandLine line({"program", "--params=x"});
  Args args = line.Parse();
  EXPECT_EQ(args.Option("--param"), std::nullopt);
}

TEST(ArgsDeathTest, ErrorsEndTheProgramWithCodeTwo) {
  using testing::ExitedWithCode;
  CommandLine line({"program", "thing", "--port=80x", "--host"});
  EXPECT_EXIT(line.Parse().Number("--port", 0, 65535), ExitedWithCode(2), "--port=80x: expected a whole number");
  EXPECT_EXIT(line.Parse().Option("--host"), ExitedWithCode(2), "--host needs a value\nusage: program THING");
  EXPECT_EXIT(line.Parse().Finish(), ExitedWithCode(2), "unknown argument: thing");
  CommandLine empty({"program"});
  EXPECT_EXIT(empty.Parse().Positional("THING"), ExitedWithCode(2), "missing THING");
}

TEST(ArgsDeathTest, HelpEndsTheProgramWithCodeZero) {
  CommandLine line({"program", "--help"});
  EXPECT_EXIT(line.Parse(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace toy
