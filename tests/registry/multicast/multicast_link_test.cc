// A network that fails, and the end.
#include "fairlead/tests/registry/multicast/multicast_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class MulticastLinkTest : public MulticastFixture {};

TEST_F(MulticastLinkTest, WithoutANetworkItIsTriedAgain) {
  group_.open_error = absl::UnavailableError("no way to 224.5.6.7");
  const auto both = Join();
  both->Watch();
  Advance(seconds(1));
  EXPECT_THAT(both->sessions_, IsEmpty());
  ASSERT_FALSE(both->told_.empty());
  EXPECT_THAT(std::string(both->told_.back().status.message()), HasSubstr("no way to"));
  EXPECT_EQ(log_.count("FL-7-1"), 1u);
  EXPECT_EQ(both->description_changes_, 1);
  const auto provider_status = both->Put(P(1));
  ASSERT_TRUE(provider_status);
  EXPECT_EQ(provider_status->code(), absl::StatusCode::kUnavailable);
  group_.open_error = absl::OkStatus();
  Advance(seconds(12));
  EXPECT_THAT(both->sessions_, ElementsAre(Session::kConnected));
  EXPECT_TRUE(both->told_.back().missing);
}

TEST_F(MulticastLinkTest, WhenTheNetworkComesBackAllIsSaidAndAskedAgain) {
  const auto provider = Join("", "10.0.0.1"), consumer = Consumer();
  provider->Put(P(1));
  Advance(seconds(2));
  group_.LoseAll();
  EXPECT_THAT(consumer->sessions_, ElementsAre(Session::kConnected, Session::kSuspended));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1))) << "the last list stays";
  group_.Take();
  Advance(seconds(2));
  EXPECT_THAT(consumer->sessions_, ElementsAre(Session::kConnected, Session::kSuspended, Session::kReconnected));
  const List sent = group_.Take();
  EXPECT_THAT(sent, Contains("register " + P(1)));
  EXPECT_THAT(sent, Contains(StartsWith("subscribe consumer://10.0.0.9/a.B")));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
}

TEST_F(MulticastLinkTest, ALinkThatCannotSendIsMadeAnew) {
  const auto provider = Join();
  group_.send_error = absl::UnavailableError("Network is unreachable");
  EXPECT_EQ(provider->Put(P(1))->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(provider->sessions_, ElementsAre(Session::kConnected, Session::kSuspended));
  group_.send_error = absl::ResourceExhaustedError("no buffers");
  Advance(seconds(1));
  EXPECT_THAT(provider->sessions_, SizeIs(3));
  EXPECT_EQ(provider->Put(P(1))->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(provider->sessions_, SizeIs(3)) << "that is over soon";
  group_.send_error = absl::OkStatus();
  EXPECT_EQ(provider->Put(P(1)), absl::OkStatus());
}

TEST_F(MulticastLinkTest, LeavingTakesBackWhatIsDynamic) {
  auto provider = Join();
  const auto consumer = Consumer();
  provider->Put(P(1));
  provider->Put(P(2), false);
  Advance(seconds(2));
  group_.Take();
  EXPECT_EQ(provider->Stop(), absl::OkStatus());
  EXPECT_THAT(group_.Take(), ElementsAre("unregister " + P(1)));
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(2)));
  EXPECT_THAT(provider->backend_->Describe(), HasSubstr("stopped"));
  EXPECT_EQ(provider->Stop(), absl::OkStatus()) << "a second time";
}

TEST_F(MulticastLinkTest, CallbacksMayEndEverything) {
  const auto consumer = Join();
  consumer->then_ = [&] { consumer->backend_->Unwatch("a.B", Category::kProviders); };
  consumer->Watch();
  Advance(seconds(1));
  group_.Inject("register " + P(1));
  Advance(seconds(2));
  EXPECT_THAT(consumer->told_, SizeIs(1));
  // A watch that is ended and begun in its own callback, and a stop in it.
  consumer->then_ = [&] {
    consumer->then_ = [&] { consumer->backend_->Stop([](const absl::Status&) {}); };
    consumer->backend_->Unwatch("a.B", Category::kProviders);
    consumer->backend_->Watch("a.B", Category::kProviders, [&](ChildrenAnswer answer) {
      consumer->told_.push_back(std::move(answer));
      consumer->then_();
    });
  };
  bool read = false;
  consumer->Watch();
  consumer->backend_->Read("a.B", Category::kProviders, [&](const ChildrenAnswer&) { read = true; });
  Advance(seconds(3));
  EXPECT_THAT(consumer->told_, SizeIs(3));
  EXPECT_TRUE(read);
  group_.Inject("register " + P(2));
  Advance(seconds(3));
  EXPECT_THAT(consumer->told_, SizeIs(3));
}

}  // namespace
}  // namespace fairlead
