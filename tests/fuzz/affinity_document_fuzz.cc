// Documents of affinity, for a whole service and for the providers of one application.
#include "fairlead/routing/scoped_router.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  const absl::StatusOr<AffinityDocument> document = ParseAffinityDocument(text);
  if (!CheckDocument(document, text)) return;
  const std::shared_ptr<const Router> router = MakeRouter(*document, 7, "fuzzed");
  FUZZ_EXPECT((router == nullptr) == document->empty(), text);
  if (router == nullptr) return;
  CheckRouter(*router, RoutedWorld::Usual(), text);
  CheckRouter(ScopedRouter("orders", router), RoutedWorld::Usual(), text);
  // It keeps some of whoever comes, always.
  for (const RoutedWorld::Call& call : RoutedWorld::Usual().calls) {
    FUZZ_EXPECT(!OnlyOutcome(*RoutedWorld::Usual().Compile(*router), RoutedWorld::Usual().all, call).empty(), text);
  }
}

}  // namespace fairlead::fuzz
