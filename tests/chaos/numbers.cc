#include "fairlead/tests/chaos/numbers.h"

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/tests/chaos/world.h"
#include "fairlead/tests/support/fake_protocol.h"

namespace fairlead::chaos {
namespace {

using std::chrono::milliseconds;

constexpr char kConsumer[] = "consumer://127.0.0.1/com.acme.Orders?application=chaos";
// After so long without a change the next one is read at once: twice the longest window of a burst.
constexpr milliseconds kQuiet{2100};

std::string UrlText(int number, int stamp = 0) {
  return absl::StrCat("dubbo://10.", number / 62500, ".", number / 250 % 250, ".", number % 250 + 1,
                      ":20880/com.acme.Orders?application=orders&interface=com.acme.Orders&methods=get,put&side=provider"
                      "&timestamp=",
                      1700000000000 + stamp);
}

class Numbers {
 public:
  Numbers(const NumbersOptions& options, Report& report)
      : options_(options), report_(report), registry_(options.registry()) {}

  bool Start() {
    const absl::Status started = registry_->Start();
    auto link = registry_->Link(options_.seed);
    if (!started.ok() || !link.ok()) {
      report_.Failed((started.ok() ? link.status() : started).ToString());
      return false;
    }
    link_ = *std::move(link);
    return true;
  }

  // The registry is dead, in one of two ways; the file is there.
  void ColdStart(int n) {
    Fill(n);
    const std::string file = files_ / "lists.cache";
    {
      Consumer consumer(*this, Through("file=" + file));
      if (!consumer.Await(n)) return report_.Failed("cold start: the first list did not come");
    }
    const int rounds = options_.brief ? 1 : 20;
    link_->proxy(0).Refuse();
    ColdStartRows(absl::StrCat("cold start, ", n, " providers, refused"), "file=" + file, n, rounds);
    link_->proxy(0).Heal();
    link_->proxy(0).SetLink(FaultProxy::Way::kToClient, {.fate = FaultProxy::Fate::kHold});
    ColdStartRows(absl::StrCat("cold start, ", n, " providers, silent"), "file=" + file, n, options_.brief ? 1 : 5);
    ColdStartRows(absl::StrCat("cold start, ", n, " providers, file.wait=0"), "file.wait=0&file=" + file, n, rounds);
    link_->proxy(0).Cut();
    link_->proxy(0).Heal();
  }

  // Each provider's entry goes and comes back with another start time, one after the other as quickly as one client can.
  void RollingRestart(int n) {
    Fill(n);
    Consumer consumer(*this, Through("file-cache=false"));
    if (!consumer.Await(n)) return report_.Failed("rolling restart: the first list did not come");
    std::this_thread::sleep_for(kQuiet);
    const auto client = registry_->Client();
    const std::uint64_t reads = link_->list_reads();
    const std::uint64_t built = consumer.directory->Explain({}).snapshot;
    const int referred = consumer.protocol->referred;
    const auto start = SteadyClock::now();
    for (int i = 0; i < n; ++i) {
      client->Remove({kOrders}, client->NameOf(UrlText(i)));
      client->Add({kOrders}, {UrlText(i, 1)});
    }
    const auto last = SteadyClock::now();
    const auto right = TimeUntil(
        [&] {
          if (consumer.directory->Explain({}).providers != static_cast<std::size_t>(n)) return false;
          for (const Url& url : consumer.directory->List({})) {
            if (url.timestamp_ms() != 1700000000001) return false;
          }
          return true;
        },
        last);
    if (!right) return report_.Failed("rolling restart: the directory is not right at the end");
    const std::string row = absl::StrCat("rolling restart of ", n);
    Say(row, "changes", 2 * n);
    Say(row, "took, ms", Millis(last - start));
    Say(row, "list reads", static_cast<double>(link_->list_reads() - reads));
    Say(row, "rebuilds", static_cast<double>(consumer.directory->Explain({}).snapshot - built));
    Say(row, "refers", consumer.protocol->referred - referred);
    Say(row, "right after the last change, ms", Millis(*right));
  }

