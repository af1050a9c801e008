#ifndef FAIRLEAD_DIRECTORY_UPDATER_H_
#define FAIRLEAD_DIRECTORY_UPDATER_H_

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/log.h"
#include "fairlead/directory/directory_config.h"
#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/endpoints.h"
#include "fairlead/directory/governance.h"
#include "fairlead/directory/protection.h"
#include "fairlead/directory/provider_guard.h"
#include "fairlead/registry/notification.h"

namespace fairlead::internal {

// Turns the current providers, rules and overrides into published snapshots: the write side of a Directory.
// Each setter marks; all changes that are already queued make one update. Executor only.
class Updater : public std::enable_shared_from_this<Updater> {
 public:
  static std::shared_ptr<Updater> Create(DirectoryConfig config);

  const std::shared_ptr<DirectoryCore>& core() const { return core_; }

  // The category's complete list. kUnknown keeps what is there, and so does an empty list of providers while they are
  // protected. `unreadable` = its children that are no urls; `cached`: the registry has not said so yet in this life.
  void Set(Category category, ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable = {},
           bool cached = false);
  // As RuleDocuments has it.
  void SetDocument(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text);
  void ForgetDocument(const RuleKey& key);
  // What Explain says of the registry is read again: config's `registry_state` and `unreadable`. Every publication does
  // so too; no table is built anew.
  void RegistryChanged();
  // A remark for Explain and for the status of picks while the list is empty.
  void SetEmptyReason(std::string reason);
  // Those of the list that are disabled, by themselves or by overrides.
  std::vector<Url> Disabled() const { return endpoints_->Disabled(); }
  // As Governance has it.
  std::vector<std::string> BrokenRules() const { return governance_.Broken(); }
  // Nothing is published before this.
  void Open();
  bool open() const { return open_; }
  // Picks answer kCancelled from here on; `done` when every invoker was destroyed.
  void Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done);

 private:
  explicit Updater(DirectoryConfig config);
  ProviderGuard::Config GuardConfig();
  void SetProviders(std::vector<Url> urls);
  void Changed();
  void Replan();
  bool LeafIsDown() const;
  void Update();
  void ApplyProviders();
  void Publish();
  std::function<void(std::string)> OnFault();
  void WarnOfEach(std::string_view code, const std::vector<std::string>& inputs) const;
  bool Speaks(std::string_view protocol) const;
  bool IsWantedProtocol(std::string_view protocol) const;
  Endpoints::Made Make(const Url& original);
  absl::Status EmptyStatus() const;
  void ScheduleWarmup();
  void ScheduleTick();
  void BuildPlansSoon();
  void AwaitIdle(absl::AnyInvocable<void()> done);

  const DirectoryConfig config_;
  const std::shared_ptr<DirectoryCore> core_;
  std::shared_ptr<Endpoints> endpoints_;
  std::optional<std::vector<Url>> providers_;  // to be applied; then the endpoints have it
  std::array<bool, kCategoryCount> stale_{};   // by category: the registry could not say
  std::array<bool, kCategoryCount> cached_{};  // by category: out of the list cache file
  bool providers_anew_ = false;
  Governance governance_;
  std::vector<std::string> bad_providers_;
  std::string empty_reason_;
  ProviderGuard guard_;
  std::uint64_t version_ = 0;
  bool open_ = false, queued_ = false, closed_ = false;
  Clock::SteadyTime replanned_{};  // when availability made an update last
  bool building_plans_ = false;  // a task for it is queued
  Timer warmup_, tick_, replan_, closing_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_UPDATER_H_
