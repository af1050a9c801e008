#include "fairlead/cluster/runtime_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/cluster/input_checks.h"
#include "fairlead/cluster/runtime_metrics.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kSweepPeriod{60000};
constexpr milliseconds kShortestMetricsPeriod{100};

}  // namespace

std::shared_ptr<Runtime::Core> Runtime::Core::Create(Options options, bool own_thread) {
  std::shared_ptr<Core> core(new Core(std::move(options), own_thread));
  core->registries_.Bind(core);
  return core;
}

Runtime::Core::Core(Options options, bool own_thread)
    : options_(std::move(options)),
      pool_(*options_.clock),
      log_(options_.log, *options_.clock),
      registries_(options_, own_thread, pool_, log_, next_id_) {}

void Runtime::Core::SweepLater() {
  sweep_ = executor()->After(kSweepPeriod, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr || self->closed_) return;
    self->pool_.Sweep();
    self->SweepLater();
  });
}

void Runtime::Core::TellMetricsLater() {
  if (options_.metrics == nullptr) return;
  metrics_ = executor()->After(std::max(options_.metrics_period, kShortestMetricsPeriod), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr || self->closed_) return;
    self->TellMetrics();
    self->TellMetricsLater();
  });
}

void Runtime::Core::Register(const std::string& registry_text, const std::string& provider_text,
              absl::AnyInvocable<void(absl::StatusOr<Registration>)> done) {
  absl::StatusOr<internal::RegistryAccess> access = registries_.Acquire(registry_text, provider_text);
  if (!access.ok()) return done(access.status());
  absl::StatusOr<UrlParts> parts = UrlParts::Parse(provider_text);
  if (!parts.ok()) return done(parts.status());
  if (parts->ServiceInterface().empty()) {
    return done(absl::InvalidArgumentError(absl::StrCat(
        "provider ", Shortened(parts->ToString()), " names no service; write it as path, dubbo://host:port/com.acme.Orders")));
  }
  parts->params.emplace(names::kInterface, parts->ServiceInterface());
  parts->params.emplace(names::kTimestamp, std::to_string(options_.clock->SystemMillis()));
  const Url url = Url::Of(*std::move(parts), pool_);
  if (absl::Status status = internal::CheckRegistrable(url, provider_text, options_.extensions, options_.compat); !status.ok()) {
    return done(std::move(status));
  }
  registries_.WarnOfEach(url.ServiceKey(), "provider", internal::UnreadableInProvider(url));

  const std::uint64_t id = next_id_++;
  // Nothing is stored, and nothing taken away by the end of the Registration, whose number nobody knows.
  if (!access->call.registers) return done(HandleOf(id));
  registrations_[id] = {access->registry, url};
  access->registry->registry->Register(url, access->call, [self = shared_from_this(), id, done = std::move(done)](absl::Status status) mutable {
    if (!status.ok()) {
      self->registrations_.erase(id);
      return done(std::move(status));
    }
    done(self->HandleOf(id));
  });
}

void Runtime::Core::Shutdown(nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done) {
  if (std::exchange(closed_, true)) {
    if (!done) return;
    return CallHost([&] { done(absl::FailedPreconditionError("the runtime was shut down before")); },
                    [this](std::string_view text) { HostThrew("Shutdown", text); });
  }
  // Far enough for anybody, and far from what a clock cannot add.
  deadline = std::clamp<nanoseconds>(deadline, nanoseconds(0), std::chrono::hours(24 * 365));
  shutdown_done_ = std::move(done);
  registries_.Close([this] { Finish(registries_.trouble()); });
  shutdown_timer_ = GiveUpAfter(deadline + kGoodbye);
  // Each part holds the counter up until it is over; the registries end when the parts have.
  auto part = std::shared_ptr<void>(nullptr, [self = shared_from_this()](void*) {
    self->executor()->Post([self] { self->registries_.CheckEnded(); });
  });
  for (auto& [id, registration] : std::exchange(registrations_, {})) {
    registration.registry->registry->Unregister(registration.url, [part](absl::Status) {});
  }
  while (!references_.empty()) Release(references_.begin()->first, deadline, [part] {});
}

