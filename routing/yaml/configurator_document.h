#ifndef FAIRLEAD_ROUTING_YAML_CONFIGURATOR_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_CONFIGURATOR_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/configurator_rule.h"
#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// A document of configurators (`*.configurators`), understood: YAML, or as in Dubbo 2.6 a JSON array of override urls.
// A plain value.
struct ConfiguratorDocument {
  // What an item stands for is a product of its lists, and each of its urls has all its parameters and, on the provider side,
  // all its addresses.
  static constexpr std::size_t kMostRules = 20'000;
  static constexpr std::size_t kMostUrlBytes = 16 << 20;  // of their texts

  bool is_url_list = false;
  // Of YAML. A `configVersion` that is absent is one that conditions of neither form know.
  std::optional<std::string> version, scope, key;
  bool enabled = true;
  // One of each address of an item and, in scope `application`, each service of it, else each application; in the
  // document's order. Not yet in order of application, and with what documents may not set: both is the business of
  // who applies them (Configurators::FromRules).
  std::vector<ConfiguratorRule> rules;
  std::vector<YamlMark> marks;      // of each rule, where its item is
  std::vector<YamlRemark> remarks;  // what does not do what its author may think

  // Takes back whatever an earlier document has set.
  bool empty() const { return rules.empty(); }
};

// kInvalidArgument names the place and what was expected. One item that cannot be read rejects the document, as in
// Dubbo: half of a set of rules is another set. So does one item too many: kMostRules, kMostUrlBytes.
absl::StatusOr<ConfiguratorDocument> ParseConfiguratorDocument(std::string_view text, Compat compat);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_CONFIGURATOR_DOCUMENT_H_
