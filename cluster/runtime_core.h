#ifndef FAIRLEAD_CLUSTER_RUNTIME_CORE_H_
#define FAIRLEAD_CLUSTER_RUNTIME_CORE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/cluster/first_answers.h"
#include "fairlead/cluster/registry_pool.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/directory/registry_choice.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/directory/registry_union.h"

namespace fairlead {

// All state of a Runtime, on the executor. Lives as long as the Runtime, a directory or a queued task needs it.
class Runtime::Core : public std::enable_shared_from_this<Core> {
 public:
  struct ReferRequest {
    std::vector<std::string> registries;
    std::optional<RegistryMode> mode;  // nullopt: `registries` is the one
    std::string consumer;
    std::shared_ptr<Protocol> protocol;
    Referred done;
  };

  static constexpr std::chrono::milliseconds kGoodbye{2000};  // that a shutdown waits for registries beyond its deadline

  static std::shared_ptr<Core> Create(Options options, bool own_thread);

  const std::shared_ptr<Executor>& executor() const { return options_.executor; }
  void SweepLater();
  void TellMetricsLater();
  void Refer(ReferRequest request);
  void Register(const std::string& registry_text, const std::string& provider_text,
                absl::AnyInvocable<void(absl::StatusOr<Registration>)> done);
  void Shutdown(std::chrono::nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done);
  // For the end of the Runtime: shuts down without waiting for leases, or cuts a shutdown that has begun short.
  void End(absl::AnyInvocable<void()> over);
  // For an executor that will never run again: breaks the circles that tasks would have.
  void Drop();

 private:
  // A consumer url in one of its registries.
  struct Link {
    internal::RegistryHold registry;
    Url node;  // registered there; may be empty
    std::shared_ptr<NotifyListener> listener;
  };
  struct Reference {
    Url consumer;
    std::vector<Link> links;
    std::vector<std::shared_ptr<RegistryDirectory>> directories;  // one, or one for each link
    std::shared_ptr<internal::RegistryChoice> choice;             // among several
    std::shared_ptr<internal::FirstAnswers> answers;              // what Refer waits for, with several registries
    DirectoryStats Stats() const { return choice != nullptr ? choice->Stats() : directories.front()->Stats(); }
  };
  struct Registered {
    internal::RegistryHold registry;
    Url url;
  };

  Core(Options options, bool own_thread);

  // How a consumer is referred: runtime_refer.cc.
  absl::StatusOr<std::vector<internal::RegistryAccess>> AcquireAll(const ReferRequest& request,
                                                                   std::vector<std::string>* remarks);
  DirectoryConfig ConfigFor(const Url& consumer, std::span<const internal::RegistryAccess> accesses,
                            const std::shared_ptr<Protocol>& protocol);
  void Merge(Reference& reference, std::span<const internal::RegistryAccess> accesses, DirectoryConfig config);
  void Choose(Reference& reference, std::span<const internal::RegistryAccess> accesses, RegistryMode mode,
              const std::shared_ptr<Protocol>& protocol, const std::vector<std::string>& remarks);
  void OpenWhenAnswered(const Reference& reference);
  void RegisterNode(Link& link, const Url& consumer, const internal::RegistryAccess& access);
  void SubscribeOne(const Reference& reference, const RegistryCallOptions& call, std::shared_ptr<Directory> handle,
                    Referred done);
  void SubscribeAll(Reference& reference, std::span<const internal::RegistryAccess> accesses,
                    std::shared_ptr<Directory> handle, Referred done);

  void Release(std::uint64_t id, std::chrono::nanoseconds drain, absl::AnyInvocable<void()> done);
  Registration HandleOf(std::uint64_t id);
  void Unregister(std::uint64_t id);
  void TellMetrics();
  void HostThrew(std::string_view whose, std::string_view text);
  Timer GiveUpAfter(std::chrono::nanoseconds delay);
  void Finish(absl::Status status);

  Options options_;
  UrlPool pool_;
  Logger log_;
  std::uint64_t next_id_ = 1;
  internal::RegistryPool registries_;
  std::map<std::uint64_t, Reference> references_;
  std::map<std::uint64_t, Registered> registrations_;
  bool closed_ = false;  // a shutdown has begun
  bool over_ = false;    // and is over
  absl::AnyInvocable<void(absl::Status)> shutdown_done_;
  Timer sweep_, metrics_, shutdown_timer_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_CLUSTER_RUNTIME_CORE_H_
