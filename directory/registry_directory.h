#ifndef FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_
#define FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_

#include <chrono>
#include <memory>
#include <string>

#include "fairlead/directory/directory.h"
#include "fairlead/directory/updater.h"
#include "fairlead/registry/registry.h"

namespace fairlead {

// A directory fed by a registry: the NotifyListener of one consumer url. Executor only; picks go through the
// handle that MakeDirectory gives.
//
// Nothing is published before all that is subscribed of providers, configurators and routers has been told, or `rules.wait` (consumer
// parameter, milliseconds, default 3 000) after the first of them: a call never sees a list without its rules.
class RegistryDirectory final : public NotifyListener, public std::enable_shared_from_this<RegistryDirectory> {
 public:
  static std::shared_ptr<RegistryDirectory> Create(DirectoryConfig config);

  void Notify(Notification full) override;
  // Explain, and the error of picks before the first list, say the registry's new state.
  void OnRegistryChange() override { updater_->RegistryChanged(); }

  DirectoryStats Stats() const { return updater_->core()->Stats(); }
  // A handle for picks. `on_destroy` runs on the thread that drops the last reference.
  std::shared_ptr<Directory> MakeDirectory(absl::AnyInvocable<void()> on_destroy) const;
  // Picks answer kCancelled; invokers are destroyed when their leases ended, at the latest after `deadline`; `done`.
  void Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done);

 private:
  explicit RegistryDirectory(DirectoryConfig config);
  std::chrono::milliseconds RulesWait() const;
  void OpenWithoutRules();

  const std::shared_ptr<Executor> executor_;
  Logger* const log_;
  const Url consumer_;
  const std::uint32_t needed_;  // bit per category
  const std::function<void(absl::AnyInvocable<void(std::string)>)> why_empty_;
  const std::shared_ptr<internal::Updater> updater_;
  std::uint32_t told_ = 0;  // bit per category
  Timer gate_;
  bool waited_ = false;  // for rules.wait
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_
