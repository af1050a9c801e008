#ifndef FAIRLEAD_DIRECTORY_GOVERNANCE_H_
#define FAIRLEAD_DIRECTORY_GOVERNANCE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/configurator.h"
#include "fairlead/directory/directory_config.h"
#include "fairlead/directory/guarded_router.h"
#include "fairlead/directory/held_list.h"
#include "fairlead/directory/last_good.h"
#include "fairlead/directory/named_routers.h"
#include "fairlead/directory/rule_documents.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/registry/notification.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// The overrides and rules of a service, from the registry's lists and documents to what a directory applies: what cannot be used is
// left out, logged and kept for Explain, and its last good version stays in force. Setters mark, Apply works. Executor
// only.
class Governance {
 public:
  // `config` outlives it.
  explicit Governance(const DirectoryConfig& config);
  Governance(const Governance&) = delete;
  Governance& operator=(const Governance&) = delete;

  // Complete lists; `unreadable` = their children that are no urls.
  void SetOverrides(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable);
  void SetRules(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable);
  // As RuleDocuments has it.
  bool SetDocument(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text) {
    return documents_.Set(key, text);
  }
  void ForgetDocument(const RuleKey& key) { documents_.Forget(key); }

  // The last providers are protected from here on: a registry that lost its data lost overrides, rules and documents with
  // them, and without those a disabled provider would get calls. See HeldList and RuleDocuments::Hold.
  void Hold();
  void LetGo();

  // Before the other two. `on_fault` is told, on any thread, what a router throws.
  void ApplyDocuments(const std::function<void(std::string)>& on_fault);
  // False when there was nothing new; else the consumer and all effective urls are to be made anew.
  bool ApplyOverrides();
  // A rule that stays keeps its router.
  void ApplyRules(const std::function<void(std::string)>& on_fault);

  const Configurators& configurators() const { return configurators_; }
  const Url& consumer() const { return consumer_; }  // with overrides
  // In the order of the chain. `tagged`: some provider has a `dubbo.tag`; `mocked`: is of protocol `mock`.
  std::vector<std::shared_ptr<const GuardedRouter>> Routers(bool tagged, bool mocked) const;
  // Lines for Explain.
  const std::vector<std::string>& bad_overrides() const { return bad_overrides_; }
  const std::vector<std::string>& bad_rules() const { return bad_rules_; }
  std::vector<std::string> DocumentLines() const { return documents_.Lines(); }
  // Of all three, those of texts that cannot be used, so that their last good version stays in force if there was one.
  std::vector<std::string> Broken() const;
  // Script rules, documents and urls, which are not run.
  std::size_t scripts() const { return documents_.scripts() + script_rules_; }
  const std::vector<std::string>& bad_names() const { return named_.bad(); }

 private:
  struct Rule {
    Url url;
    std::shared_ptr<const GuardedRouter> router;
  };
  // What the registry says of a category.
  struct Listed {
    HeldList list;
    bool dirty = false;
  };
  void SetList(Listed& listed, LastGood& last, ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable);

  void ReadOverrides();
  void WarnOfEach(std::string_view code, const std::vector<std::string>& inputs) const;
  void TellKept(std::string_view what, const std::vector<LastGood::Kept>& kept, const LastGood& last,
                std::vector<std::string>& shown) const;

  const DirectoryConfig& config_;
  Listed rules_, overrides_;
  Url consumer_;
  Configurators registered_;     // of the registry's list
  Configurators configurators_;  // of the list and the documents
  NamedRouters named_;
  RuleDocuments documents_;
  bool documents_dirty_ = false;  // those of configurators
  LastGood last_overrides_{IdentityOfOverride}, last_rules_{IdentityOfRule};
  std::vector<Rule> routers_;
  std::size_t script_rules_ = 0;  // of the urls
  std::vector<std::string> bad_rules_, bad_overrides_;
  std::vector<std::string> broken_rules_, broken_overrides_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_GOVERNANCE_H_
