#include "fairlead/routing/yaml/configurator_document.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"
#include "fairlead/routing/yaml/configurator_match.h"
#include "fairlead/routing/yaml/yaml_fields.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kAnyHost = "0.0.0.0";
constexpr std::string_view kProvider = "provider";

// Who may be narrowed to whom: a list of items, each as text, as Java's String.valueOf has it.
struct Item {
  std::optional<std::string> type, side, enabled;
  Texts addresses, provider_addresses, applications, services;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::shared_ptr<const ConfiguratorMatch> match;
};

class Reader {
 public:
  Reader(Compat compat, ConfiguratorDocument* document) : compat_(compat), document_(document) {}

  absl::Status ReadUrls(const YamlValue& list);
  absl::Status ReadMap(const YamlValue& root);

 private:
  absl::Status ReadItem(const YamlValue& value, const std::string& what);
  absl::Status ReadParameters(YamlFields& fields, const YamlValue& item, const std::string& what, Item* read);
  Texts ReadList(YamlFields& fields, std::string_view name, const std::string& what);
  void RemarkEffect(const YamlValue& at, const std::string& what, const Item& item);
  absl::Status Add(const YamlValue& at, const std::string& what, const Item& item);

  bool of_application() const { return document_->scope == "application"; }
  bool reads_match() const { return document_->version.has_value() && document_->version->starts_with("v3.0"); }
  void Remark(const YamlValue& at, std::string_view code, std::string text) {
    document_->remarks.push_back({at.mark(), std::move(text), code});
  }

  Compat compat_;
  ConfiguratorDocument* document_;
  StringMatch::Budget regexes_;
  std::size_t url_bytes_ = 0;  // of the urls so far
};

bool IsNeverSet(std::string_view name) {
  const auto has = [name](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  return has(kConfiguratorControls) || has(kNotFromDocuments);
}

absl::Status LimitError(const YamlValue& at, std::string_view what, const std::string& text) {
  RulePlace kind;
  kind.code = "yaml-limit";
  return YamlError(at, what, WithPlace(absl::InvalidArgumentError(text), kind));
}

absl::StatusOr<UrlParts> UrlAt(const YamlValue& at, std::string_view what, const std::string& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  if (!url.ok()) return YamlError(at, what, FromAbsl(url.status().message()));
  return url;
}

absl::Status Reader::ReadUrls(const YamlValue& list) {
  document_->is_url_list = true;
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const YamlValue& item = list.items()[i];
    const std::string what = absl::StrCat("url[", i, "]");
    if (item.text() == nullptr) {
      return YamlError(item, what, absl::StrCat("expected the text of an override url, found ", item.Description()));
    }
    FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, UrlAt(item, what, *item.text()));
    document_->rules.push_back({std::move(url), nullptr});
    document_->marks.push_back(item.mark());
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadMap(const YamlValue& root) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(root, "the document"));
  FAIRLEAD_ASSIGN_OR_RETURN(document_->version, fields.Text("configVersion"));
  FAIRLEAD_ASSIGN_OR_RETURN(document_->scope, fields.Text("scope"));
  FAIRLEAD_ASSIGN_OR_RETURN(document_->key, fields.Text("key"));
  document_->enabled = fields.Flag("enabled", true);
  const YamlValue* configs = fields.Value("configs");
  if (configs == nullptr) return YamlError(root, "the document", "`configs` is missing; write `configs: []` for no rule");
  if (configs->kind() != YamlValue::Kind::kList) {
    return fields.Error(*configs, absl::StrCat("configs: expected a list, found ", configs->Description()));
  }
  for (std::size_t i = 0; i < configs->items().size(); ++i) {
    FAIRLEAD_RETURN_IF_ERROR(ReadItem(configs->items()[i], absl::StrCat("configs[", i, "]")));
  }
  fields.RemarkUnknown(&document_->remarks);
  return absl::OkStatus();
}

