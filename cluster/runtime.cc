#include "fairlead/cluster/runtime.h"

#include <unistd.h>

#include <future>
#include <random>
#include <utility>

#include "fairlead/base/asio_executor.h"
#include "fairlead/cluster/runtime_core.h"

namespace fairlead {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(Options options) {
  if (options.clock == nullptr) return absl::InvalidArgumentError("Options::clock is null; leave it out for the real one");
  const bool own_thread = options.executor == nullptr;
  if (own_thread) options.executor = MakeThreadExecutor("fairlead");
  if (options.executor == nullptr) {
    return absl::ResourceExhaustedError("no thread could be made for the control plane; raise the limit, or give Options::executor");
  }
  if (options.seed == 0) {
    std::random_device entropy;
    options.seed = (std::uint64_t{entropy()} << 32) | entropy();
  }
  auto core = Core::Create(std::move(options), own_thread);
  core->executor()->Post([core] {
    core->SweepLater();
    core->TellMetricsLater();
  });
  return std::unique_ptr<Runtime>(new Runtime(std::move(core), own_thread));
}

Runtime::Runtime(std::shared_ptr<Core> core, bool own_thread)
    : core_(std::move(core)), own_thread_(own_thread), owner_(getpid()) {}

bool Runtime::Forked() const { return getpid() != owner_; }

namespace {

absl::Status DeadInChild() {
  return absl::FailedPreconditionError(
      "this runtime was made before a fork and is dead in the child; make one there after the fork");
}

}  // namespace

Runtime::~Runtime() {
  // Runs End, or, when the host's executor throws the task away, takes the state apart where it stands.
  struct Ending {
    std::shared_ptr<Core> core;
    bool ran = false;
    ~Ending() {
      if (!ran) core->Drop();
    }
  };
  if (Forked()) {
    // Its threads are not here, and may have held any lock: it is left as it lies.
    new std::shared_ptr<Core>(std::move(core_));
    return;
  }
  const auto core = std::move(core_);
  const std::shared_ptr<Executor> executor = core->executor();
  const auto end = [&](absl::AnyInvocable<void()> over) {
    auto ending = std::make_shared<Ending>();
    ending->core = core;
    executor->Post([ending = std::move(ending), over = std::move(over)]() mutable {
      ending->ran = true;
      ending->core->End(std::move(over));
    });
  };
  // Hosts hold the executor through their directories, so its thread is ended here, not with its last reference. On
  // that thread itself there is no waiting: it ends when the shutdown is over or gave up.
  if (!own_thread_) {
    end([] {});
    return;
  }
  if (executor->RunsHere()) {
    end([executor, core] {
      executor->Post([executor, core] {
        executor->Stop();
        core->Drop();
      });
    });
    return;
  }
  auto over = std::make_shared<std::promise<void>>();
  auto future = over->get_future();
  end([over] { over->set_value(); });
  future.wait_for(Core::kGoodbye + milliseconds(500));
  executor->Stop();
  core->Drop();
}

absl::StatusOr<std::shared_ptr<Directory>> Runtime::Refer(std::string_view registry, std::string_view consumer,
                                                          std::shared_ptr<Protocol> protocol) {
  return ReferBlocking({std::string(registry)}, std::nullopt, consumer, std::move(protocol));
}

absl::StatusOr<std::shared_ptr<Directory>> Runtime::Refer(std::span<const std::string> registries, std::string_view consumer,
                                                          std::shared_ptr<Protocol> protocol, RegistryMode mode) {
  return ReferBlocking({registries.begin(), registries.end()}, mode, consumer, std::move(protocol));
}

void Runtime::ReferAsync(std::string_view registry, std::string_view consumer, std::shared_ptr<Protocol> protocol,
                         Referred done) {
  ReferLater({std::string(registry)}, std::nullopt, consumer, std::move(protocol), std::move(done));
}

void Runtime::ReferAsync(std::span<const std::string> registries, std::string_view consumer,
                         std::shared_ptr<Protocol> protocol, RegistryMode mode, Referred done) {
  ReferLater({registries.begin(), registries.end()}, mode, consumer, std::move(protocol), std::move(done));
}

absl::StatusOr<std::shared_ptr<Directory>> Runtime::ReferBlocking(std::vector<std::string> registries,
                                                                  std::optional<RegistryMode> mode,
                                                                  std::string_view consumer,
                                                                  std::shared_ptr<Protocol> protocol) {
  if (Forked()) return DeadInChild();
  if (core_->executor()->RunsHere()) {
    return absl::FailedPreconditionError("Refer would wait for the executor's own thread; use ReferAsync there");
  }
  auto result = std::make_shared<std::promise<absl::StatusOr<std::shared_ptr<Directory>>>>();
  auto future = result->get_future();
  ReferLater(std::move(registries), mode, consumer, std::move(protocol),
             [result](absl::StatusOr<std::shared_ptr<Directory>> made) { result->set_value(std::move(made)); });
  return future.get();
}

void Runtime::ReferLater(std::vector<std::string> registries, std::optional<RegistryMode> mode, std::string_view consumer,
                         std::shared_ptr<Protocol> protocol, Referred done) {
  if (done == nullptr) return;  // nobody would ever hold the directory
  if (Forked()) return done(DeadInChild());
  Core::ReferRequest request{std::move(registries), mode, std::string(consumer), std::move(protocol), std::move(done)};
  core_->executor()->Post([core = core_, request = std::move(request)]() mutable { core->Refer(std::move(request)); });
}

absl::StatusOr<Registration> Runtime::Register(std::string_view registry, std::string_view provider) {
  if (Forked()) return DeadInChild();
  if (core_->executor()->RunsHere()) {
    return absl::FailedPreconditionError("Register would wait for the executor's own thread; call it on another one");
  }
  auto result = std::make_shared<std::promise<absl::StatusOr<Registration>>>();
  auto future = result->get_future();
  core_->executor()->Post([core = core_, registry = std::string(registry), provider = std::string(provider), result] {
    core->Register(registry, provider,
                   [result](absl::StatusOr<Registration> made) { result->set_value(std::move(made)); });
  });
  return future.get();
}

void Runtime::Shutdown(nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done) {
  if (Forked()) {
    if (done) done(DeadInChild());
    return;
  }
  core_->executor()->Post([core = core_, deadline, done = std::move(done)]() mutable {
    core->Shutdown(deadline, std::move(done));
  });
}

}  // namespace fairlead
