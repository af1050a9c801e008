#include <gmock/gmock.h>

#include <thread>

#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880";

class AvailabilityTest : public DirectoryFixture {
 protected:
  void Down(const std::string& address) {
    protocol_->unavailable.insert(address);
    protocol_->reports.at(address).Down();
  }
  void Up(const std::string& address) {
    protocol_->unavailable.erase(address);
    protocol_->reports.at(address).Up();
  }
  std::uint64_t Version() { return handle_->Explain({}).snapshot; }
  // Ends `calls` calls of one provider so.
  void EndCalls(const std::string& address, int calls, const absl::Status& outcome) {
    while (calls > 0) {
      absl::StatusOr<Lease> lease = handle_->Select({});
      ASSERT_TRUE(lease.ok()) << lease.status();
      if (lease->As<FakeProtocol::FakeInvoker>().address() != address) continue;
      lease->End(outcome);
      --calls;
    }
  }
};

TEST_F(AvailabilityTest, PicksObeyAReportBeforeTheExecutorHearsOfIt) {
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  std::thread host([&] { Down(kB); });
  host.join();
  EXPECT_THAT(Shares(300), UnorderedElementsAre(Key(kA), Key(kC)));
  Up(kB);
  EXPECT_THAT(Shares(300), UnorderedElementsAre(Key(kA), Key(kB), Key(kC)));
}

TEST_F(AvailabilityTest, ManyReportsMakeOneUpdate) {
  std::vector<std::string> list;
  for (int i = 0; i < 100; ++i) list.push_back("10.0.1." + std::to_string(i));
  Open(list);
  const std::uint64_t before = Version();
  for (int i = 0; i < 50; ++i) {
    Down("10.0.1." + std::to_string(i) + ":20880");
    executor_.RunReady();
  }
  EXPECT_EQ(Version(), before);
  executor_.Advance(milliseconds(10));
  EXPECT_EQ(Version(), before + 1);
  EXPECT_EQ(handle_->Explain({}).live, 50u);
  EXPECT_EQ(ListAddresses().size(), 50u);
}

TEST_F(AvailabilityTest, WhenNobodyIsLeftTheTablesFollowAtOnce) {
  Open({"10.0.0.1", "10.0.0.2"});
  Down(kA);
  Down(kB);
  executor_.RunReady();
  EXPECT_THAT(PickAddress(), HasSubstr("all 2 are down"));
  executor_.Advance(milliseconds(10));
  Up(kB);
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kB);
}

TEST_F(AvailabilityTest, ARuleWhoseTargetsAreAllDownFallsBackAtOnce) {
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  Rules({RuleUrl("=> host=10.0.0.1,10.0.0.2", "force=false")});
  executor_.RunReady();
  Down(kA);
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  Down(kB);
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kC)));
}

TEST_F(AvailabilityTest, AForcedRuleWhoseTargetsAreAllDownLeavesNobody) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("=> host=10.0.0.1", "force=true")});
  executor_.RunReady();
  Down(kA);
  executor_.RunReady();
  EXPECT_THAT(PickAddress(), HasSubstr("force=true"));
}

TEST_F(AvailabilityTest, OneThatFlapsDoesNotKeepTheExecutorBusy) {
  Open({"10.0.0.1"});
  const std::uint64_t before = Version();
  for (int i = 0; i < 1000; ++i) {
    i % 2 == 0 ? Down(kA) : Up(kA);
    executor_.Advance(milliseconds(1));
  }
  EXPECT_LE(Version() - before, 210u) << "an update at once and one behind in 10 ms";
  executor_.Advance(milliseconds(10));
  EXPECT_EQ(PickAddress(), kA);
}

TEST_F(AvailabilityTest, DownAndUpWithAnUpdateInBetweenEndsUp) {
  Open({"10.0.0.1", "10.0.0.2"});
  Down(kA);
  Rules({RuleUrl("=> host!=10.9.9.9")});
  Up(kA);
  executor_.RunReady();
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  // The other order: the update that the rules make is queued before the report.
  Rules({});
  Down(kA);
  executor_.RunReady();
  Up(kA);
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(AvailabilityTest, UpAfterAnUpdateThatKnewOfADownWhichNobodyHadHeardOf) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("=> host!=10.9.9.9")});  // queues the update
  executor_.Post([this] { Up(kA); });     // comes after it
  Down(kA);                               // known to the update, heard of after both
  executor_.RunReady();
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(AvailabilityTest, AnInvokerMayReportWhileItIsMade) {
  protocol_->born_down = {kA};
  protocol_->unavailable = {kA};
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(handle_->Explain({}).live, 1u);
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  Up(kA);
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(AvailabilityTest, ReportsHoldNothingAndAreSafeAfterTheEndOfEverything) {
  Open({"10.0.0.1", "10.0.0.2"});
  std::vector<Availability> kept = {protocol_->reports.at(kA), protocol_->reports.at(kB)};
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());
  TearDown();
  directory_.reset();
  executor_.Advance(seconds(20));
  EXPECT_TRUE(executor_holds_.expired());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&kept] {
      for (int i = 0; i < 100; ++i) i % 2 == 0 ? kept[i % 4 / 2].Down() : kept[i % 4 / 2].Up();
    });
  }
  for (std::thread& thread : threads) thread.join();
  lease->End(absl::UnavailableError("late"));
  EXPECT_EQ(protocol_->deleted, 2);
}

