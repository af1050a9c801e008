#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/tests/chaos/faults.h"
#include "fairlead/url/percent.h"

// What providers, other people and the disk do.
namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;

constexpr char kGarbage[] = "garbage-of-the-suite";

// Does the list cache's file have all that the consumer's directory lists?
bool CacheIsWritten(const World& world) {
  const std::string text = FileText(world.cache_file());
  for (const Identity& one : world.Listed(kOrders)) {
    if (text.find("stamp\\=" + one.stamp) == std::string::npos) return false;
  }
  return true;
}

}  // namespace

absl::Status ExpireConsumer(FaultRun& run) {
  run.world.ExpireConsumer();
  run.healed = SteadyClock::now();
  run.world.Mark(*run.Client());
  return absl::OkStatus();
}

absl::Status ExpireRegistrar(FaultRun& run) {
  run.world.ExpireRegistrar();
  run.healed = SteadyClock::now();
  run.world.Mark(*run.Client());
  return absl::OkStatus();
}

absl::Status Churn(FaultRun& run) {
  constexpr std::size_t kMany = 2000;
  World& world = run.world;
  const auto client = run.Client();
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
  run.world.Mark(*run.Client());
  return absl::OkStatus();
}

// Its registration outlives it until it expires, and its server is gone at once.
absl::Status KillProvider(FaultRun& run) {
  constexpr std::string_view kStamp = "process";
  World& world = run.world;
  ChildProcess provider;
  FAIRLEAD_RETURN_IF_ERROR(provider.Run({std::string(FAIRLEAD_EXAMPLES) + "/provider",
                                         world.registry().Url("file-cache=false"), "--service", kOrders, "--param",
                                         "stamp=" + std::string(kStamp)},
                                        world.path_of("provider")));
  const auto client = run.Client();
  const auto lists_it = [&](const Identities& list) {
    return std::any_of(list.begin(), list.end(), [&](const Identity& one) { return one.stamp == kStamp; });
  };
  if (!TimeUntil([&] { return lists_it(World::Registered(*client, kOrders)) && lists_it(world.Listed(kOrders)); },
                 SteadyClock::now())) {
    return absl::DeadlineExceededError("a provider's process was not listed: " + FileText(world.path_of("provider")));
  }
  Wait(run.Between(0, run.session() / 2));
  provider.Kill();
  run.healed = SteadyClock::now();
  world.Mark(*client);
  return absl::OkStatus();
}

// Somebody deletes a part of the tree. The fleet's owner writes its entries again, the registrar has to find out itself.
absl::Status DeleteTree(FaultRun& run) {
  const auto client = run.Client();
  switch (run.random.Below(3)) {
    case 0:
      for (const char* service : {kOrders, kStock}) client->Delete({service});
      break;
    case 1:
      for (const char* service : {kOrders, kStock}) client->Delete({service, ""});
      break;
    default: client->Delete({"", ""}); break;
  }
  Wait(run.Between(0, 500));
  run.world.RestoreFleet(*client);
  run.healed = SteadyClock::now();
  return absl::OkStatus();
}

absl::Status Garbage(FaultRun& run) {
  const auto client = run.Client();
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
  };
  // Can be read and is listed; nobody answers there.
  const std::string dead = client->NameOf("dubbo://127.0.0.1:1/com.acme.Orders?interface=com.acme.Orders&stamp=" +
                                          std::string(kDead) + "&" + mark + std::string(50000, 'y'));
  std::vector<std::string> names = {dead, "%", "%zz", "%C3%28" + mark, "\xef\xbf\xbe" + mark, mark, "dubbo%3A" + mark};
  for (const std::string& url : urls) names.push_back(client->NameOf(url));
  for (int i = 0; i < 20; ++i) {
    std::string bytes = mark;
    for (std::uint64_t size = run.random.Below(100); size > 0; --size) {
      bytes += static_cast<char>(run.random.Below(256));
    }
    names.push_back(client->NameOf(bytes));
  }
  std::string data;
  for (int i = 0; i < 10000; ++i) data += static_cast<char>(run.random.Below(256));
  int written = 0;
  for (const char* category : {"providers", "configurators", "routers"}) {
    for (const std::string& name : names) {
      const bool proper = name == dead || run.random.Below(2) == 0;
      written += client->Put({kOrders, category}, name, proper ? std::string() : data) ? 1 : 0;
    }
  }
  run.healed = SteadyClock::now();
  run.world.Mark(*client);
  return written > 60 ? absl::OkStatus() : absl::InternalError(absl::StrCat("only ", written, " entries were written"));
}

void RemoveGarbage(World& world) {
  const auto client = world.registry().Client();
  for (const char* category : {"providers", "configurators", "routers"}) {
    const ListName list{kOrders, category};
    for (const Entry& entry : client->Entries(list)) {
      const bool ours = entry.name.find(kGarbage) != std::string::npos || entry.name == "%" || entry.name == "%zz";
      if (ours) client->Remove(list, entry.name);
    }
  }
}

// The file cannot grow beyond a part of its size.
absl::Status CacheFileLimit(FaultRun& run) {
  const std::string path = run.world.cache_file();
  const auto client = run.Client();
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
  // Nothing longer can have been written meanwhile; one that was being written before may have taken its place since.
  if (during.size() <= little.rlim_cur) {
    return absl::DataLossError("a file that could not be written replaced the good one");
  }
  run.world.Mark(*client);
  const auto written = TimeUntil([&] { return CacheIsWritten(run.world); }, run.healed);
  return written ? absl::OkStatus() : absl::DeadlineExceededError("the cache file was not written again");
}

}  // namespace fairlead::chaos