  void CreateToPickable(int n) {
    Fill(n);
    // Straight at the server.
    Consumer consumer(*this, registry_->Url("file-cache=false"));
    if (!consumer.Await(n)) return report_.Failed("create to pickable: the first list did not come");
    const auto client = registry_->Client();
    std::vector<double> times;
    for (int i = 0; i < (options_.brief ? 3 : 21); ++i) {
      std::this_thread::sleep_for(kQuiet);
      const auto start = SteadyClock::now();
      client->Add({kOrders}, {UrlText(n, i)});
      while (consumer.Count() != static_cast<std::size_t>(n) + 1 && SteadyClock::now() < start + HealBound()) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      times.push_back(Millis(SteadyClock::now() - start));
      client->Remove({kOrders}, client->NameOf(UrlText(n, i)));
      if (!consumer.Await(n)) return report_.Failed("create to pickable: a provider that went is listed");
    }
    const std::string row = absl::StrCat("create to pickable, n = ", n);
    Say(row, "median, ms", Median(times));
    Say(row, "worst, ms", Worst(times));
  }

 private:
  struct Consumer {
    Consumer(const Numbers& numbers, const std::string& registry)
        : runtime(Runtime::Create({.extensions = DefaultExtensions(),
                                   .seed = numbers.options_.seed,
                                   .log = numbers.log_.sink(),
                                   .local_address = "127.0.0.1"})
                      .value_or(nullptr)) {
      auto referred = runtime->Refer(registry, kConsumer, protocol);
      if (referred.ok()) directory = *std::move(referred);
      status = referred.status();
    }
    ~Consumer() {
      directory = nullptr;
      End(std::move(runtime));
    }
    std::size_t Count() const { return directory == nullptr ? 0 : directory->Explain({}).providers; }
    bool Await(int n) const {
      return TimeUntil([&] { return Count() == static_cast<std::size_t>(n); }, SteadyClock::now()).has_value();
    }

    std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
    std::unique_ptr<Runtime> runtime;
    std::shared_ptr<Directory> directory;
    absl::Status status;
  };

  // Exactly providers 0 to n - 1 are registered.
  void Fill(int n) {
    const auto client = registry_->Client();
    client->Delete({kOrders, ""});
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) texts.push_back(UrlText(i));
    client->Add({kOrders}, texts);
  }

  std::string Through(const std::string& parameters) const { return registry_->Url(link_->addresses(), parameters); }

  void ColdStartRows(const std::string& row, const std::string& parameters, int n, int rounds) {
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
      const auto start = SteadyClock::now();
      const Consumer consumer(*this, Through(parameters));
      const bool picked = consumer.directory != nullptr && consumer.directory->Select({}).ok();
      times.push_back(Millis(SteadyClock::now() - start));
      if (!picked || consumer.Count() != static_cast<std::size_t>(n)) {
        return report_.Failed(row + ": no pick, or not the whole list: " + consumer.status.ToString());
      }
    }
    Say(row, "median, ms", Median(times));
    Say(row, "worst, ms", Worst(times));
  }

  void Say(const std::string& row, const std::string& column, double value) {
    std::printf("%-42s %-34s %12.1f\n", row.c_str(), column.c_str(), value);
    std::fflush(stdout);
    report_.Add(absl::StrCat("\"", ToAbsl(registry_->name()), " ", row, "\""), "\"" + column + "\"", value);
  }

  const NumbersOptions options_;
  Report& report_;
  const TempDirectory files_;
  const LastLines log_;
  const std::unique_ptr<RegistryUnderTest> registry_;
  std::unique_ptr<RegistryLink> link_;
};

}  // namespace

void MeasureNumbers(const NumbersOptions& options, Report& report) {
  std::printf("\n");
  Numbers numbers(options, report);
  if (!numbers.Start()) return;
  numbers.ColdStart(options.brief ? 100 : 1000);
  numbers.RollingRestart(options.brief ? 300 : 10000);
  for (const int n : options.brief ? std::vector{100} : std::vector{100, 1000, 10000}) numbers.CreateToPickable(n);
}

}  // namespace fairlead::chaos
