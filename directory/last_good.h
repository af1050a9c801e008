#ifndef FAIRLEAD_DIRECTORY_LAST_GOOD_H_
#define FAIRLEAD_DIRECTORY_LAST_GOOD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fairlead/url/url.h"

namespace fairlead::internal {

// Which rule a url is a version of.
struct RuleIdentity {
  std::string text;
  bool named = false;  // no other rule has this identity
};
// Of a router url: address, service, group, version and its `name`.
RuleIdentity IdentityOfRule(const UrlParts& url);
// Of a configurator: ConfiguratorIdentity, which several overrides of one service may share.
RuleIdentity IdentityOfOverride(const UrlParts& url);

// The rules of one category that stay in force though the registry does not list them any more, because what it lists
// in their place cannot be used. A rule that is not listed any more stays while a broken one is listed
//   - that has its identity and is named; or
//   - that came in the very notification which brought the rule's end, and has the rule's identity, or none that could
//     be told, being no url at all.
// A named rule goes as soon as a usable version of it is listed.
//
// When the last broken one that a rule stays for goes, so does the rule; unless others come in that notification, which
// then are broken once more: they inherit what stayed for the newest that went, provided that no rule still listed until
// then went for them. So at most as many sets stay as broken ones are listed, a set being what one notification took
// away; and never more than `most` rules, the newest of them. Not thread-safe; n log n in the rules.
class LastGood {
 public:
  struct Broken {
    std::string text;  // tells it from others; shown
    RuleIdentity is;   // without a text: it cannot be told
  };
  struct Kept {
    Url url;
    std::string because;  // the text of a broken one
    bool first = false;   // it was not kept before
  };

  static constexpr std::size_t kMostKept = 1000;

  explicit LastGood(RuleIdentity (*identity)(const UrlParts&), std::size_t most = kMostKept)
      : identity_(identity), most_(most) {}

  // The list as it is now; returns what stays beside `usable`.
  std::vector<Kept> Update(const std::vector<Url>& usable, const std::vector<Broken>& broken);
  // How many more would stay after the last update, were it not for `most`. They are forgotten.
  std::size_t dropped() const { return dropped_; }
  std::size_t most() const { return most_; }
  // The registry says that there are no rules.
  void Clear();

 private:
  struct InForce {
    Url url;
    bool kept = false;
    std::uint64_t since = 0;  // kept because of what came with this update; 0 = not for that reason
  };

  RuleIdentity (*const identity_)(const UrlParts&);
  const std::size_t most_;
  std::size_t dropped_ = 0;
  std::vector<InForce> in_force_;
  std::map<std::string, std::uint64_t> broken_;  // by text: the update that brought it
  std::uint64_t updates_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_LAST_GOOD_H_