TEST_F(AvailabilityTest, ReportsThatTheExecutorNeverHearsLeakNothing) {
  Open({"10.0.0.1", "10.0.0.2"});
  Down(kA);  // queued, and the directory ends first; leaks are for the sanitizer to find
  directory_->Close(seconds(0), nullptr);
  executor_.RunReady();
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(AvailabilityTest, CallsThatEndUnavailableInARowCountAsDown) {
  Open({"10.0.0.1", "10.0.0.2"});
  protocol_->unavailable = {kA};
  EndCalls(kA, 2, absl::UnavailableError("refused"));
  EXPECT_THAT(Shares(100), Contains(Key(kA)));
  EndCalls(kA, 1, absl::UnavailableError("refused"));
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kB)));
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  EXPECT_EQ(lines_.count("FL-3-10"), 1u);
  protocol_->unavailable.clear();
  executor_.Advance(seconds(31));
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(AvailabilityTest, TheConsumerSaysHowManyInARowCountAsDown) {
  Start("consumer://10.0.0.9/com.acme.Orders?down.after=5");
  Open({"10.0.0.1", "10.0.0.2"});
  EndCalls(kA, 4, absl::UnavailableError("refused"));
  EXPECT_THAT(Shares(100), Contains(Key(kA)));
  EndCalls(kA, 1, absl::UnavailableError("refused"));
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kB)));

  Start("consumer://10.0.0.9/com.acme.Orders?down.after=0");
  Open({"10.0.0.1", "10.0.0.2"});
  EndCalls(kA, 500, absl::UnavailableError("refused"));
  EXPECT_THAT(Shares(100), Contains(Key(kA)));
}

TEST_F(AvailabilityTest, ProbesBackOffAndEndWhenTheProviderIsBack) {
  Open({"10.0.0.1", "10.0.0.2"});
  Down(kA);
  executor_.Advance(milliseconds(49));
  EXPECT_EQ(protocol_->asked, 0);
  executor_.Advance(milliseconds(102));
  EXPECT_GE(protocol_->asked, 1);
  executor_.Advance(minutes(1));
  const int early = protocol_->asked;
  executor_.Advance(minutes(10));
  // At most 30 s apart, so 20 at the least; 15 s on average.
  EXPECT_GE(protocol_->asked - early, 20);
  EXPECT_LE(protocol_->asked - early, 80);
  EXPECT_EQ(PickAddress(), kB);
  protocol_->unavailable.clear();  // it says nothing by itself
  executor_.Advance(seconds(31));
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
  const int then = protocol_->asked;
  executor_.Advance(minutes(10));
  EXPECT_EQ(protocol_->asked, then);
}

TEST_F(AvailabilityTest, AProviderThatFlapsIsProbedEverMoreRarely) {
  Open({"10.0.0.1", "10.0.0.2"});
  // A host that reports Down and yet answers that it is available.
  int downs = 0;
  const auto flap_for = [&](seconds time) {
    for (milliseconds at(0); at < time; at += milliseconds(20)) {
      if (handle_->Explain({}).live == 2) {
        protocol_->reports.at(kA).Down();
        ++downs;
      }
      executor_.Advance(milliseconds(20));
    }
  };
  flap_for(seconds(60));
  downs = 0;
  flap_for(seconds(300));
  EXPECT_LE(downs, 45) << "15 s apart on average";
  EXPECT_GE(downs, 8);
  // After half a minute without a fault it is a new case.
  executor_.Advance(seconds(70));
  EXPECT_EQ(handle_->Explain({}).live, 2u);
  protocol_->reports.at(kA).Down();
  executor_.Advance(milliseconds(170));
  EXPECT_EQ(handle_->Explain({}).live, 2u);
}

