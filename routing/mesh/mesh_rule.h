#ifndef FAIRLEAD_ROUTING_MESH_MESH_RULE_H_
#define FAIRLEAD_ROUTING_MESH_MESH_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/routing/parameter_match.h"
#include "fairlead/routing/router.h"
#include "fairlead/routing/string_match.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// A condition on a number. A plain value.
struct NumberMatch {
  std::optional<double> exact = {};
  std::optional<double> mod = {};                // then the rest of the division by it is `exact`
  std::optional<double> start = {}, end = {};    // of a range; `end` is not in it. Only without `exact`, or with `mod`

  // nullopt when the text is no number.
  static std::optional<double> Parse(std::string_view text);
  bool Matches(double number) const;
};

// One entry of a `match` in a mesh rule: everything in it must hold. A plain value.
struct MeshMatch {
  struct Argument {
    std::int32_t index = 0;
    // The first that is given decides; without any nothing fits.
    std::optional<std::vector<StringMatch>> texts = {};    // one of them
    std::optional<std::vector<NumberMatch>> numbers = {};  // one of them
    std::optional<bool> flag = {};

    // An argument whose text was not given fits nothing.
    bool Matches(const fairlead::Argument& argument) const;
  };

  bool possible = true;  // false: it asks for what no call tells here
  std::optional<StringMatch> method = {};
  std::optional<std::int32_t> argument_count = {};
  std::vector<Argument> arguments = {};
  std::vector<std::pair<std::string, std::string>> source_labels = {};  // equal to the consumer's parameters
  std::vector<ParameterMatch> attachments = {};                         // `key` names an attachment; absent: does not fit

  Reads reads() const;
  // What it says of the consumer.
  bool MatchesConsumer(const Url& consumer) const;
  // All else. Data plane, but for the lock that a regex takes inside RE2.
  bool MatchesCall(const RouteCall& call) const;
};

// What the mesh rules (VirtualService and DestinationRule) of one application say. A plain value.
struct MeshRule {
  // Of the subset's providers' parameters, as they registered them, each label equals its value.
  struct Subset {
    std::string name;
    std::vector<std::pair<std::string, std::string>> labels;

    bool Has(const Provider& provider) const;
  };
  struct Destination {
    std::vector<std::string> subsets;  // its own, then what it falls back to, in turn; the first with anybody counts
    std::uint32_t weight = 1;          // below 2^31
  };
  struct Detail {
    std::string name;
    std::vector<MeshMatch> match;  // all must hold; none: every call
    std::vector<Destination> to;
  };
  struct Route {
    std::string name;
    std::vector<StringMatch> services;  // of interfaces, one of them; none: every service
    std::vector<Detail> details;        // the first that fits a call counts
  };
  static constexpr std::size_t kMostDestinations = 64;  // of a detail

  std::vector<Route> routes;    // of all VirtualServices; the first for a service counts
  std::vector<Subset> subsets;  // of all DestinationRules; those of one name are one subset
  Compat compat = Compat::kStrict;

  // nullptr when none is for the service.
  const Route* RouteOf(std::string_view interface) const;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_MESH_MESH_RULE_H_
