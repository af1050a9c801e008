#ifndef FAIRLEAD_TESTS_MULTI_REGISTRY_WORLD_H_
#define FAIRLEAD_TESTS_MULTI_REGISTRY_WORLD_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead {

// A process in virtual time, and memory registries a, b, c whose sessions are scripted.
struct MultiRegistryWorld {
  static constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders?application=shop";

  FakeClock clock;
  LogRecorder lines;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  std::shared_ptr<MemoryRegistryFactory> memory = std::make_shared<MemoryRegistryFactory>();
  std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
  std::vector<MetricSample> samples;
  std::unique_ptr<Runtime> runtime;

  MultiRegistryWorld() {
    Options options;
    const ExtensionRegistry all = DefaultExtensions();
    options.extensions = *ExtensionRegistry::Builder()
                              .AddRegistry(memory)
                              .AddLoadBalance(*all.Policy("random"))
                              .AddLoadBalance(*all.Policy("roundrobin"))
                              .AddRouter("condition", *all.Router("condition"))
                              .AddRouter("route", *all.Router("route"))
                              .Build();
    options.executor = executor;
    options.clock = &clock;
    options.seed = 3;
    options.log = lines.sink();
    options.metrics = [this](std::span<const MetricSample> now) { samples.assign(now.begin(), now.end()); };
    runtime = *Runtime::Create(std::move(options));
  }
  ~MultiRegistryWorld() {
    runtime.reset();
    executor->Advance(std::chrono::seconds(30));
  }

  MemoryStore& store(const std::string& name) { return *memory->store(name); }
  static std::string Provider(int host, const std::string& params = "") {
    return "dubbo://10.0.0." + std::to_string(host) + ":20880/com.acme.Orders?application=orders" + params;
  }
  void Put(const std::string& name, int host, const std::string& params = "") {
    EXPECT_TRUE(store(name).Put(Provider(host, params)).ok());
    Settle();
  }
  void Remove(const std::string& name, int host, const std::string& params = "") {
    EXPECT_TRUE(store(name).Remove(Provider(host, params)).ok());
    Settle();
  }
  void Settle() { executor->Advance(std::chrono::milliseconds(50)); }

  using Made = std::optional<absl::StatusOr<std::shared_ptr<Directory>>>;
  void Begin(const std::vector<std::string>& registries, RegistryMode mode, Made* made, const std::string& params = "") {
    runtime->ReferAsync(registries, kConsumer + params, protocol, mode,
                        [made](absl::StatusOr<std::shared_ptr<Directory>> answer) { *made = std::move(answer); });
    Settle();
  }
  absl::StatusOr<std::shared_ptr<Directory>> Refer(const std::vector<std::string>& registries, RegistryMode mode,
                                                   const std::string& params = "") {
    Made made;
    Begin(registries, mode, &made, params);
    for (int i = 0; i < 30 && !made.has_value(); ++i) executor->Advance(std::chrono::seconds(1));
    return std::move(made).value();
  }

  // The last numbers of the addresses.
  static std::set<int> List(const Directory& directory, const Invocation& invocation = {}) {
    std::set<int> hosts;
    for (const Url& url : directory.List(invocation)) hosts.insert(HostOf(url));
    return hosts;
  }
  // Whom 400 picks of both kinds reach.
  static std::set<int> Picked(const Directory& directory, const Invocation& invocation = {}) {
    std::set<int> hosts;
    for (int i = 0; i < 200; ++i) {
      absl::StatusOr<Lease> lease = directory.Select(invocation);
      if (!lease.ok()) return {};
      hosts.insert(HostOf(lease->invoker().url()));
      lease->End(absl::OkStatus());
      EXPECT_TRUE(directory.WithSelected(invocation, [&](const Invoker& one) noexcept { hosts.insert(HostOf(one.url())); }).ok());
    }
    return hosts;
  }
  static int HostOf(const Url& url) { return std::stoi(std::string(url.host().substr(url.host().rfind('.') + 1))); }
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_MULTI_REGISTRY_WORLD_H_
