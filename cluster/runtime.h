#ifndef FAIRLEAD_CLUSTER_RUNTIME_H_
#define FAIRLEAD_CLUSTER_RUNTIME_H_

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/base/metrics.h"
#include "fairlead/cluster/extension_registry.h"
#include "fairlead/directory/directory.h"
#include "fairlead/directory/registry_mode.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/rpc/invoker.h"

namespace fairlead {

// How a Runtime is made. Every member has a default; a test or a host replaces what it wants to own.
struct Options {
  // What registries, routers and policies exist; usually DefaultExtensions().
  ExtensionRegistry extensions = {};
  // Where the control plane runs. Default: one thread of its own, "fairlead", with all signals blocked.
  std::shared_ptr<Executor> executor = nullptr;
  const Clock* clock = &RealClock();
  // Fixes every draw. 0 = from the system's entropy.
  std::uint64_t seed = 0;
  LogSink log = StderrLogSink();
  // Gets the numbers of every registry and directory (docs/metrics.md) after each `metrics_period`; null: nobody. At least
  // 100 ms apart.
  MetricsSink metrics = nullptr;
  std::chrono::milliseconds metrics_period{10000};
  // This machine's address in consumer urls and for override rules. Default: the address the system would use
  // to reach the registry.
  std::string local_address = {};
  Compat compat = Compat::kStrict;
  // Where registries keep their last lists when their url has no `file` (see Runtime). Empty: where Dubbo does,
  // `~/.dubbo/dubbo-registry-<application>-<address>.cache`. The same file may serve several registries: those after the
  // first take `.1`, `.2` ...
  std::string cache_file = {};
  // Where such files are read and written. Default: a thread of its own, "fairlead-file"; when the host gave `executor`,
  // that one, where a slow disk holds up the control plane, never a pick.
  std::shared_ptr<Executor> file_executor = nullptr;
};

// A provider's place in the registry. Unregisters when destroyed, or at the Runtime's end. Move only.
class Registration {
 public:
  Registration() = default;
  explicit Registration(absl::AnyInvocable<void()> unregister) : unregister_(std::move(unregister)) {}
  Registration(Registration&& other) noexcept : unregister_(std::exchange(other.unregister_, nullptr)) {}
  Registration& operator=(Registration&& other) noexcept {
    if (this != &other) {
      Unregister();
      unregister_ = std::exchange(other.unregister_, nullptr);
    }
    return *this;
  }
  ~Registration() { Unregister(); }
  void Unregister() {
    if (auto unregister = std::exchange(unregister_, nullptr)) unregister();
  }

 private:
  absl::AnyInvocable<void()> unregister_;
};

// The library's one object: registries, directories and their control plane. Several may live in a process.
//
// Registry texts are urls, `zookeeper://10.0.0.1:2181?backup=10.0.0.2:2181`; the same address and group is
// one session however often it is named. Of its parameters each call obeys those that are about calls, as its own
// url has them: `check`, `timeout`, `accepts`, `simplified`, `register` (false: nothing is stored there), `subscribe`
// (false: Refer is kFailedPrecondition), `enable-empty-protection` and `protect-max-age` (milliseconds; see Directory);
// what is about the session (`session`, `retry.period` ...) holds as the first url has it.
//
// List cache: what consumers were told of a service is kept in a file, in the format of Dubbo, which may read it and
// whose own is read. When the registry does not answer within `file.wait` (2 000 ms), consumers go by that file: Refer
// succeeds, picks work, Explain says so; the registry's lists replace it when they come, and providers that are in both
// are not touched. A parameter `file` of the registry's url names the file, `file-cache=false` does without;
// `memory://` and `file://` have none unless it is named. The file has no passwords; providers that need one are connected anew.
//
// Thread-safe. Callbacks run on the executor, one at a time, no lock
// held, and may call everything but the blocking forms (which answer kFailedPrecondition there).
class Runtime {
 public:
  using Referred = absl::AnyInvocable<void(absl::StatusOr<std::shared_ptr<Directory>>)>;

  static absl::StatusOr<std::unique_ptr<Runtime>> Create(Options options);
  // Without Shutdown: ends everything at once. Picks answer kCancelled; invokers are closed; leases that are
  // out stay valid until they end. Urls are unregistered as far as registries answer: one that does not is waited for
  // 2 s, and removes dynamic urls by itself when it finds the session over. A Shutdown that has begun is cut short: it
  // gets two seconds more, then its `done` is told kDeadlineExceeded or kCancelled, at the latest in here.
  // With a thread of its own it returns at once when registries answer, else after 2 s (2.5 s when that thread is busy),
  // plus what the host's callbacks and the disk take that run just then. With a host's executor, or on its own thread, it
  // does not wait at all.
  ~Runtime();

