#include "fairlead/base/status_macros.h"
#include "fairlead/tests/chaos/faults.h"

namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;

absl::Status StartAgain(FaultRun& run, milliseconds off) {
  Wait(off);
  FAIRLEAD_RETURN_IF_ERROR(run.world.registry().Start());
  run.healed = SteadyClock::now();
  const auto client = run.Client();
  // A Redis that was killed has what it last saved.
  run.world.RestoreFleet(*client);
  run.world.Mark(*client);
  return absl::OkStatus();
}

absl::Status Freeze(FaultRun& run, milliseconds time) {
  for (ServerProcess* const server : run.world.registry().servers()) server->Freeze();
  Wait(time);
  for (ServerProcess* const server : run.world.registry().servers()) server->Thaw();
  run.healed = SteadyClock::now();
  run.world.Mark(*run.Client());
  return absl::OkStatus();
}

// The fleet's owners follow to the server that is left, and back.
absl::Status BreakOne(FaultRun& run, void (*harm)(ServerProcess&), milliseconds time) {
  const auto servers = run.world.registry().servers();
  ServerProcess& server = *servers[run.random.Below(servers.size())];
  harm(server);
  Wait(time / 2);
  {
    const auto client = run.Client();
    run.world.RestoreFleet(*client);
    run.world.Mark(*client);
  }
  Wait(time / 2);
  server.Thaw();
  return StartAgain(run, milliseconds(0));
}

}  // namespace

absl::Status Kill(FaultRun& run) {
  for (ServerProcess* const server : run.world.registry().servers()) server->Kill();
  return StartAgain(run, run.Between(0, 2 * run.session()));
}

absl::Status Restart(FaultRun& run) {
  run.world.registry().servers().front()->Stop();
  return StartAgain(run, milliseconds(0));
}

absl::Status FreezeShort(FaultRun& run) { return Freeze(run, run.Between(100, run.session() / 2)); }
absl::Status FreezeLong(FaultRun& run) { return Freeze(run, run.Between(run.session() * 3 / 2, run.session() * 5 / 2)); }

// All data is lost; a new ZooKeeper counts its transactions from the beginning.
absl::Status Wipe(FaultRun& run) {
  ServerProcess& server = *run.world.registry().servers().front();
  server.Kill();
  server.Wipe();
  Wait(run.Between(0, run.session()));
  FAIRLEAD_RETURN_IF_ERROR(server.Start());
  run.healed = SteadyClock::now();
  run.world.RestoreFleet(*run.Client());
  return absl::OkStatus();
}

// What is there cannot be extended, and expires.
absl::Status RefuseWrites(FaultRun& run) {
  run.world.registry().RefuseWrites(true);
  Wait(run.Between(run.session() / 2, 2 * run.session()));
  run.world.registry().RefuseWrites(false);
  run.healed = SteadyClock::now();
  run.world.Mark(*run.Client());
  return absl::OkStatus();
}

absl::Status KillOne(FaultRun& run) {
  return BreakOne(run, [](ServerProcess& server) { server.Kill(); }, run.Between(0, 2 * run.session()));
}

absl::Status FreezeOne(FaultRun& run) {
  return BreakOne(run, [](ServerProcess& server) { server.Freeze(); }, run.Between(run.session(), run.session() * 5 / 2));
}

absl::Status WipeOne(FaultRun& run) {
  return BreakOne(run, [](ServerProcess& server) { server.Kill(), server.Wipe(); }, run.Between(0, run.session()));
}

}  // namespace fairlead::chaos
