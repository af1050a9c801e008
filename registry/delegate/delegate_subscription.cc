#include "fairlead/registry/delegate/delegate_subscription.h"

#include <algorithm>
#include <utility>

namespace fairlead::internal {

void DelegateSubscription::Begin() {
  if (ended_) return;
  backoff_.Reset();
  Try();
}

void DelegateSubscription::Pause() {
  timer_.Cancel();
  told_ = attempt_ + 1;
}

void DelegateSubscription::End() {
  if (std::exchange(ended_, true)) return;
  timer_.Cancel();
  if (attempt_ > 0) calls_->Unsubscribe(url_);
}

void DelegateSubscription::Fail(const absl::Status& why) {
  if (!ended_ && std::exchange(failed_, why) != why) on_failure_(why);
}

void DelegateSubscription::Try() {
  attempt_ = std::max(attempt_, told_) + 1;
  const auto weak = weak_from_this();
  const std::uint64_t attempt = attempt_;
  calls_->Subscribe(
      url_,
      [weak, attempt](std::vector<std::string> urls) {
        if (const auto self = weak.lock()) self->OnList(attempt, std::move(urls));
      },
      [weak, attempt](absl::Status status) {
        if (const auto self = weak.lock()) self->OnAnswer(attempt, std::move(status));
      });
}

void DelegateSubscription::OnList(std::uint64_t attempt, std::vector<std::string> urls) {
  if (ended_ || attempt < told_) return;
  told_ = attempt;
  failed_ = absl::OkStatus();
  on_urls_(std::move(urls));
}

void DelegateSubscription::OnAnswer(std::uint64_t attempt, absl::Status status) {
  if (ended_ || attempt != attempt_) return;
  if (!status.ok()) return Retry(std::move(status));
  backoff_.Reset();
  if (told_ == attempt) return;
  // The first list may come a little later. When it does not come at all, whoever waits for it is to hear of it in time.
  timer_ = context_.executor->After(calls_->limit() / 4, [this, attempt] { LookUp(attempt); });
}

void DelegateSubscription::LookUp(std::uint64_t attempt) {
  if (told_ == attempt) return;
  const auto weak = weak_from_this();
  calls_->Lookup(url_, [weak, attempt](DelegateCalls::Urls urls) {
    const auto self = weak.lock();
    if (self == nullptr || self->ended_ || attempt != self->attempt_ || self->told_ == attempt) return;
    if (!urls.ok()) return self->Retry(urls.status());
    self->OnList(attempt, *std::move(urls));
  });
}

void DelegateSubscription::Retry(absl::Status why) {
  timer_ = context_.executor->After(backoff_.Next(random_), [this] { Try(); });
  // A list that came all the same is still the last word.
  if (told_ != attempt_) Fail(why);
}

}  // namespace fairlead::internal
