// The gate (19) with documents: the answers of three categories, of the documents of service and consumer application, and
// of those of each application of providers come in any order, some too late. No pick sees a list without its rules before
// the deadline; a new application later keeps only its own providers waiting.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/tests/support/directory_world.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fake_rule_source.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using Hosts = std::set<std::string>;

constexpr milliseconds kWait{3000};
constexpr const char* kOfService[] = {"com.acme.Orders::.configurators", "com.acme.Orders::.condition-router",
                                      "com.acme.Orders::.affinity-router", "shop.configurators", "shop.condition-router"};
constexpr const char* kOfProviders[] = {".tag-router", ".condition-router", ".affinity-router"};

// A registry whose answers come when the test says. Every rule and override takes one host away.
class Gate : private DirectoryWorld {
 public:
  Gate() {
    source_ = std::make_shared<FakeRuleSource>(executor_);
    documents_ = source_;
    Silence(kOfService[0], Disabled("com.acme.Orders", "service", 1));
    Silence(kOfService[1], Without(2));
    Silence(kOfService[2], std::nullopt);
    Silence(kOfService[3], Disabled("shop", "application", 3));
    Silence(kOfService[4], Without(4));
    SilenceApplication("orders", 5, 6);
    SilenceApplication("other", 15, 16);
    SilenceApplication("new", 25, 26);
    directory_ = RegistryDirectory::Create(Config("consumer://10.0.0.9/com.acme.Orders?application=shop&rules.wait=" +
                                                      std::to_string(kWait.count()), std::make_shared<FakeProtocol>()));
    handle_ = directory_->MakeDirectory(nullptr);
  }
  ~Gate() {
    handle_.reset();
    directory_->Close(std::chrono::nanoseconds(0), nullptr);
    executor_.Advance(std::chrono::seconds(1));
  }

  static std::vector<std::string> DocumentsOf(const std::string& application) {
    std::vector<std::string> names;
    for (const char* kind : kOfProviders) names.push_back(application + kind);
    return names;
  }
  // Of application `orders` .1 to .9, of `other` .11 to .19, of `new` .21 to .29.
  Hosts HostsOf(const std::string& application) const {
    Hosts hosts;
    for (int i = 1; i <= 9; ++i) hosts.insert(Host(FirstOf(application) + i));
    return hosts;
  }
  void TellProviders(const std::vector<std::string>& applications) {
    std::vector<Url> urls;
    for (const std::string& application : applications) {
      for (const std::string& host : HostsOf(application)) urls.push_back(ProviderAt(host + "?application=" + application));
    }
    Notify(Category::kProviders, std::move(urls));
  }
  void TellRules() {
    Notify(Category::kRouters, {RuleUrl("=> host!=" + Host(7))});
    taken_.insert(Host(7));
  }
  void TellOverrides() {
    Notify(Category::kConfigurators, {Parse("override://" + Host(8) + ":20880/com.acme.Orders?category=configurators&dynamic=false&disabled=true")});
    taken_.insert(Host(8));
  }
  void Answer(const std::string& name) {
    source_->silent.erase(name);
    source_->Answer(name);
    const std::string& host = takes_[name];
    if (!host.empty()) taken_.insert(host);
  }
  void Advance(milliseconds by) {
    now_ += by;
    executor_.Advance(by);
  }

  milliseconds now() const { return now_; }
  absl::Status Pick() const { return handle_->Select({}).status(); }
  Hosts Listed() const {
    Hosts hosts;
    for (const Url& url : handle_->List({})) hosts.emplace(url.host());
    return hosts;
  }
  // What is known to be taken away of them.
  Hosts Left(const Hosts& of) const {
    Hosts left;
    std::set_difference(of.begin(), of.end(), taken_.begin(), taken_.end(), std::inserter(left, left.end()));
    return left;
  }

 private:
  static int FirstOf(const std::string& application) { return application == "orders" ? 0 : application == "other" ? 10 : 20; }
  static std::string Host(int i) { return "10.0.0." + std::to_string(i); }
  std::string Without(int i) {
    took_ = Host(i);
    return "force: true\nconditions: ['=> host!=" + Host(i) + "']\n";
  }
  std::string Disabled(const std::string& key, const std::string& scope, int i) {
    took_ = Host(i);
    return "configVersion: v2.7\nscope: " + scope + "\nkey: " + key + "\nconfigs:\n- side: consumer\n  providerAddresses: ['" + Host(i) +
           ":20880']\n  parameters: {disabled: true}\n";
  }
  void Silence(const std::string& name, std::optional<std::string> text) {
    source_->silent.insert(name);
    source_->Set(name, std::move(text));
    takes_[name] = std::exchange(took_, "");
  }
  void SilenceApplication(const std::string& name, int by_conditions, int by_tags) {
    Silence(name + ".condition-router", Without(by_conditions));
    took_ = Host(by_tags);
    Silence(name + ".tag-router", "configVersion: v3.0\ntags: [{name: gray, addresses: ['" + Host(by_tags) + "']}]\n");
    Silence(name + ".affinity-router", std::nullopt);
  }
  void Notify(Category category, std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    directory_->Notify({std::string(kService), category, ++version_, kind, std::move(urls)});
  }

