// What a registry tells a directory, in any order: the gate among the three categories of a subscription (19), empty
// lists (22), overrides (23).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/directory/configurator.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/url/merge.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// A directory that is told lists as a registry tells them.
class Told {
 public:
  Told(DirectoryWorld& world, const std::string& consumer_params) : world_(world) {
    directory_ = RegistryDirectory::Create(world.Config(FedDirectory::kConsumer + consumer_params, protocol));
    handle = directory_->MakeDirectory(nullptr);
  }
  ~Told() {
    handle.reset();
    directory_->Close(nanoseconds(0), nullptr);
    world_.executor_.Advance(seconds(1));
  }

  void Tell(Category category, ListKind kind, std::vector<Url> urls = {}, bool cached = false) {
    Notification news{std::string(DirectoryWorld::kService), category, ++version_, kind, std::move(urls)};
    news.cached = cached;
    directory_->Notify(std::move(news));
  }
  void Tell(Category category, std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    Tell(category, kind, std::move(urls));
  }

  std::set<std::string> Listed() const {
    std::set<std::string> hosts;
    for (const Url& url : handle->List({})) hosts.emplace(url.host());
    return hosts;
  }

  const std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
  std::shared_ptr<Directory> handle;

 private:
  DirectoryWorld& world_;
  std::shared_ptr<RegistryDirectory> directory_;
  std::uint64_t version_ = 0;
};

