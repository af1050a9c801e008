#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/dry_run.h"
#include "fairlead/url/redact.h"

namespace fairlead {
namespace {

// Of a list, in a line for people.
constexpr std::size_t kMostShown = 10;
// Of kinds of call that change.
constexpr std::size_t kMostKindsShown = 200;

std::string Some(const std::vector<std::string>& texts) {
  const std::size_t shown = std::min(texts.size(), kMostShown);
  std::string line = absl::StrJoin(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown), ", ");
  if (shown < texts.size()) absl::StrAppend(&line, " and ", texts.size() - shown, " more");
  return line;
}

std::string Percent(double share) { return absl::StrFormat("%.4g%%", share * 100); }

std::string Value(const std::optional<std::string>& value) { return value.has_value() ? Shortened(Redacted(*value), 100) : "(none)"; }

std::string EndsText(const DryRunReport::Ends& ends) {
  std::string text = absl::StrCat(ends.candidates);
  if (ends.sets.size() > 1) {
    std::vector<std::string> sets;
    for (const auto& [share, places] : ends.sets) sets.push_back(absl::StrCat(Percent(share), " to ", places.size()));
    absl::StrAppend(&text, " (", Some(sets), ")");
  }
  if (ends.fails > 0 && ends.fails < 1) absl::StrAppend(&text, ", ", Percent(ends.fails), " find nobody");
  return text;
}

}  // namespace

std::string DryRunReport::ToString() const {
  const auto names = [this](const std::vector<std::size_t>& places) {
    std::vector<std::string> texts;
    for (const std::size_t place : places) {
      texts.push_back(providers[place]);
      if (texts.size() > kMostShown) break;
    }
    std::string line = absl::StrJoin(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), kMostShown)), ", ");
    if (places.size() > kMostShown) absl::StrAppend(&line, " and ", places.size() - kMostShown, " more");
    return line;
  };
  std::string text;
  std::size_t same = 0, changed = 0, lost = 0;
  for (const Calls& one : calls) {
    if (!one.changes()) {
      same += one.methods.size();
      continue;
    }
    if (++changed > kMostKindsShown) {
      lost += one.loses_all() ? 1 : 0;
      continue;
    }
    absl::StrAppend(&text, "calls of ", one.label.empty() ? Some(one.methods) : one.label,
                    one.label.empty() && !one.tag.empty() ? absl::StrCat(" with the tag ", one.tag) : "", ": ", EndsText(one.before),
                    " -> ", EndsText(one.after), one.after.fails >= 1 && one.before.fails < 1 ? "  !! 0 left" : "",
                    one.shares_change ? " (divided otherwise)" : "", "\n");
    if (!one.lost.empty()) absl::StrAppend(&text, "  lost:   ", names(one.lost), "\n");
    if (!one.gained.empty()) absl::StrAppend(&text, "  gained: ", names(one.gained), "\n");
    if (one.loses_all() && !one.after.emptied_by.empty()) absl::StrAppend(&text, "  why:    ", one.after.emptied_by, "\n");
  }
  if (changed > kMostKindsShown) {
    absl::StrAppend(&text, "and ", changed - kMostKindsShown, " more groups of calls that change, ", lost,
                    " of which find nobody any more, always or at times\n");
  }
  if (same > 0) absl::StrAppend(&text, same, same == 1 ? " kind" : " kinds", " of call (method and tag) as before\n");
  for (const Parameter& one : parameters) {
    absl::StrAppend(&text, "parameter ", Shortened(one.name, 100), ": ", Value(one.before), " -> ", Value(one.after), " for ",
                    one.providers.empty() ? "the consumer" : names(one.providers), "\n");
  }
  if (!taken_out.empty()) absl::StrAppend(&text, "taken out: ", names(taken_out), "\n");
  if (!brought_back.empty()) absl::StrAppend(&text, "in use again: ", names(brought_back), "\n");
  for (const std::string& line : broken) absl::StrAppend(&text, "broken: ", line, "\n");
  for (const std::string& line : unusable) absl::StrAppend(&text, "new: ", line, "\n");
  for (const std::string& name : unread) absl::StrAppend(&text, "nobody here reads: ", Shortened(name, 200), "\n");
  for (const std::string& line : not_tried) absl::StrAppend(&text, "not tried: ", line, "\n");
  if (!changes()) absl::StrAppend(&text, "nothing changes\n");
  return text;
}

}  // namespace fairlead
