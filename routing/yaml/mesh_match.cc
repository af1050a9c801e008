#include "fairlead/routing/yaml/mesh_match.h"

#include <optional>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/string_match.h"

namespace fairlead {
namespace {

absl::StatusOr<std::optional<double>> ReadNumber(YamlFields& fields, std::string_view name) {
  FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> text, fields.Scalar(name));
  if (!text) return std::nullopt;
  if (const std::optional<double> number = NumberMatch::Parse(*text)) return number;
  const YamlValue& at = *fields.Value(name);
  return fields.Error(at, absl::StrCat(ToAbsl(name), ": expected a number, found ", at.Description()));
}

absl::StatusOr<NumberMatch> ReadNumberMatch(const YamlValue& value, const std::string& what,
                                            std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  NumberMatch match;
  FAIRLEAD_ASSIGN_OR_RETURN(match.exact, ReadNumber(fields, "exact"));
  FAIRLEAD_ASSIGN_OR_RETURN(match.mod, ReadNumber(fields, "mod"));
  if (const YamlValue* range = fields.Value("range")) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields bounds, YamlFields::Of(*range, what + ".range"));
    FAIRLEAD_ASSIGN_OR_RETURN(match.start, ReadNumber(bounds, "start"));
    FAIRLEAD_ASSIGN_OR_RETURN(match.end, ReadNumber(bounds, "end"));
    bounds.RemarkUnknown(remarks);
    const bool empty = match.start && match.end && *match.start >= *match.end;
    if (empty) remarks->push_back({range->mark(), what + ": no number is in the range, whose end is not in it"});
  }
  fields.RemarkUnknown(remarks);
  if (!match.exact && !match.start && !match.end) {
    remarks->push_back({value.mark(), what + " has neither `exact` nor a range, so no number fits it"});
  } else if (match.exact && !match.mod && fields.Value("range") != nullptr) {
    remarks->push_back({value.mark(), what + ": range is beside exact, which decides"});
  }
  return match;
}

// `{oneof: [...]}`
template <class Read>
auto ReadOneOf(const YamlValue& value, const std::string& what, std::vector<YamlRemark>* remarks, Read&& read)
    -> absl::StatusOr<std::vector<typename decltype(read(value, what, remarks))::value_type>> {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* list, fields.List("oneof"));
  fields.RemarkUnknown(remarks);
  std::vector<typename decltype(read(value, what, remarks))::value_type> all;
  for (std::size_t i = 0; list != nullptr && i < list->items().size(); ++i) {
    FAIRLEAD_ASSIGN_OR_RETURN(auto one, read(list->items()[i], absl::StrCat(what, ".oneof[", i, "]"), remarks));
    all.push_back(std::move(one));
  }
  if (all.empty()) remarks->push_back({value.mark(), what + " has nothing in `oneof`, so nothing fits it"});
  return all;
}

absl::StatusOr<MeshMatch::Argument> ReadArgument(const YamlValue& value, const std::string& what,
                                                 StringMatch::Budget* budget, std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  MeshMatch::Argument argument;
  FAIRLEAD_ASSIGN_OR_RETURN(argument.index, fields.Int("index", 0));
  if (argument.index < 0) return fields.Error(value, "index: expected 0 or more");
  fields.Value("type");  // which of the values is there says as much
  int kinds = 0;
  if (const YamlValue* texts = fields.Value("str_value")) {
    FAIRLEAD_ASSIGN_OR_RETURN(argument.texts, ReadOneOf(*texts, what + ".str_value", remarks,
                                                        [budget](const YamlValue& one, const std::string& which, auto* to) {
                                                          return ReadStringMatch(one, which, budget, to);
                                                        }));
    ++kinds;
  }
  if (const YamlValue* numbers = fields.Value("num_value")) {
    FAIRLEAD_ASSIGN_OR_RETURN(argument.numbers, ReadOneOf(*numbers, what + ".num_value", remarks, ReadNumberMatch));
    ++kinds;
  }
  if (const YamlValue* flag = fields.Value("bool_value")) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields inside, YamlFields::Of(*flag, what + ".bool_value"));
    if (inside.Value("exact") != nullptr) argument.flag = inside.Flag("exact", false);
    inside.RemarkUnknown(remarks);
    ++kinds;
  }
  fields.RemarkUnknown(remarks);
  if (kinds != 1) {
    remarks->push_back({value.mark(), what + (kinds == 0 ? " has none of str_value, num_value and bool_value, so nothing fits it"
                                                         : ": of str_value, num_value and bool_value the first decides")});
  }
  return argument;
}