absl::Status Reader::ReadItem(const YamlValue& value, const std::string& what) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  Item item;
  FAIRLEAD_ASSIGN_OR_RETURN(item.type, fields.Text("type"));
  FAIRLEAD_ASSIGN_OR_RETURN(item.side, fields.Text("side"));
  if (fields.Value("enabled") != nullptr) item.enabled = fields.Flag("enabled", true) ? "true" : "false";
  item.addresses = ReadList(fields, "addresses", what);
  item.provider_addresses = ReadList(fields, "providerAddresses", what);
  item.applications = ReadList(fields, "applications", what);
  item.services = ReadList(fields, "services", what);
  if (item.addresses.empty()) item.addresses.emplace_back(kAnyHost);
  FAIRLEAD_RETURN_IF_ERROR(ReadParameters(fields, value, what, &item));
  if (const YamlValue* match = fields.Value("match")) {
    if (reads_match()) {
      FAIRLEAD_ASSIGN_OR_RETURN(ConfiguratorMatch read,
                                ReadConfiguratorMatch(*match, what + ".match", compat_, &regexes_, &document_->remarks));
      item.match = std::make_shared<const ConfiguratorMatch>(std::move(read));
    } else {
      Remark(*match, "match-ignored", what + ": `match` counts only with `configVersion: v3.0`; here the item is for all it names");
    }
  }
  fields.RemarkUnknown(&document_->remarks);
  RemarkEffect(value, what, item);
  return Add(value, what, item);
}

Texts Reader::ReadList(YamlFields& fields, std::string_view name, const std::string& what) {
  const YamlValue* value = fields.Value(name);
  if (value == nullptr) return {};
  if (value->kind() != YamlValue::Kind::kList) {
    Remark(*value, "not-a-list", absl::StrCat(what, ": ", ToAbsl(name), ": expected a list, found ", value->Description(),
                                "; it is as if it were not there, so the item is for all"));
    return {};
  }
  Texts texts;
  for (const YamlValue& item : value->items()) texts.push_back(item.JavaText());
  return texts;
}

absl::Status Reader::ReadParameters(YamlFields& fields, const YamlValue& item, const std::string& what, Item* read) {
  const YamlValue* parameters = fields.Value("parameters");
  if (parameters == nullptr || parameters->kind() != YamlValue::Kind::kMap || parameters->entries().empty()) {
    return YamlError(parameters == nullptr ? item : *parameters, what,
                 absl::StrCat("parameters: expected a map of at least one parameter to set, found ",
                              parameters == nullptr ? "none" : parameters->Description()));
  }
  for (const auto& [name, value] : parameters->entries()) {
    if (name.text() == nullptr) {
      return YamlError(name, what, absl::StrCat("parameters: expected a parameter's name, found ", name.Description(),
                                            "; put it in quotes"));
    }
    if (value.is_null()) {
      return YamlError(value.mark().line > 0 ? value : name, what,
                   absl::StrCat("parameters: ", Shortened(*name.text(), 80), " has no value; write \"\" for an empty one"));
    }
    if (IsNeverSet(*name.text())) {
      Remark(name, "never-set", absl::StrCat(what, ".parameters: ", Shortened(*name.text(), 80), " is never set by a document"));
    }
    read->parameters.emplace_back(*name.text(), value.JavaText());
    if (read->parameters.back().second.find_first_of("&;") != std::string::npos) {
      Remark(value, "value-cut", absl::StrCat(what, ".parameters: the value of ", Shortened(*name.text(), 80),
                                 " ends at the first & or ;, what follows is taken for another parameter, as in Dubbo"));
    }
  }
  return absl::OkStatus();
}

void Reader::RemarkEffect(const YamlValue& at, const std::string& what, const Item& item) {
  const bool general = !item.type.has_value() || *item.type == "general";
  if (general && item.enabled.has_value()) {
    Remark(at, "item-enabled", what + ": `enabled` of an item counts only with a `type` other than general; the document's counts");
  } else if (!general && !item.enabled.has_value()) {
    Remark(at, "item-enabled", what + ": with a `type` other than general only the item's own `enabled: true` enables it, so it is not");
  }
  if (!item.side.has_value() || (*item.side != kProvider && *item.side != "consumer")) {
    Remark(at, "no-side", what + ": `side` is neither consumer nor provider, so the item is for nobody");
  }
  if (of_application() && !item.applications.empty()) {
    Remark(at, "scope-field", what + ": `applications` changes nothing with `scope: application`; `key` is the application");
  } else if (!of_application() && !item.services.empty()) {
    Remark(at, "scope-field", what + ": `services` changes nothing with `scope: service`; `key` is the service");
  }
}

