// Documents of scripts, which are read and not run.
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  const absl::StatusOr<ScriptDocument> document = ParseScriptDocument(text);
  if (!CheckDocument(document, text)) return;
  // Whoever counts and logs active ones takes the first remark.
  if (document->active()) {
    FUZZ_EXPECT(!document->script.empty() && document->head.enabled && document->head.valid, text);
    FUZZ_EXPECT(!document->remarks.empty() && document->remarks.front().text.starts_with("script ("), text);
    FUZZ_EXPECT(document->remarks.front().text.size() < 500, document->remarks.front().text);
  }
}

}  // namespace fairlead::fuzz
