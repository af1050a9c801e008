// The tag router against its slow twin, over random rules, edits of the list, consumers and calls.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "fairlead/base/random.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/tests/routing/routing_fixture.h"
#include "fairlead/tests/support/slow_tags.h"

namespace fairlead {
namespace {

class TagTwinTest : public RoutingFixture {
 protected:
  template <std::size_t N>
  std::string Any(const std::array<const char*, N>& of) {
    return of[random_.Below(N)];
  }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  std::string Name() {
    static constexpr std::array<const char*, 9> kNames = {"a", "a|b", "a|b|c", "gray", "x", "", "|a", "a|", "|"};
    return Any(kNames);
  }
  std::string Region() {
    static constexpr std::array<const char*, 3> kRegions = {"hz", "sh", "bj"};
    return Any(kRegions);
  }
  std::string Host() {
    static constexpr std::array<const char*, 4> kOdd = {"127.0.0.1", "localhost", "0.0.0.0", "orders.acme"};
    return Chance(15) ? Any(kOdd) : "10.0.0." + std::to_string(1 + random_.Below(5));
  }
  std::string Port() { return std::to_string(1 + random_.Below(2)); }

  SlowTags RandomRule() {
    SlowTags rule;
    rule.has_rule = Chance(85);
    rule.force = Chance(50);
    for (std::uint64_t n = rule.has_rule ? 1 + random_.Below(4) : 0; n > 0; --n) {
      SlowTags::Tag tag{Name(), {}, Region()};
      for (std::uint64_t m = random_.Below(4); m > 0; --m) {
        tag.addresses.insert(Chance(50)  ? Host() + ":" + Port()
                             : Chance(60) ? Host()
                             : Chance(50) ? "0.0.0.0:" + Port()
                             : Chance(40) ? "*"
                                          : "10.0.0");  // malformed: fits nobody
      }
      rule.tags.push_back(std::move(tag));
    }
    return rule;
  }
  static TagRouter RouterOf(const SlowTags& slow) {
    if (!slow.has_rule) return TagRouter();
    TagRule rule{slow.force, {}, Compat::kStrict};
    for (const SlowTags::Tag& tag : slow.tags) {
      TagRule::Tag compiled{tag.name, {}, {}};
      for (const std::string& address : tag.addresses) compiled.addresses.Add(address, Compat::kStrict);
      if (tag.addresses.empty()) compiled.match.push_back({"region", *StringMatch::Compile({.exact = tag.region})});
      rule.tags.push_back(std::move(compiled));
    }
    return TagRouter({{"", std::move(rule)}});
  }
  // Changes a few slots, the same in both worlds.
  InvokerSet Edit(std::map<Slot, SlowTags::Host>* hosts) {
    InvokerSet changed;
    for (std::uint64_t n = 1 + random_.Below(4); n > 0; --n) {
      const Slot slot = static_cast<Slot>(random_.Below(10));
      changed.Add(slot);
      if (Chance(25)) {
        Take(slot);
        hosts->erase(slot);
        continue;
      }
      const SlowTags::Host host{slot, Host() + ":" + Port(), Chance(50) ? "" : Name(), Region()};
      const std::string url = "dubbo://" + host.address + "/s.A?region=" + host.region;
      if (slot >= providers_.size() || !providers_[slot].listed()) by_rank_.push_back(slot);
      providers_.Set(slot, {Parse(url), Parse(url + (host.tag.empty() ? "" : "&dubbo.tag=" + host.tag))});
      all_.Add(slot);
      (*hosts)[slot] = host;
    }
    return changed;
  }

  Random random_{20261130};
};

TEST_F(TagTwinTest, EveryDecisionIsTheTwins) {
  std::map<std::string, int> seen;
  for (int round = 0; round < 4000; ++round) {
    const SlowTags slow = RandomRule();
    const TagRouter router = RouterOf(slow);
    const std::string consumer_tag = Chance(30) ? Name() : "";
    const bool consumer_forces = Chance(30);
    consumer_ = Parse("consumer://10.0.0.9/s.A?dubbo.tag=" + consumer_tag + "&dubbo.force.tag=" + (consumer_forces ? "true" : "false"));
    Provide({});
    std::map<Slot, SlowTags::Host> hosts;
    std::shared_ptr<const RouteTable> table;
    for (int step = 0; step < 4; ++step) {
      const InvokerSet changed = Edit(&hosts);
      table = Compile(router, &changed, table.get());
      SlowTags::Hosts all, in;
      InvokerSet incoming(providers_.size());
      for (const auto& [slot, host] : hosts) {
        all.push_back(host);
        if (Chance(20)) continue;  // another router took it out
        in.push_back(host);
        incoming.Add(slot);
      }
      for (int call = 0; call < 6; ++call) {
        std::vector<Attachment> attachments;
        const std::string tag = Name() + (Chance(20) ? "|z" : "");
        if (Chance(75)) attachments.push_back({"dubbo.tag", tag});
        const bool forces = Chance(50), says = Chance(60);
        if (says) attachments.push_back({"dubbo.force.tag", forces ? "true" : "false"});
        const std::string asked = attachments.empty() || attachments[0].key != "dubbo.tag" || tag.empty() ? consumer_tag : tag;
        const bool request_force = says ? forces : consumer_forces;
        std::vector<Slot> expected;
        for (const auto& host : SlowTags::Route({{"", slow}}, all, in, asked, request_force)) expected.push_back(static_cast<Slot>(host.slot));
        const std::vector<Slot> got = Route(*table, incoming, "find", {.attachments = attachments});
        ASSERT_EQ(got, expected) << "round " << round << " step " << step << " tag \"" << asked << "\" force " << request_force;
        ++seen[std::string(asked.empty() ? "untagged" : "tagged") + (request_force ? " forced " : " ") +
               (slow.has_rule ? slow.force ? "rule+force " : "rule " : "") +
               (in.empty() ? "none" : expected.empty() ? "empty" : expected.size() == in.size() ? "all" : "some")];
      }
    }
  }
  for (const char* asked : {"untagged", "tagged", "tagged forced"}) {
    for (const char* rule : {"", "rule ", "rule+force "}) {
      for (const char* end : {"empty", "some", "all"}) {
        EXPECT_GT(seen[std::string(asked) + " " + rule + end], 10) << asked << " " << rule << end;
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