void Runtime::Core::End(absl::AnyInvocable<void()> over) {
  if (closed_ && !over_) shutdown_timer_ = GiveUpAfter(kGoodbye);
  if (!closed_) Shutdown(nanoseconds(0), nullptr);
  if (over_) return over();
  shutdown_done_ = [this, over = std::move(over), done = std::move(shutdown_done_)](absl::Status status) mutable {
    if (done) {
      CallHost([&] { done(std::move(status)); }, [this](std::string_view text) { HostThrew("Shutdown", text); });
    }
    over();
  };
}

void Runtime::Core::Drop() {
  closed_ = true;
  Finish(absl::CancelledError("the runtime was destroyed before its shutdown was over"));
  registrations_.clear();
  references_.clear();
  registries_.Drop();
}

void Runtime::Core::Release(std::uint64_t id, nanoseconds drain, absl::AnyInvocable<void()> done) {
  const auto at = references_.find(id);
  if (at == references_.end()) {
    if (done) done();
    return;
  }
  Reference reference = std::move(at->second);
  references_.erase(at);
  for (const Link& link : reference.links) {
    link.registry->registry->Unsubscribe(reference.consumer, link.listener);
    // Equal urls are one node in the registry: the last of them takes it away.
    const bool shared = std::any_of(references_.begin(), references_.end(), [&](const auto& other) {
      return std::any_of(other.second.links.begin(), other.second.links.end(), [&](const Link& one) {
        return one.registry == link.registry && one.node == link.node;
      });
    });
    if (!link.node.empty() && !shared) link.registry->registry->Unregister(link.node, [](absl::Status) {});
  }
  if (reference.answers != nullptr) reference.answers->Cancel();
  if (reference.choice != nullptr) reference.choice->Close();
  const std::vector<std::shared_ptr<RegistryDirectory>> directories = reference.directories;
  const auto all = std::make_shared<Reference>(std::move(reference));
  auto last = std::shared_ptr<void>(nullptr, [done = std::make_shared<absl::AnyInvocable<void()>>(std::move(done))](void*) {
    if (*done) (*done)();
  });
  for (const auto& directory : directories) {
    directory->Close(drain, [all, last, self = shared_from_this()] {});
  }
}

Registration Runtime::Core::HandleOf(std::uint64_t id) {
  return Registration([weak = weak_from_this(), id] {
    if (const auto core = weak.lock()) core->executor()->Post([core, id] { core->Unregister(id); });
  });
}

void Runtime::Core::Unregister(std::uint64_t id) {
  const auto at = registrations_.find(id);
  if (at == registrations_.end()) return;
  Registered registered = std::move(at->second);
  registrations_.erase(at);
  const bool shared = std::any_of(registrations_.begin(), registrations_.end(), [&](const auto& other) {
    return other.second.registry == registered.registry && other.second.url == registered.url;
  });
  if (shared) return;
  FailbackRegistry& registry = *registered.registry->registry;
  const Url url = registered.url;
  registry.Unregister(url, [keep = std::move(registered)](absl::Status) {});
}

void Runtime::Core::TellMetrics() {
  std::vector<internal::DirectoryReading> directories;
  for (const auto& [id, reference] : references_) {
    directories.push_back({reference.consumer.ServiceKey(), id, reference.Stats()});
  }
  const std::vector<MetricSample> samples =
      internal::RuntimeSamples(registries_.Readings(), directories, pool_.sizes().entries);
  CallHost([&] { options_.metrics(samples); }, [this](std::string_view text) { HostThrew("Options::metrics", text); });
}

void Runtime::Core::HostThrew(std::string_view whose, std::string_view text) {
  log_.Error("FL-1-3", whose, absl::StrCat("the callback of ", ToAbsl(whose), " threw: ", ToAbsl(text)));
}

Timer Runtime::Core::GiveUpAfter(nanoseconds delay) {
  return executor()->After(delay, [self = shared_from_this()] {
    self->Finish(absl::DeadlineExceededError(
        "a registry or a lease did not end within the deadline; urls may stay registered until the registry finds the "
        "session over"));
  });
}

void Runtime::Core::Finish(absl::Status status) {
  over_ = true;
  sweep_.Cancel();
  metrics_.Cancel();
  shutdown_timer_.Cancel();
  auto done = std::exchange(shutdown_done_, nullptr);
  if (!done) return;
  CallHost([&] { done(std::move(status)); }, [this](std::string_view text) { HostThrew("Shutdown", text); });
}

}  // namespace fairlead
