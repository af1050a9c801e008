// Picks allocate nothing, lock nothing, make no system call and read no clock. They run in a child process under
// strict seccomp, where any system call but read, write and exit kills, with the time-stamp counter forbidden, which a
// clock read without a system call needs; allocations and locks are counted by interposed functions.
#include <gmock/gmock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "fairlead/tests/directory/directory_fixture.h"
#include "fairlead/tests/purity/interposed.h"

namespace fairlead {
namespace {

struct Verdict {
  int signal = 0;  // that ended the child; 0 = none
  std::uint64_t allocations = 0, locks = 0;
  bool wrong = false;  // the body said false

  bool pure() const { return signal == 0 && allocations == 0 && locks == 0 && !wrong; }
};

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
  return out << "signal " << verdict.signal << ", allocations " << verdict.allocations << ", locks " << verdict.locks
             << (verdict.wrong ? ", wrong result" : "");
}

// Runs `body` in a confined child. It is run once before, unconfined, for what a thread does at its first pick.
Verdict Confined(const std::function<bool()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    // A child that is killed must not write a core file, nor run handlers.
    for (const int number : {SIGSEGV, SIGKILL, SIGSYS}) std::signal(number, SIG_DFL);
    prctl(PR_SET_DUMPABLE, 0);
    Verdict verdict;
    verdict.wrong = !body();
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    const std::uint64_t allocations = Allocations(), locks = Locks();
    verdict.wrong |= !body();
    verdict.allocations = Allocations() - allocations;
    verdict.locks = Locks() - locks;
    const ssize_t written = write(ends[1], &verdict, sizeof verdict);
    // exit_group, which _exit calls, is not allowed.
    syscall(SYS_exit, written == sizeof verdict ? 0 : 1);
  }
  close(ends[1]);
  Verdict verdict;
  const bool told = read(ends[0], &verdict, sizeof verdict) == sizeof verdict;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) verdict.signal = WTERMSIG(status);
  if (!told && verdict.signal == 0) verdict.wrong = true;
  return verdict;
}

// The confinement itself is proved first: a test that cannot fail shows nothing.
TEST(Confinement, SeesWhatItIsFor) {
  EXPECT_TRUE(Confined([] { return true; }).pure());
  EXPECT_TRUE(Confined([] { return false; }).wrong);
  EXPECT_GT(Confined([] {
              delete new std::string(100, 'x');
              return true;
            }).allocations,
            0u);
  EXPECT_GT(Confined([] {
              static std::mutex mutex;
              const std::lock_guard lock(mutex);
              return true;
            }).locks,
            0u);
  EXPECT_GT(Confined([] {
              static std::shared_mutex mutex;
              const std::shared_lock lock(mutex);
              return true;
            }).locks,
            0u);
  EXPECT_EQ(Confined([] { return getppid() > 0; }).signal, SIGKILL);
  EXPECT_EQ(Confined([] { return std::chrono::steady_clock::now().time_since_epoch().count() > 0; }).signal, SIGSEGV);
}

class PickPurityTest : public DirectoryFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr int kPicks = 20'000;

  void SetUp() override {
    Start(std::string("consumer://10.0.0.9/com.acme.Orders?application=shop&loadbalance=") + GetParam());
    Overrides({});
    Rules({});
  }
  void Provide(int n) {
    std::vector<std::string> list;
    for (int i = 0; i < n; ++i) {
      list.push_back("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) +
                     "?timestamp=1700000000000&weight=" + std::to_string(50 + i % 5 * 25) + "&region=r" + std::to_string(i % 3));
    }
    Providers(list);
    executor_.RunReady();
  }
  // Picks of both kinds, and one of each with providers to avoid.
  bool Picks(const Invocation& invocation) {
    bool good = true;
    std::vector<ProviderId> tried;
    for (int i = 0; i < kPicks; ++i) {
      const Invoker* seen = nullptr;
      const absl::Status status =
          handle_->WithSelected(invocation, [&seen](const Invoker& invoker) noexcept { seen = &invoker; });
      absl::StatusOr<Lease> lease = handle_->Select(invocation);
      good = good && status.ok() && seen != nullptr && lease.ok();
      if (!good) break;
      const ProviderId id = lease->provider_id();
      lease->End(absl::OkStatus());
      absl::StatusOr<Lease> other = handle_->Select(invocation, {&id, 1});
      good = other.ok() && other->provider_id() != id;
    }
    return good;
  }
};

TEST_P(PickPurityTest, OfFewAndManyProviders) {
  for (const int n : {2, 10, 17, 1000}) {
    SCOPED_TRACE(n);
    Provide(n);
    const Invocation invocation{.method = handle_->Method("get"), .hash_key = 12345};
    executor_.RunReady();
    const Verdict verdict = Confined([&] { return Picks(invocation); });
    EXPECT_TRUE(verdict.pure()) << verdict;
  }
}

TEST_P(PickPurityTest, WithArgumentsAndRuntimeRules) {
  Provide(100);
  Rules({RuleUrl("arguments[0]!=x => region!=nowhere"), RuleUrl("attachments[zone]=a => region=r1")});
  const Argument arguments[] = {{.text = "user-1234567"}};
  const Attachment attachments[] = {{"trace", "1"}, {"zone", "a"}};
  const Invocation invocation{.method = handle_->Method("get"), .arguments = arguments, .attachments = attachments};
  executor_.RunReady();
  (void)handle_->Select(invocation);
  executor_.Advance(std::chrono::milliseconds(50));
  const Verdict verdict = Confined([&] { return Picks(invocation); });
  EXPECT_TRUE(verdict.pure()) << verdict;
}

TEST_P(PickPurityTest, WhileSomeAreDown) {
  Provide(100);
  const Invocation invocation{.method = handle_->Method("get"), .hash_key = 12345};
  executor_.RunReady();
  for (int i = 0; i < 50; ++i) {
    protocol_->reports.at("10.0.0." + std::to_string(i) + ":20880").Down();
  }
  executor_.RunReady();  // not yet the tables without them
  const Verdict verdict = Confined([&] { return Picks(invocation); });
  EXPECT_TRUE(verdict.pure()) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Policies, PickPurityTest,
                         ::testing::Values("random", "roundrobin", "leastactive", "consistenthash"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace fairlead
