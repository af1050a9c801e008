#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LISTS_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LISTS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fairlead/registry/burst_window.h"
#include "fairlead/registry/multicast/heard_urls.h"
#include "fairlead/registry/multicast/multicast_announcer.h"
#include "fairlead/registry/multicast/multicast_options.h"
#include "fairlead/registry/multicast/multicast_rounds.h"
#include "fairlead/registry/multicast/multicast_voice.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// Full lists out of single messages. REQUIRES: executor.
//
// A question. Who asks for a list gets it when the answers have been quiet for a quarter of `reply.wait`, or after all of it.
// All lists of a service that are asked for in one task are one question. Where a first one wanted answers for this host
// alone and none of those has come after half of that time, it is asked again for answers to the group: another process
// of the host may be getting them.
//
// Whom MulticastRounds drops is gone for this process alone; one that watches all services says so to the group, as Dubbo's
// consoles do.
class MulticastLists {
 public:
  MulticastLists(const MulticastOptions& options, const RegistryContext& context, MulticastVoice& voice,
                 const MulticastAnnouncer& announcer);

  void Watch(const RegistryKey& key, Children on_list);
  void Unwatch(const RegistryKey& key);
  void ReadOnce(const RegistryKey& key, Children once);
  void WatchServices(Names on_names);
  void UnwatchServices();

  // There is a link: everything is asked for.
  void OnLink();
  // There is none yet.
  void OnTrouble(const absl::Status& why);

  void OnRegister(const HeardUrl& url, bool unicast);
  void OnUnregister(const HeardUrl& url);
  // Somebody else's question.
  void OnSubscribe(const UrlParts& consumer);
  // A url of this process came or went.
  void OnOwn(const RegistryKey& key) { OnChange(key); }
  // Nothing is told any more.
  void End();

  std::size_t heard() const { return heard_.size(); }
  std::uint64_t dropped() const { return rounds_.dropped(); }

 private:
  struct List {
    std::uint64_t id = 0;
    Children on_list;  // null: it is only read, or just being told
    std::uint64_t watch = 0;  // 0: it is only read
    std::vector<Children> once;
    bool answered = false;
    BurstWindow window;
    Timer timer;
  };
  struct Question {
    std::set<Category> categories;
    bool heard = false;
    bool heard_directly = false;
    Timer quiet, again, end;
  };
  static constexpr std::string_view kAllServices = "*";

  Clock::SteadyTime Now() const { return context_.clock->SteadyNow(); }
  bool watches_services() const { return static_cast<bool>(on_names_); }
  bool Wants(const RegistryKey& key) const;
  std::set<Category> CategoriesOf(const std::string& service) const;
  List& ListOf(const RegistryKey& key);
  void EndList(const RegistryKey& key);
  void Ask(const std::string& service, Category category);
  void AskNow();
  void AskAgain(const std::string& service);
  absl::Status Say(const std::string& service, const std::set<Category>& categories, bool unicast);
  void OnAnswers(const std::string& service, bool unicast);
  void Settle(const std::string& service);
  void OnChange(const RegistryKey& key);
  void TellSoon(const RegistryKey& key, List& list);
  void TellList(const RegistryKey& key, std::uint64_t id, const ChildrenAnswer& answer);
  void TellNames(absl::StatusOr<std::vector<std::string>> names);
  void TellNamesAfter(std::chrono::nanoseconds delay);
  ChildrenAnswer Answer(const RegistryKey& key) const;
  void Fail(const RegistryKey& key, const absl::Status& why);

  const MulticastOptions& options_;
  const RegistryContext context_;
  MulticastVoice& voice_;
  const MulticastAnnouncer& announcer_;
  HeardUrls heard_;
  MulticastRounds rounds_;
  std::map<RegistryKey, List> lists_;
  std::uint64_t last_id_ = 0;

  std::map<std::string, std::set<Category>> to_ask_;
  Timer ask_;
  bool ask_due_ = false;
  std::map<std::string, Question> questions_;  // by service

  Names on_names_;
  std::uint64_t names_id_ = 0;
  bool names_answered_ = false;
  std::optional<std::vector<std::string>> told_names_;
  BurstWindow names_window_;
  Timer names_timer_;
  bool ended_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LISTS_H_
