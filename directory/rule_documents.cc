#include "fairlead/directory/rule_documents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/routing/mesh/mesh_router.h"
#include "fairlead/routing/router_order.h"
#include "fairlead/routing/scoped_router.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/routing/wish.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/routing/yaml/tag_document.h"

namespace fairlead::internal {
namespace {

int OrderOfConditions(RuleScope scope) {
  switch (scope) {
    case RuleScope::kService:
      return router_order::kConditionService;
    case RuleScope::kProviderApplication:
      return router_order::kConditionProviderApplication;
    case RuleScope::kConsumerApplication:
      break;
  }
  return router_order::kConditionApplication;
}

int OrderOfAffinity(RuleScope scope) {
  return scope == RuleScope::kService ? router_order::kAffinityService : router_order::kAffinityProviderApplication;
}

// For Explain and the log.
std::string Named(const RuleKey& key) { return absl::StrCat("document ", Shortened(key.name())); }

void MarkChanged(const RuleKey& key, RuleDocuments::Changes& changes) {
  (key.kind == RuleKind::kConfigurators ? changes.overrides : changes.rules) = true;
  changes.tags |= key.kind == RuleKind::kTags;
  changes.mesh |= key.kind == RuleKind::kMesh;
}

}  // namespace

bool RuleDocuments::Set(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text) {
  const auto [at, fresh] = documents_.try_emplace(key);
  Document& document = at->second;
  const bool same_status = !fresh && document.unread == text.status();
  document.unread = text.status();
  if (!text.ok()) return !same_status;
  // A text without a byte says that there is no document, as in Dubbo.
  if (!text->has_value() || (*text)->empty()) return Lose(key, document) || !same_status;
  document.lost.reset();
  document.news = true;
  const bool was_held = std::exchange(document.held, false);
  if (document.text == *text) return was_held || !same_status;
  document.text = *text;
  document.changed = true;
  return true;
}

bool RuleDocuments::Lose(const RuleKey& key, Document& document) {
  if (document.held || !document.text.has_value()) return false;
  auto lost = std::make_shared<Document>(document);
  Document gone;
  gone.news = document.news;
  gone.lost_at = config_.clock->SteadyNow();
  gone.lost = std::move(lost);
  document = std::move(gone);
  MarkChanged(key, pending_);
  if (holds_since_.has_value() && !document.news && IsOneLoss(document.lost_at, *holds_since_)) TakeBack(key, document);
  return true;
}

void RuleDocuments::TakeBack(const RuleKey& key, Document& document) {
  const Document before = *document.lost;
  document = before;
  document.held = true;
  document.news = false;
  MarkChanged(key, pending_);
}

void RuleDocuments::Hold() {
  holds_since_ = config_.clock->SteadyNow();
  for (auto& [key, document] : documents_) {
    document.news = false;
    if (document.lost != nullptr && IsOneLoss(document.lost_at, *holds_since_)) TakeBack(key, document);
  }
}

void RuleDocuments::LetGo() {
  holds_since_.reset();
  for (auto& [key, document] : documents_) {
    if (!document.held) continue;
    document = Document();
    MarkChanged(key, pending_);
  }
}

void RuleDocuments::Forget(const RuleKey& key) {
  if (documents_.erase(key) > 0) MarkChanged(key, pending_);
}

RuleDocuments::Changes RuleDocuments::Apply(const std::function<void(std::string)>& on_fault) {
  Changes changes = std::exchange(pending_, {});
  std::vector<std::string> broken, left_out, not_obeyed;
  for (auto& [key, document] : documents_) {
    if (!std::exchange(document.changed, false)) continue;
    Document next;
    next.text = document.text;
    next.unread = document.unread;
    next.news = document.news;
    next.held = document.held;
    if (const absl::Status status = Read(key, next, on_fault); !status.ok()) {
      document.broken = status;
      document.remarks.clear();
      broken.push_back(absl::StrCat(Named(key), ": ", Shortened(FromAbsl(status.message())),
                                    document.in_force ? "; its last good version stays in force"
                                                      : "; there was no good version before, so it says nothing"));
      continue;
    }
    next.in_force = true;
    document = std::move(next);
    left_out.insert(left_out.end(), document.left_out.begin(), document.left_out.end());
    not_obeyed.insert(not_obeyed.end(), document.not_obeyed.begin(), document.not_obeyed.end());
    MarkChanged(key, changes);
  }
  config_.log->WarnOfEach("FL-3-16", config_.consumer.ServiceKey(), broken);
  config_.log->WarnOfEach("FL-3-4", config_.consumer.ServiceKey(), left_out);
  if (changes.tags || tag_router_ == nullptr) MakeTagRouter(on_fault);
  if (changes.mesh) {
    MakeMeshRouter(on_fault);
    not_obeyed.insert(not_obeyed.end(), mesh_left_out_.begin(), mesh_left_out_.end());
  }
  config_.log->WarnOfEach("FL-3-17", config_.consumer.ServiceKey(), not_obeyed);
  return changes;
}

absl::Status RuleDocuments::Read(const RuleKey& key, Document& document, const OnFault& on_fault) const {
  const auto add = [&](std::shared_ptr<const Router> router) {
    if (router == nullptr) return;
    if (key.scope == RuleScope::kProviderApplication) {
      router = std::make_shared<const ScopedRouter>(key.owner, std::move(router));
    }
    document.routers.push_back(GuardedRouter::Of(std::move(router), on_fault));
  };
  switch (key.kind) {
    case RuleKind::kConfigurators:
      return ReadConfigurators(key, document);
    case RuleKind::kConditions: {
      FAIRLEAD_ASSIGN_OR_RETURN(ConditionDocument parsed, ParseConditionDocument(*document.text, config_.compat));
      if (parsed.form == ConditionDocument::Form::kTooNew) {
        return absl::InvalidArgumentError(absl::StrCat("configVersion \"", Shortened(*parsed.head.version, 80),
                                                       "\" is not understood: expected v3.1 at most"));
      }
      FAIRLEAD_RETURN_IF_ERROR(parsed.unusable);
      for (auto& router : MakeRouters(parsed, OrderOfConditions(key.scope), key.name())) add(std::move(router));
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
    case RuleKind::kTags: {
      FAIRLEAD_ASSIGN_OR_RETURN(TagDocument parsed, ParseTagDocument(*document.text, config_.compat));
      FAIRLEAD_RETURN_IF_ERROR(parsed.unusable);
      if (!parsed.empty()) document.tags = std::move(parsed.rule);
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
    case RuleKind::kAffinity: {
      FAIRLEAD_ASSIGN_OR_RETURN(AffinityDocument parsed, ParseAffinityDocument(*document.text));
      add(MakeRouter(parsed, OrderOfAffinity(key.scope), key.name()));
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
    case RuleKind::kMesh: {
      FAIRLEAD_ASSIGN_OR_RETURN(MeshDocument parsed, ParseMeshDocument(*document.text, config_.compat));
      if (!parsed.empty()) document.mesh = std::move(parsed.rule);
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
    case RuleKind::kScript: {
      FAIRLEAD_ASSIGN_OR_RETURN(ScriptDocument parsed, ParseScriptDocument(*document.text));
      document.script = parsed.active();
      if (document.script) {
        // Its first remark, which is said once.
        document.not_obeyed.push_back(absl::StrCat(Named(key), ": ", parsed.remarks.front().mark.ToString(), ": ",
                                                   parsed.remarks.front().text));
        parsed.remarks.erase(parsed.remarks.begin());
      }
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status RuleDocuments::ReadConfigurators(const RuleKey& key, Document& document) const {
  FAIRLEAD_ASSIGN_OR_RETURN(ConfiguratorDocument parsed, ParseConfiguratorDocument(*document.text, config_.compat));
  std::vector<absl::Status> rejected;
  document.configurators = Configurators::FromRules(std::move(parsed.rules), config_.local_address, &rejected);
  for (const absl::Status& status : rejected) {
    document.left_out.push_back(absl::StrCat(Named(key), ": ", status.message()));
  }
  std::vector<std::string> unusable;
  document.configurators = document.configurators.Without(
      [this](std::string_view name, std::string_view value) { return ValueExpected(name, value, config_.policy); },
      unusable);
  for (const std::string& line : unusable) document.left_out.push_back(absl::StrCat(Named(key), ": ", line));
  document.remarks = std::move(parsed.remarks);
  return absl::OkStatus();
}

void RuleDocuments::MakeTagRouter(const OnFault& on_fault) {
  std::vector<ScopedTagRule> rules;
  for (const auto& [key, document] : documents_) {
    if (document.tags.has_value()) rules.push_back({key.owner, *document.tags});
  }
  // Without rules one router does for ever.
  if (tag_router_ != nullptr && rules.empty() && !has_tag_rules_) return;
  has_tag_rules_ = !rules.empty();
  tag_router_ = GuardedRouter::Of(std::make_shared<const TagRouter>(std::move(rules)), on_fault);
}

void RuleDocuments::MakeMeshRouter(const OnFault& on_fault) {
  std::vector<ScopedMeshRule> rules;
  for (const auto& [key, document] : documents_) {
    if (document.mesh.has_value()) rules.push_back({key.owner, *document.mesh});
  }
  mesh_left_out_.clear();
  mesh_router_.reset();
  std::vector<std::string> left_out;
  auto router = MeshRouter::Make(rules, config_.consumer, &left_out);
  if (router != nullptr) mesh_router_ = GuardedRouter::Of(std::move(router), on_fault);
  for (const std::string& application : left_out) {
    mesh_left_out_.push_back(absl::StrCat(Named({RuleScope::kProviderApplication, RuleKind::kMesh, application}),
                                          ": counts for nothing, as with those of the other applications there are more than ",
                                          MeshRouter::kMostApplications, " rules, ", MeshRouter::kMostCases, " cases or ",
                                          MeshRouter::kMostDraws, " combinations of destinations"));
  }
}

std::size_t RuleDocuments::scripts() const {
  return static_cast<std::size_t>(
      std::count_if(documents_.begin(), documents_.end(), [](const auto& one) { return one.second.script; }));
}

std::vector<Configurators> RuleDocuments::Overrides() const {
  std::vector<Configurators> list;
  for (const RuleScope scope : {RuleScope::kConsumerApplication, RuleScope::kService}) {
    for (const auto& [key, document] : documents_) {
      if (key.scope == scope && !document.configurators.empty()) list.push_back(document.configurators);
    }
  }
  return list;
}

std::vector<std::shared_ptr<const GuardedRouter>> RuleDocuments::Routers(bool with_tags) const {
  std::vector<std::shared_ptr<const GuardedRouter>> routers;
  static const auto no_tag = GuardedRouter::Of(NoTagRouter(), nullptr);  // without state
  routers.push_back(tag_router_ != nullptr && (with_tags || has_tag_rules_) ? tag_router_ : no_tag);
  if (mesh_router_ != nullptr) routers.push_back(mesh_router_);
  for (const auto& [key, document] : documents_) {
    routers.insert(routers.end(), document.routers.begin(), document.routers.end());
  }
  return routers;
}

std::string RuleDocuments::BrokenLine(const RuleKey& key, const Document& document) {
  return absl::StrCat(Named(key), ": ", document.broken.message(),
                      document.in_force ? "; its last good version stays in force" : "; it says nothing");
}

std::vector<std::string> RuleDocuments::Broken() const {
  std::vector<std::string> lines;
  for (const auto& [key, document] : documents_) {
    if (!document.broken.ok()) lines.push_back(BrokenLine(key, document));
  }
  return lines;
}

std::vector<std::string> RuleDocuments::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [key, document] : documents_) {
    if (!document.unread.ok()) {
      lines.push_back(absl::StrCat(Named(key), ": cannot be had now: ", document.unread.message(),
                                   document.in_force ? "; what it said last stays in force" : ""));
    }
    if (document.held) {
      lines.push_back(absl::StrCat(Named(key), ": the registry has it no more; it stays in force with the protected providers"));
    }
    if (!document.broken.ok()) lines.push_back(BrokenLine(key, document));
    for (const YamlRemark& remark : document.remarks) {
      lines.push_back(absl::StrCat(Named(key), ": ", remark.mark.ToString(), ": ", remark.text));
    }
    lines.insert(lines.end(), document.left_out.begin(), document.left_out.end());
    lines.insert(lines.end(), document.not_obeyed.begin(), document.not_obeyed.end());
  }
  lines.insert(lines.end(), mesh_left_out_.begin(), mesh_left_out_.end());
  return lines;
}

}  // namespace fairlead::internal
