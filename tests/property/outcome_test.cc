// What each kind of router leaves of a list (2), and how destinations share a call's chances when some are empty (3).

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fairlead/tests/support/chi_square.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using internal::RuleKind;
using internal::RuleScope;
using Hosts = std::set<int>;  // 10.0.0.n

Hosts Common(const Hosts& a, const Hosts& b) {
  Hosts both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}
Hosts Without(const Hosts& a, const Hosts& b) {
  Hosts rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

enum class Kind { kUrl, kTexts, kDestinations, kAffinity, kStaticTag, kTagRule };
constexpr const char* kKindNames[] = {"url", "texts", "destinations", "affinity", "static tag", "tag rule"};

struct Combination {
  Kind kind;
  Hosts up;    // of 1 to 4
  Hosts hits;  // whom the rule is for
  bool force, blacklist, tagged, request_force, followed;
};

// Property 2's oracle.
Hosts Expected(const Combination& c) {
  const Hosts kept = Common(c.up, c.hits), rest = Without(c.up, c.hits);
  switch (c.kind) {
    case Kind::kUrl:
    case Kind::kTexts:
    case Kind::kDestinations:
      if (c.blacklist) return {};
      return !kept.empty() || c.force ? kept : c.up;
    case Kind::kAffinity:
      return !kept.empty() ? kept : c.up;
    case Kind::kStaticTag:
      if (!c.tagged) return rest;
      return !kept.empty() || c.request_force ? kept : rest;
    case Kind::kTagRule:
      if (!c.tagged) return rest;
      return !kept.empty() || c.force || c.request_force ? kept : rest;
  }
  return {};
}

std::string HostList(const Hosts& hosts) {
  std::string text;
  for (const int host : hosts) text += (text.empty() ? "" : ",") + ("10.0.0." + std::to_string(host));
  return text.empty() ? "10.9.9.9" : text;  // nobody's
}

void ExpectOutcome(DirectoryWorld& world, const Combination& c) {
  FedDirectory directory(world, "consumer://10.0.0.9/com.acme.Orders?application=shop&region=hz");
  const std::string force = c.force ? "true" : "false";
  Feed feed;
  for (const int host : {1, 2, 3, 4}) {
    std::string provider = "10.0.0." + std::to_string(host) + "?region=" + (c.kind == Kind::kAffinity && c.hits.contains(host) ? "hz" : "sh");
    if (c.kind == Kind::kStaticTag && c.hits.contains(host)) provider += "&dubbo.tag=gray";
    feed.providers.push_back(world.ProviderAt(provider));
  }
  const std::string rule = c.blacklist ? "=> false" : "=> host=" + HostList(c.hits);
  const auto document = [&](RuleKind kind, std::string text) {
    const bool tags = kind == RuleKind::kTags;
    directory.Document(tags ? RuleScope::kProviderApplication : RuleScope::kService, kind, tags ? "orders" : "com.acme.Orders::",
                       "force: " + force + "\n" + std::move(text));
  };
  switch (c.kind) {
    case Kind::kUrl:
      feed.rules.push_back(world.RuleUrl(rule, "force=" + force));
      break;
    case Kind::kTexts:
      document(RuleKind::kConditions, "conditions: ['" + rule + "']\n");
      break;
    case Kind::kDestinations:
      document(RuleKind::kConditions, "configVersion: v3.1\nconditions:\n- from: {match: ''}\n  to: " +
                                          (c.blacklist ? "[]\n" : "[{match: 'host=" + HostList(c.hits) + "'}]\n"));
      break;
    case Kind::kAffinity:
      document(RuleKind::kAffinity, "affinityAware: {key: region, ratio: 0}\n");
      break;
    case Kind::kStaticTag:
      break;
    case Kind::kTagRule:
      document(RuleKind::kTags, "configVersion: v3.0\ntags: [{name: gray, addresses: [" + HostList(c.hits) + "]}]\n");
      break;
  }
  // A rule that keeps everybody and falls back: it must not bring anybody back. Dubbo's switch of whether such routers are
  // asked at all (should-fail-fast) makes no difference.
  if (c.followed) feed.rules.push_back(world.RuleUrl("=> host=10.0.0.*", "force=false&priority=9"));
  directory.Tell(feed);
  for (const int host : {1, 2, 3, 4}) {
    if (!c.up.contains(host)) directory.Down(directory.snapshot().table->by_rank[static_cast<std::size_t>(host) - 1]);
  }
  world.executor_.Advance(milliseconds(25));

  std::vector<Attachment> attachments = {{"user", "vip"}};
  if (c.tagged) attachments.push_back({"dubbo.tag", "gray"});
  if (c.request_force) attachments.push_back({"dubbo.force.tag", "true"});
  const Invocation invocation{.attachments = attachments};
  const Hosts expected = Expected(c);
  for (const bool planned : {false, true}) {
    Hosts listed;
    for (const Url& url : directory.handle->List(invocation)) listed.insert(url.host().back() - '0');
    ASSERT_EQ(listed, expected) << (planned ? "with" : "without") << " a plan";
    const absl::StatusOr<Lease> lease = directory.handle->Select(invocation);
    ASSERT_EQ(lease.ok(), !expected.empty()) << lease.status();
    if (!lease.ok()) {
      ASSERT_TRUE(absl::IsUnavailable(lease.status()));
    } else {
      ASSERT_TRUE(expected.contains(lease->As<FakeProtocol::FakeInvoker>().url().host().back() - '0'));
    }
    world.executor_.Advance(milliseconds(25));
  }
}

TEST(OutcomeTest, Property2EveryCombinationOfEveryKind) {
  DirectoryWorld world;
  int count = 0;
  for (int kind = 0; kind < 6; ++kind) {
    for (const Hosts& up : {Hosts{1, 2, 3, 4}, Hosts{2, 3}, Hosts{4}, Hosts{}}) {
      for (const Hosts& hits : {Hosts{}, Hosts{1, 2}, Hosts{1, 2, 3, 4}}) {
        for (unsigned bits = 0; bits < 32; ++bits) {
          const auto bit = [bits](unsigned n) { return (bits >> n & 1) != 0; };
          const Combination c{static_cast<Kind>(kind), up, hits, bit(0), bit(1), bit(2), bit(3), bit(4)};
          // What the kind does not know of.
          const bool tags = c.kind == Kind::kStaticTag || c.kind == Kind::kTagRule;
          if ((tags || c.kind == Kind::kAffinity) && c.blacklist) continue;
          if (!tags && (c.tagged || c.request_force)) continue;
          if ((c.kind == Kind::kAffinity || c.kind == Kind::kStaticTag) && c.force) continue;
          // Where nobody has a tag and there is no rule of tags, calls are not asked for one.
          if (c.kind == Kind::kStaticTag && hits.empty()) continue;
          SCOPED_TRACE(std::string(kKindNames[kind]) + ", up " + HostList(up) + ", for " + HostList(hits) + ", force " +
                       std::to_string(c.force) + ", blacklist " + std::to_string(c.blacklist) + ", tagged " + std::to_string(c.tagged) +
                       ", forced by the call " + std::to_string(c.request_force) + ", followed " + std::to_string(c.followed));
          ExpectOutcome(world, c);
          if (HasFatalFailure()) return;
          ++count;
        }
      }
    }
  }
  EXPECT_GT(count, 450);
}

TEST(OutcomeTest, Property2AnUntaggedCallWithOnlyTaggedProvidersFindsNobody) {
  DirectoryWorld world;
  FedDirectory directory(world);
  directory.Tell({{world.ProviderAt("10.0.0.1?dubbo.tag=gray"), world.ProviderAt("10.0.0.2?dubbo.tag=blue")}, {}, {}});
  EXPECT_TRUE(absl::IsUnavailable(directory.handle->Select({}).status()));
}

// Property 3. Four destinations; which of them have nobody, by which way, takes all turns.
enum class Absent { kNotListed, kDown, kTakenOutBefore };

void ExpectRenormalised(DirectoryWorld& world, unsigned empty, Absent way, bool force) {
  constexpr int kDestinations = 4;
  FedDirectory directory(world, std::string(FedDirectory::kConsumer) + "&timestamp=1");
  Feed feed;
  std::vector<std::pair<int, bool>> listed;  // destination, and whether it is absent
  for (int i = 0; i < kDestinations; ++i) {
    const bool absent = (empty >> i & 1) != 0;
    if (absent && way == Absent::kNotListed) continue;
    for (int twin = 0; twin < 2; ++twin) {
      feed.providers.push_back(world.ProviderAt("10.0." + std::to_string(i) + "." + std::to_string(twin) + "?region=r" + std::to_string(i) +
                                                (absent && way == Absent::kTakenOutBefore ? "&dubbo.tag=x" : "")));
      listed.emplace_back(i, absent);
    }
  }
  // One of no destination, for when all of them are empty.
  feed.providers.push_back(world.ProviderAt("10.0.4.0?region=none"));
  std::string text = std::string("configVersion: v3.1\nforce: ") + (force ? "true" : "false") +
                     "\nconditions:\n- from: {match: 'arguments[0]=a'}\n  to:\n";
  std::vector<double> shares(kDestinations + 1);
  double total = 0;
  for (int i = 0; i < kDestinations; ++i) {
    const int weight = 10 * (i + 1);
    text += "  - {match: 'region=r" + std::to_string(i) + "', weight: " + std::to_string(weight) + "}\n";
    if ((empty >> i & 1) == 0) total += shares[static_cast<std::size_t>(i)] = weight;
  }
  if (total > 0) {
    // Dubbo's draw: the first gets a unit too much and the last one too little.
    const auto drawn = [](double share) { return share > 0; };
    ++*std::find_if(shares.begin(), shares.end(), drawn);
    --*std::find_if(shares.rbegin(), shares.rend(), drawn);
    for (double& share : shares) share /= total;
  } else if (!force) {
    shares.back() = 1;
  }
  directory.Document(RuleScope::kService, RuleKind::kConditions, "com.acme.Orders::", text);
  directory.Tell(feed);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i].second && way == Absent::kDown) directory.Down(directory.snapshot().table->by_rank[i]);
  }
  world.executor_.Advance(milliseconds(25));

  const Argument arguments[] = {{"a"}};
  const Invocation invocation{.arguments = arguments};
  for (const bool planned : {false, true}) {
    SCOPED_TRACE(planned ? "with a plan" : "without a plan");
    ASSERT_EQ(directory.PlanOf(invocation) != nullptr, planned);
    std::vector<double> counts(shares.size());
    double failed = 0;
    for (int i = 0; i < 4000; ++i) {
      const absl::StatusOr<Lease> lease = directory.handle->Select(invocation);
      if (!lease.ok()) {
        ++failed;
        continue;
      }
      ++counts[static_cast<std::size_t>(lease->As<FakeProtocol::FakeInvoker>().url().host()[5] - '0')];
    }
    ASSERT_EQ(failed, total == 0 && force ? 4000 : 0);
    if (failed == 0) {
      ASSERT_TRUE(FollowShares(counts, shares));
    }
    world.executor_.Advance(milliseconds(25));
  }
}

TEST(OutcomeTest, Property3SharesRenormaliseWhicheverDestinationsAreEmpty) {
  DirectoryWorld world;
  for (const Absent way : {Absent::kNotListed, Absent::kDown, Absent::kTakenOutBefore}) {
    for (unsigned empty = 0; empty < 16; ++empty) {
      for (const bool force : {false, true}) {
        SCOPED_TRACE("empty " + std::to_string(empty) + " way " + std::to_string(static_cast<int>(way)) + " force " + std::to_string(force));
        ExpectRenormalised(world, empty, way, force);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
