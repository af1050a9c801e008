#ifndef FAIRLEAD_DIRECTORY_RULE_DOCUMENTS_H_
#define FAIRLEAD_DIRECTORY_RULE_DOCUMENTS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/directory/configurator.h"
#include "fairlead/directory/directory_config.h"
#include "fairlead/directory/guarded_router.h"
#include "fairlead/directory/held_list.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/routing/mesh/mesh_rule.h"
#include "fairlead/routing/tag/tag_rule.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead::internal {

// The documents of the config center that a directory obeys, from text to configurators and routers. A text is read once,
// when it changed. One that cannot be read leaves what the last readable one said in force, until the document is mended
// or deleted. Setters mark, Apply works. Executor only.
class RuleDocuments {
 public:
  struct Changes {
    bool overrides = false, rules = false;
    bool tags = false, mesh = false;  // of the rules
  };

  // `config` outlives it.
  explicit RuleDocuments(const DirectoryConfig& config) : config_(config) {}
  RuleDocuments(const RuleDocuments&) = delete;
  RuleDocuments& operator=(const RuleDocuments&) = delete;

  // A text; nullopt, or one without a byte = there is none, and what it said is gone. Not OK: it cannot be had now, what it said before stays.
  // False when this is no news.
  bool Set(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text);
  // The last providers are protected from here on: documents that are there no more, and went with them (IsOneLoss), are
  // in force again, as are those that go so later without a new text in between. Until LetGo, or until there is a text.
  void Hold();
  void LetGo();
  // The document is nobody's concern any more.
  void Forget(const RuleKey& key);
  // `on_fault` as in Governance.
  Changes Apply(const std::function<void(std::string)>& on_fault);

  // In order of application: the consumer application's, the service's.
  std::vector<Configurators> Overrides() const;
  bool has_tag_rules() const { return has_tag_rules_; }
  // Script rules, which are not run.
  std::size_t scripts() const;
  // In no particular order but that of each document. `with_tags`: with the tag router, be there documents or not.
  std::vector<std::shared_ptr<const GuardedRouter>> Routers(bool with_tags) const;
  // For Explain: documents that cannot be read, and what of the others does not do what its author may think.
  std::vector<std::string> Lines() const;
  // Of these lines, those of documents that cannot be read.
  std::vector<std::string> Broken() const;

 private:
  struct Document {
    std::optional<std::string> text;
    absl::Status unread;   // why there is no text now
    bool changed = false;  // since it was read
    // What it was before it went, and when it did; in force again while `held`.
    std::shared_ptr<const Document> lost;
    Clock::SteadyTime lost_at{};
    bool held = false;
    bool news = false;  // there was a text since Hold
    absl::Status broken;   // what is wrong with the text
    std::vector<YamlRemark> remarks;
    std::vector<std::string> left_out;  // settings of configurators that cannot be used
    std::vector<std::string> not_obeyed;  // rules that can be read, but do not count here
    // What is in force.
    bool in_force = false;
    Configurators configurators;
    std::optional<TagRule> tags;
    std::optional<MeshRule> mesh;
    bool script = false;
    std::vector<std::shared_ptr<const GuardedRouter>> routers;
  };
  using OnFault = std::function<void(std::string)>;

  static std::string BrokenLine(const RuleKey& key, const Document& document);
  // It is not there (any more); holds it if it is to be. False when it already was not.
  bool Lose(const RuleKey& key, Document& document);
  void TakeBack(const RuleKey& key, Document& document);
  absl::Status Read(const RuleKey& key, Document& document, const OnFault& on_fault) const;
  absl::Status ReadConfigurators(const RuleKey& key, Document& document) const;
  void MakeTagRouter(const OnFault& on_fault);
  void MakeMeshRouter(const OnFault& on_fault);

  const DirectoryConfig& config_;
  std::map<RuleKey, Document> documents_;
  Changes pending_;  // of documents that need not be read
  std::optional<Clock::SteadyTime> holds_since_;
  std::shared_ptr<const GuardedRouter> tag_router_;  // of all tag documents together; nullptr before the first Apply
  bool has_tag_rules_ = false;
  std::shared_ptr<const GuardedRouter> mesh_router_;  // of all mesh documents together; nullptr when they select nobody
  std::vector<std::string> mesh_left_out_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_RULE_DOCUMENTS_H_
