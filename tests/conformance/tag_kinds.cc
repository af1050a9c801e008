#include <string>

#include "fairlead/routing/string_match.h"
#include "fairlead/routing/tag/address_pattern.h"
#include "routing_case.h"

namespace fairlead::conformance {
namespace {

// Java raises an exception of some class where a pattern and a host cannot be compared; ours has no class.
Outcome AddressCase(const Case& c) {
  const AddressPattern pattern(c.in.at("pattern").get<std::string>(), c.compat);
  const auto answer = pattern.Match(c.in.at("host").get<std::string>(), c.in.value("port", 0));
  if (answer == AddressPattern::Answer::kCannot) {
    const bool both = c.out.is_object() && c.out.contains("error");
    return {both, both ? c.out : Json{{"error", std::string(pattern.status().message())}}};
  }
  const bool match = answer == AddressPattern::Answer::kYes;
  const Json got = c.out.is_boolean() ? Json(match) : Json{{"match", match}};
  return {got == c.out, got};
}

Json StringMatchCase(const Case& c) {
  StringMatch::Kinds kinds;
  const Json given = c.in.at("match");
  const auto read = [&given](const char* name) {
    return given.contains(name) ? std::optional<std::string>(given.at(name).get<std::string>()) : std::nullopt;
  };
  kinds = {read("exact"), read("prefix"), read("regex"), read("wildcard"), read("empty"), read("noempty")};
  const absl::StatusOr<StringMatch> match = StringMatch::Compile(std::move(kinds));
  if (!match.ok()) return std::string(match.status().message());
  if (c.in.at("value").is_null()) return match->Matches(std::nullopt);
  return match->Matches(c.in.at("value").get<std::string>());
}

}  // namespace

void RegisterTagKinds(KindTable& kinds) {
  kinds.Add("ip_expr", JudgedKind(AddressCase));
  kinds.Add("routing.ip", JudgedKind(AddressCase));
  kinds.Add("routing.strmatch", ExactKind(StringMatchCase));
}

}  // namespace fairlead::conformance
