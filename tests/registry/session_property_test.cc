// Random sessions and faults: whatever happens, the registry and its listeners end up with what the store
// holds.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/registry/registry_fixture.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/url/match.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using Op = MemoryStore::Operation;

constexpr const char* kServices[] = {"a.B", "a.C"};
constexpr Category kCategories[] = {Category::kProviders, Category::kRouters, Category::kConfigurators};

class PropertyFixture : public RegistryFixture {
 protected:
  ~PropertyFixture() override {
    registry_.reset();
    provider_.reset();
    if (store_ != nullptr) {
      store_->HoldAnswers(false);
      store_->Resume();
    }
    Run();
    Advance(milliseconds(6'000));
  }
  std::shared_ptr<FailbackRegistry> Make(std::uint64_t seed) {
    const Url url =
        U("memory://test?delay-notification=100&missing.grace=3000&resync.period=0&retry.period=1000");
    auto backend = factory_->Create(url, Context(seed));
    auto registry = FailbackRegistry::Create(url, *std::move(backend), Context(seed));
    Run();
    return registry;
  }
  void Begin(std::uint64_t seed) {
    factory_ = MakeMemoryRegistryFactory();
    store_ = factory_->store("test");
    random_ = Random(Mix64(seed));
    registry_ = Make(seed);
    provider_ = Make(seed + 1000);
  }
  std::string RandomChild() {
    const std::string service = kServices[random_.Below(2)];
    const std::string n = std::to_string(random_.Below(5));
    switch (random_.Below(8)) {
      case 0:
        return "condition://0.0.0.0/" + service + "?category=routers&priority=" + n + "&rule=x";
      case 1:
        return "override://10.0.0." + n + "/" + service + "?category=configurators&weight=1";
      default:
        return "dubbo://10.0.0." + n + ":1/" + service +
               "?check=false&timestamp=" + std::to_string(random_.Below(3)) +
               (random_.Below(3) == 0 ? "&version=2" : "");
    }
  }
  absl::Status RandomFailure() {
    return random_.Below(2) == 0 ? absl::UnavailableError("connection loss") : absl::PermissionDeniedError("no auth");
  }
  // What the store says to `consumer`, computed the slow way. Newest of equal urls; order left aside.
  std::multiset<std::string> Expected(const Url& consumer, const std::string& service, Category category) {
    std::map<std::string, Url> best;
    for (const std::string& text : store_->List(service, category)) {
      const absl::StatusOr<Url> url = Url::Parse(text, pool_);
      if (!url.ok() || url->protocol().empty()) continue;
      const bool matches = category == Category::kProviders ? MatchesPushed(consumer.parts(), url->parts())
                                                            : Matches(consumer.parts(), url->parts());
      if (!matches) continue;
      UrlParts key = url->parts();
      key.params.erase("timestamp");
      Url& place = best[key.ToString()];
      if (place.empty() || url->timestamp_ms() > place.timestamp_ms()) place = *url;
    }
    std::multiset<std::string> texts;
    for (const auto& [key, url] : best) texts.insert(url.ToFullString());
    return texts;
  }

  std::shared_ptr<MemoryRegistryFactory> factory_;
  std::shared_ptr<MemoryStore> store_;
  std::shared_ptr<FailbackRegistry> provider_;
  Random random_;
};

class SessionProperty : public PropertyFixture, public ::testing::WithParamInterface<int> {};

TEST_P(SessionProperty, TheEndIsWhatTheStoreHolds) {
  Begin(static_cast<std::uint64_t>(GetParam()));
  struct Subscriber {
    Url consumer;
    std::string service;
    std::shared_ptr<RecordingListener> listener;
  };
  std::vector<Subscriber> subscribers;
  std::map<std::string, bool> wanted;  // of provider_: identity without timestamp -> registered
  std::map<std::string, std::string> text_of;
  const auto identity = [](const Url& url) {
    UrlParts parts = url.parts();
    parts.params.erase("timestamp");
    return parts.ToString();
  };
  const auto client = [&] { return MemoryStore::ClientId{1 + random_.Below(2)}; };

  for (int step = 0; step < 400; ++step) {
    switch (random_.Below(21)) {
      case 0:
      case 1:
      case 2:
        (void)store_->Put(RandomChild() + "&owner=host");
        break;
      case 3: {
        const std::string service = kServices[random_.Below(2)];
        const std::vector<std::string> texts = store_->List(service, Category::kProviders);
        if (texts.empty()) break;
        const std::string& text = texts[random_.Below(texts.size())];
        if (text.find("owner=host") != std::string::npos) (void)store_->Remove(text);
        break;
      }
      case 4:
      case 5:
      case 6: {
        const Url url = U(RandomChild());
        provider_->Register(url, nullptr);
        wanted[identity(url)] = true;
        text_of[identity(url)] = url.ToFullString();
        break;
      }
      case 7: {
        const Url url = U(RandomChild());
        if (!wanted[identity(url)]) break;
        provider_->Unregister(url, nullptr);
        wanted[identity(url)] = false;
        break;
      }
      case 8:
        store_->Suspend(client());
        break;
      case 9:
      case 10:
        store_->Resume(client());
        break;
      case 11:
        store_->Expire(client());
        break;
      case 12:
        store_->Reorder(kServices[random_.Below(2)], kCategories[random_.Below(3)], random_.Next());
        break;
      case 13:
        store_->Duplicate(random_.Below(2) == 0);
        break;
      case 14:
        store_->HoldAnswers(random_.Below(2) == 0);
        break;
      case 15:
        store_->ReleaseAnswers(1 + random_.Below(3));
        break;
      case 16:
        // Who refuses has not done it; after a lost connection nobody knows.
        if (random_.Below(2) == 0) {
          store_->FailNext(static_cast<Op>(random_.Below(3)), absl::PermissionDeniedError("no auth"),
                           1 + static_cast<int>(random_.Below(3)));
        } else {
          store_->FailNext(static_cast<Op>(random_.Below(3)), absl::UnavailableError("connection loss"),
                           1 + static_cast<int>(random_.Below(3)), random_.Below(2) == 0);
        }
        break;
      case 17:
        store_->PutChild(kServices[random_.Below(2)], kCategories[random_.Below(3)],
                         "junk" + std::to_string(step));
        break;
      case 18: {
        const std::string service = kServices[random_.Below(2)];
        const std::string query = "?category=providers,routers,configurators&check=false&enabled=*" +
                                  std::string(random_.Below(2) == 0 ? "&version=*" : "");
        Subscriber one{U("consumer://10.0.0.9/" + service + query), service,
                       std::make_shared<RecordingListener>()};
        registry_->Subscribe(one.consumer, one.listener, nullptr);
        subscribers.push_back(std::move(one));
        break;
      }
      case 19:
        if (subscribers.size() < 4) break;
        registry_->Unsubscribe(subscribers.front().consumer, subscribers.front().listener);
        subscribers.front().listener->then = [] { ADD_FAILURE() << "a Notify after Unsubscribe"; };
        subscribers.erase(subscribers.begin());
        break;
      case 20: {
        // A path is deleted, or the whole server wiped, and comes back with what is stored next. The nodes of a living
        // session are not this test's, so that one ends too.
        const bool wiped = random_.Below(2) == 0;
        for (const char* service : kServices) {
          if (wiped) store_->RemoveService(service);
        }
        if (!wiped) store_->RemovePath(kServices[random_.Below(2)], kCategories[random_.Below(3)]);
        store_->Expire(wiped ? MemoryStore::kEveryClient : 2);
        break;
      }
    }
    if (random_.Below(3) != 0) Run();
    if (random_.Below(4) == 0) Advance(milliseconds(random_.Below(400)));
  }

  // The trouble is over; everything finds its way.
  store_->HoldAnswers(false);
  store_->Resume();
  Run();
  Advance(std::chrono::minutes(10));

  EXPECT_EQ(provider_->status().unacknowledged, 0u);
  std::set<std::string> in_store;
  for (const char* service : kServices) {
    for (const Category category : kCategories) {
      for (const std::string& text : store_->List(service, category)) in_store.insert(text);
    }
  }
  std::erase_if(in_store, [](const std::string& text) {
    return text.starts_with("junk") || text.find("owner=host") != std::string::npos;
  });
  std::set<std::string> registered;
  for (const auto& [key, on] : wanted) {
    if (on) registered.insert(text_of[key]);
  }
  EXPECT_EQ(in_store, registered) << "the store holds what is wanted, each under its last text";

  EXPECT_FALSE(subscribers.empty());
  for (const Subscriber& one : subscribers) {
    for (const Category category : kCategories) {
      const Notification* last = nullptr;
      for (const Notification& each : one.listener->all) {
        if (each.category == category) last = &each;
      }
      ASSERT_NE(last, nullptr);
      std::multiset<std::string> heard;
      for (const Url& url : last->urls) heard.insert(url.ToFullString());
      EXPECT_EQ(heard, Expected(one.consumer, one.service, category))
          << one.service << CategoryName(category);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SessionProperty, ::testing::Range(1, 1 + Effort(400)));

// Each callback does anything the interface offers, throws, or drops the registry.
class ReentrancyFuzz : public PropertyFixture, public ::testing::WithParamInterface<int> {};

TEST_P(ReentrancyFuzz, AnythingFromWithinAnyCallback) {
  Begin(static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < 6; ++i) (void)store_->Put(RandomChild());
  int asked = 0;
  int answered = 0;
  int budget = 1500;
  bool inside = false;
  std::function<void()> act;

  // Host code: not nested, does something, may throw.
  const auto host = [&](const std::function<void()>& body) {
    EXPECT_FALSE(inside) << "a callback inside a callback";
    inside = true;
    body();
    for (std::uint64_t i = random_.Below(3); i > 0; --i) act();
    inside = false;
    if (random_.Below(10) == 0) throw std::runtime_error("host bug");
  };
  const auto done = [&]() -> Done {
    ++asked;
    return [&, called = false](const absl::Status&) mutable {
      EXPECT_FALSE(called) << "Done was called twice";
      called = true;
      ++answered;
      host([] {});
    };
  };

  class Fuzzer final : public NotifyListener {
   public:
    explicit Fuzzer(std::function<void()> body) : body_(std::move(body)) {}
    void Notify(Notification) override {
      EXPECT_TRUE(subscribed) << "a Notify after Unsubscribe";
      body_();
    }
    bool subscribed = false;

   private:
    const std::function<void()> body_;
  };
  struct Pair {
    Url consumer;
    std::shared_ptr<Fuzzer> listener;
  };
  std::vector<Pair> pairs;
  for (const char* consumer :
       {"consumer://10.0.0.9/a.B?category=providers,routers", "consumer://10.0.0.9/a.C?check=false",
        "consumer://10.0.0.9/a.B?category=providers,routers", "admin://10.0.0.9/*?category=*"}) {
    pairs.push_back({U(consumer), std::make_shared<Fuzzer>([&host] { host([] {}); })});
  }

  act = [&] {
    if (budget-- <= 0 || registry_ == nullptr) return;
    Pair& pair = pairs[random_.Below(pairs.size())];
    switch (random_.Below(16)) {
      case 0:
      case 1:
      case 2:
        pair.listener->subscribed = true;
        registry_->Subscribe(pair.consumer, pair.listener, done());
        break;
      case 3:
      case 4:
        registry_->Unsubscribe(pair.consumer, pair.listener);
        pair.listener->subscribed = false;
        break;
      case 5:
      case 6:
        registry_->Register(U(RandomChild()), done());
        break;
      case 7:
        registry_->Unregister(U(RandomChild()), done());
        break;
      case 8:
        ++asked;
        registry_->Lookup(pair.consumer, [&](const auto&) {
          ++answered;
          host([] {});
        });
        break;
      case 9:
        (void)store_->Put(RandomChild());
        break;
      case 10:
        (void)store_->Remove(RandomChild());
        break;
      case 11:
        EXPECT_FALSE(registry_->Describe().empty());
        (void)registry_->status();
        break;
      case 12:
        store_->Expire();
        break;
      case 13:
        store_->Suspend();
        store_->Resume();
        break;
      case 14:
        store_->FailNext(static_cast<Op>(random_.Below(4)), RandomFailure());
        break;
      case 15:
        if (budget > 700) break;
        for (Pair& each : pairs) each.listener->subscribed = false;
        if (random_.Below(2) == 0) registry_->Destroy(done());
        registry_.reset();
        break;
    }
  };

  for (int round = 0; round < 200; ++round) {
    executor_->Post([&act] { act(); });
    Run();
    Advance(milliseconds(random_.Below(300)));
  }
  budget = 0;
  if (registry_ != nullptr) {
    executor_->Post([&] {
      for (Pair& each : pairs) each.listener->subscribed = false;
      registry_->Destroy(done());
    });
  }
  Run();
  Advance(milliseconds(20'000));
  EXPECT_EQ(answered, asked) << "every Done is called, once";
  EXPECT_THAT(store_->clients(), ::testing::ElementsAre(2u)) << "the session of the fuzzed registry is over";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReentrancyFuzz, ::testing::Range(1, 1 + Effort(400)));

}  // namespace
}  // namespace fairlead
