// Property 30, rules of a provider application: whatever a document of one application says, the providers of another one
// are untouched, for all outcomes; and its own get what a list of them alone would.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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

using Addresses = std::set<std::string>;

constexpr const char* kConsumer = "consumer://10.0.0.9/com.acme.Orders?application=shop&region=hz";

// A directory of a world of its own.
class Fed : private DirectoryWorld {
 public:
  Fed() {
    source_ = std::make_shared<FakeRuleSource>(executor_);
    documents_ = source_;
    directory_ = RegistryDirectory::Create(Config(kConsumer, std::make_shared<FakeProtocol>()));
    handle_ = directory_->MakeDirectory(nullptr);
    Notify(Category::kConfigurators, {});
    Notify(Category::kRouters, {});
  }
  ~Fed() {
    handle_.reset();
    directory_->Close(std::chrono::nanoseconds(0), nullptr);
    executor_.Advance(std::chrono::seconds(1));
  }
  void Document(const std::string& name, const std::string& text) { source_->Set(name, text); }
  void Providers(const std::vector<std::string>& list) {
    std::vector<Url> urls;
    for (const std::string& one : list) urls.push_back(ProviderAt(one));
    Notify(Category::kProviders, std::move(urls));
    executor_.RunReady();
  }
  std::string FirstWarning() const {
    const auto lines = lines_.lines();
    return lines.empty() ? std::string() : lines.front().text;
  }
  // What one call may reach; of several weighted sets one is drawn.
  Addresses Reach(const std::string& method, std::span<const Attachment> attachments) {
    Addresses reached;
    Invocation invocation;
    invocation.method = handle_->Method(method);
    invocation.attachments = attachments;
    executor_.RunReady();
    for (const Url& url : handle_->List(invocation)) reached.insert(url.Address());
    return reached;
  }

 private:
  void Notify(Category category, std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    directory_->Notify({std::string(kService), category, ++version_, kind, std::move(urls)});
  }

  std::shared_ptr<FakeRuleSource> source_;
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  std::uint64_t version_ = 0;
};

class Rules {
 public:
  explicit Rules(std::uint64_t seed) : random_(Mix64(seed)) {}

  std::string Side(const char* own) {
    const std::vector<std::string> sides = {"", "region=hz", "region!=hz", "host=10.0.0.*", "env=gray", "env=$region", own};
    return sides[random_.Below(sides.size())];
  }
  std::string Conditions() {
    const std::string force = random_.Below(2) == 0 ? "force: true\n" : "force: false\n";
    if (random_.Below(2) == 0) {
      std::string text = force + "conditions:\n";
      for (std::uint64_t i = 0; i <= random_.Below(3); ++i) {
        text += "- '" + Side("method=find") + " => " + Side("false") + "'\n";
      }
      return text;
    }
    // Without weights that draw: both directories would draw for themselves.
    return "configVersion: v3.1\n" + force + "conditions:\n- from: {match: '" + Side("method=find") +
           "'}\n  to:\n  - {match: '" + Side("region=sh") + "'}\n";
  }
  std::string Affinity() {
    return std::string("affinityAware: {key: ") + (random_.Below(2) == 0 ? "region" : "env") +
           ", ratio: " + std::to_string(random_.Below(101)) + "}\n";
  }
  std::string Provider(int number, const char* application) {
    const char* regions[] = {"hz", "sh"};
    std::string text = "10.0." + std::to_string(random_.Below(2)) + "." + std::to_string(number) + "?application=" + application;
    text += std::string("&region=") + regions[random_.Below(2)];
    if (random_.Below(2) == 0) text += "&env=gray";
    return text;
  }
  std::uint64_t Below(std::uint64_t n) { return random_.Below(n); }

 private:
  Random random_;
};

std::string AddressOf(const std::string& provider) { return provider.substr(0, provider.find('?')) + ":20880"; }

TEST(ApplicationRulesProperty, OneApplicationsRulesLeaveTheOthersProvidersAlone) {
  for (int seed = 1; seed <= Effort(600); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rules rules(static_cast<std::uint64_t>(seed));
    std::vector<std::string> ours, all;
    Addresses theirs;
    int number = 1;
    for (std::uint64_t i = 0; i <= rules.Below(5); ++i, ++number) {
      ours.push_back(rules.Provider(number, "orders"));
      all.push_back(ours.back());
    }
    for (std::uint64_t i = 0; i <= rules.Below(5); ++i, ++number) {
      all.push_back(rules.Provider(number, "other"));
      theirs.insert(AddressOf(all.back()));
    }
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rules.Below(all.size())), all.end());

    Fed both, alone;
    const std::string conditions = rules.Conditions(), affinity = rules.Affinity();
    SCOPED_TRACE(conditions + affinity);
    for (Fed* one : {&both, &alone}) {
      one->Document("orders.condition-router", conditions);
      if (seed % 2 == 0) one->Document("orders.affinity-router", affinity);
    }
    both.Providers(all);
    alone.Providers(ours);
    ASSERT_EQ(both.FirstWarning(), "");
    const Attachment user[] = {{"user", "vip"}};
    for (const char* method : {"find", "save"}) {
      for (const std::span<const Attachment> attachments : {std::span<const Attachment>(), std::span<const Attachment>(user)}) {
        Addresses expected = alone.Reach(method, attachments);
        expected.insert(theirs.begin(), theirs.end());
        EXPECT_EQ(both.Reach(method, attachments), expected) << method;
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
