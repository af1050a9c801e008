// Classifying a call allocates nothing. The counters below serve the whole test program.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fairlead/routing/condition/condition_router.h"
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

class ClassifyAllocationTest : public RoutingFixture {};

TEST_F(ClassifyAllocationTest, AllocatesNothing) {
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

TEST_F(ClassifyAllocationTest, FindingATagAllocatesNothing) {
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

}  // namespace
}  // namespace fairlead
