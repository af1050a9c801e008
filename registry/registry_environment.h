#ifndef FAIRLEAD_REGISTRY_REGISTRY_ENVIRONMENT_H_
#define FAIRLEAD_REGISTRY_REGISTRY_ENVIRONMENT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/log.h"
#include "fairlead/base/random.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/failure_list.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_options.h"

namespace fairlead::internal {

class ListCache;

// What the parts of one FailbackRegistry share: context, backend, session and the ways to call back. Owned by
// the registry's shared state, whose lifetime `self` watches. REQUIRES: executor, for everything.
struct RegistryEnvironment {
  RegistryContext context;
  RegistryOptions options;
  std::unique_ptr<RegistryBackend> backend;
  ListCache* cache = nullptr;  // null: lists are kept nowhere
  std::weak_ptr<void> self;
  Random random;
  RegistryState state = RegistryState::kConnecting;  // of the session
  Clock::SteadyTime link_lost_at{};                  // while not connected
  bool destroyed = false;
  FailureList failures;  // of reads and writes of the backend
  RegistryStatus::Counters counters;

  Clock::SteadyTime Now() const { return context.clock->SteadyNow(); }
  bool connected() const { return state == RegistryState::kConnected; }

  // Runs `task` later, as a task of its own; the registry lives until then.
  template <class Task>
  void Post(Task task) {
    context.executor->Post([keep = self.lock(), task = std::move(task)]() mutable { task(); });
  }

  // A callback for the backend or a timer: does nothing once the registry is gone.
  template <class F>
  auto Guarded(F f) {
    return [weak = self, f = std::move(f)](auto&&... args) mutable {
      if (const auto keep = weak.lock()) f(std::forward<decltype(args)>(args)...);
    };
  }

  template <class F>
  [[nodiscard]] Timer After(std::chrono::nanoseconds delay, F f) {
    return context.executor->After(delay, Guarded(std::move(f)));
  }

  // Calls into the host: what it throws is logged and counted, never passed on to the event loop.
  template <class F>
  void CallHost(std::string_view what, F f) {
    fairlead::CallHost(f, [&](std::string_view text) { HostThrew(what, text); });
  }

  void Answer(Done done, absl::Status status) {
    if (!done) return;
    CallHost("a Done callback", [&] { done(std::move(status)); });
  }
  void PostAnswer(Done done, absl::Status status) {
    if (!done) return;
    Post([this, done = std::move(done), status = std::move(status)]() mutable {
      Answer(std::move(done), std::move(status));
    });
  }

  // "memory://h did not answer within 5000 ms about ...; last error: ...; <the backend's state>": what a caller with check=true
  // is told.
  absl::Status NoAnswer(std::string_view about, std::chrono::milliseconds timeout) const {
    const absl::Status last_error = failures.latest();
    const std::string state = backend->Describe();
    // Mostly the state says it too.
    const bool said = last_error.ok() || state.find(FromAbsl(last_error.message())) != std::string::npos;
    return absl::UnavailableError(absl::StrCat(
        "registry ", options.address, " did not answer within ", timeout.count(), " ms about ",
        Shortened(about), said ? "" : absl::StrCat("; last error: ", last_error.ToString()), "; ", state,
        "; check the address, or use check=false to go on and wait in the background"));
  }

  // "memory://h refuses: ..."; OK while waiting for an answer may help.
  absl::Status Refusal() const {
    const absl::Status why = backend->Refusal();
    if (why.ok()) return why;
    return absl::Status(why.code(), absl::StrCat("registry ", options.address, " refuses: ", why.message()));
  }

  // `what`: "registering failed". While there is no link that is one trouble, which has its own line, and not one for each
  // operation that met it.
  void SaysFailed(std::string_view subject, std::string_view what, const absl::Status& status) {
    if (connected()) context.log->Warn("FL-1-1", subject, absl::StrCat(ToAbsl(what), ": ", status.ToString()));
  }

  void SaysCacheIsUsed(std::string_view service, std::string_view origin) {
    const absl::Status last_error = failures.latest();
    context.log->Warn("FL-1-10", service,
                      absl::StrCat("registry ", options.address, " has told no list yet",
                                   last_error.ok() ? "" : absl::StrCat(" (", last_error.ToString(), ")"),
                                   "; until then, the lists in ", ToAbsl(origin), " are used"));
  }

 private:
  void HostThrew(std::string_view what, std::string_view text) {
    ++counters.host_exceptions;
    context.log->Error("FL-1-3", options.address, absl::StrCat(ToAbsl(what), " threw: ", ToAbsl(text)));
  }
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REGISTRY_ENVIRONMENT_H_
