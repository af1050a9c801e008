// Condition rules as text: read, printed and read again, and decided as their slow twin does.
#include <algorithm>
#include <string>
#include <vector>

#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/tests/fuzz/routed_world.h"
#include "fairlead/tests/support/slow_condition.h"

namespace fairlead::fuzz {
namespace {

std::string Print(const Conditions& side) {
  std::string text;
  const auto append = [&text](const char* sign, const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? sign : ",") + values[i];
  };
  for (const KeyPatterns& key : side) {
    if (!text.empty()) text += " & ";
    text += key.key;
    append("=", key.matches);
    append("!=", key.mismatches);
  }
  return text;
}

Conditions Sorted(Conditions side) {
  for (KeyPatterns& key : side) {
    std::sort(key.matches.begin(), key.matches.end());
    std::sort(key.mismatches.begin(), key.mismatches.end());
  }
  std::sort(side.begin(), side.end(), [](const KeyPatterns& a, const KeyPatterns& b) { return a.key < b.key; });
  return side;
}

void CheckPrinting(const Conditions& side) {
  const std::string text = Print(side);
  const absl::StatusOr<Conditions> again = ParseConditions(text);
  FUZZ_EXPECT(again.ok() && Sorted(*again) == Sorted(side), text + "\n" + (again.ok() ? Print(*again) : again.status().ToString()));
}

void CheckStatus(const absl::Status& status, const std::string& text) {
  FUZZ_EXPECT(absl::IsInvalidArgument(status) && status.message().size() < 1000, text + "\n" + status.ToString());
}

// A regular expression of the standard library, which the twin is written with, needs stack for every character.
constexpr std::size_t kMostForTwin = 600;

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  const RoutedWorld& world = RoutedWorld::Usual();
  if (const absl::StatusOr<Conditions> side = ParseConditions(text); side.ok()) {
    CheckPrinting(*side);
  } else {
    CheckStatus(side.status(), text);
  }
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const absl::StatusOr<ConditionRule> rule = ParseConditionRule(text, compat);
    if (!rule.ok()) CheckStatus(rule.status(), text);
    if (rule.ok()) {
      FUZZ_EXPECT(rule->text == text, text);
      CheckPrinting(rule->when);
      if (rule->then.has_value()) CheckPrinting(*rule->then);
    }
    for (const bool force : {false, true}) {
      if (!rule.ok()) continue;
      ConditionOptions options;
      options.force = force;
      const ConditionRouter router(*rule, options);
      CheckRouter(router, world, text);
    }
    if (compat != Compat::kStrict || text.size() > kMostForTwin || text.find('\0') != text.npos) continue;
    const SlowCondition twin{text, true};
    for (const RoutedWorld::Call& call : world.calls) {
      if (call.method.empty()) continue;  // the twin knows no calls without a method
      const auto expected = twin.Route(world.consumer.parts(), world.provider_parts, {call.method, call.invocation});
      FUZZ_EXPECT(expected.has_value() == rule.ok(), text + "\n" + rule.status().ToString());
      if (!rule.ok()) continue;
      ConditionOptions options;
      options.force = true;
      const InvokerSet got = OnlyOutcome(*world.Compile(ConditionRouter(*rule, options)), world.all, call);
      InvokerSet slots;
      for (const std::size_t at : *expected) slots.Add(static_cast<Slot>(at));
      FUZZ_EXPECT(got == slots, text);
    }
  }
}

}  // namespace fairlead::fuzz
