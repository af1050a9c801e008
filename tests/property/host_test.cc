// What a host does inside its callbacks: call everything (26), and throw (27).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<const char*, 2> kServices = {"com.acme.Orders", "com.acme.Users"};

// Everything that Fairlead calls of a host, in one object: each callback does some random things with the API and may
// throw. One thread, virtual time.
class Host : public std::enable_shared_from_this<Host> {
 public:
  Host(std::uint64_t seed, bool throws) : throws_(throws), random_(Mix64(seed)) {
    extensions_ = *ExtensionRegistryWith(memory_);
    runtime = Make();
  }

  std::unique_ptr<Runtime> Make() {
    return *Runtime::Create({.extensions = extensions_, .executor = executor, .clock = &clock, .seed = 9, .log = lines.sink()});
  }

  // One callback. Never inside another one, whatever is called from here.
  void Callback(const char* what) {
    ++calls[what];
    if (depth_ > 0) nested.insert(what);
    ++depth_;
    // A list that changes calls every host callback for every provider, so what they do in turn must have an end.
    for (std::uint64_t n = quiet ? 0 : random_.Below(3); n > 0 && budget > 0; --n, --budget) CallSomething();
    --depth_;
    if (throws_ && !quiet && random_.Below(4) == 0) {
      if (random_.Below(2) == 0) throw std::runtime_error("thrown by the test");
      throw 42;
    }
  }

  void CallSomething() {
    const bool inside = depth_ > 0;
    if (directories.empty() || random_.Below(12) == 0) {
      if (directories.size() < 5 && runtime != nullptr) Refer(kServices[random_.Below(kServices.size())]);
      return;
    }
    const std::shared_ptr<Directory> one = directories[random_.Below(directories.size())];
    const Attachment attachments[] = {{"user", "vip"}};
    Invocation invocation{one->Method("m" + std::to_string(random_.Below(3))), {}, {}, {}};
    if (random_.Below(2) == 0) invocation.attachments = attachments;
    switch (random_.Below(14)) {
      case 0:
      case 1:
      case 2: {
        absl::StatusOr<Lease> lease = one->Select(invocation);
        if (lease.ok() && leases.size() < 20) leases.push_back(*std::move(lease));
        break;
      }
      case 3:
        if (!leases.empty()) {
          std::swap(leases[random_.Below(leases.size())], leases.back());
          leases.back().End(absl::OkStatus());
          leases.pop_back();
        }
        break;
      case 4:
        (void)one->WithSelected(invocation, [](const Invoker& invoker) noexcept { (void)invoker.url(); });
        break;
      case 5:
        (void)one->List(invocation);
        break;
      case 6:
        (void)one->Explain(invocation).ToString();
        break;
      case 7:
        (void)one->Needs(invocation.method);
        (void)one->consumer();
        break;
      case 8:
        one->AwaitReady(milliseconds(random_.Below(50)), [host = shared_from_this()](absl::Status) { host->Callback("AwaitReady"); });
        break;
      case 9:  // its own handle, perhaps
        std::erase(directories, one);
        break;
      case 10:
        if (!reports.empty()) {
          const Availability report = reports[random_.Below(reports.size())];
          random_.Below(2) == 0 ? report.Up() : report.Down();
        }
        break;
      case 11:
        if (runtime != nullptr && inside) {
          refused += absl::IsFailedPrecondition(runtime->Register("memory://test", "dubbo://10.0.0.1:1/a.B").status());
          ++asked;
        }
        break;
      default:
        ChangeList();
    }
  }

  void Refer(const std::string& service) {
    static constexpr std::array<const char*, 3> kPolicies = {"random", "roundrobin", "leastactive"};
    runtime->ReferAsync("memory://test", "consumer://10.0.0.9/" + service + "?loadbalance=" + kPolicies[random_.Below(3)],
                        Protocol(), [host = shared_from_this()](absl::StatusOr<std::shared_ptr<Directory>> made) {
                          if (made.ok()) host->directories.push_back(*std::move(made));
                          host->Callback("ReferAsync");
                        });
  }

  void ChangeList() {
    const std::string service = kServices[random_.Below(kServices.size())];
    const std::string n = std::to_string(random_.Below(6));
    std::string text = "dubbo://10.0.0." + n + ":20880/" + service + "?application=x&weight=" + std::to_string(1 + random_.Below(3));
    if (random_.Below(4) == 0) text = "route://0.0.0.0/" + service + "?category=routers&rule=" + PercentEncode("attachments[user]=vip => host!=10.0.0." + n);
    if (random_.Below(6) == 0) text = "override://10.0.0." + n + "/" + service + "?category=configurators&weight=7";
    // A provider has one url at a time, as in life.
    const Category category = text.front() == 'd' ? Category::kProviders : text.front() == 'r' ? Category::kRouters : Category::kConfigurators;
    const auto same_host = [&](const std::string& other) { return other.substr(0, other.find(':', 9)) == text.substr(0, text.find(':', 9)); };
    for (const std::string& known : store->List(service, category)) {
      if (known == text || (category == Category::kProviders && same_host(known))) (void)store->Remove(known);
    }
    if (random_.Below(3) != 0) (void)store->Put(text);
  }

