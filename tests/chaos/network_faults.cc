#include <functional>

#include "fairlead/tests/chaos/faults.h"

// The network of consumer and registrar alike.
namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;
using Way = FaultProxy::Way;
using Fate = FaultProxy::Fate;

absl::Status BadLink(FaultRun& run, milliseconds time, const std::function<void(FaultProxy&)>& worsen) {
  const auto client = run.Client();
  run.world.ForEachProxy(worsen);
  Wait(time / 2);
  run.world.Mark(*client);
  Wait(time / 2);
  run.world.ForEachProxy([](FaultProxy& proxy) { proxy.Heal(); });
  run.healed = SteadyClock::now();
  return absl::OkStatus();
}

absl::Status Partition(FaultRun& run, Way way) {
  const Fate fate = run.random.Below(2) == 0 ? Fate::kHold : Fate::kDrop;
  return BadLink(run, run.Between(run.session() / 4, run.session() * 2),
                 [=](FaultProxy& proxy) { proxy.SetLink(way, {.fate = fate}); });
}

}  // namespace

absl::Status Cut(FaultRun& run) {
  const bool refuse = run.random.Below(2) == 0;
  return BadLink(run, run.Between(0, run.session()), [refuse](FaultProxy& proxy) {
    if (refuse) proxy.Refuse();
    proxy.Cut();
  });
}

absl::Status PartitionToServer(FaultRun& run) { return Partition(run, Way::kToServer); }
absl::Status PartitionToClient(FaultRun& run) { return Partition(run, Way::kToClient); }

absl::Status Delay(FaultRun& run) {
  const FaultProxy::Link link{.delay = run.Between(20, run.session() / 10), .jitter = run.Between(0, run.session() / 20)};
  return BadLink(run, run.Between(run.session() / 2, run.session()), [=](FaultProxy& proxy) {
    for (const Way way : {Way::kToServer, Way::kToClient}) proxy.SetLink(way, link);
  });
}

absl::Status SlowLink(FaultRun& run) {
  const FaultProxy::Link link{.bytes_per_second = 20000 + run.random.Below(80000)};
  return BadLink(run, run.Between(run.session() / 2, run.session()), [=](FaultProxy& proxy) {
    for (const Way way : {Way::kToServer, Way::kToClient}) proxy.SetLink(way, link);
  });
}

// Nobody says that the connections are dead; new ones are good at once.
absl::Status HalfOpen(FaultRun& run) {
  const auto client = run.Client();
  run.world.ForEachProxy([](FaultProxy& proxy) { proxy.Vanish(); });
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return absl::OkStatus();
}

void EndVanished(World& world) {
  world.ForEachProxy([](FaultProxy& proxy) { proxy.Heal(); });
}

// Redis: commands are still answered.
absl::Status HalfOpenNotices(FaultRun& run) {
  const auto client = run.Client();
  run.world.consumer_link().VanishNotices();
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return absl::OkStatus();
}

// New connections come about, and nobody ever speaks.
absl::Status Silent(FaultRun& run) {
  return BadLink(run, run.Between(run.session() / 4, run.session() * 2), [](FaultProxy& proxy) {
    proxy.SetLink(Way::kToClient, {.fate = Fate::kDrop});
    proxy.Cut();
  });
}

// Where the servers are one before the other, those who lost the first of them do not see what the others write.
absl::Status CutOne(FaultRun& run) {
  World& world = run.world;
  const auto client = run.Client();
  const std::size_t server = run.random.Below(world.registry().servers().size());
  const bool both = run.random.Below(2) == 0;
  const auto break_way = [](FaultProxy& proxy) {
    proxy.Refuse();
    proxy.Cut();
  };
  if (both) {
    world.ForEachProxyOf(server, break_way);
  } else {
    break_way(world.consumer_link().proxy(server));
  }
  Wait(run.Between(run.session() / 4, run.session()));
  world.Mark(*client);
  Wait(run.Between(run.session() / 4, run.session()));
  world.ForEachProxyOf(server, [](FaultProxy& proxy) { proxy.Heal(); });
  run.healed = SteadyClock::now();
  world.Mark(*client);
  return absl::OkStatus();
}

}  // namespace fairlead::chaos
