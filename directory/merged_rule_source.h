#ifndef FAIRLEAD_DIRECTORY_MERGED_RULE_SOURCE_H_
#define FAIRLEAD_DIRECTORY_MERGED_RULE_SOURCE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/rule_source.h"

namespace fairlead::internal {

// Documents out of several registries: of one name, the first registry that has it decides, as Dubbo does with several
// config centers. Those before it that have not answered are waited for `wait`; a document that was read holds while its
// registry cannot be read. Executor only.
class MergedRuleSource final : public RuleSource, public std::enable_shared_from_this<MergedRuleSource> {
 public:
  struct Source {
    std::string name;  // for people
    std::shared_ptr<RuleSource> documents;
  };
  struct Config {
    std::shared_ptr<void> keep;  // owns `log`
    std::shared_ptr<Executor> executor;
    Logger* log = nullptr;
    std::string service;  // for the log
    std::chrono::milliseconds wait{0};
    std::vector<Source> sources;
  };
  static std::shared_ptr<MergedRuleSource> Create(Config config) {
    return std::shared_ptr<MergedRuleSource>(new MergedRuleSource(std::move(config)));
  }

  RuleWatch Watch(const std::string& name, Told told) override;
  // A line for each document that registries have in different versions.
  std::vector<std::string> Remarks() const;

 private:
  struct Following;

  explicit MergedRuleSource(Config config) : config_(std::move(config)) {}
  void Decide(Following& following);

  const Config config_;
  std::map<const Following*, std::string> differences_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_MERGED_RULE_SOURCE_H_
