// Classifying and routing a call without a plan allocate nothing. The counters below serve the whole test program.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/routing/condition/destinations_router.h"
#include "fairlead/routing/mesh/mesh_router.h"
#include "fairlead/routing/scoped_router.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/tests/routing/routing_fixture.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// Not inlined, or the compiler sees free() meet memory of operator new and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// The library's buffers come from here, and go to the same delete.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fairlead {
namespace {

class AllocationTest : public RoutingFixture {};

TEST_F(AllocationTest, AllocatesNothing) {
  Provide({"dubbo://10.0.0.1:1/s.A"});
  const auto rule = ParseConditionRule(
      "region=hz & method=find*,a-long-name-beyond-any-small-buffer & "
      "arguments[0]!=a-long-text-beyond-any-small-buffer* "
      "& arguments[1]=1~100 & arguments[9]!=x & attachments[user]=v*p & attachments[x.y]!=z => host=10.0.0.1",
      Compat::kStrict);
  ASSERT_TRUE(rule.ok()) << rule.status();
  const auto table = Compile(ConditionRouter(*rule, {}));
  const Argument arguments[] = {{"another-long-text-beyond-any-small-buffer"}, {"42"}};
  const Attachment attachments[] = {{"id", "1"}, {"user", "vip"}};
  const RouteCall call{"findOrders", {.arguments = arguments, .attachments = attachments}};
  const std::size_t before = allocations.load();
  RouteCase which = 0;
  for (int i = 0; i < 1000; ++i) which += table->Classify(call);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(which, 1000u) << "every key was looked at";
}

TEST_F(AllocationTest, FindingATagAllocatesNothing) {
  Provide({"dubbo://10.0.0.1:1/s.A"});
  TagRule::Tag tag{"a-long-level-beyond-any-small-buffer|another-level", {}, {}};
  tag.addresses.Add("10.0.0.1", Compat::kStrict);
  const auto table = Compile(TagRouter({{"", {false, {tag}, Compat::kStrict}}}));
  const Attachment attachments[] = {{"dubbo.tag", "a-long-level-beyond-any-small-buffer|another-level|third|fourth"},
                                    {"dubbo.force.tag", "false"}};
  const RouteCall call{"findOrders", {.attachments = attachments}};
  const std::size_t before = allocations.load();
  RouteCase which = 0;
  for (int i = 0; i < 1000; ++i) which = table->Classify(call);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_NE(table->Describe(which).find("begins with"), std::string::npos);
}

// Also in a list with providers of other applications, and where nobody of the rule's own is left.
TEST_F(AllocationTest, RoutingAllocatesNothing) {
  std::vector<std::string> urls;
  for (int i = 0; i < 300; ++i) {
    urls.push_back("dubbo://10.0.0.1:" + std::to_string(1 + i) + "/s.A?application=" + (i % 3 == 0 ? "b" : "a") +
                   "&ver=" + std::to_string(i % 4));
  }
  Provide(urls);
  ConditionOptions forced;
  forced.force = true;
  const auto scoped = [&](const std::string& rule) {
    return Compile(ScopedRouter("a", std::make_shared<ConditionRouter>(*ParseConditionRule(rule, Compat::kStrict), forced)));
  };
  DestinationsRule destinations;
  destinations.to = {{*ParseConditions("ver=1"), 10}, {*ParseConditions("ver=2"), 20}};
  MeshRule mesh;
  mesh.routes = {{"", {}, {{"", {}, {{{"none", "v1"}, 1}, {{"v2"}, 2}}}}}};
  mesh.subsets = {{"v1", {{"ver", "1"}}}, {"v2", {{"ver", "2"}}}};
  const std::shared_ptr<const RouteTable> tables[] = {
      scoped("=> ver=1"), scoped("=> ver=9"), scoped("=>"),
      Compile(ScopedRouter("a", std::make_shared<DestinationsRouter>(destinations, forced))),
      Compile(*MeshRouter::Make({{"a", mesh}, {"b", mesh}}, consumer_))};
  InvokerSet drawn(all_.capacity()), spare(all_.capacity());
  Random random(5);
  const std::size_t before = allocations.load();
  std::size_t kept = 0;
  for (const auto& table : tables) {
    for (int i = 0; i < 100; ++i) {
      Outcomes outcomes(all_, drawn, random, false, &spare);
      table->Route(table->Classify({"find", {}}), all_, outcomes);
      kept += outcomes.drawn().count();
    }
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(kept, 100u * 5 * 50);
}

}  // namespace
}  // namespace fairlead
