// Documents of a registry's config center as a Runtime's directories obey them; in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/registry_rule_source.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";
constexpr char kConditions[] = "com.acme.Orders::.condition-router";

class RuleDocumentsRuntimeTest : public ::testing::Test {
 protected:
  RuleDocumentsRuntimeTest() {
    ExtensionRegistry::Builder builder;
    builder.AddRegistry(memory_).AddLoadBalance(*DefaultExtensions().Policy("random"));
    for (const char* name : {"condition", "route"}) builder.AddRouter(name, *DefaultExtensions().Router(name));
    runtime_ = *Runtime::Create({.extensions = *builder.Build(),
                                 .executor = executor_,
                                 .clock = &clock_,
                                 .seed = 5,
                                 .log = lines_.sink(),
                                 .local_address = "10.0.0.9"});
    for (const char* address : {kA, kB}) {
      const std::string provider = "dubbo://" + std::string(address) + "/com.acme.Orders?application=orders";
      EXPECT_TRUE(store().Put(provider + "&interface=com.acme.Orders").ok());
    }
  }
  ~RuleDocumentsRuntimeTest() override {
    runtime_.reset();
    executor_->Advance(seconds(30));
  }

  MemoryStore& store() { return *memory_->store("m"); }
  std::shared_ptr<Directory> Refer(const std::string& consumer) {
    std::optional<absl::StatusOr<std::shared_ptr<Directory>>> made;
    runtime_->ReferAsync("memory://m", consumer, protocol_, [&made](auto answer) { made = std::move(answer); });
    executor_->Advance(seconds(1));
    return *std::move(made).value();
  }
  void Document(const std::string& name, std::optional<std::string> text) {
    store().SetConfig("dubbo", name, std::move(text));
    executor_->Advance(seconds(1));
  }
  static std::vector<std::string> Addresses(const Directory& directory) {
    std::vector<std::string> addresses;
    for (const Url& url : directory.List({})) addresses.push_back(url.Address());
    return addresses;
  }

  FakeClock clock_;
  LogRecorder lines_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<MemoryRegistryFactory> memory_ = std::make_shared<MemoryRegistryFactory>();
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(RuleDocumentsRuntimeTest, DocumentsAreObeyedFromTheFirstPickOn) {
  store().SetConfig("dubbo", kConditions, "force: true\nconditions: ['=> host=10.0.0.2']");
  const auto directory = Refer("consumer://10.0.0.9/com.acme.Orders?application=shop");
  EXPECT_THAT(Addresses(*directory), ElementsAre(kB));
  Document("orders.condition-router", "force: true\nconditions: ['=> host=10.0.0.1']");
  EXPECT_THAT(Addresses(*directory), IsEmpty());
  Document("orders.condition-router", std::nullopt);
  Document(kConditions, "{");
  EXPECT_THAT(Addresses(*directory), ElementsAre(kB));
  Document(kConditions, std::nullopt);
  EXPECT_THAT(Addresses(*directory), ElementsAre(kA, kB));
  EXPECT_EQ(lines_.count("FL-3-7"), 0u);
}

TEST_F(RuleDocumentsRuntimeTest, DirectoriesOfOneRegistryShareAWatch) {
  store().SetConfig("dubbo", "shop.condition-router", "force: true\nconditions: ['=> host=10.0.0.2']");
  const auto first = Refer("consumer://10.0.0.9/com.acme.Orders?application=shop");
  auto second = Refer("consumer://10.0.0.9/com.acme.Orders?application=shop&timeout=5");
  EXPECT_THAT(Addresses(*first), ElementsAre(kB));
  EXPECT_THAT(Addresses(*second), ElementsAre(kB));
  second.reset();
  executor_->Advance(seconds(30));
  Document("shop.condition-router", "force: true\nconditions: ['=> host=10.0.0.1']");
  EXPECT_THAT(Addresses(*first), ElementsAre(kA)) << "the other one's end is not the watch's";
}

// What a backend is asked for.
class CountedBackend final : public RegistryBackend {
 public:
  void Start(absl::AnyInvocable<void(Session)>) override {}
  void Put(std::string_view, Category, std::string_view, bool, Done) override {}
  void Remove(std::string_view, Category, std::string_view, Done) override {}
  void Read(std::string_view, Category, Children) override {}
  void Watch(std::string_view, Category, Children) override {}
  void Unwatch(std::string_view, Category) override {}
  void WatchServices(Names) override {}
  void UnwatchServices() override {}
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override {
    asked.push_back("+" + std::string(group) + "/" + std::string(key));
    values[std::string(key)] = std::move(on_value);
  }
  void UnwatchConfig(std::string_view group, std::string_view key) override {
    asked.push_back("-" + std::string(group) + "/" + std::string(key));
    values.erase(std::string(key));
  }
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override { return "counted"; }
  void Stop(Done) override {}

