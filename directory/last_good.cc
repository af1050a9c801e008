#include "fairlead/directory/last_good.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/configurator.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {

RuleIdentity IdentityOfRule(const UrlParts& url) {
  const std::string_view name = url.Param("name");
  const std::string service = url.ServiceKey();
  // The length keeps a name from reaching into the service.
  return {absl::StrCat(url.Address(), " ", service.size(), " ", service, " ", ToAbsl(name)), !name.empty()};
}

RuleIdentity IdentityOfOverride(const UrlParts& url) { return {ConfiguratorIdentity(url), false}; }

std::vector<LastGood::Kept> LastGood::Update(const std::vector<Url>& usable, const std::vector<Broken>& broken) {
  ++updates_;
  dropped_ = 0;
  std::vector<InForce> before = std::exchange(in_force_, {});
  in_force_.reserve(usable.size());
  for (const Url& url : usable) in_force_.push_back({url});
  std::map<std::string, std::uint64_t> broken_before = std::exchange(broken_, {});
  std::vector<Kept> kept;
  if (broken.empty()) return kept;

  std::map<std::string_view, const Broken*> named;                              // by identity
  std::map<std::uint64_t, const Broken*> unknown;                               // by the update that brought it
  std::map<std::pair<std::string_view, std::uint64_t>, const Broken*> alike;  // by both
  for (const Broken& one : broken) {
    const auto known = broken_before.find(one.text);
    const std::uint64_t came = known == broken_before.end() ? updates_ : known->second;
    broken_.emplace(one.text, came);
    if (one.is.text.empty()) {
      unknown.emplace(came, &one);
    } else if (one.is.named) {
      named.emplace(one.is.text, &one);
    } else {
      alike.emplace(std::pair(std::string_view(one.is.text), came), &one);
    }
  }
  std::unordered_set<Url, UrlHash> listed(usable.begin(), usable.end());
  std::set<std::string> renewed;
  for (const Url& url : usable) {
    if (RuleIdentity is = identity_(url.parts()); is.named) renewed.insert(std::move(is.text));
  }
  struct Gone {
    InForce* rule;
    RuleIdentity is;
    const Broken* because = nullptr;
  };
  const auto came_for = [&](const RuleIdentity& is, std::uint64_t came) -> const Broken* {
    if (came == 0) return nullptr;
    if (const auto at = alike.find({is.text, came}); at != alike.end()) return at->second;
    const auto at = unknown.find(came);
    return at == unknown.end() ? nullptr : at->second;
  };
  std::vector<Gone> gone;
  std::set<std::string_view> replaced;  // the identities of what was listed and went for what came now
  for (InForce& old : before) {
    if (listed.contains(old.url)) continue;
    RuleIdentity is = identity_(old.url.parts());
    if (is.named && renewed.contains(is.text)) continue;
    gone.push_back({&old, std::move(is)});
  }
  for (Gone& one : gone) {
    if (const auto at = named.find(one.is.text); at != named.end()) {
      one.because = at->second;
      continue;
    }
    if (!one.rule->kept) one.rule->since = updates_;
    one.because = came_for(one.is, one.rule->since);
    if (!one.rule->kept && one.because != nullptr) replaced.insert(one.is.text);
  }
  // A child that is no url may be any rule's successor, so it inherits only if nothing at all was replaced.
  const auto heir = [&](const Gone& one) -> const Broken* {
    if (one.because != nullptr || !one.rule->kept) return nullptr;
    const bool known = alike.contains({one.is.text, updates_});
    if (known ? replaced.contains(one.is.text) : !replaced.empty()) return nullptr;
    return came_for(one.is, updates_);
  };
  std::map<const Broken*, std::uint64_t> newest;  // by heir
  for (const Gone& one : gone) {
    if (const Broken* by = heir(one); by != nullptr) newest[by] = std::max(newest[by], one.rule->since);
  }
  for (Gone& one : gone) {
    if (const Broken* by = heir(one); by != nullptr && newest[by] == one.rule->since) {
      one.because = by;
      one.rule->since = updates_;
    }
  }
  // What was listed until now comes before what stayed already, so the newest are first.
  for (const Gone& one : gone) {
    if (one.because == nullptr) continue;
    if (kept.size() == most_) {
      ++dropped_;
      continue;
    }
    kept.push_back({one.rule->url, one.because->text, !one.rule->kept});
    in_force_.push_back({one.rule->url, true, one.rule->since});
  }
  return kept;
}

void LastGood::Clear() {
  in_force_.clear();
  broken_.clear();
  dropped_ = 0;
}

}  // namespace fairlead::internal