absl::Status ReadMethod(const YamlValue& value, const std::string& what, StringMatch::Budget* budget, MeshMatch* match,
                        std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  if (const YamlValue* name = fields.Value("name_match")) {
    FAIRLEAD_ASSIGN_OR_RETURN(match->method, ReadStringMatch(*name, what + ".name_match", budget, remarks));
  }
  if (fields.Value("argc") != nullptr) {
    FAIRLEAD_ASSIGN_OR_RETURN(match->argument_count, fields.Int("argc", 0));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* types, fields.List("argp"));
  if (types != nullptr && !types->items().empty()) {
    match->possible = false;
    remarks->push_back({types->mark(), what + ": argp asks for the types of parameters, which calls here do not tell, so "
                                              "no call fits it; use argc or args"});
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* arguments, fields.List("args"));
  for (std::size_t i = 0; arguments != nullptr && i < arguments->items().size(); ++i) {
    FAIRLEAD_ASSIGN_OR_RETURN(MeshMatch::Argument one,
                              ReadArgument(arguments->items()[i], absl::StrCat(what, ".args[", i, "]"), budget, remarks));
    match->arguments.push_back(std::move(one));
  }
  if (const YamlValue* headers = fields.Value("headers")) remarks->push_back({headers->mark(), what + ": headers change nothing"});
  fields.RemarkUnknown(remarks);
  return absl::OkStatus();
}

absl::Status ReadAttachments(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                             MeshMatch* match, std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  if (const YamlValue* context = fields.Value("dubboContext")) {
    if (context->kind() != YamlValue::Kind::kMap) {
      return fields.Error(*context, absl::StrCat("dubboContext: expected a map, found ", context->Description()));
    }
    for (const auto& [key, one] : context->entries()) {
      const std::string name = key.JavaText();
      FAIRLEAD_ASSIGN_OR_RETURN(StringMatch read,
                                ReadStringMatch(one, absl::StrCat(what, ".dubboContext.", Shortened(name, 80)), budget, remarks));
      match->attachments.push_back({name, std::move(read)});
    }
  }
  if (const YamlValue* tracing = fields.Value("tracingContext");
      tracing != nullptr && !(tracing->kind() == YamlValue::Kind::kMap && tracing->entries().empty())) {
    match->possible = false;
    remarks->push_back({tracing->mark(), what + ": tracingContext asks for what no call tells here, so no call fits it; "
                                                "use dubboContext"});
  }
  fields.RemarkUnknown(remarks);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadLabels(YamlFields& fields, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> labels;
  const YamlValue* value = fields.Value(name);
  if (value == nullptr) return labels;
  if (value->kind() != YamlValue::Kind::kMap) {
    return fields.Error(*value, absl::StrCat(ToAbsl(name), ": expected a map, found ", value->Description()));
  }
  for (const auto& [key, text] : value->entries()) {
    if (text.is_null() || text.kind() == YamlValue::Kind::kList || text.kind() == YamlValue::Kind::kMap) {
      return fields.Error(text, absl::StrCat(ToAbsl(name), ".", Shortened(key.JavaText(), 80), ": expected a text, found ",
                                             text.Description()));
    }
    labels.emplace_back(key.JavaText(), text.JavaText());
  }
  return labels;
}

absl::StatusOr<MeshMatch> ReadMeshMatch(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                                        std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  MeshMatch match;
  fields.Value("name");  // for people
  if (const YamlValue* method = fields.Value("method")) {
    FAIRLEAD_RETURN_IF_ERROR(ReadMethod(*method, what + ".method", budget, &match, remarks));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(match.source_labels, ReadLabels(fields, "sourceLabels"));
  if (const YamlValue* attachments = fields.Value("attachments")) {
    FAIRLEAD_RETURN_IF_ERROR(ReadAttachments(*attachments, what + ".attachments", budget, &match, remarks));
  }
  if (const YamlValue* headers = fields.Value("headers")) remarks->push_back({headers->mark(), what + ": headers change nothing"});
  fields.RemarkUnknown(remarks);
  return match;
}

}  // namespace fairlead
