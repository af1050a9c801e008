#ifndef FAIRLEAD_REGISTRY_JAVA_PROPERTIES_H_
#define FAIRLEAD_REGISTRY_JAVA_PROPERTIES_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::internal {

// The text form of java.util.Properties, to the byte: what Properties.store writes is read, and what is
// written here Properties.load reads. Keys and values are UTF-8 outside and ISO-8859-1 with \uXXXX in the
// file. Pure.
using Properties = std::map<std::string, std::string, std::less<>>;

// Any text is a list of properties but one with a `\u` that lacks its four hex digits: kInvalidArgument,
// naming the offset. Of equal keys the last wins. Half of a surrogate pair becomes U+FFFD. Linear.
absl::StatusOr<Properties> ParseProperties(std::string_view latin1);

// Appends `key=value` and a line feed. Malformed UTF-8 is written as U+FFFD. Linear.
void AppendProperty(std::string_view key, std::string_view value, std::string& out);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_JAVA_PROPERTIES_H_
