#ifndef FAIRLEAD_ROUTING_YAML_YAML_PARSER_H_
#define FAIRLEAD_ROUTING_YAML_YAML_PARSER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/yaml/yaml_value.h"

namespace fairlead {

// What is worth saying of a document that could be read.
struct YamlRemark {
  YamlMark mark;
  std::string text;
  std::string_view code = "remark";  // its kind, as lint names it; outlives everything
};

struct YamlDocument {
  YamlValue root;
  std::vector<YamlRemark> remarks;  // in the order of the text
};

// What a rule document may have. Rules are written by hand, their registries limit them to about a million bytes, and a
// few aliases can stand for more values than memory holds.
struct YamlLimits {
  std::size_t bytes = 3 << 20;   // of all documents, and of their texts with those that aliases stand for
  std::size_t values = 100'000;  // of all documents, those that aliases stand for counted each time
  std::size_t depth = 50;        // of lists and maps in each other
};

// Reads the documents of a text, `---` between them, as Dubbo's parser (SnakeYAML) does: types of YAML 1.1; of equal keys
// the last wins, which is remarked; what that refuses is refused (docs/decisions.md has the exceptions). Otherwise than
// there a merge key `<<` is left out, with a remark. None for a text of nothing but blanks and comments. kInvalidArgument
// says where (PlaceOf), and what was expected; nothing is kept then. Linear in the text and in what it stands for.
// Thread-safe.
absl::StatusOr<std::vector<YamlDocument>> ParseYaml(std::string_view text, const YamlLimits& limits = {});

// The same of a text with one document; kInvalidArgument when there are several or none.
absl::StatusOr<YamlDocument> ParseYamlDocument(std::string_view text, const YamlLimits& limits = {});

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_YAML_PARSER_H_
