#ifndef FAIRLEAD_ROUTING_LINT_FIELD_LINT_H_
#define FAIRLEAD_ROUTING_LINT_FIELD_LINT_H_

#include <string>
#include <string_view>

#include "fairlead/routing/lint/finding.h"
#include "fairlead/routing/yaml/yaml_value.h"

namespace fairlead::internal {

// Where the name of a field stands; the map itself when it has none of that name.
YamlMark MarkOfField(const YamlValue& map, std::string_view field);

// A flag that is there and neither true nor false: it counts as false, or as absent when it has no value.
void LintFlag(const YamlValue& map, std::string_view name, bool when_absent, LintReport& report);
// The fields that documents of all kinds but mesh rules have: `enabled`, `scope`, `configVersion`. `otherwise`: what a `scope` is
// taken for that is none.
void LintControls(const YamlValue& root, std::string_view otherwise, LintReport& report);

// A key of a parameter that begins with `consumer.` or `provider.` where that is not erased, as it is in conditions written
// as one text: nobody has such a parameter. `what` is the key, for people: "`key` of the match".
void LintKeptPrefix(std::string_view key, std::string_view what, YamlMark mark, LintReport& report);

// Why no url has this text as its host; nullptr when some url may. Not for patterns. Names may be anything but numbers.
const char* WhyNoHost(std::string_view host);
// The same of a text that is compared with a host, or with a host and a port, of which `0.0.0.0` and `0.0.0.0:*` are all.
const char* WhyNoAddress(std::string_view address);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_LINT_FIELD_LINT_H_
