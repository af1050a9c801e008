#include "fairlead/routing/rule_place.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

constexpr char kPayload[] = "fairlead/rule-place";

}  // namespace

absl::Status WithPlace(absl::Status status, const RulePlace& place) {
  if (status.ok()) return status;
  RulePlace all = PlaceOf(status).value_or(RulePlace());
  if (place.line > 0) {
    all.line = place.line;
    all.column = place.column;
  }
  if (place.byte.has_value()) all.byte = place.byte;
  if (!place.code.empty()) all.code = place.code;
  const std::string byte = all.byte.has_value() ? absl::StrCat(*all.byte) : "";
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(all.line, " ", all.column, " ", byte, " ", all.code)));
  return status;
}

std::optional<RulePlace> PlaceOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(' ', 3));
  RulePlace place;
  std::uint64_t byte = 0;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &place.line) || !absl::SimpleAtoi(parts[1], &place.column)) {
    return std::nullopt;
  }
  if (absl::SimpleAtoi(parts[2], &byte)) place.byte = static_cast<std::size_t>(byte);
  place.code = parts[3];
  return place;
}

absl::Status Reworded(const absl::Status& status, std::string_view text) {
  absl::Status other(status.code(), ToAbsl(text));
  if (const auto place = PlaceOf(status)) other = WithPlace(std::move(other), *place);
  return other;
}

}  // namespace fairlead
