#ifndef FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_BACKEND_H_
#define FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_BACKEND_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/registry/burst_window.h"
#include "fairlead/registry/delegate/delegate_calls.h"
#include "fairlead/registry/delegate/delegate_lists.h"
#include "fairlead/registry/delegate/delegate_subscription.h"
#include "fairlead/registry/no_documents.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

// What a registry url says of a service that the host reaches.
struct DelegateOptions {
  std::string address;  // for logs and errors
  std::chrono::milliseconds reconnect_period{3000};
  std::chrono::milliseconds timeout{5000};
  BurstWindow::Limits burst;

  // kInvalidArgument names the parameter and what was expected.
  static absl::StatusOr<DelegateOptions> Parse(const Url& registry);
};

// A host's RegistryService as a registry. A session lasts as long as the connection that the host has to it.
class DelegateBackend final : public RegistryBackend {
 public:
  DelegateBackend(DelegateOptions options, const RegistryContext& context, std::shared_ptr<RegistryService> service);
  ~DelegateBackend() override;

  void Start(absl::AnyInvocable<void(Session)> on_session) override;
  void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
           Done done) override;
  void Remove(std::string_view service, Category category, std::string_view url_text, Done done) override;
  void Read(std::string_view service, Category category, fairlead::Children once) override;
  void Watch(std::string_view service, Category category, fairlead::Children on_full_list) override;
  void Unwatch(std::string_view service, Category category) override;
  void WatchServices(Names on_names) override;
  void UnwatchServices() override;
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override {
    documents_.Watch(group, key, std::move(on_value));
  }
  void UnwatchConfig(std::string_view group, std::string_view key) override { documents_.Unwatch(group, key); }
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override;
  void Stop(Done done) override;

 private:
  using Subscription = std::shared_ptr<DelegateSubscription>;
  enum class State { kNone, kUp, kDown, kStopped };

  struct List {
    Subscription subscription;
    std::shared_ptr<fairlead::Children> on_list;
    BurstWindow window;
    Timer timer;
    ChildrenAnswer latest;
  };
  struct AllServices {
    Subscription subscription;
    std::shared_ptr<Names> on_names;
    DelegateServices services;
    std::optional<std::vector<std::string>> told;
    BurstWindow window;
    Timer timer;
  };

  // Does nothing once the backend is stopped or gone.
  template <class F>
  auto Guarded(F f) {
    return [alive = std::weak_ptr<bool>(alive_), f = std::move(f)](auto&&... args) mutable {
      if (const auto now = alive.lock(); now != nullptr && *now) f(std::forward<decltype(args)>(args)...);
    };
  }
  void Look();
  void LookLater();
  void Up();
  void Down();
  std::vector<Subscription> Subscriptions() const;
  Subscription Subscribe(std::string question, DelegateSubscription::OnUrls on_urls,
                         DelegateSubscription::OnFailure on_failure);
  void OnList(const RegistryKey& key, std::vector<std::string> urls);
  void TellList(const RegistryKey& key);
  void TellNames();
  absl::Status NotAvailable() const;
  void FinishStop(const absl::Status& status);

  const DelegateOptions options_;
  const RegistryContext context_;
  const std::shared_ptr<DelegateCalls> calls_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false once stopped
  absl::AnyInvocable<void(Session)> on_session_;
  State state_ = State::kNone;
  std::uint64_t generation_ = 0;
  std::uint64_t subscriptions_made_ = 0;
  Timer look_;
  std::set<std::string> dynamic_;  // what is to go at the end
  std::map<RegistryKey, List> lists_;
  std::optional<AllServices> all_;
  NoDocuments documents_;
  std::size_t leaving_ = 0;  // answers that the end waits for
  std::vector<Done> stopping_;
  Timer stop_limit_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_BACKEND_H_
