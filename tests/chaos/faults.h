#ifndef FAIRLEAD_TESTS_CHAOS_FAULTS_H_
#define FAIRLEAD_TESTS_CHAOS_FAULTS_H_

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"

#include "fairlead/base/random.h"
#include "fairlead/tests/chaos/world.h"

namespace fairlead::chaos {

// One failure as it happens: everything drawn from `random`, bounded in time.
struct FaultRun {
  World& world;
  Random& random;
  bool brief = false;  // the short form: shorter where length is not the point
  // When the world was whole again, from which on the library has to come right by itself. Set by the fault.
  SteadyClock::time_point healed{};

  std::chrono::milliseconds Between(int least, int most) const {
    return std::chrono::milliseconds(least + static_cast<int>(random.Below(static_cast<std::uint64_t>(most - least + 1))));
  }
  // The registry's, in ms.
  int session() const { return static_cast<int>(world.registry().session().count()); }
  std::unique_ptr<RegistryClient> Client() const { return world.registry().Client(); }
};

// Breaks, heals, and changes the registry so that a directory that does not follow is found out. Not OK: it could not be
// done, or saw something wrong itself.
using Fault = absl::Status (*)(FaultRun&);

// How few providers a directory may offer meanwhile: half of them; the same unless some lose the way to a server that others
// reach; one, since the registry itself lists fewer and fewer.
enum class Fewest { kHalf, kHalfUnlessSplit, kOne };

struct FaultKind {
  std::string_view name, what;
  Fault run;
  // Takes away what is left over, after the directory was found right with it.
  void (*clean)(World&) = nullptr;
  // Does it mean something for this registry? Null: for those of one server.
  bool (*fits)(RegistryUnderTest&) = nullptr;
  Fewest fewest = Fewest::kHalf;
  bool Fits(RegistryUnderTest& registry) const {
    return fits == nullptr ? registry.servers().size() == 1 : fits(registry);
  }
};

std::span<const FaultKind> AllFaults();

inline void Wait(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

// What the table of AllFaults is made of, and what several failures at once are made of.
// server_faults.cc
absl::Status Kill(FaultRun& run);
absl::Status Restart(FaultRun& run);
absl::Status FreezeShort(FaultRun& run);
absl::Status FreezeLong(FaultRun& run);
absl::Status Wipe(FaultRun& run);
absl::Status RefuseWrites(FaultRun& run);
absl::Status KillOne(FaultRun& run);
absl::Status FreezeOne(FaultRun& run);
absl::Status WipeOne(FaultRun& run);
// network_faults.cc
absl::Status Cut(FaultRun& run);
absl::Status PartitionToServer(FaultRun& run);
absl::Status PartitionToClient(FaultRun& run);
absl::Status Silent(FaultRun& run);
absl::Status Delay(FaultRun& run);
absl::Status SlowLink(FaultRun& run);
absl::Status HalfOpen(FaultRun& run);
absl::Status HalfOpenNotices(FaultRun& run);
void EndVanished(World& world);
absl::Status CutOne(FaultRun& run);
// data_faults.cc
absl::Status ExpireConsumer(FaultRun& run);
absl::Status ExpireRegistrar(FaultRun& run);
absl::Status Churn(FaultRun& run);
absl::Status RestartServers(FaultRun& run);
absl::Status KillProvider(FaultRun& run);
absl::Status DeleteTree(FaultRun& run);
absl::Status Garbage(FaultRun& run);
void RemoveGarbage(World& world);
absl::Status CacheFileLimit(FaultRun& run);

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_FAULTS_H_
