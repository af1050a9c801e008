#ifndef FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_
#define FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/directory/directory.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/directory/rule_source.h"
#include "fairlead/directory/updater.h"
#include "fairlead/registry/registry.h"

namespace fairlead {

// The consumer's `rules.wait`.
std::chrono::milliseconds RulesWait(const Url& consumer);

// A directory fed by a registry: the NotifyListener of one consumer url. Executor only; picks go through the
// handle that MakeDirectory gives.
//
// Nothing is published before all that is subscribed of providers, configurators and routers has been told, and the
// documents of the service, of the consumer's application and of the applications of the providers; or `rules.wait`
// (consumer parameter, milliseconds, default 3 000) after the first of them: a call never sees a list without its rules.
// Providers of an application that was not among them before wait the same way for that application's documents; if no
// others are listed, the list before stays meanwhile. While the lists are those of the list cache file, whose registry
// does not answer, documents are not waited for.
class RegistryDirectory final : public NotifyListener, public std::enable_shared_from_this<RegistryDirectory> {
 public:
  static std::shared_ptr<RegistryDirectory> Create(DirectoryConfig config);

  void Notify(Notification full) override { NotifyUnion(std::move(full), true); }
  // What several registries say together; `all`: each of them has said something of the category.
  void NotifyUnion(Notification full, bool all);
  // Explain, and the error of picks before the first list, say the registry's new state.
  void OnRegistryChange() override { updater_->RegistryChanged(); }

  // Providers listed that are disabled, by themselves or by overrides.
  std::vector<Url> Disabled() const { return updater_->Disabled(); }
  // Rules, overrides and documents that cannot be used, a line each. Their last good versions stay in force.
  std::vector<std::string> BrokenRules() const { return updater_->BrokenRules(); }
  const std::shared_ptr<internal::DirectoryCore>& core() const { return updater_->core(); }
  DirectoryStats Stats() const { return updater_->core()->Stats(); }
  // A handle for picks. `on_destroy` runs on the thread that drops the last reference.
  std::shared_ptr<Directory> MakeDirectory(absl::AnyInvocable<void()> on_destroy) const;
  // Picks answer kCancelled; invokers are destroyed when their leases ended, at the latest after `deadline`; `done`.
  void Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done);

 private:
  explicit RegistryDirectory(DirectoryConfig config);
  struct Document {
    RuleWatch watch;
    bool answered = false;
  };
  // One that providers are of.
  struct Application {
    std::vector<internal::RuleKey> keys;
    bool waited = false;  // for rules.wait, or answered
    Timer wait;
  };

  void Follow(const internal::RuleKey& key);
  void OnDocument(const internal::RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text);
  bool Answered(const std::vector<internal::RuleKey>& keys) const;
  bool Complete() const;
  void OpenIfComplete();
  void OpenWithoutRules();
  void FollowApplications(const std::vector<Url>& providers);
  void TellProviders();

  const std::shared_ptr<Executor> executor_;
  Logger* const log_;
  const Url consumer_;
  const std::uint32_t needed_;  // bit per category
  const std::function<void(absl::AnyInvocable<void(std::string)>)> why_empty_;
  const std::shared_ptr<RuleSource> source_;  // nullptr: no documents
  const std::shared_ptr<internal::Updater> updater_;
  std::map<internal::RuleKey, Document> documents_;
  std::map<std::string, Application, std::less<>> applications_;
  std::optional<std::vector<Url>> held_;  // the complete list, some providers of which wait for documents
  bool cached_ = false;                   // the providers told last are those of the list cache file
  std::uint32_t told_ = 0;  // bit per category
  bool heard_ = false;      // of providers, from somebody
  Timer gate_;
  bool waited_ = false;  // for rules.wait
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_REGISTRY_DIRECTORY_H_
