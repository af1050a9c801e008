#include "fairlead/tests/chaos/faults.h"

#include <array>

#include "fairlead/base/status_macros.h"

namespace fairlead::chaos {
namespace {

using Way = FaultProxy::Way;
using Fate = FaultProxy::Fate;

absl::Status TwoAtOnce(FaultRun& run) {
  World& world = run.world;
  FaultProxy& link = world.consumer_link().proxy(0);
  const auto heal = [&] {
    link.Heal();
    run.healed = SteadyClock::now();
    world.Mark(*run.Client());
    return absl::OkStatus();
  };
  switch (run.random.Below(4)) {
    case 0:  // what the consumer watches goes and comes back behind its back
      link.SetLink(Way::kToClient, {.fate = run.random.Below(2) == 0 ? Fate::kHold : Fate::kDrop});
      FAIRLEAD_RETURN_IF_ERROR(DeleteTree(run));
      return heal();
    case 1:  // the server that comes back is another one, later than the providers know it
      link.Refuse();
      link.Cut();
      FAIRLEAD_RETURN_IF_ERROR(Wipe(run));
      Wait(run.Between(0, run.session()));
      return heal();
    case 2:  // the server dies while nobody hears of it
      link.Vanish();
      FAIRLEAD_RETURN_IF_ERROR(Kill(run));
      return heal();
    default:
      FAIRLEAD_RETURN_IF_ERROR(ExpireRegistrar(run));
      return ExpireConsumer(run);
  }
}

bool HasTwoServers(RegistryUnderTest& registry) { return registry.servers().size() == 2; }
bool Any(RegistryUnderTest&) { return true; }
// Tells changes on a connection of their own, answers reads and refuses writes.
bool IsRedis(RegistryUnderTest& registry) { return registry.name() == "redis"; }

constexpr std::array kFaults = {
    FaultKind{"kill", "kill -9 of the server, started again up to two sessions later", Kill, nullptr, Any},
    FaultKind{"restart", "the server stops in order and starts again", Restart},
    FaultKind{"freeze-short", "the server hangs for less than a session", FreezeShort},
    FaultKind{"freeze-long", "the server hangs for longer than a session", FreezeLong},
    FaultKind{"wipe", "the server loses all its data", Wipe},
    FaultKind{"refuse-writes", "the server answers writes with an error for up to two sessions", RefuseWrites, nullptr, IsRedis},
    FaultKind{"kill-one", "kill -9 of one of two servers", KillOne, nullptr, HasTwoServers},
    FaultKind{"freeze-one", "one of two servers hangs for longer than a session", FreezeOne, nullptr, HasTwoServers},
    FaultKind{"wipe-one", "one of two servers loses all its data", WipeOne, nullptr, HasTwoServers},
    FaultKind{"cut-one", "consumer, registrar or both lose the way to one of two servers", CutOne, nullptr, HasTwoServers, Fewest::kHalfUnlessSplit},
    FaultKind{"expire-consumer", "what the consumer has there is taken for dead", ExpireConsumer},
    FaultKind{"expire-registrar", "what the registrar has there is taken for dead", ExpireRegistrar},
    FaultKind{"cut", "connections are reset, new ones sometimes refused", Cut},
    FaultKind{"to-server", "nothing reaches the server: held back or lost", PartitionToServer},
    FaultKind{"to-client", "nothing comes from the server: held back or lost", PartitionToClient},
    FaultKind{"silent", "the server takes new connections and says nothing", Silent},
    FaultKind{"half-open", "the peer of every connection vanishes without a word", HalfOpen, EndVanished},
    FaultKind{"half-open-news", "so does the peer of the connections for messages", HalfOpenNotices, EndVanished, IsRedis},
    FaultKind{"delay", "everything comes late, by up to 0.3 s each way", Delay},
    FaultKind{"slow-link", "20 to 100 kB/s", SlowLink},
    FaultKind{"churn", "2 000 providers come, go and restart", Churn},
    FaultKind{"provider-death", "real servers die at once, one after the other", RestartServers},
    FaultKind{"provider-kill", "a provider's whole process dies", KillProvider},
    FaultKind{"delete-tree", "lists, services or everything is deleted in the registry", DeleteTree, nullptr, nullptr, Fewest::kOne},
    FaultKind{"two-at-once", "the consumer cut off while the tree, the data or the server goes; both sessions", TwoAtOnce, nullptr, nullptr, Fewest::kOne},
    FaultKind{"garbage", "entries that no one can use, 50 kB names, binary data", Garbage, RemoveGarbage},
    FaultKind{"cache-limit", "the cache file cannot be written", CacheFileLimit},
};

}  // namespace

std::span<const FaultKind> AllFaults() { return kFaults; }

}  // namespace fairlead::chaos
