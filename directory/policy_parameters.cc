#include "fairlead/directory/policy_parameters.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/consistent_hash.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr std::array<std::string_view, 5> kPolicyKeys = {names::kWeight, names::kWarmup, names::kLoadBalance,
                                                         names::kHashNodes, names::kHashArguments};

bool IsPolicyKey(std::string_view key) {
  return std::find(kPolicyKeys.begin(), kPolicyKeys.end(), key) != kPolicyKeys.end();
}

}  // namespace

std::string_view OwnMethod(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return IsPolicyKey(key.substr(dot + 1)) ? key.substr(0, dot) : std::string_view();
}

std::string_view PolicyKey(std::string_view key) {
  if (IsPolicyKey(key)) return key;
  const std::string_view method = OwnMethod(key);
  return method.empty() ? std::string_view() : key.substr(method.size() + 1);
}

std::string_view NumberExpected(std::string_view key, std::string_view value) {
  if (value.empty()) return {};
  if (key == names::kTimestamp) return ParseJavaLong(value) ? std::string_view() : "milliseconds since 1970";
  // Of warm-up there are no method forms.
  if (key != names::kWarmup && PolicyKey(key) != names::kWeight) return {};
  return ParseJavaInt(value) ? std::string_view() : "an integer of 32 bits";
}

std::string ValueExpected(std::string_view key, std::string_view value, const PolicyLookup& policies) {
  if (value.empty()) return {};
  if (const std::string_view number = NumberExpected(key, value); !number.empty()) return std::string(number);
  const std::string_view name = PolicyKey(key);
  if (name == names::kHashNodes) {
    const std::optional<std::int32_t> nodes = ParseJavaInt(value);
    if (nodes && *nodes >= kLeastHashNodes && *nodes <= kMostHashNodes) return {};
    return absl::StrCat("an integer from ", kLeastHashNodes, " to ", kMostHashNodes);
  }
  if (name == names::kHashArguments) {
    return CheckHashArguments(value).ok() ? std::string() : "a comma list of argument indices";
  }
  if (name == names::kLoadBalance) {
    const auto policy = policies(value);
    return policy.ok() ? std::string()
                       : absl::StrCat("the name of a policy (", Shortened(FromAbsl(policy.status().message()), 200), ")");
  }
  return {};
}

std::string OwnValueExpected(std::string_view key, std::string_view value, const PolicyLookup& policies) {
  if (PolicyKey(key) == names::kHashNodes && ParseJavaInt(value).value_or(0) > kMostHashNodes) return {};
  return ValueExpected(key, value, policies);
}

std::vector<std::string> TakeOutUnusable(
    UrlParams& params, const std::function<std::string(std::string_view key, std::string_view value)>& expected) {
  std::vector<std::string> left_out;
  for (const auto& [key, value] : params) {
    const std::string what = expected(key, value);
    if (what.empty()) continue;
    left_out.push_back(absl::StrCat(Shortened(key, 60), "=", Shortened(value, 60), " is not used, expected ", what));
  }
  if (!left_out.empty()) {
    params.EraseIf([&](std::string_view key, std::string_view value) { return !expected(key, value).empty(); });
  }
  return left_out;
}

}  // namespace fairlead::internal
