#ifndef FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_LISTS_H_
#define FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_LISTS_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

// What a RegistryService is asked with for a list, in Dubbo's form: of any group, version and classifier, disabled ones too.
std::string QuestionFor(const RegistryKey& key);
std::string QuestionForServices();

// What a list of a service says of `key`: its urls, those that cannot be read included, as they may be meant for it. Nothing
// at all in it: the path is missing. Absent: it is about other categories.
std::optional<ChildrenAnswer> AnswerFor(const RegistryKey& key, std::vector<std::string> urls);

// The names of all services, out of lists of one or several services each.
class DelegateServices {
 public:
  void Add(const std::vector<std::string>& urls);
  std::vector<std::string> Names() const;
  void Clear() { known_.clear(); }

 private:
  std::set<RegistryKey> known_;  // that have urls
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_LISTS_H_
