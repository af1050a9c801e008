#include "fairlead/routing/address_match.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/match.h"

namespace fairlead {

AddressMatch::AddressMatch(Kinds kinds, Compat compat) : kinds_(std::move(kinds)) {
  if (kinds_.cird.has_value()) pattern_.emplace(*kinds_.cird, compat);
}

bool AddressMatch::Matches(std::string_view address) const {
  if (pattern_.has_value() &&
      (address == *kinds_.cird || pattern_->Match(address, 0) == AddressPattern::Answer::kYes)) {
    return true;
  }
  if (kinds_.wildcard.has_value() &&
      (*kinds_.wildcard == "*" || *kinds_.wildcard == "0.0.0.0" || MatchesGlob(*kinds_.wildcard, address))) {
    return true;
  }
  return kinds_.exact.has_value() && address == *kinds_.exact;
}

std::string AddressMatch::ToString() const {
  std::string text;
  const auto add = [&text](const char* name, const std::optional<std::string>& value) {
    if (value) absl::StrAppend(&text, text.empty() ? "" : " or ", name, " \"", Shortened(*value, 80), "\"");
  };
  add("cird", kinds_.cird);
  add("wildcard", kinds_.wildcard);
  add("exact", kinds_.exact);
  return text.empty() ? "nothing" : text;
}

}  // namespace fairlead
