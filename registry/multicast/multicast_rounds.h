#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ROUNDS_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fairlead/base/random.h"
#include "fairlead/registry/multicast/heard_urls.h"
#include "fairlead/registry/multicast/multicast_options.h"
#include "fairlead/registry/multicast/multicast_voice.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// Who is gone without having said so? Every service is asked for again within 0.75 to 1.25 `session`s, with answers to the
// group, by one of those who ask for it: all of them hear the question and the answers. Whoever did not answer is probed by
// a connection, and once more after 100 ms, and dropped when both fail. Whoever can neither answer nor be probed stays.
// REQUIRES: executor.
class MulticastRounds {
 public:
  struct Actions {
    std::function<void(const std::string& service)> ask;
    // It is no longer among the heard.
    std::function<void(const RegistryKey& key, const std::string& text)> dropped;
  };

  // All must outlive the object.
  MulticastRounds(const MulticastOptions& options, const RegistryContext& context, MulticastVoice& voice, HeardUrls& heard,
                  Actions actions);

  // `*` is all of them.
  void Begin(const std::string& service);
  void End(const std::string& service) { rounds_.erase(service); }
  bool Has(const std::string& service) const { return rounds_.contains(service); }
  // Somebody has asked the group for answers to all of it.
  void OnAsked(const std::string& service);
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Round {
    std::optional<Clock::SteadyTime> asked_at;
    Clock::SteadyTime next;
  };

  Clock::SteadyTime Now() const { return context_.clock->SteadyNow(); }
  Clock::SteadyTime NextRound();
  void TickLater();
  void Tick();
  void ProbeSilent(const RegistryKey& key, Clock::SteadyTime since);
  void Probe(const RegistryKey& key, const std::string& identity);
  void OnProbed(const RegistryKey& key, const std::string& identity, bool lives);

  const MulticastOptions& options_;
  const RegistryContext context_;
  MulticastVoice& voice_;
  HeardUrls& heard_;
  const Actions actions_;
  Random random_;
  std::map<std::string, Round> rounds_;
  Timer tick_;
  std::uint64_t dropped_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_ROUNDS_H_
