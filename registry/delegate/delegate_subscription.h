#ifndef FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_SUBSCRIPTION_H_
#define FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_SUBSCRIPTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/backoff.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/delegate/delegate_calls.h"

namespace fairlead::internal {

// One subscription at the host's service, made again whenever it fails or the service was gone. Of several attempts, whose
// lists may all come, an older one is heard until a newer one has told a list. REQUIRES: executor; owned by a shared_ptr.
class DelegateSubscription : public std::enable_shared_from_this<DelegateSubscription> {
 public:
  using OnUrls = absl::AnyInvocable<void(std::vector<std::string>)>;
  using OnFailure = absl::AnyInvocable<void(absl::Status)>;

  DelegateSubscription(std::shared_ptr<DelegateCalls> calls, const RegistryContext& context, std::uint64_t seed,
                       std::string url, OnUrls on_urls, OnFailure on_failure)
      : calls_(std::move(calls)),
        context_(context),
        url_(std::move(url)),
        on_urls_(std::move(on_urls)),
        on_failure_(std::move(on_failure)),
        random_(seed) {}

  // There is a service.
  void Begin();
  // It is gone, and has forgotten the subscription: what of it is still on the way says nothing any more.
  void Pause();
  // Nothing is told from then on.
  void End();
  // There is none yet; said once a reason.
  void Fail(const absl::Status& why);

 private:
  void Try();
  void OnList(std::uint64_t attempt, std::vector<std::string> urls);
  void OnAnswer(std::uint64_t attempt, absl::Status status);
  void LookUp(std::uint64_t attempt);
  void Retry(absl::Status why);

  const std::shared_ptr<DelegateCalls> calls_;
  const RegistryContext context_;
  const std::string url_;
  OnUrls on_urls_;
  OnFailure on_failure_;
  Random random_;
  Backoff backoff_ = ReadBackoff();
  std::uint64_t attempt_ = 0;
  std::uint64_t told_ = 0;  // the attempt whose list was told last; none before it is heard
  bool ended_ = false;
  absl::Status failed_;
  Timer timer_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_SUBSCRIPTION_H_
