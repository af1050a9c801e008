#ifndef FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_CALLS_H_
#define FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_CALLS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/registry/delegate/registry_service.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// Calls of the host's RegistryService, made safe: what it answers comes as a task of its own, once, in time or as
// kDeadlineExceeded; what it throws is an answer too. REQUIRES: executor; owned by a shared_ptr.
class DelegateCalls : public std::enable_shared_from_this<DelegateCalls> {
 public:
  using Urls = absl::StatusOr<std::vector<std::string>>;
  using OnUrls = absl::AnyInvocable<void(Urls)>;

  DelegateCalls(std::shared_ptr<RegistryService> service, const RegistryContext& context, std::string address,
                std::chrono::milliseconds limit)
      : service_(std::move(service)), context_(context), address_(std::move(address)), limit_(limit) {}

  void Register(const std::string& url, Done done);
  void Unregister(const std::string& url, Done done);
  // Of `notify` every call is heard, until the end.
  void Subscribe(const std::string& url, std::function<void(std::vector<std::string>)> notify, Done done);
  void Unsubscribe(const std::string& url);
  void Lookup(const std::string& url, OnUrls found);
  bool IsAvailable();
  void OnLinkLost(std::function<void()> lost);

  // What is under way is not answered any more.
  void Forget() { pending_.clear(); }
  // Nothing is told any more, and the service is let go.
  void End();
  std::chrono::milliseconds limit() const { return limit_; }
  std::uint64_t exceptions() const { return exceptions_; }

 private:
  struct Pending {
    OnUrls answer;
    Timer limit;
  };

  // `what` is a literal; `call` gets what the host is to answer with.
  template <class Call>
  void Make(std::string_view what, OnUrls answer, Call call);
  void OnAnswer(std::uint64_t id, Urls answer);
  template <class F>
  void Post(F task);
  // False: it threw.
  template <class F>
  bool CallService(std::string_view what, F call);
  // What is called from anywhere, as a task.
  template <class F>
  auto Later(F task);

  std::shared_ptr<RegistryService> service_;
  const RegistryContext context_;
  const std::string address_;
  const std::chrono::milliseconds limit_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_id_ = 0;
  std::uint64_t exceptions_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_CALLS_H_
