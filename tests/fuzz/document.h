#ifndef FAIRLEAD_TESTS_FUZZ_DOCUMENT_H_
#define FAIRLEAD_TESTS_FUZZ_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"

#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/tests/fuzz/routed_world.h"

namespace fairlead::fuzz {

// What all readers of documents promise: an error that says where and shows an excerpt, or remarks with places.
template <class Document>
bool CheckDocument(const absl::StatusOr<Document>& document, const std::string& text) {
  if (!document.ok()) {
    FUZZ_EXPECT(absl::IsInvalidArgument(document.status()), document.status().ToString());
    FUZZ_EXPECT(document.status().message().size() < 2000, document.status().ToString());
    return false;
  }
  for (const auto& remark : document->remarks) {
    FUZZ_EXPECT(remark.mark.line >= 1 && remark.mark.column >= 1 && !remark.text.empty(), text + "\n" + remark.text);
  }
  return true;
}

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_DOCUMENT_H_
