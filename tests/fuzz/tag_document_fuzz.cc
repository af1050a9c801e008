// Documents of tags.
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const absl::StatusOr<TagDocument> document = ParseTagDocument(text, compat);
    if (!CheckDocument(document, text) || document->empty()) continue;
    for (const char* application : {"", "orders"}) {
      CheckRouter(TagRouter({{application, document->rule}}), RoutedWorld::Usual(), text);
    }
  }
}

}  // namespace fairlead::fuzz
