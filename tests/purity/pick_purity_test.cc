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

#include "fairlead/directory/registry_choice.h"
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

  void SetUp() override { StartWith(""); }
  void StartWith(const std::string& parameters) {
    Start(std::string("consumer://10.0.0.9/com.acme.Orders?application=shop&loadbalance=") + GetParam() + parameters);
    Overrides({});
    Rules({});
  }
  void Provide(int n, const std::string& parameters = "") {
    std::vector<std::string> list;
    for (int i = 0; i < n; ++i) {
      list.push_back("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) +
                     "?timestamp=1700000000000&weight=" + std::to_string(50 + i % 5 * 25) + "&region=r" + std::to_string(i % 3) + parameters);
    }
    Providers(list);
    executor_.RunReady();
  }
  // Picks of both kinds, and one of each with providers to avoid.
  bool Picks(const Invocation& invocation, int picks = kPicks) {
    bool good = true;
    for (int i = 0; i < picks; ++i) {
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

// A choice among three registries at each call: by weight, by zone, and past one whose providers are all down.
TEST_P(PickPurityTest, OfSeveralRegistries) {
  std::vector<std::shared_ptr<RegistryDirectory>> directories;
  std::vector<internal::RegistryPlace> places;
  for (std::uint64_t i = 0; i < 3; ++i) {
    DirectoryConfig config = Config(std::string("consumer://10.0.0.9/com.acme.Orders?application=shop&loadbalance=") + GetParam(), protocol_);
    config.first_provider_id = (i << 56) + 1;
    directory_ = RegistryDirectory::Create(std::move(config));
    Overrides({});
    Rules({});
    Provide(20 + static_cast<int>(i));
    directories.push_back(directory_);
    places.push_back({directory_->core(), "registry " + std::to_string(i), i == 2 ? "hz" : "", 100 + static_cast<int>(i), false});
  }
  const auto choice = std::make_shared<internal::RegistryChoice>(
      RegistryMode::kZoneAware, places, "", false,
      std::make_shared<internal::DirectoryCore>(directories[0]->core()->executor(), clock_, 5, handle_->consumer(), absl::OkStatus()));
  handle_ = std::make_shared<Directory>(choice, nullptr);
  const MethodId get = handle_->Method("get");
  executor_.RunReady();
  const Attachment zone[] = {{"registry_zone", "hz"}, {"registry_zone_force", "true"}};
  for (const Invocation& invocation :
       {Invocation{.method = get, .hash_key = 12345}, Invocation{.method = get, .attachments = zone, .hash_key = 12345}}) {
    Verdict verdict = Confined([&] { return Picks(invocation); });
    EXPECT_TRUE(verdict.pure()) << verdict;
  }
  // Not even where one registry gives way to another.
  for (auto& [address, report] : protocol_->reports) report.Down();
  executor_.RunReady();
  const Invocation invocation{.method = get, .hash_key = 12345};
  const Verdict verdict = Confined([&] {
    for (int i = 0; i < kPicks; ++i) {
      if (!handle_->Select(invocation).ok()) return false;
    }
    return true;
  });
  EXPECT_TRUE(verdict.pure()) << verdict;
  for (const auto& directory : directories) directory->Close(std::chrono::nanoseconds(0), nullptr);
}

// Picks whose plan is not built, as the executor stands still.
class WalkPurityTest : public PickPurityTest {
 protected:
  static constexpr int kWalks = 1000;

  // Rules that every call comes under; the first leaves those of two regions.
  std::vector<Url> ApplyingRules(int count) {
    std::vector<Url> rules = {RuleUrl("arguments[1]!=x => region!=r2")};
    for (int i = 1; i < count; ++i) {
      const std::string n = std::to_string(i);
      // One that applies, one that does not, one that nobody satisfies.
      rules.push_back(i % 3 == 0   ? RuleUrl("arguments[0]!=x" + n + " => region!=nowhere" + n)
                      : i % 3 == 1 ? RuleUrl("arguments[0]=x" + n + " => region=nowhere" + n)
                                   : RuleUrl("attachments[zone]=a => region=nowhere" + n, "force=false"));
    }
    return rules;
  }
  Invocation Call(const char* method = "get") {
    return {.method = handle_->Method(method), .arguments = arguments_, .attachments = attachments_};
  }
  void ExpectPureWalks(const Invocation& invocation, int walks = kWalks) {
    const std::uint64_t before = handle_->Stats().walked;
    EXPECT_TRUE(handle_->Select(invocation).ok());
    EXPECT_GT(handle_->Stats().walked, before);
    const Verdict verdict = Confined([&] { return Picks(invocation, walks); });
    EXPECT_TRUE(verdict.pure()) << verdict;
  }

  const Argument arguments_[2] = {{.text = "user-1234567"}, {.text = "a longer text than fits into a small string"}};
  const Attachment attachments_[2] = {{"trace", "1"}, {"zone", "a"}};
};

TEST_P(WalkPurityTest, OfFewAndManyProviders) {
  Rules(ApplyingRules(6));
  for (const int n : {3, 10, 17, 1000, 5000}) {
    SCOPED_TRACE(n);
    Provide(n);
    ExpectPureWalks(Call(), n > 1000 ? kWalks / 10 : kWalks);
    Invocation invocation = Call();
    invocation.hash_key = 12345;
    ExpectPureWalks(invocation, kWalks / 10);
  }
}

TEST_P(WalkPurityTest, OfAListThatGrew) {
  Rules(ApplyingRules(2));
  Provide(20);
  ExpectPureWalks(Call(), 10);
  // What the picks before left behind is too small now, and was made anew where nobody picks.
  Provide(3000);
  const Invocation invocation = Call();
  const std::uint64_t before = Allocations();
  for (int i = 0; i < 5; ++i) (void)handle_->WithSelected(invocation, [](const Invoker&) noexcept {});
  EXPECT_EQ(Allocations(), before) << "not even the first one allocates";
}

TEST_P(WalkPurityTest, WithMoreRuntimeRulesThanPlansHave) {
  Provide(500);
  Rules(ApplyingRules(45));
  executor_.RunReady();
  ExpectPureWalks(Call());
  executor_.Advance(std::chrono::milliseconds(100));
  ExpectPureWalks(Call());
}

TEST_P(WalkPurityTest, WhileSomeAreDown) {
  Provide(100);
  Rules(ApplyingRules(3));
  executor_.RunReady();
  for (int i = 0; i < 50; ++i) protocol_->reports.at("10.0.0." + std::to_string(i) + ":20880").Down();
  executor_.RunReady();
  ExpectPureWalks(Call());
}

TEST_P(WalkPurityTest, OfAMethodWithParametersOfItsOwn) {
  Provide(50, std::string("&get.weight=7&get.hash.nodes=80&get.loadbalance=") + GetParam());
  Rules(ApplyingRules(2));
  executor_.RunReady();
  ExpectPureWalks(Call());
}

TEST_P(WalkPurityTest, OfAMethodThatTheSnapshotDoesNotKnow) {
  Provide(50);
  Rules({RuleUrl("method=delete => region!=r2")});
  executor_.RunReady();
  ExpectPureWalks(Call("brand-new"));
}

TEST_P(WalkPurityTest, OfManyHashedArguments) {
  std::string indices = "0";
  for (int i = 1; i < 40; ++i) indices += "," + std::to_string(i % 2);
  Provide(50, "&hash.arguments=" + indices);
  Rules(ApplyingRules(2));
  executor_.RunReady();
  ExpectPureWalks(Call());
  executor_.Advance(std::chrono::milliseconds(50));
  const Invocation invocation = Call();
  const Verdict verdict = Confined([&] { return Picks(invocation, kWalks); });
  EXPECT_TRUE(verdict.pure()) << "with a plan: " << verdict;
}

// The first member of what is left asks for another ring than that of the whole list.
TEST_P(WalkPurityTest, WithoutARingThatFits) {
  std::vector<std::string> list = {"10.0.1.1?region=r2&hash.nodes=40"};
  for (int i = 0; i < 20; ++i) list.push_back("10.0.0." + std::to_string(i) + "?region=r1");
  Providers(list);
  Rules(ApplyingRules(2));
  executor_.RunReady();
  ExpectPureWalks(Call(), 20);
}

// Draws between two sets, after a pick of its own: a host's callback may do that.
class NestingRouter final : public Router {
 public:
  explicit NestingRouter(const std::shared_ptr<Directory>& other) : other_(other) {}
  std::string_view name() const override { return "nesting"; }
  int order() const override { return 0; }
  Reads reads() const override { return Reads::kArguments; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable*) const override {
    return std::make_shared<Table>(other_, input.by_rank.size());
  }

 private:
  class Table final : public RouteTable {
   public:
    Table(const std::shared_ptr<Directory>& other, std::size_t size) : other_(other) {
      for (Slot slot = 0; slot < size; ++slot) (slot % 4 == 0 ? few_ : many_).Add(slot);
    }
    std::uint32_t cases() const override { return 2; }
    RouteCase Classify(const RouteCall&) const override { return 1; }
    void Route(RouteCase, const InvokerSet&, Outcomes& out) const override {
      if (depth == 0) {
        ++depth;
        (void)other_->WithSelected({}, [](const Invoker&) noexcept {});
        --depth;
      }
      out.Add(1, few_);
      out.Add(3, many_);
    }
    std::string Describe(RouteCase) const override { return "a draw"; }

   private:
    static thread_local int depth;
    const std::shared_ptr<Directory>& other_;
    InvokerSet few_, many_;
  };

  const std::shared_ptr<Directory>& other_;
};
thread_local int NestingRouter::Table::depth = 0;

class NestingFactory final : public RouterFactory {
 public:
  explicit NestingFactory(const std::shared_ptr<Directory>& other) : other_(other) {}
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return std::make_shared<const NestingRouter>(other_);
  }

 private:
  const std::shared_ptr<Directory>& other_;
};

TEST_P(WalkPurityTest, ThatNestAndDraw) {
  std::shared_ptr<Directory> inner;
  more_routers_["nesting"] = std::make_shared<NestingFactory>(inner);
  StartWith("");
  // A pick in itself: its own memory is in use.
  inner = directory_->MakeDirectory(nullptr);
  Provide(50);
  Rules({Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=nesting&rule=x"),
         RuleUrl("arguments[0]!=x => region!=r2")});
  executor_.RunReady();
  ExpectPureWalks(Call());
  inner.reset();
}

INSTANTIATE_TEST_SUITE_P(Policies, WalkPurityTest,
                         ::testing::Values("random", "roundrobin", "leastactive", "consistenthash"),
                         [](const auto& instance) { return std::string(instance.param); });

INSTANTIATE_TEST_SUITE_P(Policies, PickPurityTest,
                         ::testing::Values("random", "roundrobin", "leastactive", "consistenthash"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace fairlead