  std::shared_ptr<FakeRuleSource> source_;
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  std::uint64_t version_ = 0;
  milliseconds now_{0};
  std::map<std::string, std::string> takes_;  // the host that a document takes away
  std::string took_;
  Hosts taken_;
};

// One random order. True when the gate opened complete.
bool OpensWhenComplete(std::uint64_t seed) {
  Random random(Mix64(seed));
  Gate gate;
  std::vector<std::string> events = {"providers", "routers", "configurators"};
  const std::vector<std::string> applications = random.Below(2) == 0 ? std::vector<std::string>{"orders"} : std::vector<std::string>{"orders", "other"};
  events.insert(events.end(), std::begin(kOfService), std::end(kOfService));
  for (const std::string& one : applications) {
    for (const std::string& name : Gate::DocumentsOf(one)) events.push_back(name);
  }
  for (std::size_t i = events.size(); i > 1; --i) std::swap(events[i - 1], events[random.Below(i)]);
  const std::uint64_t longest_gap = 100 + random.Below(700);

  Hosts all;
  for (const std::string& one : applications) {
    for (const std::string& host : gate.HostsOf(one)) all.insert(host);
  }
  std::set<std::string> came;
  std::optional<milliseconds> first;  // of the registry's lists
  bool open = false, complete = false;
  const auto look = [&] {
    const bool over = first && gate.now() >= *first + kWait;
    const bool everything = came.size() == events.size();
    if (!open && everything && !over) complete = true;
    open = open || everything || (over && came.contains("providers"));
    if (!open) {
      ASSERT_EQ(gate.Pick().code(), absl::StatusCode::kFailedPrecondition) << "after " << gate.now().count() << " ms";
    } else {
      ASSERT_TRUE(gate.Pick().ok()) << gate.Pick();
      ASSERT_EQ(gate.Listed(), gate.Left(all)) << "after " << gate.now().count() << " ms";
    }
  };
  for (const std::string& event : events) {
    milliseconds gap(1 + random.Below(longest_gap));
    // Both sides of the deadline, when it is on the way.
    if (first && gate.now() < *first + kWait && gate.now() + gap > *first + kWait + milliseconds(1)) {
      for (const milliseconds to : {*first + kWait - milliseconds(1), *first + kWait + milliseconds(1)}) {
        gap -= to - gate.now();
        gate.Advance(to - gate.now());
        look();
        if (::testing::Test::HasFatalFailure()) return false;
      }
    }
    gate.Advance(gap);
    look();
    if (::testing::Test::HasFatalFailure()) return false;
    if (event == "providers") {
      gate.TellProviders(applications);
    } else if (event == "routers") {
      gate.TellRules();
    } else if (event == "configurators") {
      gate.TellOverrides();
    } else {
      gate.Answer(event);
    }
    const bool of_registry = event == "providers" || event == "routers" || event == "configurators";
    if (of_registry && !first) first = gate.now();
    came.insert(event);
    // Between the answer and the update that it makes, picks see what was there before.
    if (!open) {
      EXPECT_FALSE(gate.Pick().ok());
    }
    gate.Advance(milliseconds(0));
    look();
    if (::testing::Test::HasFatalFailure()) return false;
  }
  EXPECT_TRUE(open);

  // Another application appears: the others' providers are there at once, its own with their rules, or late without them.
  std::vector<std::string> more = applications;
  more.push_back("new");
  std::vector<std::string> names = Gate::DocumentsOf("new");
  std::swap(names[0], names[random.Below(3)]);
  const milliseconds since = gate.now();
  gate.TellProviders(more);
  Hosts with_new = all;
  for (const std::string& host : gate.HostsOf("new")) with_new.insert(host);
  for (std::size_t answered = 0; answered <= names.size(); ++answered) {
    gate.Advance(milliseconds(1 + random.Below(1700)));
    const bool there = answered == names.size() || gate.now() >= since + kWait;
    EXPECT_EQ(gate.Listed(), gate.Left(there ? with_new : all)) << answered << " answered, " << (gate.now() - since).count() << " ms";
    if (answered == names.size()) break;
    gate.Answer(names[answered]);
    gate.Advance(milliseconds(0));
  }
  return complete;
}

TEST(GateTest, Property19NoPickSeesAListWithoutItsDocumentsBeforeTheDeadline) {
  const int runs = Effort(1500);
  int complete = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    complete += OpensWhenComplete(static_cast<std::uint64_t>(seed));
    if (HasFailure()) return;
  }
  EXPECT_GT(complete, runs / 10);
  EXPECT_LT(complete, runs - runs / 10);
}

}  // namespace
}  // namespace fairlead
