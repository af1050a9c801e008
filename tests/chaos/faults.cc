#include "fairlead/tests/chaos/faults.h"

#include <sys/resource.h>

#include <array>
#include <stdexcept>
#include <thread>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/url/percent.h"

namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;
using Way = FaultProxy::Way;
using Fate = FaultProxy::Fate;

constexpr int kSessionMs = static_cast<int>(kSession.count());

void Wait(milliseconds time) { std::this_thread::sleep_for(time); }

// --- the server

absl::Status StartAgain(FaultRun& run, milliseconds off) {
  Wait(off);
  FAIRLEAD_RETURN_IF_ERROR(run.world.server().Start());
  run.healed = SteadyClock::now();
  run.world.Mark(*run.world.Client());
  return absl::OkStatus();
}

absl::Status Kill(FaultRun& run) {
  run.world.server().Kill();
  return StartAgain(run, run.Between(0, 2 * kSessionMs));
}

absl::Status Restart(FaultRun& run) {
  run.world.server().Stop();
  return StartAgain(run, milliseconds(0));
}

absl::Status Freeze(FaultRun& run, milliseconds time) {
  run.world.server().Freeze();
  Wait(time);
  run.world.server().Thaw();
  run.healed = SteadyClock::now();
  run.world.Mark(*run.world.Client());
  return absl::OkStatus();
}

absl::Status FreezeShort(FaultRun& run) { return Freeze(run, run.Between(100, kSessionMs / 2)); }
absl::Status FreezeLong(FaultRun& run) { return Freeze(run, run.Between(kSessionMs * 3 / 2, kSessionMs * 5 / 2)); }

// All data is lost, and the new server counts its transactions from the beginning.
absl::Status Wipe(FaultRun& run) {
  run.world.server().Kill();
  run.world.server().Wipe();
  Wait(run.Between(0, kSessionMs));
  FAIRLEAD_RETURN_IF_ERROR(run.world.server().Start());
  run.healed = SteadyClock::now();
  run.world.RestoreFleet(*run.world.Client());
  return absl::OkStatus();
}

// --- sessions

absl::Status Expire(FaultRun& run, const RegistryLink& whose) {
  const auto session = whose.wire->session();
  if (!session) return absl::InternalError("no session seen on the wire");
  const auto client = run.world.Client();
  ExpireSession(run.world.server().address(), *session);
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return absl::OkStatus();
}

absl::Status ExpireConsumer(FaultRun& run) { return Expire(run, run.world.consumer_link()); }
absl::Status ExpireRegistrar(FaultRun& run) { return Expire(run, run.world.registrar_link()); }

// --- the network, of consumer and registrar alike

absl::Status BadLink(FaultRun& run, milliseconds time, const std::function<void(FaultProxy&)>& worsen) {
  const auto client = run.world.Client();
  run.world.ForEachLink(worsen);
  Wait(time / 2);
  run.world.Mark(*client);
  Wait(time / 2);
  run.world.ForEachLink([](FaultProxy& proxy) { proxy.Heal(); });
  run.healed = SteadyClock::now();
  return absl::OkStatus();
}

absl::Status Cut(FaultRun& run) {
  const bool refuse = run.random.Below(2) == 0;
  return BadLink(run, run.Between(0, kSessionMs), [refuse](FaultProxy& proxy) {
    if (refuse) proxy.Refuse();
    proxy.Cut();
  });
}

absl::Status Partition(FaultRun& run, Way way) {
  const Fate fate = run.random.Below(2) == 0 ? Fate::kHold : Fate::kDrop;
  return BadLink(run, run.Between(kSessionMs / 4, kSessionMs * 2),
                 [=](FaultProxy& proxy) { proxy.SetLink(way, {.fate = fate}); });
}

absl::Status PartitionToServer(FaultRun& run) { return Partition(run, Way::kToServer); }
absl::Status PartitionToClient(FaultRun& run) { return Partition(run, Way::kToClient); }

absl::Status Delay(FaultRun& run) {
  const FaultProxy::Link link{.delay = run.Between(20, kSessionMs / 10), .jitter = run.Between(0, kSessionMs / 20)};
  return BadLink(run, run.Between(kSessionMs / 2, kSessionMs), [=](FaultProxy& proxy) {
    for (const Way way : {Way::kToServer, Way::kToClient}) proxy.SetLink(way, link);
  });
}

absl::Status SlowLink(FaultRun& run) {
  const FaultProxy::Link link{.bytes_per_second = 20000 + run.random.Below(80000)};
  return BadLink(run, run.Between(kSessionMs / 2, kSessionMs), [=](FaultProxy& proxy) {
    for (const Way way : {Way::kToServer, Way::kToClient}) proxy.SetLink(way, link);
  });
}

