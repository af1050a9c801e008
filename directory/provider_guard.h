#ifndef FAIRLEAD_DIRECTORY_PROVIDER_GUARD_H_
#define FAIRLEAD_DIRECTORY_PROVIDER_GUARD_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/protection.h"

namespace fairlead::internal {

// Empty protection of one registry's providers, with its clock and its log lines; who owns it holds the list. Executor
// only.
class ProviderGuard {
 public:
  struct Config {
    std::shared_ptr<Executor> executor;
    const Clock* clock = nullptr;
    Logger* log = nullptr;
    std::string service;                    // for the log
    std::string registry = "the registry";  // for texts
    std::chrono::nanoseconds max_age{0};    // zero: never
    std::function<void()> on_begin;         // the last list is protected from here on
    std::function<void()> on_end;           // no more
    std::function<void()> on_give_up;       // after on_end: the registry's empty list holds now
  };
  explicit ProviderGuard(Config config)
      : config_(std::move(config)), protection_(*config_.clock, config_.max_age, config_.registry) {}

  // The registry lists providers.
  void OnList() { End(Severity::kInfo, ToText("lists providers again")); }
  // It lists none; `held` are known so far. True: that holds.
  bool OnEmpty(std::size_t held);
  // The host ends the protection.
  void Clear() { GiveUp("the host cleared it; there is no provider now"); }
  void Close() { timer_.Cancel(); }

  const std::optional<ProtectedList>& list() const { return protection_.list(); }

 private:
  std::string ToText(std::string_view what) const { return config_.registry + " " + std::string(what); }
  bool End(Severity severity, std::string_view why);
  void GiveUp(std::string_view why);

  const Config config_;
  Protection protection_;
  Timer timer_;
  const std::shared_ptr<void> alive_ = std::make_shared<char>();  // a timer may be cancelled too late
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_PROVIDER_GUARD_H_
