#include "fairlead/registry/multicast/multicast_announcer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/match.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {

absl::Status MulticastAnnouncer::Put(RegistryKey key, std::string_view text, bool dynamic) {
  FAIRLEAD_RETURN_IF_ERROR(CheckMulticastUrl(text));
  FAIRLEAD_ASSIGN_OR_RETURN(HeardUrl url, HeardUrl::Read(text));
  FAIRLEAD_RETURN_IF_ERROR(voice_.Say(MulticastVerb::kRegister, text));
  url.key = std::move(key);
  own_.insert_or_assign(std::string(text), Own{std::move(url), dynamic});
  return absl::OkStatus();
}

absl::Status MulticastAnnouncer::Remove(std::string_view text) {
  const auto at = own_.find(text);
  if (at == own_.end()) {
    // Another's: whoever hears it believes it, but for its owner.
    FAIRLEAD_RETURN_IF_ERROR(CheckMulticastUrl(text));
    return voice_.Say(MulticastVerb::kUnregister, text);
  }
  const HeardUrl gone = std::move(at->second.url);
  unanswered_.erase(at->first);
  own_.erase(at);
  // Dubbo takes two urls that differ in their timestamps for one, and would drop the one that stays.
  for (const auto& [other, own] : own_) {
    if (own.url.key == gone.key && own.url.identity == gone.identity) return voice_.Say(MulticastVerb::kRegister, other);
  }
  return voice_.Say(MulticastVerb::kUnregister, gone.text);
}

void MulticastAnnouncer::OnSubscribe(const UrlParts& consumer, const Datagram& datagram) {
  // To a host of several processes a datagram would reach one of them, and which is not known.
  const bool alone = BoolParam(consumer, "unicast", true) && !datagram.from_this_host;
  for (const auto& [text, own] : own_) {
    if (!Matches(consumer, own.url.parts)) continue;
    if (!alone) {
      AnswerLater(text);
    } else if (MayAnswer()) {
      static_cast<void>(voice_.SayTo(datagram.from, MulticastVerb::kRegister, text));
    } else {
      context_.log->Warn("FL-7-4", address_,
                         absl::StrCat("more than ", kMostAnswers, " answers to single hosts are asked for in a second, ",
                                      datagram.from, " among them: the rest are not given"));
      return;
    }
  }
}

bool MulticastAnnouncer::MayAnswer() {
  const Clock::SteadyTime now = context_.clock->SteadyNow();
  if (now - second_began_ >= std::chrono::seconds(1)) {
    second_began_ = now;
    answers_ = 0;
  }
  return ++answers_ <= kMostAnswers;
}

void MulticastAnnouncer::OnUnregister(const HeardUrl& url) {
  for (const auto& [text, own] : own_) {
    if (own.url.key != url.key || own.url.identity != url.identity) continue;
    context_.log->Warn("FL-7-5", address_,
                       absl::StrCat("somebody says that ", Redacted(text), " is gone, which is not so: announced again"));
    AnswerLater(text);
  }
}

void MulticastAnnouncer::AnnounceAll() {
  for (const auto& [text, own] : own_) AnswerLater(text);
}

void MulticastAnnouncer::AnswerLater(const std::string& text) {
  unanswered_.insert(text);
  if (std::exchange(answer_due_, true)) return;
  std::chrono::nanoseconds delay = kAnswerDelay;
  if (answered_at_) delay = std::max(delay, *answered_at_ + kBetweenAnswers - context_.clock->SteadyNow());
  answer_ = context_.executor->After(delay, [this] { Answer(); });
}

void MulticastAnnouncer::Answer() {
  answer_due_ = false;
  std::size_t said = 0;
  while (!unanswered_.empty() && said++ < kMostAtOnce) {
    const std::string text = std::move(unanswered_.extract(unanswered_.begin()).value());
    // Without a link: all is announced with the next one.
    if (absl::IsUnavailable(voice_.Say(MulticastVerb::kRegister, text))) return unanswered_.clear();
  }
  // A network has queues; what is left comes a little later.
  if (!unanswered_.empty()) return AnswerLater(*unanswered_.begin());
  answered_at_ = context_.clock->SteadyNow();
}

void MulticastAnnouncer::Leave() {
  answer_.Cancel();
  for (const auto& [text, own] : own_) {
    if (own.dynamic) static_cast<void>(voice_.Say(MulticastVerb::kUnregister, text));
  }
  own_.clear();
}

void MulticastAnnouncer::AddTo(const RegistryKey& key, NewestUrls& urls) const {
  for (const auto& [text, own] : own_) {
    if (own.url.key == key) urls.Add(own.url.identity, own.url.timestamp, text);
  }
}

void MulticastAnnouncer::AddServicesTo(std::set<std::string>& services) const {
  for (const auto& [text, own] : own_) services.insert(own.url.key.service);
}

}  // namespace fairlead::internal