// Nobody says that the connections are dead; new ones are good at once.
absl::Status HalfOpen(FaultRun& run) {
  const auto client = run.world.Client();
  run.world.ForEachLink([](FaultProxy& proxy) { proxy.Vanish(); });
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return absl::OkStatus();
}

void EndVanished(World& world) {
  world.ForEachLink([](FaultProxy& proxy) { proxy.Heal(); });
}

// --- providers and the tree

absl::Status Churn(FaultRun& run) {
  constexpr std::size_t kMany = 2000;
  World& world = run.world;
  const auto client = world.Client();
  const std::size_t before = world.fleet();
  world.GrowFleet(*client, kMany - before);
  const auto end = SteadyClock::now() + milliseconds(run.brief ? 1500 : 5000);
  while (SteadyClock::now() < end) {
    const std::size_t some = 1 + run.random.Below(200);
    switch (run.random.Below(3)) {
      case 0: world.GrowFleet(*client, some); break;
      case 1: world.ShrinkFleet(*client, some); break;
      default: world.RestartInFleet(*client, some); break;
    }
    Wait(run.Between(0, 200));
  }
  world.ShrinkFleet(*client, world.fleet() - before);
  run.healed = SteadyClock::now();
  return absl::OkStatus();
}

absl::Status RestartServers(FaultRun& run) {
  for (int i = 0; i < World::kServers; ++i) {
    FAIRLEAD_RETURN_IF_ERROR(run.world.RestartServer(i));
    Wait(run.Between(100, 300));
  }
  run.healed = SteadyClock::now();
  run.world.Mark(*run.world.Client());
  return absl::OkStatus();
}

// Somebody deletes a part of the tree. The fleet's owner writes its nodes again, the registrar has to find out itself.
absl::Status DeleteTree(FaultRun& run) {
  const auto client = run.world.Client();
  switch (run.random.Below(3)) {
    case 0:
      for (const char* service : {kOrders, kStock}) client->Delete(World::PathOf(service));
      break;
    case 1:
      for (const char* service : {kOrders, kStock}) client->Delete(absl::StrCat("/dubbo/", service));
      break;
    default: client->Delete("/dubbo"); break;
  }
  Wait(run.Between(0, 500));
  run.world.RestoreFleet(*client);
  run.healed = SteadyClock::now();
  return absl::OkStatus();
}

// --- two at once

