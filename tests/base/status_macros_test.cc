#include "fairlead/base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fairlead {
namespace {

absl::StatusOr<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return absl::InvalidArgumentError("negative");
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Sum(int a, int b) {
  FAIRLEAD_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Make(a));
  std::unique_ptr<int> second;
  FAIRLEAD_ASSIGN_OR_RETURN(second, Make(b));
  return *first + *second;
}

absl::Status Check(int a, int b, int* evaluations) {
  const auto status = [&](int value) {
    ++*evaluations;
    return Make(value).status();
  };
  FAIRLEAD_RETURN_IF_ERROR(status(a));
  if (b != 0) FAIRLEAD_RETURN_IF_ERROR(status(b));
  return absl::OkStatus();
}

TEST(StatusMacros, AssignOrReturn) {
  EXPECT_EQ(Sum(1, 2).value(), 3);
  EXPECT_EQ(Sum(-1, 2).status(), absl::InvalidArgumentError("negative"));
  EXPECT_EQ(Sum(1, -2).status(), absl::InvalidArgumentError("negative"));
}

TEST(StatusMacros, ReturnIfErrorEvaluatesOnce) {
  int evaluations = 0;
  EXPECT_TRUE(Check(1, 2, &evaluations).ok());
  EXPECT_EQ(evaluations, 2);
  EXPECT_FALSE(Check(-1, 2, &evaluations).ok());
  EXPECT_EQ(evaluations, 3);
  EXPECT_FALSE(Check(1, -2, &evaluations).ok());
  EXPECT_EQ(evaluations, 5);
}

}  // namespace
}  // namespace fairlead