  std::shared_ptr<fairlead::Protocol> Protocol();

  FakeClock clock;
  const std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  LogRecorder lines;
  const std::shared_ptr<MemoryRegistryFactory> memory_ = MakeMemoryRegistryFactory();
  const std::shared_ptr<MemoryStore> store = memory_->store("test");
  std::vector<std::shared_ptr<Directory>> directories;
  std::vector<Lease> leases;
  std::vector<Availability> reports;
  std::map<std::string, int> calls;
  std::set<std::string> nested;
  int refused = 0, asked = 0;
  int made = 0, destroyed = 0, deleted = 0;
  bool quiet = false;
  int budget = 0;
  std::unique_ptr<Runtime> runtime;

  Random& random() { return random_; }

 private:
  static absl::StatusOr<ExtensionRegistry> ExtensionRegistryWith(const std::shared_ptr<MemoryRegistryFactory>& memory) {
    ExtensionRegistry::Builder builder;
    builder.AddRegistry(memory);
    const ExtensionRegistry defaults = DefaultExtensions();
    for (const char* router : {"route", "condition"}) builder.AddRouter(router, *defaults.Router(router));
    for (const char* policy : {"random", "roundrobin", "leastactive"}) builder.AddLoadBalance(*defaults.Policy(policy));
    return builder.Build();
  }

  const bool throws_;
  Random random_;
  int depth_ = 0;
  ExtensionRegistry extensions_;
};

class HostInvoker final : public Invoker {
 public:
  HostInvoker(std::shared_ptr<Host> host, Url url) : host_(std::move(host)), url_(std::move(url)) { ++host_->made; }
  ~HostInvoker() override { ++host_->deleted; }
  const Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override { return true; }
  void Updated(const Url& effective) override {
    url_ = effective;
    host_->Callback("Updated");
  }
  void Destroy() override {
    ++host_->destroyed;
    host_->Callback("Destroy");
  }

 private:
  const std::shared_ptr<Host> host_;
  Url url_;
};

class HostProtocol final : public Protocol {
 public:
  explicit HostProtocol(std::shared_ptr<Host> host) : host_(std::move(host)) {}
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability report) override {
    host_->Callback("Refer");
    if (!host_->quiet && host_->random().Below(8) == 0) return absl::UnavailableError("refused by the test");
    host_->reports.push_back(report);
    return std::make_unique<HostInvoker>(host_, effective);
  }
  bool Speaks(std::string_view) const override {
    host_->Callback("Speaks");
    return true;
  }

 private:
  const std::shared_ptr<Host> host_;
};

std::shared_ptr<Protocol> Host::Protocol() { return std::make_shared<HostProtocol>(shared_from_this()); }

// Lives one host's life; returns what it was called, how often.
std::map<std::string, int> Live(std::uint64_t seed, bool throws) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto host = std::make_shared<Host>(seed, throws);
  for (int step = 0; step < 150; ++step) {
    host->budget = 25;
    host->CallSomething();
    host->executor->Advance(milliseconds(host->random().Below(60)));
  }
  EXPECT_TRUE(host->nested.empty()) << *host->nested.begin() << " inside another callback";
  EXPECT_EQ(host->refused, host->asked) << "blocking forms refuse to wait for their own thread";

  // When it calls and throws no more, everybody converges on what the registry holds.
  host->quiet = true;
  for (const Availability& report : host->reports) report.Up();
  for (const char* service : kServices) {
    host->Refer(service);
    // A protocol whose Speaks threw is asked again with the next list.
    EXPECT_TRUE(host->store->Put("dubbo://10.0.0.77:20880/" + std::string(service) + "?application=x").ok());
  }
  host->executor->Advance(seconds(40));
  std::map<std::string, std::set<std::string>> listed;
  UrlPool pool;
  for (const char* service : kServices) {
    for (const std::string& text : host->store->List(service, Category::kProviders)) {
      listed[service].insert(Url::Parse(text, pool)->Address());
    }
  }
  EXPECT_GE(host->directories.size(), 2u);
  for (const auto& directory : host->directories) {
    std::set<std::string> addresses;
    for (const Url& url : directory->List({})) addresses.insert(url.Address());
    EXPECT_EQ(addresses, listed[std::string(directory->consumer().path())]);
    EXPECT_EQ(directory->Select({}).ok(), !addresses.empty());
  }

  host->quiet = false;
  host->budget = 100;
  host->runtime->Shutdown(milliseconds(100), [host](absl::Status) { host->Callback("Shutdown"); });
  host->executor->Advance(seconds(1));
  host->runtime.reset();
  host->executor->Advance(seconds(5));
  for (const auto& directory : host->directories) EXPECT_TRUE(absl::IsCancelled(directory->Select({}).status()));
  host->directories.clear();
  host->leases.clear();
  host->executor->Advance(seconds(20));
  EXPECT_EQ(host->destroyed, host->made) << "each is closed once";
  EXPECT_EQ(host->deleted, host->made) << "and deleted";
  EXPECT_TRUE(host->nested.empty()) << *host->nested.begin() << " inside another callback";
  EXPECT_EQ(host->calls["Shutdown"], 1);
  return host->calls;
}

