// Documents of configurators, from text to the urls that they change.
#include <algorithm>

#include "fairlead/directory/configurator.h"
#include "fairlead/routing/configurator_rule.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {
namespace {

// Rules set parameters, and not those that say what a rule is.
void CheckApplied(const UrlParts& before, const UrlParts& after, const std::string& text) {
  FUZZ_EXPECT(before.protocol == after.protocol && before.host == after.host && before.port == after.port &&
                  before.path == after.path && before.username == after.username && before.password == after.password,
              text + "\n" + after.ToString());
  for (const std::string_view key : kConfiguratorControls) {
    const std::string* was = before.Find(key);
    const std::string* is = after.Find(key);
    FUZZ_EXPECT((was == nullptr) == (is == nullptr) && (was == nullptr || *was == *is), text + "\n" + after.ToString());
  }
  for (const std::string_view key : kNotFromDocuments) FUZZ_EXPECT(after.Find(key) == nullptr, text + "\n" + after.ToString());
  for (const auto& [key, value] : before.params) FUZZ_EXPECT(after.Find(key) != nullptr, text + "\n" + after.ToString());
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const absl::StatusOr<ConfiguratorDocument> document = ParseConfiguratorDocument(text, compat);
    if (!CheckDocument(document, text)) continue;
    FUZZ_EXPECT(document->empty() == document->rules.empty(), text);
    std::vector<absl::Status> rejected;
    const Configurators configurators = Configurators::FromRules(document->rules, "10.0.0.9", &rejected);
    FUZZ_EXPECT(configurators.size() + rejected.size() <= document->rules.size(), text);
    std::vector<UrlParts> targets = RoutedWorld::Usual().provider_parts;
    for (UrlParts& target : targets) target.params.insert_or_assign("side", "provider");
    targets.push_back(RoutedWorld::Usual().consumer.parts());
    for (const UrlParts& target : targets) {
      const UrlParts once = configurators.Apply(target);
      CheckApplied(target, once, text);
      FUZZ_EXPECT(configurators.Apply(target) == once, text);
    }
    (void)configurators.Describe();
  }
}

}  // namespace fairlead::fuzz
