// Mesh rules (VirtualService and DestinationRule), from text to what calls are left with.
#include "fairlead/routing/mesh/mesh_router.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {
namespace {

void CheckRule(const MeshRule& rule, const std::string& text) {
  for (const MeshRule::Route& route : rule.routes) {
    for (const MeshRule::Detail& detail : route.details) {
      FUZZ_EXPECT(detail.to.size() <= MeshRule::kMostDestinations, text);
      for (const MeshRule::Destination& one : detail.to) FUZZ_EXPECT(one.weight >= 1 && one.weight < (1u << 31), text);
    }
  }
}

// Whoever calls and whoever is there, somebody stays.
void CheckSomebodyStays(const Router& router, const std::string& text) {
  const RoutedWorld& world = RoutedWorld::Usual();
  const auto table = world.Compile(router);
  for (const RoutedWorld::Call& call : world.calls) {
    for (Slot slot = 0; slot < world.by_rank.size(); ++slot) {
      InvokerSet one;
      one.Add(slot);
      FUZZ_EXPECT(OnlyOutcome(*table, one, call) == one, text);
    }
    Outcomes outcomes(world.all);
    table->Route(table->Classify({call.method, call.invocation}), world.all, outcomes);
    FUZZ_EXPECT(outcomes.count() > 0, text);
    for (const Outcomes::Split& split : outcomes.splits()) FUZZ_EXPECT(!split.set.empty() && split.weight > 0, text);
  }
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const absl::StatusOr<MeshDocument> document = ParseMeshDocument(text, compat);
    if (!CheckDocument(document, text)) continue;
    CheckRule(document->rule, text);
    if (document->empty()) continue;
    // One application alone, and several that draw together.
    const ScopedMeshRule orders{"orders", document->rule}, other{"other", document->rule};
    for (const auto& rules : {std::vector{orders}, std::vector{orders, other}}) {
      std::vector<std::string> left_out;
      const auto router = MeshRouter::Make(rules, RoutedWorld::Usual().consumer, &left_out);
      FUZZ_EXPECT(left_out.size() < rules.size(), text);
      if (router == nullptr) continue;
      CheckRouter(*router, RoutedWorld::Usual(), text);
      CheckSomebodyStays(*router, text);
    }
  }
}

}  // namespace fairlead::fuzz