absl::Status TwoAtOnce(FaultRun& run) {
  World& world = run.world;
  FaultProxy& link = *world.consumer_link().proxy;
  const auto heal = [&] {
    link.Heal();
    run.healed = SteadyClock::now();
    world.Mark(*world.Client());
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
      Wait(run.Between(0, kSessionMs));
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

// --- what cannot be used

constexpr char kGarbage[] = "garbage-of-the-suite";

absl::Status Garbage(FaultRun& run) {
  const auto client = run.world.Client();
  const std::string mark = kGarbage;
  const std::vector<std::string> urls = {
      "dubbo://127.0.0.1:nan/com.acme.Orders?interface=com.acme.Orders&" + mark,
      "dubbo://127.0.0.1:70000/com.acme.Orders?interface=com.acme.Orders&" + mark,
      "dubbo://:20880/com.acme.Orders?interface=com.acme.Orders&" + mark,
      "://" + mark,
      "dubbo:/" + mark,
      "unspoken://127.0.0.1:1/com.acme.Orders?interface=com.acme.Orders&" + mark,
      "override://0.0.0.0/com.acme.Orders?disabled=&weight=abc&" + mark,
      "route://0.0.0.0/com.acme.Orders?rule=" + PercentEncode("a==b => c=d") + "&" + mark,
      // Can be read and is listed; nobody answers there.
      "dubbo://127.0.0.1:1/com.acme.Orders?interface=com.acme.Orders&stamp=" + std::string(kDead) + "&" + mark +
          std::string(50000, 'y'),
  };
  std::vector<std::string> names = {"%", "%zz", "%C3%28" + mark, "\xef\xbf\xbe" + mark, mark, "dubbo%3A" + mark};
  for (const std::string& url : urls) names.push_back(PercentEncode(url));
  for (int i = 0; i < 20; ++i) {
    std::string bytes = mark;
    for (std::uint64_t size = run.random.Below(100); size > 0; --size) {
      bytes += static_cast<char>(run.random.Below(256));
    }
    names.push_back(PercentEncode(bytes));
  }
  std::string data;
  for (int i = 0; i < 10000; ++i) data += static_cast<char>(run.random.Below(256));
  int written = 0;
  for (const char* category : {"providers", "configurators", "routers"}) {
    for (const std::string& name : names) {
      try {
        client->Create(World::PathOf(kOrders, category) + "/" + name, data);
        ++written;
      } catch (const std::runtime_error&) {
        // The server itself refuses some of them.
      }
    }
  }
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return written > 60 ? absl::OkStatus() : absl::InternalError(absl::StrCat("only ", written, " nodes were written"));
}

void RemoveGarbage(World& world) {
  const auto client = world.Client();
  for (const char* category : {"providers", "configurators", "routers"}) {
    const std::string path = World::PathOf(kOrders, category);
    for (const std::string& name : client->Children(path).value_or(std::vector<std::string>())) {
      const bool ours = name.find(kGarbage) != std::string::npos || name == "%" || name == "%zz";
      if (ours) client->Delete(path + "/" + name);
    }
  }
}

// Does the list cache's file have all that the consumer's directory lists?
bool CacheIsWritten(const World& world) {
  const std::string text = FileText(world.cache_file());
  for (const Identity& one : world.Listed(kOrders)) {
    if (text.find("stamp\\=" + one.stamp) == std::string::npos) return false;
  }
  return true;
}

// The file cannot grow beyond a part of its size.
absl::Status CacheFileLimit(FaultRun& run) {
  const std::string path = run.world.cache_file();
  const auto client = run.world.Client();
  // Writes of earlier changes are over when the file is complete and stays so for longer than it takes to write it.
  std::string before;
  auto since = SteadyClock::now();
  const auto quiet = [&] {
    std::string text = FileText(path);
    if (text != before || !CacheIsWritten(run.world)) since = SteadyClock::now();
    before = std::move(text);
    return SteadyClock::now() - since > milliseconds(500);
  };
  if (!TimeUntil(quiet, since)) return absl::DeadlineExceededError("the cache file is not complete");
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit little{4096, limit.rlim_max};
  if (before.size() <= little.rlim_cur) return absl::InternalError("the cache file is too small to be limited");
  setrlimit(RLIMIT_FSIZE, &little);
  for (int i = 0; i < 3; ++i) {
    run.world.Mark(*client);
    Wait(run.Between(200, 400));
  }
  const std::string during = FileText(path);
  setrlimit(RLIMIT_FSIZE, &limit);
  run.healed = SteadyClock::now();
  if (during != before) return absl::DataLossError("a file that could not be written replaced the good one");
  run.world.Mark(*client);
  const auto written = TimeUntil([&] { return CacheIsWritten(run.world); }, run.healed);
  return written ? absl::OkStatus() : absl::DeadlineExceededError("the cache file was not written again");
}

constexpr std::array kFaults = {
    FaultKind{"kill", "kill -9 of the server, started again up to two sessions later", Kill},
    FaultKind{"restart", "the server stops in order and starts again", Restart},
    FaultKind{"freeze-short", "the server hangs for less than a session", FreezeShort},
    FaultKind{"freeze-long", "the server hangs for longer than a session", FreezeLong},
    FaultKind{"wipe", "the server loses all its data", Wipe},
    FaultKind{"expire-consumer", "a duplicate client ends the consumer's session", ExpireConsumer},
    FaultKind{"expire-registrar", "a duplicate client ends the registrar's session", ExpireRegistrar},
    FaultKind{"cut", "connections are reset, new ones sometimes refused", Cut},
    FaultKind{"to-server", "nothing reaches the server: held back or lost", PartitionToServer},
    FaultKind{"to-client", "nothing comes from the server: held back or lost", PartitionToClient},
    FaultKind{"half-open", "the peer of every connection vanishes without a word", HalfOpen, EndVanished},
    FaultKind{"delay", "everything comes late, by up to 0.3 s each way", Delay},
    FaultKind{"slow-link", "20 to 100 kB/s", SlowLink},
    FaultKind{"churn", "2 000 providers come, go and restart", Churn},
    FaultKind{"provider-death", "real servers die at once, one after the other", RestartServers},
    FaultKind{"delete-tree", "lists, services or everything is deleted in the registry", DeleteTree},
    FaultKind{"two-at-once", "the consumer cut off while the tree, the data or the server goes; both sessions", TwoAtOnce},
    FaultKind{"garbage", "nodes that no one can use, 50 kB names, binary data", Garbage, RemoveGarbage},
    FaultKind{"cache-limit", "the cache file cannot be written", CacheFileLimit},
};

}  // namespace

std::span<const FaultKind> AllFaults() { return kFaults; }

}  // namespace fairlead::chaos
