#include "fairlead/directory/last_good.h"

#include <set>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/configurator.h"

namespace fairlead::internal {
namespace {

struct UrlHash {
  std::size_t operator()(const Url& url) const { return url.Hash(); }
};

}  // namespace

RuleIdentity IdentityOfRule(const UrlParts& url) {
  const std::string_view name = url.Param("name");
  const std::string service = url.ServiceKey();
  // The length keeps a name from reaching into the service.
  return {absl::StrCat(url.Address(), " ", service.size(), " ", service, " ", ToAbsl(name)), !name.empty()};
}

RuleIdentity IdentityOfOverride(const UrlParts& url) { return {ConfiguratorIdentity(url), false}; }

std::vector<LastGood::Kept> LastGood::Update(const std::vector<Url>& usable, const std::vector<Broken>& broken) {
  ++updates_;
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
  for (InForce& old : before) {
    if (listed.contains(old.url)) continue;
    const RuleIdentity is = identity_(old.url.parts());
    if (is.named && renewed.contains(is.text)) continue;
    const Broken* because = nullptr;
    if (const auto at = named.find(is.text); at != named.end()) because = at->second;
    // What it was kept for so far, else what came as that went, or as the rule itself went.
    for (const std::uint64_t came : {old.since, updates_}) {
      if (because != nullptr || came == 0) continue;
      if (const auto at = unknown.find(came); at != unknown.end()) because = at->second;
      if (const auto at = alike.find({is.text, came}); at != alike.end()) because = at->second;
      if (because != nullptr) old.since = came;
    }
    if (because == nullptr) continue;
    kept.push_back({old.url, because->text, !old.kept});
    in_force_.push_back({old.url, true, old.since});
  }
  return kept;
}

void LastGood::Clear() {
  in_force_.clear();
  broken_.clear();
}

}  // namespace fairlead::internal