constexpr std::array<const char*, 7> kCallbacks = {"AwaitReady", "Destroy", "Refer", "ReferAsync", "Shutdown", "Speaks", "Updated"};

void LiveManyTimes(bool throws) {
  std::map<std::string, int> calls;
  for (int life = 0; life < Effort(60); ++life) {
    for (const auto& [what, times] : Live(static_cast<std::uint64_t>(life), throws)) calls[what] += times;
    if (::testing::Test::HasFailure()) return;
  }
  for (const char* what : kCallbacks) EXPECT_GT(calls[what], 0) << what;
}

// A registry's listeners and Done callbacks, one level below.
class Listeners : public std::enable_shared_from_this<Listeners> {
 public:
  class Listener final : public NotifyListener {
   public:
    explicit Listener(std::shared_ptr<Listeners> all) : all_(std::move(all)) {}
    void Notify(Notification) override {
      if (!subscribed) ++all_->late;
      all_->Callback();
    }
    bool subscribed = false;

   private:
    const std::shared_ptr<Listeners> all_;
  };

  Listeners(std::uint64_t seed, Clock& clock, std::shared_ptr<Executor> executor) : pool_(clock), log_(lines_.sink(), clock), random_(Mix64(seed)) {
    const RegistryContext context{std::move(executor), &clock, &pool_, &log_, seed};
    const Url url = *Url::Parse("memory://test?resync.period=0", pool_);
    registry = FailbackRegistry::Create(url, *memory_->Create(url, context), context);
  }

  void Callback() {
    ++called;
    if (inside_) ++nested;
    inside_ = true;
    for (std::uint64_t n = random_.Below(3); n > 0 && budget > 0; --n, --budget) CallSomething();
    inside_ = false;
    if (random_.Below(4) == 0) throw std::runtime_error("thrown by the test");
  }
  void CallSomething() {
    if (registry == nullptr) return;
    const Url provider = *Url::Parse("dubbo://10.0.0." + std::to_string(random_.Below(4)) + ":1/a.B?check=false", pool_);
    const Url consumer = *Url::Parse("consumer://10.0.0.9/a.B?category=providers,routers&check=false", pool_);
    const auto done = [self = shared_from_this()](absl::Status) { self->Callback(); };
    switch (random_.Below(8)) {
      case 0:
      case 1: {
        const auto listener = std::make_shared<Listener>(shared_from_this());
        listener->subscribed = true;
        listeners.push_back(listener);
        registry->Subscribe(consumer, listener, done);
        break;
      }
      case 2:
      case 3:
        if (!listeners.empty()) {  // perhaps the one that is being notified
          const auto listener = listeners[random_.Below(listeners.size())];
          std::erase(listeners, listener);
          registry->Unsubscribe(consumer, listener);
          listener->subscribed = false;
        }
        break;
      case 4:
      case 5:
        registry->Register(provider, done);
        break;
      case 6:
        registry->Unregister(provider, done);
        break;
      default:
        registry->Lookup(consumer, [self = shared_from_this()](absl::StatusOr<std::vector<Url>>) { self->Callback(); });
        if (random_.Below(60) == 0) registry.reset();
    }
  }

  std::shared_ptr<FailbackRegistry> registry;
  std::vector<std::shared_ptr<Listener>> listeners;
  int called = 0, nested = 0, late = 0, budget = 0;

 private:
  UrlPool pool_;
  LogRecorder lines_;
  Logger log_;
  const std::shared_ptr<MemoryRegistryFactory> memory_ = MakeMemoryRegistryFactory();
  Random random_;
  bool inside_ = false;
};

TEST(HostPropertyTest, Property26And27ListenersMayCallEverythingAndThrow) {
  int called = 0;
  for (int life = 0; life < Effort(100); ++life) {
    SCOPED_TRACE("seed " + std::to_string(life));
    FakeClock clock;
    const auto executor = std::make_shared<ManualExecutor>(clock);
    const auto all = std::make_shared<Listeners>(life, clock, executor);
    for (int step = 0; step < 100; ++step) {
      all->budget = 20;
      executor->Post([all] { all->CallSomething(); });  // the registry belongs to the executor
      executor->Advance(milliseconds(30));
    }
    all->budget = 0;
    executor->Post([all] { all->registry.reset(); });
    executor->Advance(seconds(10));
    EXPECT_EQ(all->nested, 0) << "a callback inside a callback";
    EXPECT_EQ(all->late, 0) << "a Notify after Unsubscribe";
    called += all->called;
    all->listeners.clear();
    if (HasFailure()) return;
  }
  EXPECT_GT(called, Effort(100) * 50);
}

TEST(HostPropertyTest, Property26CallbacksMayCallEverything) { LiveManyTimes(false); }

// What is thrown never reaches the executor: ManualExecutor would hand it to this test.
TEST(HostPropertyTest, Property27CallbacksMayThrow) { LiveManyTimes(true); }

}  // namespace
}  // namespace fairlead
