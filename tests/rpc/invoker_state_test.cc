#include "fairlead/rpc/invoker_state.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fairlead/rpc/lease.h"
#include "fairlead/tests/support/fake_protocol.h"

namespace fairlead {
namespace {

class Listener final : public AvailabilityListener {
 public:
  void Changed(InvokerState&) noexcept override { ++told; }
  void CountDown() noexcept override { ++downs; }
  std::uint32_t down_after() const noexcept override { return limit; }

  std::atomic<int> told{0}, downs{0};
  std::uint32_t limit = 3;
};

class InvokerStateTest : public ::testing::Test {
 protected:
  // As a directory does it: the state first, so that the invoker may report while it is made.
  InvokerState* Make() {
    auto* state = new InvokerState(static_cast<ProviderId>(1), nullptr, listener_);
    state->SetInvoker(*protocol_.Refer(Url(), Availability([ref = StateRef(*state)](bool up) { ref->Report(up); })));
    return state;
  }
  static void EndOne(InvokerState& state, const absl::Status& outcome) {
    ASSERT_TRUE(state.TryAcquire());
    Lease(&state).End(outcome);
  }

  FakeProtocol protocol_;
  std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
};

TEST_F(InvokerStateTest, UnavailableOutcomesInARowCountAsDown) {
  InvokerState* state = Make();
  const absl::Status gone = absl::UnavailableError("no route");
  EndOne(*state, gone);
  EndOne(*state, gone);
  EndOne(*state, absl::OkStatus());
  EndOne(*state, gone);
  EndOne(*state, gone);
  EndOne(*state, absl::InternalError("the provider answered"));
  EndOne(*state, gone);
  EndOne(*state, gone);
  EXPECT_FALSE(state->down());
  // A cancelled call, and a lease that was just dropped, say nothing.
  EndOne(*state, absl::CancelledError("changed my mind"));
  ASSERT_TRUE(state->TryAcquire());
  { const Lease dropped(state); }
  EXPECT_FALSE(state->down());
  EXPECT_EQ(listener_->told, 0);
  EndOne(*state, gone);
  EXPECT_TRUE(state->down());
  EXPECT_EQ(listener_->told, 1);
  state->Abandon();
}

TEST_F(InvokerStateTest, AReportEndsTheRow) {
  InvokerState* state = Make();
  for (int i = 0; i < 2; ++i) EndOne(*state, absl::UnavailableError(""));
  state->Report(true);
  for (int i = 0; i < 2; ++i) EndOne(*state, absl::UnavailableError(""));
  EXPECT_FALSE(state->down());
  state->Abandon();
}

TEST_F(InvokerStateTest, ALimitOfZeroCountsNothing) {
  listener_->limit = 0;
  InvokerState* state = Make();
  for (int i = 0; i < 1000; ++i) EndOne(*state, absl::UnavailableError(""));
  EXPECT_FALSE(state->down());
  state->Abandon();
}

TEST_F(InvokerStateTest, IsToldOnceUntilHeardAndOnlyOfTransitions) {
  InvokerState* state = Make();
  state->Report(true);
  EXPECT_EQ(listener_->told, 0) << "it was up";
  state->Report(false);
  state->Report(false);
  state->Report(true);
  state->Report(false);
  EXPECT_EQ(listener_->told, 1);
  EXPECT_EQ(listener_->downs, 2) << "picks count on every one";
  state->Heard();
  state->Report(true);
  EXPECT_EQ(listener_->told, 2);
  state->Abandon();
}

TEST_F(InvokerStateTest, AReportDuringAProbeIsNewerThanItsAnswer) {
  InvokerState* state = Make();
  state->Report(false);
  const std::uint32_t seen = state->health();
  state->Report(false);  // up and down again meanwhile, or just said twice
  EXPECT_FALSE(state->ComeUp(seen));
  EXPECT_TRUE(state->down());
  EXPECT_TRUE(state->ComeUp(state->health()));
  EXPECT_FALSE(state->down());
  state->Abandon();
}

TEST_F(InvokerStateTest, ReportsAreSafeAfterTheEnd) {
  InvokerState* state = Make();
  const Availability kept = protocol_.reports.begin()->second;
  ASSERT_TRUE(state->TryAcquire());
  Lease lease(state);
  state->Abandon();
  kept.Down();
  EXPECT_EQ(protocol_.deleted, 0);
  lease.End(absl::UnavailableError(""));
  EXPECT_EQ(protocol_.deleted, 1) << "a report holds the state, not the invoker";
  kept.Up();
  kept.Down();
}

TEST_F(InvokerStateTest, ThreadsThatReportAndCountTogetherAgree) {
  for (int round = 0; round < 50; ++round) {
    listener_->told = 0;
    listener_->limit = 100;
    InvokerState* state = Make();
    const Availability kept = protocol_.reports.begin()->second;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          if (!state->TryAcquire()) std::abort();
          Lease(state).End(absl::UnavailableError(""));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(state->down()) << "the hundredth";
    EXPECT_EQ(listener_->told, 1);
    // The last report of each thread may come after the end.
    threads.clear();
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([copy = kept] {
        for (int i = 0; i < 20; ++i) i % 2 == 0 ? copy.Up() : copy.Down();
      });
    }
    state->Abandon();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(protocol_.deleted, 50);
}

}  // namespace
}  // namespace fairlead
