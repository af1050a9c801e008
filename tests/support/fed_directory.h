#ifndef FAIRLEAD_TESTS_SUPPORT_FED_DIRECTORY_H_
#define FAIRLEAD_TESTS_SUPPORT_FED_DIRECTORY_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/read_domain.h"
#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/directory/snapshot.h"
#include "fairlead/routing/wish.h"
#include "fairlead/tests/support/directory_world.h"

namespace fairlead {

// The full lists of the three categories, in the registry's order.
struct Feed {
  std::vector<Url> providers, rules, overrides;
};

// A directory fed by hand, whose snapshots can be looked into. Lives in a world that outlives it.
class FedDirectory {
 public:
  static constexpr const char* kConsumer = "consumer://10.0.0.9/com.acme.Orders?application=shop";
  // An empty list holds at once, as if there had never been another.
  static constexpr const char* kUnprotected =
      "consumer://10.0.0.9/com.acme.Orders?application=shop&enable-empty-protection=false";

  explicit FedDirectory(DirectoryWorld& world, const std::string& consumer = kConsumer)
      : FedDirectory(world, world.Config(consumer, nullptr)) {}
  // `config.protocol` stays this object's own.
  FedDirectory(DirectoryWorld& world, DirectoryConfig config) : world_(world) {
    config.protocol = protocol;
    updater_ = internal::Updater::Create(std::move(config));
    handle = std::make_unique<Directory>(updater_->core(), nullptr);
    updater_->Open();
  }
  ~FedDirectory() {
    handle.reset();
    updater_->Close(std::chrono::nanoseconds(0), nullptr);
    world_.executor_.RunReady();
  }

  // Tells all of it and lets the directory follow.
  void Tell(const Feed& feed) {
    Tell(Category::kConfigurators, feed.overrides);
    Tell(Category::kRouters, feed.rules);
    Tell(Category::kProviders, feed.providers);
    world_.executor_.RunReady();
  }
  void Tell(Category category, const std::vector<Url>& urls) {
    updater_->Set(category, urls.empty() ? ListKind::kEmpty : ListKind::kList, urls);
  }

  // A document of the config center; nullopt: there is none.
  void Document(internal::RuleScope scope, internal::RuleKind kind, const std::string& owner, std::optional<std::string> text) {
    updater_->SetDocument({scope, kind, owner}, std::move(text));
  }

  const internal::DirectorySnapshot& snapshot() const { return updater_->core()->Current(); }

  // The plan that a call finds; nullptr when it walks.
  const internal::Plan* PlanOf(const Invocation& invocation) const {
    const internal::DirectorySnapshot& now = snapshot();
    const std::uint32_t method_class = now.class_of.at(static_cast<std::size_t>(invocation.method));
    const internal::MethodClass& of = now.classes[method_class];
    if (now.minds_wishes && HasWish(invocation)) return nullptr;
    if (of.plan != nullptr) return of.plan.get();
    if (of.bare_plan != nullptr && invocation.attachments.empty()) return of.bare_plan.get();
    internal::PlanKey key;
    key.method_class = method_class;
    const std::string_view method = updater_->core()->methods().Name(invocation.method);
    if (now.runtime.size() > internal::kMaxRuntimeRouters) return nullptr;
    for (const std::uint32_t link : now.runtime) {
      key.cases[key.count++] = now.chain[link].table->Classify({method, invocation});
    }
    const internal::PlanTable* plans = now.plans.load();
    return plans == nullptr ? nullptr : plans->Find(key);
  }

  const Provider& ProviderIn(Slot slot) const { return snapshot().table->providers[slot]; }
  ProviderId IdIn(Slot slot) const { return snapshot().table->states[slot]->id(); }
  FakeProtocol::FakeInvoker& InvokerIn(Slot slot) const {
    return static_cast<FakeProtocol::FakeInvoker&>(snapshot().table->states[slot]->invoker());
  }

  // The host finds out that a provider cannot be called, or can again; its report is a task of the executor.
  void Down(Slot slot) {
    protocol->unavailable.insert(InvokerIn(slot).address());
    InvokerIn(slot).report().Down();
  }
  void Up(Slot slot) {
    protocol->unavailable.erase(InvokerIn(slot).address());
    InvokerIn(slot).report().Up();
  }

  const std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
  std::unique_ptr<Directory> handle;

 private:
  DirectoryWorld& world_;
  std::shared_ptr<internal::Updater> updater_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_FED_DIRECTORY_H_