  // Subscribes and waits for the first list. `consumer` is a url like
  // `consumer://10.0.0.7/com.acme.Orders?version=1.0.0&loadbalance=roundrobin`. With check=true (default) an
  // unreachable registry is kUnavailable, naming address and time, after the registry's `timeout` (5 000 ms); one whose
  // servers refuse this client is told at once: kUnauthenticated, or kUnimplemented for a kind of server that is not spoken;
  // with check=false it returns at once and heals by itself. A consumer's url in which check=true is written also wants
  // a provider that is up in the first list, else it is kUnavailable, saying why there is none. Registers a consumer node unless register=false.
  // A parameter whose value cannot be read has its default, which is logged (FL-4-2) and shown by Explain; of a
  // registry url's numbers it is kInvalidArgument.
  // Needs the executor to run: with a host's own loop, on another thread, or it waits for ever. In the child of a
  // fork, where the Runtime is dead, it is kFailedPrecondition.
  absl::StatusOr<std::shared_ptr<Directory>> Refer(std::string_view registry, std::string_view consumer,
                                                   std::shared_ptr<Protocol> protocol);
  // The same without waiting; `done` is called on the executor. Without a `done` nothing happens.
  void ReferAsync(std::string_view registry, std::string_view consumer, std::shared_ptr<Protocol> protocol,
                  Referred done);

  // The same from several registries, for `consumer`'s parameter `registry.mode`, or else `mode`. Nothing that one
  // registry does or fails to do keeps the providers of another from calls.
  //
  // check=true: one registry that answers is enough, and one whose own url says check=true must; kUnavailable names
  // them all. Registries that have not answered are waited for `rules.wait` (3 000 ms) longer than the first; what
  // they say later is obeyed then. Parameters of the registries' urls, beside the usual ones:
  //   zone, weight, preferred  see RegistryMode; Dubbo's older names registry.zone, registry.weight, registry.preferred too
  //   attachments              `k=v,k=v`: added to each of its providers that has no such parameter, in every mode and
  //                            with one registry too, so that rules can tell providers apart by their registry
  // A registry with subscribe=false, or named a second time, is left out. At most 64.
  absl::StatusOr<std::shared_ptr<Directory>> Refer(std::span<const std::string> registries, std::string_view consumer,
                                                   std::shared_ptr<Protocol> protocol,
                                                   RegistryMode mode = RegistryMode::kMerge);
  absl::StatusOr<std::shared_ptr<Directory>> Refer(std::initializer_list<std::string> registries, std::string_view consumer,
                                                   std::shared_ptr<Protocol> protocol,
                                                   RegistryMode mode = RegistryMode::kMerge) {
    return Refer(std::span<const std::string>(registries.begin(), registries.size()), consumer, std::move(protocol), mode);
  }
  void ReferAsync(std::span<const std::string> registries, std::string_view consumer, std::shared_ptr<Protocol> protocol,
                  RegistryMode mode, Referred done);

  // Announces a provider, `dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0`: ephemeral unless
  // dynamic=false, in the registry again after a lost session. A `timestamp` is added when there is none.
  // Waits for the registry when check=true, and for the executor as Refer does. Rules, overrides and consumers are
  // registered with their `category`. kInvalidArgument, with the remedy, for what consumers would skip: no host, a
  // port that is written but not of 1 to 65535, a protocol that is not of the category, a rule or override that cannot
  // be read. kPermissionDenied, kFailedPrecondition: the registry refused, by an ACL or as a single file does;
  // kUnauthenticated, kUnimplemented: as for Refer; kUnavailable: it does not answer, or failed.
  absl::StatusOr<Registration> Register(std::string_view registry, std::string_view provider);

  // Ends everything in order: picks answer kCancelled, providers and consumers are unregistered, leases get until
  // `deadline` from now, invokers are destroyed (those of leases still out too, whose objects stay), sessions closed;
  // then `done`, at the latest 2 s after `deadline`: registries have that long to say good-bye, so with one that does not
  // answer even a deadline of 0 takes 2 s. It is told
  //   OK                 every url that was dynamic or unregistered is out of its registry;
  //   kUnavailable       some may stay listed, as a registry was not reachable or did not confirm: until the registry
  //                      finds the session over, those with dynamic=false for good;
  //   kDeadlineExceeded  the time was over first, of which the same may be true; the rest ends in the background.
  // Call once; later calls are told so, kFailedPrecondition.
  void Shutdown(std::chrono::nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done);

 private:
  class Core;
  Runtime(std::shared_ptr<Core> core, bool own_thread);
  bool Forked() const;
  absl::StatusOr<std::shared_ptr<Directory>> ReferBlocking(std::vector<std::string> registries,
                                                           std::optional<RegistryMode> mode, std::string_view consumer,
                                                           std::shared_ptr<Protocol> protocol);
  void ReferLater(std::vector<std::string> registries, std::optional<RegistryMode> mode, std::string_view consumer,
                  std::shared_ptr<Protocol> protocol, Referred done);
  std::shared_ptr<Core> core_;
  const bool own_thread_;
  const long owner_;  // the process that made it
};

}  // namespace fairlead

#endif  // FAIRLEAD_CLUSTER_RUNTIME_H_
