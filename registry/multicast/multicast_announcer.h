#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ANNOUNCER_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ANNOUNCER_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "fairlead/registry/multicast/multicast_link.h"
#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/registry/multicast/multicast_voice.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// What this process has registered: there is nobody else who knows, so that it answers those who ask. REQUIRES: executor.
//
// Answers to the group wait a moment, so that many who ask at once are answered once; those to single hosts are limited
// to kMostAnswers a second, as anybody may ask in another's name.
class MulticastAnnouncer {
 public:
  static constexpr std::chrono::milliseconds kAnswerDelay{20};
  static constexpr std::chrono::milliseconds kBetweenAnswers{100};
  static constexpr std::size_t kMostAtOnce = 200;
  static constexpr int kMostAnswers = 2000;

  // `voice` must outlive the object.
  MulticastAnnouncer(std::string address, const RegistryContext& context, MulticastVoice& voice)
      : address_(std::move(address)), context_(context), voice_(voice) {}

  // Registered from then on, unless it fails.
  absl::Status Put(RegistryKey key, std::string_view text, bool dynamic);
  // Not registered from then on; a failure is of telling others.
  absl::Status Remove(std::string_view text);

  void OnSubscribe(const UrlParts& consumer, const Datagram& datagram);
  // Somebody else has said that a url is gone. Ours are not.
  void OnUnregister(const HeardUrl& url);
  // Those who hear may have missed something.
  void AnnounceAll();
  // The end: what is dynamic goes.
  void Leave();

  void AddTo(const RegistryKey& key, NewestUrls& urls) const;
  void AddServicesTo(std::set<std::string>& services) const;
  std::size_t size() const { return own_.size(); }

 private:
  struct Own {
    HeardUrl url;
    bool dynamic = true;
  };
  void AnswerLater(const std::string& text);
  void Answer();
  bool MayAnswer();

  const std::string address_;
  const RegistryContext context_;
  MulticastVoice& voice_;
  std::map<std::string, Own, std::less<>> own_;  // by text
  std::set<std::string> unanswered_;             // texts
  Timer answer_;
  bool answer_due_ = false;
  std::optional<Clock::SteadyTime> answered_at_;
  Clock::SteadyTime second_began_{};
  int answers_ = 0;  // to single hosts, in this second
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ANNOUNCER_H_
