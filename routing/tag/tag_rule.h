#ifndef FAIRLEAD_ROUTING_TAG_TAG_RULE_H_
#define FAIRLEAD_ROUTING_TAG_TAG_RULE_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fairlead/routing/parameter_match.h"
#include "fairlead/routing/tag/address_pattern.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/rpc/invoker_table.h"

namespace fairlead {

// The addresses of one tag.
class TagAddresses {
 public:
  void Add(std::string_view text, Compat compat);
  bool empty() const { return texts_.empty(); }
  const std::vector<std::string>& texts() const { return texts_; }  // as given
  // One that names the port with `0.0.0.0` has any host. Linear in the addresses that are more than a host and a port.
  bool Has(const Provider& provider) const;

 private:
  struct Address {
    AddressPattern pattern;
    std::optional<std::int32_t> any_host;  // the port
  };
  struct Hash {
    std::size_t operator()(const IpAddress& address) const { return address.Hash(); }
  };
  std::vector<std::string> texts_;
  std::unordered_multimap<IpAddress, AddressPattern, Hash> literals_;  // by each host that they fit
  std::vector<Address> others_;
  Compat compat_ = Compat::kStrict;
};

// The addresses of providers that fit a tag's `match`. Under kStrict they are who has the tag, as Dubbo keeps it so: compared
// like addresses of a rule, so who shares one is in the tag, and who registered a name, or a host in 127.0.0.0/8, is not.
class MatchedAddresses {
 public:
  void Add(const Provider& provider);
  // Constant time, but linear in the added addresses that are no usual host and port.
  bool Has(const Provider& provider) const;

 private:
  struct Socket {
    IpAddress host;
    std::int32_t port;
    bool operator==(const Socket&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Socket& socket) const { return socket.host.Hash() + static_cast<std::size_t>(socket.port); }
  };
  static std::optional<Socket> UsualOf(const Provider& provider);

  std::unordered_set<Socket, Hash> usual_;
  TagAddresses others_;
};

// A dynamic tag rule: which providers have which tags, whatever they say themselves. A plain value.
struct TagRule {
  struct Tag {
    std::optional<std::string> name;  // nullopt: no call can ask for it, yet its providers are tagged
    TagAddresses addresses;
    std::vector<ParameterMatch> match;  // of what it registered; only without addresses; all must fit

    bool by_match() const { return addresses.empty(); }
    // Is the provider one of them by itself? Of a tag by match see MatchedAddresses.
    bool Fits(const Provider& provider) const;
  };

  bool force = false;  // a tag with addresses, none of whose providers is there: true leaves nobody
  // By their place. Of one name the last with `match` wins that fits any provider, else the last with addresses.
  std::vector<Tag> tags;
  Compat compat = Compat::kStrict;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_TAG_TAG_RULE_H_
