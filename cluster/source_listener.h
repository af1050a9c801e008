#ifndef FAIRLEAD_CLUSTER_SOURCE_LISTENER_H_
#define FAIRLEAD_CLUSTER_SOURCE_LISTENER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"

#include "fairlead/registry/registry.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// What a registry tells, on its way to a directory: with the registry's `attachments` on its providers, and the first
// answer about them announced. Executor only.
class SourceListener final : public NotifyListener {
 public:
  using Attachments = std::map<std::string, std::string>;
  // Of a registry's url: `k=v,k=v`. What has no `=` or no key says nothing, and is named in `remarks`.
  static Attachments AttachmentsOf(const Url& registry, std::vector<std::string>* remarks);

  SourceListener(std::shared_ptr<NotifyListener> to, Attachments attachments, UrlPool& pool)
      : to_(std::move(to)), attachments_(std::move(attachments)), pool_(pool) {}
  // Told once, with the first word on providers, also if that is out of the list cache file.
  void OnAnswer(absl::AnyInvocable<void()> answered) { answered_ = std::move(answered); }
  bool answered() const { return has_answered_; }

  void Notify(Notification full) override;
  void OnRegistryChange() override { to_->OnRegistryChange(); }

 private:
  const std::shared_ptr<NotifyListener> to_;
  const Attachments attachments_;
  UrlPool& pool_;
  absl::AnyInvocable<void()> answered_;
  bool has_answered_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_SOURCE_LISTENER_H_
