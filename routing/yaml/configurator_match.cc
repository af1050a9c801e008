#include "fairlead/routing/yaml/configurator_match.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/string_match.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {
namespace {

absl::StatusOr<AddressMatch> ReadAddress(const YamlValue& value, const std::string& what, Compat compat, bool with_port,
                                         std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  AddressMatch::Kinds kinds;
  FAIRLEAD_ASSIGN_OR_RETURN(kinds.cird, fields.Scalar("cird"));
  FAIRLEAD_ASSIGN_OR_RETURN(kinds.wildcard, fields.Scalar("wildcard"));
  FAIRLEAD_ASSIGN_OR_RETURN(kinds.exact, fields.Scalar("exact"));
  fields.RemarkUnknown(remarks);
  const AddressMatch match(std::move(kinds), compat);
  const bool alone = !match.kinds().wildcard.has_value() && !match.kinds().exact.has_value();
  if (alone && !match.kinds().cird.has_value()) {
    remarks->push_back({value.mark(), what + " has none of cird, wildcard and exact, so nothing matches it", "no-kind"});
  } else if (with_port && match.kinds().cird.has_value() && match.kinds().cird->find_first_of("/*-") != std::string::npos) {
    remarks->push_back({value.mark(), what + ": `cird` is for hosts and never fits a host:port; use `wildcard`", "address-never"});
  } else if (!match.status().ok()) {
    remarks->push_back({value.mark(), absl::StrCat(what, ": cird: ", match.status().message()), "address-never"});
  }
  return match;
}

absl::StatusOr<std::vector<StringMatch>> ReadOneOf(const YamlValue& value, const std::string& what,
                                                   StringMatch::Budget* budget, std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* list, fields.List("oneof"));
  fields.RemarkUnknown(remarks);
  std::vector<StringMatch> matches;
  for (std::size_t i = 0; list != nullptr && i < list->items().size(); ++i) {
    FAIRLEAD_ASSIGN_OR_RETURN(StringMatch match,
                              ReadStringMatch(list->items()[i], absl::StrCat(what, ".oneof[", i, "]"), budget, remarks));
    matches.push_back(std::move(match));
  }
  if (matches.empty()) remarks->push_back({value.mark(), what + " has nothing in `oneof`, so nothing matches it", "no-kind"});
  return matches;
}

absl::StatusOr<ParameterMatch> ReadParam(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                                         std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  FAIRLEAD_ASSIGN_OR_RETURN(std::optional<std::string> key, fields.Scalar("key"));
  if (!key.has_value()) return fields.Error(value, "expected a `key`, the name of a parameter");
  const YamlValue* match = fields.Value("value");
  if (match == nullptr) return fields.Error(value, "expected a `value` that says what the parameter is like");
  FAIRLEAD_ASSIGN_OR_RETURN(StringMatch read, ReadStringMatch(*match, what + ".value", budget, remarks));
  fields.RemarkUnknown(remarks);
  return ParameterMatch{*std::move(key), std::move(read)};
}

}  // namespace

absl::StatusOr<ConfiguratorMatch> ReadConfiguratorMatch(const YamlValue& value, const std::string& what, Compat compat,
                                                        StringMatch::Budget* budget, std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  ConfiguratorMatch match;
  if (const YamlValue* field = fields.Value("address")) {
    FAIRLEAD_ASSIGN_OR_RETURN(match.address, ReadAddress(*field, what + ".address", compat, false, remarks));
  }
  if (const YamlValue* field = fields.Value("providerAddress")) {
    FAIRLEAD_ASSIGN_OR_RETURN(match.provider_address, ReadAddress(*field, what + ".providerAddress", compat, true, remarks));
  }
  if (const YamlValue* field = fields.Value("service")) {
    FAIRLEAD_ASSIGN_OR_RETURN(match.services, ReadOneOf(*field, what + ".service", budget, remarks));
  }
  if (const YamlValue* field = fields.Value("app")) {
    FAIRLEAD_ASSIGN_OR_RETURN(match.apps, ReadOneOf(*field, what + ".app", budget, remarks));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* params, fields.List("param"));
  for (std::size_t i = 0; params != nullptr && i < params->items().size(); ++i) {
    FAIRLEAD_ASSIGN_OR_RETURN(ParameterMatch param,
                              ReadParam(params->items()[i], absl::StrCat(what, ".param[", i, "]"), budget, remarks));
    match.params.push_back(std::move(param));
  }
  fields.RemarkUnknown(remarks);
  return match;
}

}  // namespace fairlead
