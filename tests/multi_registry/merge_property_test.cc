// Random edits in three registries: after each the merged directory is what one made anew of the union would be.
#include <map>
#include <random>

#include "fairlead/tests/multi_registry/world.h"

namespace fairlead {
namespace {

using std::chrono::seconds;
using ::testing::Test;

struct MergePropertyTest : Test, MultiRegistryWorld {};

TEST_F(MergePropertyTest, IsTheUnionWhateverHappens) {
  const std::vector<std::string> names = {"a", "b", "c"};
  std::map<std::string, std::map<int, std::string>> model;  // by registry and host: the parameters
  std::mt19937_64 random(20240607);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto orders = *Refer({"memory://a", "memory://b", "memory://c"}, RegistryMode::kMerge, "&enable-empty-protection=false");
  std::map<int, ProviderId> ids;
  for (int step = 0; step < 1500; ++step) {
    const std::string& name = names[below(3)];
    std::map<int, std::string>& listed = model[name];
    for (std::uint64_t edits = 1 + below(4); edits > 0; --edits) {
      const int host = 1 + static_cast<int>(below(12));
      const auto at = listed.find(host);
      if (at != listed.end()) {
        ASSERT_TRUE(store(name).Remove(Provider(host, at->second)).ok());
        listed.erase(at);
      }
      if (below(2) == 0) continue;
      const std::string params = "&timestamp=" + std::to_string(1 + below(3)) + (below(3) == 0 ? "&weight=" + std::to_string(below(3) * 50) : "");
      ASSERT_TRUE(store(name).Put(Provider(host, params)).ok());
      listed[host] = params;
    }
    // Sessions that break take nothing away.
    if (below(10) == 0) {
      store(name).Expire();
      executor->Advance(seconds(2));
    }
    Settle();
    executor->Advance(seconds(1));

    std::map<int, std::int64_t> newest;
    for (const auto& [registry, all] : model) {
      for (const auto& [host, params] : all) {
        const std::int64_t timestamp = params[11] - '0';
        newest[host] = std::max(newest[host], timestamp);
      }
    }
    const PickTrace trace = orders->Explain({}, PickTrace::Detail::kAll);
    ASSERT_EQ(trace.all.size(), newest.size()) << "step " << step << "\n" << trace.ToString();
    const std::vector<Url> urls = orders->List({});
    ASSERT_EQ(urls.size(), newest.size());
    std::map<int, ProviderId> now;
    for (std::size_t i = 0; i < urls.size(); ++i) {
      const int host = HostOf(urls[i]);
      ASSERT_TRUE(newest.contains(host)) << "step " << step;
      EXPECT_EQ(urls[i].timestamp_ms(), newest[host]) << "step " << step << " host " << host;
      now[host] = trace.all[i].id;
      // Who was listed before the step and after it is the same one, whoever lists it: nobody saw what was in between.
      const ProviderId before = ids.contains(host) ? ids[host] : now[host];
      EXPECT_EQ(now[host], before) << "step " << step << " host " << host;
    }
    ids = std::move(now);
  }
  EXPECT_GT(protocol->destroyed, 20);

  // The same registries, read from nothing.
  const auto anew = *Refer({"memory://a", "memory://b", "memory://c"}, RegistryMode::kMerge);
  EXPECT_EQ(List(*anew), List(*orders));
  const auto texts = [](const Directory& directory) {
    std::set<std::string> all;
    for (const Url& url : directory.List({})) all.insert(url.ToString());
    return all;
  };
  EXPECT_EQ(texts(*anew).size(), texts(*orders).size());
}

}  // namespace
}  // namespace fairlead
