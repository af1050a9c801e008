#include "fairlead/routing/yaml/mesh_document.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/string_match.h"
#include "fairlead/routing/yaml/mesh_match.h"
#include "fairlead/routing/yaml/never_drawn.h"
#include "fairlead/routing/yaml/string_match.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {
namespace {

// `read(item, "what.name[i]")` for each item of a list; none when it is absent.
template <class Read>
absl::Status ForEachIn(YamlFields& fields, const std::string& what, const char* name, Read&& read) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* list, fields.List(name));
  for (std::size_t i = 0; list != nullptr && i < list->items().size(); ++i) {
    FAIRLEAD_RETURN_IF_ERROR(read(list->items()[i], absl::StrCat(what, ".", name, "[", i, "]")));
  }
  return absl::OkStatus();
}

class MeshReader {
 public:
  explicit MeshReader(MeshDocument* document) : document_(document), remarks_(&document->remarks) {}

  absl::Status Read(const YamlValue& root) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(root, "the document"));
    const YamlValue* metadata = fields.Value("metadata");
    if (metadata == nullptr) {
      Remark(root, "a document without metadata has no effect");
      return absl::OkStatus();
    }
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields named, YamlFields::Of(*metadata, "metadata"));
    FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> name, named.Text("name"));
    if (!name) return named.Error(*metadata, "expected a `name`");
    FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> kind, fields.Scalar("kind"));
    fields.Value("apiVersion");
    const std::string what = absl::StrCat(kind.value_or("document"), " ", Shortened(*name, 80));
    if (const std::size_t dot = name->find('.'); dot != name->npos) {
      Remark(root, absl::StrCat(what, " is for the mesh router \"", Shortened(name->substr(dot + 1), 80),
                                "\", which is not on: it has no effect"));
      return absl::OkStatus();
    }
    const bool services = kind == "VirtualService";
    if (!services && kind != "DestinationRule") {
      Remark(root, absl::StrCat(what, ": only VirtualService and DestinationRule have an effect"));
      return absl::OkStatus();
    }
    (services ? document_->has_virtual_services : document_->has_destination_rules) = true;
    const YamlValue* spec = fields.Value("spec");
    if (spec == nullptr) return fields.Error(root, absl::StrCat(what, ": expected a `spec`"));
    fields.RemarkUnknown(remarks_);
    return services ? ReadVirtualService(*spec, what + ".spec") : ReadDestinationRule(*spec, what + ".spec");
  }

  // Destinations of subsets that no DestinationRule has.
  void RemarkUnknownSubsets() {
    std::unordered_set<std::string_view> subsets;
    for (const MeshRule::Subset& one : document_->rule.subsets) subsets.insert(one.name);
    for (const auto& named : named_) {
      if (subsets.contains(named.first)) continue;
      remarks_->push_back({named.second, absl::StrCat("the subset ", Shortened(named.first, 80),
                                                      " is in no DestinationRule, so it has nobody")});
    }
  }

 private:
  void Remark(const YamlValue& at, std::string text) { remarks_->push_back({at.mark(), std::move(text)}); }

  absl::Status ReadVirtualService(const YamlValue& spec, const std::string& what) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(spec, what));
    fields.Value("hosts");
    const std::size_t before = document_->rule.routes.size();
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "dubbo", [&](const YamlValue& item, const std::string& which) { return ReadRoute(item, which); }));
    if (document_->rule.routes.size() == before) Remark(spec, what + " has nothing in `dubbo`, so it has no effect");
    fields.RemarkUnknown(remarks_);
    return absl::OkStatus();
  }

  absl::Status ReadRoute(const YamlValue& value, const std::string& what) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
    MeshRule::Route route;
    route.name = fields.AnyText("name").value_or("");
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "services", [&](const YamlValue& item, const std::string& which) -> absl::Status {
          FAIRLEAD_ASSIGN_OR_RETURN(StringMatch match, ReadStringMatch(item, which, &regexes_, remarks_));
          route.services.push_back(std::move(match));
          return absl::OkStatus();
        }));
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "routedetail", [&](const YamlValue& item, const std::string& which) -> absl::Status {
          if (!route.details.empty() && route.details.back().match.empty()) {
            Remark(item, which + " is never asked, as the one before it is for every call");
          }
          FAIRLEAD_ASSIGN_OR_RETURN(MeshRule::Detail detail, ReadDetail(item, which));
          route.details.push_back(std::move(detail));
          return absl::OkStatus();
        }));
    fields.RemarkUnknown(remarks_);
    document_->rule.routes.push_back(std::move(route));
    return absl::OkStatus();
  }

  absl::StatusOr<MeshRule::Detail> ReadDetail(const YamlValue& value, const std::string& what) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
    MeshRule::Detail detail;
    detail.name = fields.AnyText("name").value_or("");
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "match", [&](const YamlValue& item, const std::string& which) -> absl::Status {
          FAIRLEAD_ASSIGN_OR_RETURN(MeshMatch match, ReadMeshMatch(item, which, &regexes_, remarks_));
          detail.match.push_back(std::move(match));
          return absl::OkStatus();
        }));
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "route", [&](const YamlValue& item, const std::string& which) -> absl::Status {
          FAIRLEAD_ASSIGN_OR_RETURN(MeshRule::Destination destination, ReadDestination(item, which));
          detail.to.push_back(std::move(destination));
          return absl::OkStatus();
        }));
    if (detail.to.size() > MeshRule::kMostDestinations) {
      return fields.Error(value, absl::StrCat("route: expected at most ", MeshRule::kMostDestinations,
                                              " destinations, found ", detail.to.size()));
    }
    if (detail.to.empty()) {
      Remark(value, what + " has no route, so it selects nobody");
    } else {
      const std::size_t last = detail.to.size() - 1;
      const YamlMark at = value.Find("route")->items()[last].mark();
      RemarkNeverDrawn(at, absl::StrCat(what, ".route[", last, "]"), detail.to.size(), detail.to[last].weight, document_->rule.compat, remarks_);
    }
    fields.RemarkUnknown(remarks_);
    return detail;
  }

  absl::StatusOr<MeshRule::Destination> ReadDestination(const YamlValue& value, const std::string& what) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
    MeshRule::Destination destination;
    FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t weight, fields.Int("weight", 1));
    if (weight < 1) Remark(*fields.Value("weight"), what + ": the weight counts as 1, the least");
    destination.weight = static_cast<std::uint32_t>(std::max(weight, 1));
    const YamlValue* first = fields.Value("destination");
    if (first == nullptr) return fields.Error(value, "expected a `destination`");
    fields.RemarkUnknown(remarks_);
    FAIRLEAD_RETURN_IF_ERROR(ReadSubsets(*first, what + ".destination", &destination));
    return destination;
  }

  // The subset of a destination and, within it, of what it falls back to. As deep as documents may be.
  absl::Status ReadSubsets(const YamlValue& value, const std::string& what, MeshRule::Destination* destination) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
    fields.Value("host");
    FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> subset, fields.Scalar("subset"));
    if (subset) {
      destination->subsets.push_back(*subset);
      named_.emplace_back(*subset, fields.Value("subset")->mark());
    } else {
      Remark(value, what + " has no subset, so nobody is in it");
    }
    if (const YamlValue* fallback = fields.Value("fallback")) {
      FAIRLEAD_ASSIGN_OR_RETURN(YamlFields inside, YamlFields::Of(*fallback, what + ".fallback"));
      inside.Value("weight");
      if (const YamlValue* next = inside.Value("destination")) {
        FAIRLEAD_RETURN_IF_ERROR(ReadSubsets(*next, what + ".fallback", destination));
      } else {
        Remark(*fallback, what + ".fallback has no destination, so it has no effect");
      }
      inside.RemarkUnknown(remarks_);
    }
    fields.RemarkUnknown(remarks_);
    return absl::OkStatus();
  }

  absl::Status ReadDestinationRule(const YamlValue& spec, const std::string& what) {
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(spec, what));
    fields.Value("host");
    RemarkPolicy(fields, what);
    FAIRLEAD_RETURN_IF_ERROR(
        ForEachIn(fields, what, "subsets", [&](const YamlValue& item, const std::string& which) -> absl::Status {
          FAIRLEAD_ASSIGN_OR_RETURN(YamlFields inside, YamlFields::Of(item, which));
          MeshRule::Subset subset;
          FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> name, inside.Scalar("name"));
          if (!name) return inside.Error(item, "expected a `name`");
          subset.name = *name;
          FAIRLEAD_ASSIGN_OR_RETURN(subset.labels, ReadLabels(inside, "labels"));
          if (subset.labels.empty()) Remark(item, which + " has no labels, so every provider is in it");
          RemarkPolicy(inside, which);
          inside.RemarkUnknown(remarks_);
          document_->rule.subsets.push_back(std::move(subset));
          return absl::OkStatus();
        }));
    fields.RemarkUnknown(remarks_);
    return absl::OkStatus();
  }

  void RemarkPolicy(YamlFields& fields, const std::string& what) {
    if (const YamlValue* policy = fields.Value("trafficPolicy")) Remark(*policy, what + ": trafficPolicy changes nothing");
  }

  MeshDocument* const document_;
  std::vector<YamlRemark>* const remarks_;
  StringMatch::Budget regexes_;
  std::vector<std::pair<std::string, YamlMark>> named_;  // subsets that destinations name
};

}  // namespace

absl::StatusOr<MeshDocument> ParseMeshDocument(std::string_view yaml, Compat compat) {
  FAIRLEAD_ASSIGN_OR_RETURN(const std::vector<YamlDocument> parsed, ParseYaml(yaml));
  MeshDocument document;
  document.rule.compat = compat;
  MeshReader reader(&document);
  for (const YamlDocument& one : parsed) {
    document.remarks.insert(document.remarks.end(), one.remarks.begin(), one.remarks.end());
    if (!one.root.is_null()) FAIRLEAD_RETURN_IF_ERROR(reader.Read(one.root));
  }
  if (document.empty()) {
    document.remarks.push_back({{1, 1}, absl::StrCat("there is no ", document.has_virtual_services ? "DestinationRule" : "VirtualService",
                                                     ", so nothing here has an effect")});
  } else {
    reader.RemarkUnknownSubsets();
  }
  return document;
}

}  // namespace fairlead