TEST_F(AvailabilityTest, WhoLeftIsNotProbed) {
  Open({"10.0.0.1", "10.0.0.2"});
  Down(kA);
  executor_.Advance(milliseconds(20));
  Providers({"10.0.0.2"});
  executor_.Advance(minutes(5));
  EXPECT_EQ(protocol_->asked, 0);
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(AvailabilityTest, AProviderThatRegistersAnewIsProbedAtOnce) {
  Open({"10.0.0.1?timestamp=1000", "10.0.0.2?timestamp=1000"});
  Down(kA);
  executor_.Advance(minutes(5));
  ASSERT_THAT(ListAddresses(), ElementsAre(kB));
  protocol_->unavailable.clear();
  // The same entry again says nothing new.
  const int before = protocol_->asked;
  Providers({"10.0.0.2?timestamp=1000", "10.0.0.1?timestamp=1000"});
  executor_.RunReady();
  EXPECT_EQ(protocol_->asked, before);
  Providers({"10.0.0.1?timestamp=2000", "10.0.0.2?timestamp=1000"});
  executor_.RunReady();
  EXPECT_EQ(protocol_->asked, before + 1);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_EQ(protocol_->referred, 2);
}

TEST_F(AvailabilityTest, AProviderThatRegistersAnewButIsNotThereYetIsProbedSoon) {
  Open({"10.0.0.1?timestamp=1000", "10.0.0.2"});
  Down(kA);
  executor_.Advance(minutes(5));
  Providers({"10.0.0.1?timestamp=2000", "10.0.0.2"});
  executor_.RunReady();
  ASSERT_THAT(ListAddresses(), ElementsAre(kB));
  protocol_->unavailable.clear();
  executor_.Advance(milliseconds(170));
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(AvailabilityTest, ADrainingProviderThatComesBackIsProbedAtOnce) {
  Open({"10.0.0.1", "10.0.0.2"});
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());
  const std::string held = lease->As<FakeProtocol::FakeInvoker>().address();
  Providers({held == kA ? "10.0.0.2" : "10.0.0.1"});
  executor_.Advance(milliseconds(100));
  Down(held);  // its old process ended
  executor_.Advance(milliseconds(100));
  protocol_->unavailable.clear();
  Providers({"10.0.0.1?timestamp=2000", "10.0.0.2?timestamp=2000"});
  executor_.RunReady();
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->asked, 1);
}

TEST_F(AvailabilityTest, AFailedReferIsTriedAtOnceWhenTheProviderRegistersAnew) {
  protocol_->failing = {kA};
  Open({"10.0.0.1?timestamp=1000", "10.0.0.2"});
  executor_.Advance(minutes(5));
  const int before = protocol_->referred;
  protocol_->failing.clear();
  Providers({"10.0.0.1?timestamp=2000", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_EQ(protocol_->referred, before + 1);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

// Hosts report from many threads while lists change and picks run.
TEST_F(AvailabilityTest, ReportsFromManyThreadsWhileListsChange) {
  std::vector<std::string> list;
  for (int i = 0; i < 20; ++i) list.push_back("10.0.1." + std::to_string(i));
  Open(list);
  std::vector<Availability> kept;
  for (const auto& [address, report] : protocol_->reports) kept.push_back(report);
  const std::string last = protocol_->reports.rbegin()->first;
  std::atomic<bool> stop{false};
  std::atomic<long> failed{0}, flips{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<std::uint64_t>(t));
      while (!stop) {
        // The last one stays up, also by how its calls end, so that a pick always has somebody.
        const Availability& one = kept[random.Below(kept.size() - 1)];
        random.Below(2) == 0 ? one.Up() : one.Down();
        ++flips;
        absl::StatusOr<Lease> lease = handle_->Select({});
        failed += !lease.ok();
        if (!lease.ok()) continue;
        const bool stays = lease->As<FakeProtocol::FakeInvoker>().address() == last;
        lease->End(!stays && random.Below(3) == 0 ? absl::UnavailableError("") : absl::OkStatus());
      }
    });
  }
  for (int round = 0; round < 100 || flips < 2000; ++round) {
    Providers(round % 2 == 0 ? std::vector<std::string>(list.begin() + 5, list.end()) : list);
    executor_.Advance(milliseconds(15));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  Providers(list);
  executor_.RunReady();
  for (const auto& [address, report] : protocol_->reports) report.Up();
  executor_.Advance(milliseconds(21));
  EXPECT_EQ(ListAddresses().size(), 20u);
}

}  // namespace
}  // namespace fairlead
