#include "fairlead/directory/rule_documents.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/routing/router_order.h"
#include "fairlead/routing/scoped_router.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/routing/wish.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/configurator_document.h"
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
}

}  // namespace

bool RuleDocuments::Set(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text) {
  const auto [at, fresh] = documents_.try_emplace(key);
  Document& document = at->second;
  const bool same_status = !fresh && document.unread == text.status();
  document.unread = text.status();
  if (!text.ok() || document.text == *text) return !same_status;
  document.text = *text;
  document.changed = true;
  return true;
}

void RuleDocuments::Forget(const RuleKey& key) {
  if (documents_.erase(key) > 0) MarkChanged(key, forgotten_);
}

RuleDocuments::Changes RuleDocuments::Apply(const std::function<void(std::string)>& on_fault) {
  Changes changes = std::exchange(forgotten_, {});
  std::vector<std::string> broken, left_out;
  for (auto& [key, document] : documents_) {
    if (!std::exchange(document.changed, false)) continue;
    Document next;
    next.text = document.text;
    next.unread = document.unread;
    const absl::Status status = document.text.has_value() ? Read(key, next, on_fault) : absl::OkStatus();
    if (!status.ok()) {
      document.broken = status;
      document.remarks.clear();
      broken.push_back(absl::StrCat(Named(key), ": ", Shortened(FromAbsl(status.message())),
                                    document.in_force ? "; its last good version stays in force"
                                                      : "; there was no good version before, so it says nothing"));
      continue;
    }
    next.in_force = document.text.has_value();
    document = std::move(next);
    left_out.insert(left_out.end(), document.left_out.begin(), document.left_out.end());
    MarkChanged(key, changes);
  }
  config_.log->WarnOfEach("FL-3-16", config_.consumer.ServiceKey(), broken);
  config_.log->WarnOfEach("FL-3-4", config_.consumer.ServiceKey(), left_out);
  if (changes.rules || tag_router_ == nullptr) MakeTagRouter(on_fault);
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
      for (auto& router : MakeRouters(parsed, OrderOfConditions(key.scope), key.name())) add(std::move(router));
      document.remarks = std::move(parsed.remarks);
      return absl::OkStatus();
    }
    case RuleKind::kTags: {
      FAIRLEAD_ASSIGN_OR_RETURN(TagDocument parsed, ParseTagDocument(*document.text, config_.compat));
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
  for (const auto& [key, document] : documents_) {
    routers.insert(routers.end(), document.routers.begin(), document.routers.end());
  }
  return routers;
}

std::vector<std::string> RuleDocuments::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [key, document] : documents_) {
    if (!document.unread.ok()) {
      lines.push_back(absl::StrCat(Named(key), ": cannot be had now: ", document.unread.message(),
                                   document.in_force ? "; what it said last stays in force" : ""));
    }
    if (!document.broken.ok()) {
      lines.push_back(absl::StrCat(Named(key), ": ", document.broken.message(),
                                   document.in_force ? "; its last good version stays in force" : "; it says nothing"));
    }
    for (const YamlRemark& remark : document.remarks) {
      lines.push_back(absl::StrCat(Named(key), ": ", remark.mark.ToString(), ": ", remark.text));
    }
    lines.insert(lines.end(), document.left_out.begin(), document.left_out.end());
  }
  return lines;
}

}  // namespace fairlead::internal