  std::vector<std::string> asked;
  std::map<std::string, ConfigValue> values;
};

class RegistryRuleSourceTest : public ::testing::Test {
 protected:
  RuleSource::Told Into(std::vector<std::string>& told) {
    return [&told](const absl::StatusOr<std::optional<std::string>>& text) {
      told.push_back(!text.ok() ? std::string(text.status().message()) : text->value_or("none"));
    };
  }
  void Answer(const std::string& name, absl::StatusOr<std::optional<std::string>> value) {
    backend_.values.at(name)(std::move(value));
  }

  FakeClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  CountedBackend backend_;
  std::shared_ptr<internal::RegistryRuleSource> source_ = internal::RegistryRuleSource::Create(backend_, executor_);
  std::vector<std::string> a_, b_;
};

TEST_F(RegistryRuleSourceTest, OneWatchOfADocumentForAll) {
  RuleWatch a = source_->Watch("x", Into(a_));
  Answer("x", std::optional<std::string>("1"));
  RuleWatch b = source_->Watch("x", Into(b_));
  EXPECT_THAT(b_, IsEmpty()) << "never from within";
  executor_->RunReady();
  EXPECT_THAT(b_, ElementsAre("1"));
  Answer("x", std::optional<std::string>());
  Answer("x", absl::UnavailableError("down"));
  EXPECT_THAT(a_, ElementsAre("1", "none", "down"));
  a = RuleWatch();
  Answer("x", std::optional<std::string>("2"));
  EXPECT_EQ(a_.size(), 3u);
  EXPECT_EQ(b_.back(), "2");
  EXPECT_THAT(backend_.asked, ElementsAre("+dubbo/x"));
  b = RuleWatch();
  EXPECT_THAT(backend_.asked, ElementsAre("+dubbo/x", "-dubbo/x"));
}

TEST_F(RegistryRuleSourceTest, ALateFollowerIsToldOnceWhatCameBetween) {
  RuleWatch a = source_->Watch("x", Into(a_));
  Answer("x", std::optional<std::string>("1"));
  RuleWatch b = source_->Watch("x", Into(b_));
  Answer("x", std::optional<std::string>("2"));
  executor_->RunReady();
  EXPECT_THAT(b_, ElementsAre("2"));
}

TEST_F(RegistryRuleSourceTest, WhoIsToldMayEndEveryWatch) {
  std::vector<RuleWatch> watches(2);
  const auto end = [&](const auto&) { watches.clear(); };
  watches[0] = source_->Watch("x", end);
  watches[1] = source_->Watch("x", Into(b_));
  ConfigValue value = std::move(backend_.values.at("x"));
  value(std::optional<std::string>("1"));
  EXPECT_THAT(b_, IsEmpty());
  EXPECT_THAT(backend_.asked, ElementsAre("+dubbo/x", "-dubbo/x"));
}

TEST_F(RegistryRuleSourceTest, WatchesMayOutliveIt) {
  RuleWatch a = source_->Watch("x", Into(a_));
  RuleWatch b = source_->Watch("y", Into(b_));
  source_->Close();
  EXPECT_THAT(backend_.asked, ElementsAre("+dubbo/x", "+dubbo/y", "-dubbo/x", "-dubbo/y"));
  a = RuleWatch();
  source_.reset();
  b = RuleWatch();
  EXPECT_EQ(backend_.asked.size(), 4u);
}

}  // namespace
}  // namespace fairlead
