#include "fairlead/cluster/first_answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
absl::Status ProviderExpected(const Directory& directory) {
  if (directory.Stats().valid > 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(directory.Select({}).status().message(),
                                             "; leave check=true out of the consumer's url to start without a provider"));
}

std::shared_ptr<FirstAnswers> FirstAnswers::Await(Config config) {
  std::shared_ptr<FirstAnswers> self(new FirstAnswers(std::move(config)));
  const std::weak_ptr<FirstAnswers> alive = self;
  std::chrono::milliseconds longest{0};
  for (const Awaited& one : self->config_.registries) {
    if (one.checks) longest = std::max(longest, one.timeout);
    one.listener->OnAnswer([alive] {
      if (const auto waiting = alive.lock()) waiting->Look();
    });
    if (!one.required) continue;
    self->required_.push_back(self->config_.executor->After(one.timeout, [alive, &one] {
      const auto waiting = alive.lock();
      if (waiting == nullptr || waiting->over_ || one.listener->answered()) return;
      waiting->GiveUp({&one}, "which must answer, as its url says check=true");
    }));
  }
  self->any_ = self->config_.executor->After(longest, [alive] {
    if (const auto waiting = alive.lock()) waiting->OnTimeout();
  });
  self->config_.handle->AwaitReady(std::chrono::hours(24 * 365), [alive](absl::Status status) {
    const auto waiting = alive.lock();
    if (waiting == nullptr || waiting->over_) return;
    if (!status.ok()) return waiting->Fail(std::move(status));
    waiting->ready_ = true;
    waiting->Look();
  });
  return self;
}

void FirstAnswers::Cancel() {
  if (!over_) Fail(absl::CancelledError("the runtime was shut down"));
}

void FirstAnswers::Look() {
  if (over_ || !ready_) return;
  for (const Awaited& one : config_.registries) {
    if (one.required && !one.listener->answered()) return;
  }
  absl::Status status;
  if (config_.consumer.BoolParam(names::kCheck, false)) status = ProviderExpected(*config_.handle);
  if (!status.ok()) return Fail(std::move(status));
  over_ = true;
  required_.clear();
  any_ = Timer();
  auto done = std::move(config_.done);
  done(std::exchange(config_.handle, nullptr));
}

void FirstAnswers::OnTimeout() {
  if (over_ || ready_) return;
  std::vector<const Awaited*> silent;
  for (const Awaited& one : config_.registries) {
    if (!one.listener->answered()) silent.push_back(&one);
  }
  if (late_ || silent.size() == config_.registries.size()) return GiveUp(silent, "which did not answer");
  // Those that answered are waited for as long as their rules may take, and the directory waits for the others.
  late_ = true;
  any_ = config_.executor->After(2 * RulesWait(config_.consumer), [alive = weak_from_this()] {
    if (const auto waiting = alive.lock()) waiting->OnTimeout();
  });
}

void FirstAnswers::GiveUp(const std::vector<const Awaited*>& missing, std::string_view what) {
  std::string all;
  for (const Awaited* one : missing) {
    const auto registry = one->registry.lock();
    absl::StrAppend(&all, all.empty() ? "" : "; ", one->name, " (", one->timeout.count(), " ms): ",
                    registry == nullptr ? "closed" : Shortened(registry->Describe()));
  }
  Fail(absl::UnavailableError(absl::StrCat("no list of ", Shortened(config_.consumer.ServiceKey()), " from ", all, ", ",
                                           ToAbsl(what))));
}

void FirstAnswers::Fail(absl::Status status) {
  over_ = true;
  any_ = Timer();
  required_.clear();
  config_.handle.reset();
  auto done = std::move(config_.done);
  done(std::move(status));
}

}  // namespace fairlead::internal
