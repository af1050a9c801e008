#ifndef FAIRLEAD_ROUTING_YAML_NEVER_DRAWN_H_
#define FAIRLEAD_ROUTING_YAML_NEVER_DRAWN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/routing/weighted_draw.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// Remarks the last of `count` destinations, at `mark`, when the draw never takes it while an earlier one has anybody.
inline void RemarkNeverDrawn(YamlMark mark, const std::string& what, std::size_t count, std::uint32_t weight, Compat compat,
                             std::vector<YamlRemark>* remarks) {
  if (count < 2 || internal::WeightInDraw(weight, false, true, compat) > 0) return;
  remarks->push_back({mark,
                      absl::StrCat(what, ": as the last one, with a weight of ", weight, ", no call is drawn to it while others have "
                                         "providers: Dubbo's draw gives the first destination one unit of weight more, the last one less"),
                      "never-drawn"});
}

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_NEVER_DRAWN_H_
