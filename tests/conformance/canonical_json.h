#ifndef FAIRLEAD_TESTS_CONFORMANCE_CANONICAL_JSON_H_
#define FAIRLEAD_TESTS_CONFORMANCE_CANONICAL_JSON_H_

#include <string>
#include <string_view>

#include "runner.h"

namespace fairlead::conformance {

// Parses strict JSON. Unlike the library's own parser it keeps integers of any length: those beyond 64 bits become
// binary values that hold their digits. Throws std::runtime_error with the position of a mistake; a lone surrogate is
// one, for no UTF-8 text, and so no case id, could be made of it.
Json ParseJson(std::string_view text);

// The text that Python's json.dumps(x, sort_keys=True, ensure_ascii=False, separators=(',', ':')) gives.
std::string CanonicalJson(const Json& value);

// The first 12 hex digits of the SHA-256 of CanonicalJson(in).
std::string CaseId(const Json& in);

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_CANONICAL_JSON_H_