// Property 19. Each category answers once in `rules.wait` or not; what is told later comes after it. Before the
// deadline no pick sees providers without their rules and overrides.
TEST(GatePropertyTest, Property19NoPickSeesAListWithoutItsRulesBeforeTheDeadline) {
  constexpr std::array<Category, 3> kCategories = {Category::kProviders, Category::kConfigurators, Category::kRouters};
  constexpr milliseconds kWait{3000};
  int whole = 0, late = 0, empty = 0;
  const auto run = [&](std::uint64_t seed, const std::array<std::size_t, 3>& order) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(Mix64(seed));
    DirectoryWorld world;
    Told told(world, "&rules.wait=" + std::to_string(kWait.count()));
    // What the registry has. The rule leaves host 2; the override takes host 3's weight away.
    const bool has_providers = random.Below(8) != 0;
    const bool has_rule = random.Below(4) != 0, has_override = random.Below(4) != 0;
    const auto answer = [&](Category category) {
      // Some answers say only that there are children that nobody can read.
      if (category != Category::kProviders && random.Below(10) == 0) return told.Tell(category, ListKind::kUnknown);
      std::vector<Url> urls;
      if (category == Category::kProviders && has_providers) {
        for (const char* host : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) urls.push_back(world.ProviderAt(host));
      } else if (category == Category::kRouters && has_rule) {
        urls.push_back(world.RuleUrl("=> host!=10.0.0.1"));
      } else if (category == Category::kConfigurators && has_override) {
        urls.push_back(world.Parse("override://10.0.0.3:20880/com.acme.Orders?category=configurators&dynamic=false&disabled=true"));
      }
      told.Tell(category, std::move(urls));
    };
    // What may be picked, by which rules have come; an unreadable rule list is an answer with no rule in it.
    std::array<bool, 3> came{};
    bool rule_known = false, override_known = false;
    milliseconds now{0};
    std::optional<milliseconds> first;
    bool open = false;
    for (std::size_t step = 0; step < 3; ++step) {
      const milliseconds gap(random.Below(3) == 0 ? random.Below(5000) : random.Below(1500));
      const auto pass = [&](milliseconds to) {
        // Looks on the way, at the deadline's both sides too.
        while (now < to) {
          milliseconds next = std::min(to, now + milliseconds(1 + random.Below(400)));
          if (first && *first + kWait > now) next = std::min(next, *first + kWait - milliseconds(now < *first + kWait - milliseconds(1) ? 1 : 0));
          world.executor_.Advance(next - now);
          now = next;
          const bool all = came[0] && came[1] && came[2];
          const bool over = first && now >= *first + kWait;
          open = open || all || (over && came[0]);
          const absl::StatusOr<Lease> lease = told.handle->Select({});
          if (!open) {
            ASSERT_EQ(lease.status().code(), absl::StatusCode::kFailedPrecondition) << "after " << now.count() << " ms";
            continue;
          }
          std::set<std::string> expected;
          if (has_providers) expected = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
          if (rule_known) expected.erase("10.0.0.1");
          if (override_known) expected.erase("10.0.0.3");
          ASSERT_EQ(lease.ok(), !expected.empty()) << lease.status();
          ASSERT_EQ(told.Listed(), expected) << "after " << now.count() << " ms";
        }
      };
      pass(now + gap);
      if (::testing::Test::HasFatalFailure()) return;
      const Category category = kCategories[order[step]];
      // Picks in between the notification and its update see what was there before, or nothing.
      if (!open) {
        ASSERT_FALSE(told.handle->Select({}).ok());
      }
      Random before = random;
      answer(category);
      const bool unreadable = category != Category::kProviders && before.Below(10) == 0;
      came[order[step]] = true;
      if (category == Category::kRouters) rule_known = has_rule && !unreadable;
      if (category == Category::kConfigurators) override_known = has_override && !unreadable;
      if (!first) first = now;
      if (step == 2) {
        late += open;
        whole += !open;
        empty += !has_providers;
      }
      // The deadline waits for providers: with none told it opens as soon as they come, the rest being over.
      pass(now + milliseconds(1));
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(open);
  };
  std::uint64_t seed = 0;
  for (int round = 0; round < Effort(150); ++round) {
    std::array<std::size_t, 3> order = {0, 1, 2};
    do {
      run(++seed, order);
      if (HasFatalFailure()) return;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(late, 0);
  EXPECT_GT(empty, 0);
}

// What property 22 expects: the list as house rules have it, in a few lines.
struct Model {
  bool protects;
  std::set<std::string> hosts = {};
  std::optional<nanoseconds> since = {};  // protected
  bool rule = false;                      // in force
  bool rule_held = false;                 // the registry lists none, it stays with the providers
  bool rule_is_new = false;               // there was one since the protection began
  std::optional<nanoseconds> rule_lost = {};

  void List(const std::set<std::string>& told, nanoseconds now) {
    hosts = told;
    LetGo(now);
  }
  void Empty(nanoseconds now) {
    if (!protects) hosts.clear();
    if (hosts.empty() || since) return;
    since = now;
    rule_is_new = false;
    if (!rule && LostWithProviders()) rule = rule_held = true;
  }
  void Rule(bool there, nanoseconds now) {
    if (there) {
      rule = rule_is_new = true;
      rule_held = false;
      rule_lost.reset();
      return;
    }
    if (rule_held) return;
    if (rule) rule_lost = now;
    rule = rule_held = since && !rule_is_new && LostWithProviders();
  }
  bool LostWithProviders() const {
    return rule_lost && *rule_lost - *since <= seconds(10) && *since - *rule_lost <= seconds(10);
  }
  void Pass(nanoseconds now) {
    if (since && now - *since >= minutes(10)) Clear(*since + minutes(10));
  }
  void Clear(nanoseconds now) {
    if (!since) return;
    hosts.clear();
    LetGo(now);
  }
  void LetGo(nanoseconds now) {
    since.reset();
    if (!rule_held) return;
    rule = rule_held = false;
    rule_lost = now;
  }
};

// Property 22.
TEST(EmptyPropertyTest, Property22WhatIsForbiddenIsDecidedByProvidersAlone) {
  std::map<std::string, int> happened;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(Effort(1000)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(Mix64(seed));
    const bool protects = random.Below(2) == 0;
    Model model{protects};
    DirectoryWorld world;
    Told told(world, protects ? "" : "&enable-empty-protection=false");
    const auto providers = [&](const std::set<std::string>& hosts) {
      std::vector<Url> urls;
      for (const std::string& host : hosts) urls.push_back(world.ProviderAt(host));
      return urls;
    };
    told.Tell(Category::kConfigurators, ListKind::kEmpty);
    told.Tell(Category::kRouters, ListKind::kEmpty);
    bool answered = false;
    nanoseconds now{0};
    const auto pass = [&](nanoseconds time) {
      world.executor_.RunReady();
      world.executor_.Advance(time);
      now += time;
      if (model.since && now - *model.since >= minutes(10)) ++happened["max age"];
      model.Pass(now);
    };
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t what = answered ? random.Below(10) : random.Below(4);
      switch (what) {
        case 0:
        case 1: {
          std::set<std::string> hosts;
          for (std::uint64_t n = 1 + random.Below(3); n > 0; --n) hosts.insert("10.0.0." + std::to_string(1 + random.Below(4)));
          const bool cached = !answered && random.Below(2) == 0;
          told.Tell(Category::kProviders, ListKind::kList, providers(hosts), cached);
          if (model.since && hosts != model.hosts) ++happened["[A], [], [B]"];
          model.List(hosts, now);
          answered = true;
          break;
        }
        case 2:
          if (!model.hosts.empty()) ++happened[protects ? "protected" : "forbidden"];
          if (model.hosts.empty() && !answered) ++happened["first empty"];
          told.Tell(Category::kProviders, ListKind::kEmpty);
          model.Empty(now);
          answered = true;
          break;
        case 3:  // what a registry says that does not answer, or whose path is missing: that one, later, means empty
          told.Tell(Category::kProviders, ListKind::kUnknown);
          ++happened[answered ? "unknown" : "first unknown"];
          answered = true;
          if (random.Below(2) == 0) break;
          pass(seconds(30));
          if (!model.hosts.empty()) ++happened["missing"];
          told.Tell(Category::kProviders, ListKind::kEmpty);
          model.Empty(now);
          break;
        case 4:
        case 5: {  // a rule that leaves everybody but host 1, not forced, so that it never empties
          const bool rule = random.Below(2) == 0;
          if (!rule && model.rule && model.since) ++happened["a rule lost while protected"];
          model.Rule(rule, now);
          if (model.rule_held) ++happened["a rule held"];
          std::vector<Url> rules;
          if (rule) rules.push_back(world.RuleUrl("=> host!=10.0.0.1", "force=false"));
          told.Tell(Category::kRouters, std::move(rules));
          if (model.since) ++happened["a rule while protected"];
          if (model.hosts.empty()) ++happened["a rule while forbidden"];
          break;
        }
        case 6: {  // an override event that changes nobody's connection
          std::vector<Url> overrides;
          if (random.Below(2) == 0) overrides.push_back(world.Parse("override://0.0.0.0/com.acme.Orders?category=configurators&dynamic=false&timeout=7"));
          told.Tell(Category::kConfigurators, std::move(overrides));
          break;
        }
        case 7:
          told.Tell(random.Below(2) == 0 ? Category::kRouters : Category::kConfigurators, ListKind::kUnknown);
          break;
        case 8:
          if (random.Below(4) != 0) break;
          told.handle->ClearProtection();
          world.executor_.RunReady();
          if (model.since) ++happened["cleared"];
          model.Clear(now);
          break;
        default:
          pass(random.Below(2) == 0 ? nanoseconds(minutes(random.Below(15))) : nanoseconds(seconds(random.Below(60))));
      }
      if (random.Below(4) == 0) continue;  // several changes in one update
      world.executor_.RunReady();
      if (!answered) continue;

      std::set<std::string> expected = model.hosts;
      if (model.rule && expected != std::set<std::string>{"10.0.0.1"}) expected.erase("10.0.0.1");
      const absl::StatusOr<Lease> lease = told.handle->Select({});
      ASSERT_EQ(told.Listed(), expected) << "step " << step << " kind " << what;
      ASSERT_EQ(lease.ok(), !expected.empty()) << lease.status();
      if (!lease.ok()) {
        ASSERT_EQ(lease.status().code(), absl::StatusCode::kUnavailable);
      }
      ASSERT_EQ(told.handle->Stats().protected_for > nanoseconds(0), model.since.has_value());
      if (model.since && now > *model.since) {
        ASSERT_EQ(told.handle->Stats().protected_for, now - *model.since);
      }
      ASSERT_EQ(told.handle->Explain({}).protection.empty(), !model.since.has_value());
    }
    // Nobody who is not in the list any more stays connected, whatever happened.
    world.executor_.RunReady();
    world.executor_.Advance(seconds(11));
    model.Pass(now + seconds(11));
    world.executor_.Advance(seconds(1));
    ASSERT_EQ(static_cast<std::size_t>(told.protocol->referred - told.protocol->destroyed), model.hosts.size());
  }
  for (const char* what : {"protected", "forbidden", "first empty", "first unknown", "unknown", "missing", "[A], [], [B]", "cleared", "a rule held",
                           "max age", "a rule while protected", "a rule while forbidden"}) {
    EXPECT_GT(happened[what], Effort(1000) / 100) << what;
  }
}

// A random override of policy keys, for one provider, for all, or the consumer's side.
std::string RandomOverride(Random& random) {
  constexpr std::array<const char*, 6> kSettings = {"weight=0", "weight=70", "timeout=11", "loadbalance=roundrobin",
                                                    "find.weight=3", "hash.nodes=40"};
  const std::uint64_t host = random.Below(4);
  std::string text = host == 0 ? "override://0.0.0.0" : "override://10.0.0." + std::to_string(host) + ":20880";
  text += "/com.acme.Orders?category=configurators&dynamic=false";
  std::set<std::string> settings;
  for (std::uint64_t n = 1 + random.Below(3); n > 0; --n) settings.insert(kSettings[random.Below(kSettings.size())]);
  std::set<std::string> keys;
  for (const std::string& setting : settings) {
    if (keys.insert(setting.substr(0, setting.find('='))).second) text += "&" + setting;
  }
  if (random.Below(3) == 0) text += "&priority=" + std::to_string(random.Below(3));
  if (random.Below(6) == 0) text += "&enabled=false";
  if (random.Below(5) == 0) text += random.Below(2) == 0 ? "&application=shop" : "&application=other";
  return text;
}

// Property 23.
TEST(OverridePropertyTest, Property23EffectiveUrlsAreTheOriginalsWithTheCurrentOverrides) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(Effort(300)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(Mix64(seed));
    DirectoryWorld world;
    Told told(world, "");
    std::vector<Url> providers;
    for (int i = 1; i <= 3; ++i) {
      providers.push_back(world.ProviderAt("10.0.0." + std::to_string(i) + "?weight=" + std::to_string(10 * i) +
                                           (random.Below(2) == 0 ? "&timeout=900" : "")));
    }
    told.Tell(Category::kRouters, ListKind::kEmpty);
    told.Tell(Category::kConfigurators, ListKind::kEmpty);
    told.Tell(Category::kProviders, providers);
    world.executor_.RunReady();
    const auto effective = [&] {
      std::map<std::string, std::string> urls;
      for (const Url& url : told.handle->List({})) urls[url.Address()] = url.parts().ToFullString();
      return urls;
    };
    const std::map<std::string, std::string> bare = effective();
    ASSERT_EQ(bare.size(), 3u);
    const std::string bare_consumer = told.handle->consumer().ToString();

    std::vector<std::string> overrides;
    for (int step = 0; step < 25; ++step) {
      const std::uint64_t what = random.Below(4);
      if (what == 0 && !overrides.empty()) {
        overrides.erase(overrides.begin() + static_cast<std::ptrdiff_t>(random.Below(overrides.size())));
      } else if (what == 1 && !overrides.empty()) {
        overrides[random.Below(overrides.size())] = RandomOverride(random);
      } else {
        overrides.insert(overrides.begin() + static_cast<std::ptrdiff_t>(random.Below(overrides.size() + 1)), RandomOverride(random));
      }
      if (step == 24) overrides.clear();
      std::vector<Url> urls;
      for (const std::string& text : overrides) urls.push_back(world.Parse(text));
      if (random.Below(4) == 0) {
        // The list of providers comes in the same breath, and in another order.
        std::swap(providers[0], providers[random.Below(providers.size())]);
        told.Tell(Category::kProviders, providers);
      }
      told.Tell(Category::kConfigurators, urls);
      world.executor_.RunReady();

      // Worked out from nothing but the originals and the overrides there are now.
      const Configurators current = Configurators::FromUrls(urls, "10.0.0.9");
      std::map<std::string, std::string> expected;
      const DirectoryConfig config = world.Config(FedDirectory::kConsumer, nullptr);
      for (const Url& provider : providers) {
        UrlParts merged = MergeConsumer(provider.parts(), config.consumer.common().params);
        merged.params.erase("category");
        if (!current.empty()) merged = current.Apply(std::move(merged));
        expected[provider.Address()] = merged.ToFullString();
      }
      ASSERT_EQ(effective(), expected) << "step " << step;
      changed += expected != bare;
      ASSERT_EQ(told.protocol->referred, 3) << "policy keys make no connection anew";
      ASSERT_EQ(told.protocol->destroyed, 0);
    }
    ASSERT_EQ(effective(), bare) << "the last delete restores";
    ASSERT_EQ(told.handle->consumer().ToString(), bare_consumer);
  }
  EXPECT_GT(changed, Effort(300) * 10);
}

}  // namespace
}  // namespace fairlead
