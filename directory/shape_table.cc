#include "fairlead/directory/shape_table.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/connection_key.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {

Shape& ShapeTable::Get(const Url& effective) {
  const auto [at, fresh] = shapes_.try_emplace(&effective.common());
  Shape& shape = at->second;
  if (!fresh) return shape;
  unused_.push_back(effective);
  shape.transport = TransportKey(effective.common());
  shape.disabled = IsDisabled(effective.common());
  shape.tagged = !effective.common().Param(names::kTag).empty();
  shape.mock = effective.protocol() == "mock";
  for (const auto& [name, value] : effective.common().params) {
    if (const std::string_view method = OwnMethod(name); !method.empty()) shape.own_methods.emplace_back(method);
    if (PolicyKey(name) == names::kLoadBalance && !value.empty()) shape.policies.emplace_back(value);
    if (!NumberExpected(name, value).empty()) {
      absl::StrAppend(&shape.unreadable, shape.unreadable.empty() ? "" : ", ", Shortened(name, 60), "=",
                      Shortened(value, 60));
    }
  }
  return shape;
}

void ShapeTable::Use(Shape& shape) {
  if (shape.uses++ > 0) return;
  CountUses(own_methods_, shape.own_methods, true);
  CountUses(policies_, shape.policies, true);
  tagged_ += shape.tagged;
  mocked_ += shape.mock;
}

void ShapeTable::Unuse(const Url& effective) {
  const auto at = shapes_.find(&effective.common());
  if (--at->second.uses > 0) return;
  CountUses(own_methods_, at->second.own_methods, false);
  CountUses(policies_, at->second.policies, false);
  tagged_ -= at->second.tagged;
  mocked_ -= at->second.mock;
  unused_.push_back(effective);
}

void ShapeTable::ForgetUnused() {
  for (const Url& one : std::exchange(unused_, {})) {
    const auto at = shapes_.find(&one.common());
    if (at != shapes_.end() && at->second.uses == 0) shapes_.erase(at);
  }
}

void ShapeTable::CountUses(Uses& uses, const std::vector<std::string>& names, bool more) {
  for (const std::string& name : names) {
    if (more) {
      ++uses[name];
    } else if (const auto at = uses.find(name); --at->second == 0) {
      uses.erase(at);
    }
  }
}

std::vector<std::string> ShapeTable::NamesOf(const Uses& uses) {
  std::vector<std::string> names;
  for (const auto& [name, count] : uses) names.push_back(name);
  return names;
}

}  // namespace fairlead::internal
