#ifndef FAIRLEAD_URL_PARAMETER_CHECK_H_
#define FAIRLEAD_URL_PARAMETER_CHECK_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/url/url_parts.h"

namespace fairlead {

// What a parameter's value is read as. Dubbo has a default for what it cannot read, and so has Fairlead; this is to
// say so to whoever wrote it.
struct ParameterRule {
  std::string_view key;
  bool (*readable)(std::string_view value) = nullptr;  // asked of values that are there and not empty
  std::string_view expected;                           // "true or false"
  std::string_view instead;                            // what holds when it cannot be read
};

namespace internal {
bool ReadsAsInt(std::string_view value);
bool ReadsAsCount(std::string_view value);
bool ReadsAsBool(std::string_view value);
}  // namespace internal

constexpr ParameterRule IntRule(std::string_view key, std::string_view instead) {
  return {key, &internal::ReadsAsInt, "a decimal integer of 32 bits", instead};
}
constexpr ParameterRule CountRule(std::string_view key, std::string_view instead) {
  return {key, &internal::ReadsAsCount, "a decimal integer of 0 to 2147483647", instead};
}
// Dubbo takes everything but `true` for false.
constexpr ParameterRule BoolRule(std::string_view key) {
  return {key, &internal::ReadsAsBool, "true or false", "false"};
}

// A remark for each parameter of `url` that is not as its rule says, in the order of the rules:
// "check=maybe: expected true or false; false holds instead". Long values are cut.
std::vector<std::string> UnreadableParameters(const UrlParts& url, std::span<const ParameterRule> rules);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_PARAMETER_CHECK_H_
