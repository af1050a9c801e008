// Documents of condition rules, from text to what calls are left with.
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const absl::StatusOr<ConditionDocument> document = ParseConditionDocument(text, compat);
    if (!CheckDocument(document, text)) continue;
    const auto routers = MakeRouters(*document, 7, "fuzzed");
    FUZZ_EXPECT(document->empty() == routers.empty(), text);
    for (const auto& router : routers) {
      FUZZ_EXPECT(router->order() == 7 && router->name() == "fuzzed", text);
      CheckRouter(*router, RoutedWorld::Usual(), text);
    }
  }
}

}  // namespace fairlead::fuzz
