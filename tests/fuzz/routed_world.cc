#include "fairlead/tests/fuzz/routed_world.h"

#include <algorithm>
#include <initializer_list>

#include "fairlead/tests/fuzz/fuzz.h"

namespace fairlead::fuzz {
namespace {

constexpr Argument kArguments[] = {{"a"}, {"", true}, {"7"}};
constexpr Attachment kUser[] = {{"user", "vip"}, {"dubbo.tag", "gray"}};
constexpr Attachment kForced[] = {{"dubbo.tag", "a|b"}, {"dubbo.force.tag", "true"}, {"env", ""}};

bool Within(const InvokerSet& part, const InvokerSet& whole) { return part.CountCommon(whole) == part.count(); }

void CheckRoute(const RouteTable& table, const RouteTable& other, RouteCase which, const InvokerSet& in, const std::string& rule) {
  Outcomes collected(in), from_other(in);
  table.Route(which, in, collected);
  other.Route(which, in, from_other);
  FUZZ_EXPECT(collected.count() == from_other.count(), rule);
  for (std::size_t i = 0; i < collected.splits().size(); ++i) {
    const auto& [weight, set] = collected.splits()[i];
    FUZZ_EXPECT(Within(set, in), rule);
    FUZZ_EXPECT(weight == from_other.splits()[i].weight && set == from_other.splits()[i].set, rule);
  }
  Random random(in.Hash());
  InvokerSet scratch(in.capacity());
  Outcomes drawn(in, scratch, random, true);
  table.Route(which, in, drawn);
  FUZZ_EXPECT(drawn.count() == collected.count(), rule);
  if (drawn.count() == 0) return;
  const auto is_drawn = [&](const Outcomes::Split& split) { return split.set == drawn.drawn(); };
  FUZZ_EXPECT(std::any_of(collected.splits().begin(), collected.splits().end(), is_drawn), rule);
}

}  // namespace

RoutedWorld::RoutedWorld() {
  const auto parse = [this](const std::string& text) { return *Url::Parse(text, *pool); };
  consumer = parse("consumer://10.0.0.9/s.A?application=shop&region=hz&env=&level=3&interface=s.A&side=consumer");
  const char* texts[] = {"dubbo://10.0.0.1:20880/s.A?region=hz&env=gray&application=orders&methods=find",
                         "tri://10.0.0.2:50051/s.A?region=sh&application=orders&dubbo.tag=gray&level=3",
                         "dubbo://10.0.0.3:20880/s.A?application=orders&region=&x=1~2",
                         "dubbo://u:p@[fe80::1]:20880/s.A?region=hz&level=10&application=other",
                         "dubbo://host.example/s.A?dubbo.tag=a%7Cb&application=orders&weight=0&host=x&a=a*a"};
  for (const char* text : texts) {
    const auto slot = static_cast<Slot>(provider_parts.size());
    const Url url = parse(text);
    provider_parts.push_back(url.parts());
    providers.Set(slot, {url, url});
    const Url other = slot == changed ? parse("dubbo://10.0.0.8:1/s.A?region=bj&dubbo.tag=x&application=other") : url;
    before.Set(slot, {other, other});
    by_rank.push_back(slot);
    all.Add(slot);
  }
  calls = {{"find", {}},
           {"", {.arguments = kArguments}},
           {"findAll", {.arguments = kArguments, .attachments = kUser}},
           {"save", {.attachments = kForced}}};
}

const RoutedWorld& RoutedWorld::Usual() {
  static const RoutedWorld world;
  return world;
}

void CheckRouter(const Router& router, const RoutedWorld& world, const std::string& rule) {
  const std::shared_ptr<const RouteTable> table = world.Compile(router);
  FUZZ_EXPECT(table != nullptr, rule);
  InvokerSet changed;
  changed.Add(world.changed);
  const auto earlier = router.Compile({world.before, world.by_rank, nullptr, world.consumer, world.consumer}, nullptr);
  const auto stepped = router.Compile({world.providers, world.by_rank, &changed, world.consumer, world.consumer}, earlier.get());
  FUZZ_EXPECT(stepped != nullptr && stepped->cases() == table->cases(), rule);
  InvokerSet some, none(world.all.capacity());
  for (const Slot slot : {0u, 2u, 4u}) some.Add(slot);
  for (const RoutedWorld::Call& call : world.calls) {
    const RouteCase which = table->Classify({call.method, call.invocation});
    FUZZ_EXPECT(which < table->cases() && which == stepped->Classify({call.method, call.invocation}), rule);
    FUZZ_EXPECT(!table->Describe(which).empty(), rule);
    for (const InvokerSet* in : std::initializer_list<const InvokerSet*>{&world.all, &some, &none}) CheckRoute(*table, *stepped, which, *in, rule);
  }
}

InvokerSet OnlyOutcome(const RouteTable& table, const InvokerSet& in, const RoutedWorld::Call& call) {
  Outcomes outcomes(in);
  table.Route(table.Classify({call.method, call.invocation}), in, outcomes);
  return outcomes.splits().empty() ? InvokerSet() : outcomes.splits().front().set;
}

}  // namespace fairlead::fuzz
