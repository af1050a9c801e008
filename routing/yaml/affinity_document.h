#ifndef FAIRLEAD_ROUTING_YAML_AFFINITY_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_AFFINITY_DOCUMENT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/affinity/affinity_router.h"
#include "fairlead/routing/yaml/rule_head.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// A document of affinity (`*.affinity-router`), understood. A plain value.
struct AffinityDocument {
  RuleHead head;
  std::string key;
  std::int32_t ratio = 0;
  std::vector<YamlRemark> remarks;  // what does not do what its author may think

  // Without a key, or with a ratio beyond 0 to 100, it is as if it were not there, as in Dubbo.
  bool empty() const { return !head.valid || key.empty() || ratio < 0 || ratio > 100; }
};

// kInvalidArgument names the place and what was expected.
absl::StatusOr<AffinityDocument> ParseAffinityDocument(std::string_view yaml);

// Its router, at `order` in the chain; nullptr when it is empty.
std::shared_ptr<const Router> MakeRouter(const AffinityDocument& document, int order, std::string name);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_AFFINITY_DOCUMENT_H_
