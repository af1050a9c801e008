#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B";

std::string P(std::string_view host, std::string_view query = "") {
  return "dubbo://" + std::string(host) + ":1/a.B" + std::string(query);
}

class LookupTest : public RegistryFixture {
 protected:
  void Lookup(std::string_view query) {
    result_.reset();
    registry_->Lookup(U(query),
                      [this](absl::StatusOr<std::vector<Url>> found) { result_ = std::move(found); });
    EXPECT_FALSE(result_.has_value());
    Run();
  }
  void Answer(ChildrenAnswer answer) {
    backend_->AnswerRead(std::move(answer));
    Run();
  }
  std::optional<absl::StatusOr<std::vector<Url>>> result_;
};

TEST_F(LookupTest, ReadsEveryCategoryOnceWithoutAWatch) {
  Open();
  Lookup("consumer://10.0.0.9/a.B?category=providers,routers&version=1");
  Answer({1, {}, false, {P("p1", "?version=1"), P("p2"), "junk"}});
  EXPECT_FALSE(result_.has_value());
  Answer({1, {}, true, {}});
  ASSERT_TRUE(result_ && result_->ok());
  ASSERT_EQ((*result_)->size(), 1u);
  EXPECT_EQ((**result_)[0].host(), "p1");
  EXPECT_THAT(backend_->watches, IsEmpty());
}

TEST_F(LookupTest, FailsWithTheRegistry) {
  Open("fake://h:1?timeout=1000");
  Lookup(kConsumer);
  Answer({1, absl::UnavailableError("broken"), false, {}});
  ASSERT_TRUE(result_.has_value());
  EXPECT_THAT(result_->status().ToString(), AllOf(HasSubstr("fake://h:1"), HasSubstr("broken")));
  Lookup(kConsumer);
  Advance(milliseconds(1000));
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(absl::IsUnavailable(result_->status()));
  Lookup("consumer://h/*");
  EXPECT_TRUE(result_ && absl::IsInvalidArgument(result_->status()));
}

TEST_F(LookupTest, WaitsForASessionAndAsksAgainInTheNext) {
  Open("fake://h:1", false);
  Lookup(kConsumer);
  EXPECT_EQ(backend_->Count(Operation::kRead), 0u);
  backend_->Tell(Session::kConnected);
  Run();
  ASSERT_EQ(backend_->Count(Operation::kRead), 1u);
  backend_->Tell(Session::kSuspended);
  backend_->Tell(Session::kReconnected);
  Run();
  ASSERT_EQ(backend_->Count(Operation::kRead), 2u);
  Answer({1, {}, false, {P("p1")}});
  EXPECT_FALSE(result_.has_value()) << "the answer to the first question no longer counts";
  Answer({1, {}, false, {P("p2")}});
  ASSERT_TRUE(result_ && result_->ok());
  EXPECT_EQ((**result_)[0].host(), "p2");
}

TEST_F(LookupTest, DestroyCancels) {
  Open();
  Lookup(kConsumer);
  registry_->Destroy(nullptr);
  Run();
  EXPECT_TRUE(result_ && absl::IsCancelled(result_->status()));
  Lookup(kConsumer);
  EXPECT_TRUE(result_ && absl::IsCancelled(result_->status()));
}

}  // namespace
}  // namespace fairlead
