#include "fairlead/directory/rule_set.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fairlead/directory/last_good.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {
namespace {

struct Read {
  explicit Read(const std::string& given) : text(given) {
    absl::StatusOr<UrlParts> url = UrlParts::ParseAny(given);
    if (!url.ok()) return;
    parts = *std::move(url);
    overrides = parts->protocol == "override" || parts->protocol == "absent";
    identity = overrides ? internal::IdentityOfOverride(*parts) : internal::IdentityOfRule(*parts);
    // Of overrides the identity is who they are for, which is what an operator means.
    identity.named |= overrides;
  }
  bool Equals(const Read& other) const { return text == other.text || (parts.has_value() && parts == other.parts); }
  bool IsVersionOf(const Read& other) const {
    return parts.has_value() && other.parts.has_value() && overrides == other.overrides && identity.named &&
           other.identity.named && identity.text == other.identity.text;
  }

  std::string_view text;
  std::optional<UrlParts> parts;
  bool overrides = false;
  internal::RuleIdentity identity;
};

}  // namespace

RuleSet Changed(RuleSet rules, const RuleChange& change) {
  for (const auto& [name, text] : change.documents) {
    if (text.has_value()) {
      rules.documents.insert_or_assign(name, *text);
    } else {
      rules.documents.erase(name);
    }
  }
  const auto list_of = [&rules](const Read& url) -> std::vector<std::string>& { return url.overrides ? rules.overrides : rules.rules; };
  for (const std::string& text : change.removed) {
    const Read gone(text);
    std::vector<std::string>& list = list_of(gone);
    const auto equal = [&](const std::string& one) { return gone.Equals(Read(one)); };
    if (std::erase_if(list, equal) == 0) std::erase_if(list, [&](const std::string& one) { return gone.IsVersionOf(Read(one)); });
  }
  for (const std::string& text : change.set) {
    const Read added(text);
    std::vector<std::string>& list = list_of(added);
    const auto same = std::find_if(list.begin(), list.end(), [&](const std::string& one) {
      const Read other(one);
      return added.Equals(other) || added.IsVersionOf(other);
    });
    if (same != list.end()) {
      *same = text;
    } else {
      list.push_back(text);
    }
  }
  return rules;
}

}  // namespace fairlead
