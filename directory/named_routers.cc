#include "fairlead/directory/named_routers.h"

#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/rule_flags.h"
#include "fairlead/routing/router_order.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

struct Stage {
  std::string_view name;
  int order;
};
constexpr Stage kStages[] = {{"mock", router_order::kMock},
                             {"standard-mesh-rule", router_order::kMesh},
                             {"tag", router_order::kTag},
                             {"affinity", router_order::kAffinityService},
                             {"affinity", router_order::kAffinityProviderApplication},
                             {"service", router_order::kConditionService},
                             {"provider-app", router_order::kConditionProviderApplication},
                             {"app", router_order::kConditionApplication},
                             {"script", router_order::kScript}};

}  // namespace

void NamedRouters::Make(const std::function<void(std::string)>& on_fault) {
  if (std::exchange(made_, true)) return;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(config_.consumer.Param(names::kRouter)), ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    if (name.empty()) continue;
    if (name.front() == '-') {
      Remove(FromAbsl(name.substr(1)));
    } else if (name != "default") {
      Add(std::string(name), on_fault);
    }
  }
  config_.log->WarnOfEach("FL-3-5", config_.consumer.ServiceKey(), bad_);
  config_.log->WarnOfEach("FL-3-17", config_.consumer.ServiceKey(), scripts_);
  bad_.insert(bad_.end(), scripts_.begin(), scripts_.end());
}

void NamedRouters::Add(const std::string& name, const std::function<void(std::string)>& on_fault) {
  const auto factory = config_.router(name);
  if (!factory.ok() && IsScript(name)) {
    scripts_.push_back(absl::StrCat("consumer parameter router: ", Shortened(name), ": ", ToAbsl(kScriptsAreNotRun)));
    return;
  }
  auto router = factory.ok() ? GuardedRouter::Create(**factory, config_.consumer, config_.compat, on_fault)
                             : absl::StatusOr<std::shared_ptr<const GuardedRouter>>(factory.status());
  if (router.ok() && *router != nullptr) return routers_.push_back(*std::move(router));
  bad_.push_back(absl::StrCat("consumer parameter router: ", Shortened(name), ": ",
                              router.ok() ? "its factory made no router" : Shortened(FromAbsl(router.status().message()))));
}

void NamedRouters::Remove(std::string_view name) {
  removes_all_ |= name == "default";
  bool known = removes_all_;
  for (const Stage& stage : kStages) {
    if (stage.name != name) continue;
    removed_.insert(stage.order);
    known = true;
  }
  if (!known) bad_.push_back(absl::StrCat("consumer parameter router: there is no stage ", Shortened(name), " to take out"));
}

}  // namespace fairlead::internal