// group/interface:version as path and parameters of a url.
absl::StatusOr<std::string> PathAndQuery(const YamlValue& at, std::string_view what, std::string_view service) {
  if (service.empty()) return YamlError(at, what, "no service to change; the document needs a `key`: group/interface:version");
  std::string query;
  if (const std::size_t slash = service.find('/'); slash != std::string_view::npos && slash > 0) {
    absl::StrAppend(&query, "group=", ToAbsl(service.substr(0, slash)), "&");
    service.remove_prefix(slash + 1);
  }
  if (const std::size_t colon = service.find(':'); colon != std::string_view::npos && colon > 0) {
    absl::StrAppend(&query, "version=", ToAbsl(service.substr(colon + 1)), "&");
    service = service.substr(0, colon);
  }
  return absl::StrCat(ToAbsl(service), "?", query);
}

// By way of urls as text, as in Dubbo, and with its "null": what a value does to the text of its url it does here too.
absl::Status Reader::Add(const YamlValue& at, const std::string& what, const Item& item) {
  std::string set = "category=dynamicconfigurators";
  if (item.side.has_value()) absl::StrAppend(&set, "&side=", *item.side);
  for (const auto& [name, value] : item.parameters) absl::StrAppend(&set, "&", name, "=", value);
  if (!item.provider_addresses.empty()) {
    absl::StrAppend(&set, "&providerAddresses=", absl::StrJoin(item.provider_addresses, ","));
  } else if (item.side == kProvider) {
    absl::StrAppend(&set, "&providerAddresses=", absl::StrJoin(item.addresses, ","));
  }
  const bool general = !item.type.has_value() || *item.type == "general";
  const std::string enabled = general ? (document_->enabled ? "true" : "false") : item.enabled.value_or("null");
  const std::string version = document_->version.value_or("null");

  const auto add = [&](const std::string& text) -> absl::Status {
    url_bytes_ += text.size();
    if (document_->rules.size() >= ConfiguratorDocument::kMostRules || url_bytes_ > ConfiguratorDocument::kMostUrlBytes) {
      return LimitError(at, what, absl::StrCat("more than ", ConfiguratorDocument::kMostRules, " urls, or ",
                                               ConfiguratorDocument::kMostUrlBytes, " bytes of them: there is one of each address with "
                                               "each application or service; write fewer addresses, or 0.0.0.0 and a `match`"));
    }
    FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, UrlAt(at, what, text));
    document_->rules.push_back({std::move(url), item.match});
    document_->marks.push_back(at.mark());
    return absl::OkStatus();
  };
  for (const std::string& address : item.addresses) {
    const std::string begin = absl::StrCat("override://", address, "/");
    if (of_application()) {
      for (const std::string& service : item.services.empty() ? Texts{"*"} : item.services) {
        FAIRLEAD_ASSIGN_OR_RETURN(const std::string path, PathAndQuery(at, what, service));
        FAIRLEAD_RETURN_IF_ERROR(add(absl::StrCat(begin, path, set, "&application=", document_->key.value_or("null"),
                                                  "&enabled=", enabled, "&category=appdynamicconfigurators&configVersion=",
                                                  version)));
      }
      continue;
    }
    FAIRLEAD_ASSIGN_OR_RETURN(const std::string path, PathAndQuery(at, what, document_->key.value_or("")));
    const std::string text = absl::StrCat(begin, path, set, "&enabled=", enabled, "&configVersion=", version);
    if (item.applications.empty()) FAIRLEAD_RETURN_IF_ERROR(add(text));
    for (const std::string& application : item.applications) {
      FAIRLEAD_RETURN_IF_ERROR(add(absl::StrCat(text, "&application=", application)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConfiguratorDocument> ParseConfiguratorDocument(std::string_view text, Compat compat) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlDocument parsed, ParseYamlDocument(text));
  ConfiguratorDocument document;
  document.remarks = parsed.remarks;
  Reader reader(compat, &document);
  // A JSON array is a list of YAML in brackets; one of dashes is nothing that Dubbo knows.
  const bool is_array = parsed.root.kind() == YamlValue::Kind::kList && !parsed.root.items().empty() &&
                        absl::StartsWith(absl::StripLeadingAsciiWhitespace(ToAbsl(text)), "[");
  FAIRLEAD_RETURN_IF_ERROR(is_array ? reader.ReadUrls(parsed.root) : reader.ReadMap(parsed.root));
  return document;
}

}  // namespace fairlead
