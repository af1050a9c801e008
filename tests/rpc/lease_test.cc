#include "fairlead/rpc/lease.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fairlead/tests/support/fake_protocol.h"

namespace fairlead {
namespace {

class LeaseTest : public ::testing::Test {
 protected:
  InvokerState* Make() {
    return new InvokerState(static_cast<ProviderId>(1), *protocol_.Refer(Url(), Availability()));
  }
  FakeProtocol protocol_;
};

TEST_F(LeaseTest, CountsUntilItEnds) {
  InvokerState* state = Make();
  {
    ASSERT_TRUE(state->TryAcquire());
    Lease lease(state);
    EXPECT_EQ(state->active(), 1u);
    Lease moved = std::move(lease);
    EXPECT_FALSE(static_cast<bool>(lease));
    EXPECT_EQ(state->active(), 1u);
    moved.End(absl::OkStatus());
    moved.End(absl::OkStatus());
    EXPECT_EQ(state->active(), 0u);
    ASSERT_TRUE(state->TryAcquire());
    Lease dropped(state);
  }
  EXPECT_EQ(state->active(), 0u);
  state->Abandon();
  EXPECT_EQ(protocol_.deleted, 1);
}

TEST_F(LeaseTest, ADrainingProviderGivesNoLeaseAndMayComeBack) {
  InvokerState* state = Make();
  state->SetDraining(true);
  EXPECT_FALSE(state->TryAcquire());
  EXPECT_EQ(state->active(), 0u);
  state->SetDraining(false);
  EXPECT_TRUE(state->TryAcquire());
  state->Abandon();
  EXPECT_EQ(protocol_.deleted, 0) << "one lease is out";
  state->Release();
  EXPECT_EQ(protocol_.deleted, 1);
}

TEST_F(LeaseTest, IsDeletedExactlyOnceHoweverTheEndsMeet) {
  for (int round = 0; round < 300; ++round) {
    const int before = protocol_.deleted;
    InvokerState* state = Make();
    std::vector<Lease> leases;
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(state->TryAcquire());
      leases.emplace_back(state);
    }
    std::vector<std::thread> threads;
    for (Lease& lease : leases) threads.emplace_back([&lease] { lease.End(absl::OkStatus()); });
    state->Abandon();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(protocol_.deleted, before + 1);
  }
}

}  // namespace
}  // namespace fairlead
