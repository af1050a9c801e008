#ifndef FAIRLEAD_TESTS_SUPPORT_SLOW_TAGS_H_
#define FAIRLEAD_TESTS_SUPPORT_SLOW_TAGS_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fairlead {

// Rules of tags as data, and Dubbo's steps as the reference tells them (strict), one provider after the other. The twin of
// the tag router. Rules of several applications make one decision: who has a tag is asked of the rule of each provider's
// own application, whether anybody has it, of all together.
struct SlowTags {
  struct Tag {
    std::string name;
    std::set<std::string> addresses;  // host, host:port, 0.0.0.0:port or *
    std::string region;               // match, without addresses
  };
  struct Host {
    std::size_t slot;
    std::string address, tag, region;
    std::string application = {};
  };
  using Hosts = std::vector<Host>;
  using Addresses = std::map<std::string, std::set<std::string>>;  // by tag

  bool has_rule = false, force = false;
  std::vector<Tag> tags;

  static bool Has(const std::set<std::string>& addresses, const Host& host) {
    const std::string name = host.address.substr(0, host.address.find(':'));
    // Names are not looked up, and these IPv4 hosts are taken for IPv6.
    const bool never = name == "localhost" || name == "0.0.0.0" || name.starts_with("127.") || name.ends_with(".acme");
    if (never) return addresses.contains("*");
    return addresses.contains("*") || addresses.contains(host.address) || addresses.contains(name) ||
           addresses.contains("0.0.0.0" + host.address.substr(name.size()));
  }
  template <class Keep>
  static Hosts Filter(const Hosts& in, Keep keep) {
    Hosts out;
    for (const Host& host : in) {
      if (keep(host)) out.push_back(host);
    }
    return out;
  }
  Addresses AddressesOf(const Hosts& all) const {
    Addresses by_name;
    if (!has_rule) return by_name;
    for (const Tag& tag : tags) {
      if (!tag.addresses.empty()) by_name[tag.name] = tag.addresses;
    }
    for (const Tag& tag : tags) {
      std::set<std::string> matched;
      for (const Host& host : all) {
        if (tag.addresses.empty() && host.region == tag.region) matched.insert(host.address);
      }
      if (!matched.empty()) by_name[tag.name] = matched;
    }
    return by_name;
  }
  // Whose addresses a call with that tag gets: the rule's, or those of fewer levels of it; nullptr when there are none.
  static const std::set<std::string>* Find(const Addresses& by_name, std::string tag, bool request_force) {
    auto found = by_name.find(tag);
    while (found == by_name.end() && !request_force && tag.find('|') != tag.npos) {
      tag.erase(tag.rfind('|'));
      found = by_name.find(tag);
    }
    return found == by_name.end() ? nullptr : &found->second;
  }

  // `all` are the providers there are, `in` those that come to the router. `rules` by application; an application without
  // one has no rule.
  static Hosts Route(const std::map<std::string, SlowTags>& rules, const Hosts& all, const Hosts& in, const std::string& tag,
                     bool request_force) {
    std::map<std::string, Addresses> by_name;
    for (const auto& rule : rules) {
      const auto own = [&rule](const Host& host) { return host.application == rule.first; };
      by_name[rule.first] = rule.second.AddressesOf(Filter(all, own));
    }
    const auto addresses = [&](const Host& host) { return Find(by_name[host.application], tag, request_force); };
    const auto listed = [&](const Host& host) {
      const Addresses& own = by_name[host.application];
      return std::any_of(own.begin(), own.end(), [&](const auto& one) { return Has(one.second, host); });
    };
    const auto plain = [&](const Host& host) { return !listed(host) && host.tag.empty(); };
    if (tag.empty()) return Filter(in, plain);
    const Hosts tagged = Filter(in, [&](const Host& host) {
      const std::set<std::string>* of_tag = addresses(host);
      return of_tag != nullptr ? Has(*of_tag, host) : host.tag == tag;
    });
    if (!tagged.empty() || request_force) return tagged;
    return Filter(in, [&](const Host& host) {
      const auto rule = rules.find(host.application);
      const bool forced = rule != rules.end() && rule->second.force && addresses(host) != nullptr;
      return !forced && plain(host);
    });
  }
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_SLOW_TAGS_H_
