// What rules cost the control plane: reading one, applying a changed one to a list, and keeping it.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/bench/count_memory.h"
#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"
#include "fairlead/directory/configurator.h"
#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/routing/yaml/tag_document.h"

namespace fairlead::bench {
namespace {

constexpr double kMicro = 1e3, kMilli = 1e6;
constexpr int kProviders = 10'000;

// Text of `count` rules of one kind; those of another `turn` select other providers. Providers: ProviderText.
struct RuleKindOf {
  std::string name;
  std::string document;  // its name in the config center; empty: urls of the registry
  std::function<std::vector<std::string>(int count, int turn)> texts;  // of a document: one
  std::function<bool(const std::string& text)> parse;
  bool single = false;            // a document has one rule
  std::size_t explained = 0;      // what Explain says of it beside its effect
};

std::string Region(int i) { return "r" + std::to_string(i % 7); }

std::vector<RuleKindOf> Kinds() {
  const auto service = std::string("com.acme.Orders::");
  std::vector<RuleKindOf> kinds;
  kinds.push_back({"condition_url", "",
                   [](int count, int turn) {
                     std::vector<std::string> rules;
                     for (int i = 0; i < count; ++i) rules.push_back("method=m" + std::to_string(i) + ",get => region!=" + Region(turn) + ",nowhere" + std::to_string(i));
                     return rules;
                   },
                   [](const std::string& text) { return ParseConditionRule(text, Compat::kStrict).ok(); }});
  kinds.push_back({"condition_texts", service + ".condition-router",
                   [](int count, int turn) {
                     std::string text = "configVersion: v3.0\nscope: service\nforce: true\nenabled: true\nkey: com.acme.Orders\nconditions:\n";
                     for (int i = 0; i < count; ++i) text += "- 'method=m" + std::to_string(i) + ",get => region!=" + Region(turn) + ",nowhere" + std::to_string(i) + "'\n";
                     return std::vector<std::string>{text};
                   },
                   [](const std::string& text) { return ParseConditionDocument(text, Compat::kStrict).ok(); }});
  kinds.push_back({"condition_weighted", service + ".condition-router",
                   [](int count, int turn) {
                     std::string text = "configVersion: v3.1\nscope: service\nforce: true\nenabled: true\nkey: com.acme.Orders\nconditions:\n";
                     for (int i = 0; i < count; ++i) {
                       // One of them is for the method that is called: each draw doubles the leaves.
                       text += "- from: {match: 'method=" + (i == 0 ? std::string("get") : "m" + std::to_string(i)) + "'}\n  to:\n  - {match: 'region=" +
                               Region(turn) + "', weight: 20}\n  - {match: 'region!=" + Region(turn) + "', weight: 80}\n";
                     }
                     return std::vector<std::string>{text};
                   },
                   [](const std::string& text) { return ParseConditionDocument(text, Compat::kStrict).ok(); }});
  kinds.push_back({"tag", "orders.tag-router",
                   [](int count, int turn) {
                     std::string text = "configVersion: v3.0\nforce: true\nenabled: true\nkey: orders\ntags:\n";
                     for (int i = 0; i < count; ++i) text += "- {name: t" + std::to_string(i) + ", addresses: ['" + AddressOf(2 * i + turn % 2) + "']}\n";
                     return std::vector<std::string>{text};
                   },
                   [](const std::string& text) { return ParseTagDocument(text, Compat::kStrict).ok(); }});
  kinds.push_back({"affinity", service + ".affinity-router",
                   [](int, int turn) {
                     return std::vector<std::string>{"configVersion: v3.1\nscope: service\nkey: com.acme.Orders\nenabled: true\nruntime: true\naffinityAware:\n  key: " +
                                                     std::string(turn % 2 == 0 ? "application" : "side") + "\n  ratio: 20\n"};
                   },
                   [](const std::string& text) { return ParseAffinityDocument(text).ok(); },
                   true});
  kinds.push_back({"mesh", "orders.MESHAPPRULE",
                   [](int count, int turn) {
                     std::string text = "kind: VirtualService\nmetadata: {name: orders}\nspec:\n  dubbo:\n  - services: [{exact: com.acme.Orders}]\n    routedetail:\n";
                     for (int i = 0; i < count; ++i) {
                       text += "    - match: [{method: {name_match: {exact: " + (i == 0 ? std::string("get") : "m" + std::to_string(i)) + "}}}]\n      route:\n      - {destination: {subset: " +
                               Region(turn) + "}, weight: 20}\n      - {destination: {subset: " + Region(turn + 1 + i % 6) + "}, weight: 80}\n";
                     }
                     text += "---\nkind: DestinationRule\nmetadata: {name: orders}\nspec:\n  subsets:\n";
                     for (int i = 0; i < 7; ++i) text += "  - {name: " + Region(i) + ", labels: {region: " + Region(i) + "}}\n";
                     return std::vector<std::string>{text};
                   },
                   [](const std::string& text) {
                     const auto document = ParseMeshDocument(text, Compat::kStrict);
                     return document.ok() && !document->empty() && document->remarks.empty();
                   }});
  kinds.push_back({"script", "orders.script-router",
                   [](int, int turn) {
                     return std::vector<std::string>{"configVersion: v3.0\nscope: application\nkey: orders\nenabled: true\nforce: false\ntype: javascript\nscript: |\n"
                                                     "  (function route(invokers, invocation, context) {\n    var result = new java.util.ArrayList(invokers.size());\n"
                                                     "    for (i = 0; i < invokers.size(); i++) {\n      if (\"" + Region(turn) + "\".equals(invokers.get(i).getUrl().getParameter(\"region\"))) {\n"
                                                     "        result.add(invokers.get(i));\n      }\n    }\n    return result;\n  }(invokers, invocation, context));\n"};
                   },
                   [](const std::string& text) {
                     const auto document = ParseScriptDocument(text);
                     return document.ok() && document->active();
                   },
                   true, 1});
  kinds.push_back({"configurators", service + ".configurators",
                   [](int count, int turn) {
                     std::string text = "configVersion: v3.0\nscope: service\nkey: com.acme.Orders\nenabled: true\nconfigs:\n";
                     for (int i = 0; i < count; ++i) {
                       text += "- side: consumer\n  match: {param: [{key: region, value: {exact: " + Region(i + turn) + "}}]}\n  parameters: {weight: " + std::to_string(10 + i % 90 + turn % 2) + "}\n";
                     }
                     return std::vector<std::string>{text};
                   },
                   [](const std::string& text) { return ParseConfiguratorDocument(text, Compat::kStrict).ok(); }});
  kinds.push_back({"override_url", "",
                   [](int count, int turn) {
                     std::vector<std::string> urls;
                     for (int i = 0; i < count; ++i) {
                       urls.push_back("override://" + (i == 0 ? std::string("0.0.0.0") : AddressOf(i)) + "/com.acme.Orders?category=configurators&dynamic=false&weight=" + std::to_string(10 + i % 90 + turn % 2));
                     }
                     return urls;
                   },
                   [](const std::string& text) {
                     const auto url = UrlParts::Parse(text);
                     return url.ok() && Configurator::Create(*url).ok();
                   }});
  return kinds;
}

void Apply(Bed& bed, const RuleKindOf& kind, int count, int turn) {
  const std::vector<std::string> texts = count == 0 ? std::vector<std::string>() : kind.texts(count, turn);
  if (!kind.document.empty()) {
    bed.SetDocument(kind.document, texts.empty() ? std::nullopt : std::optional<std::string>(texts.front()));
  } else if (kind.name == "override_url") {
    bed.NotifyUrls(Category::kConfigurators, texts);
  } else {
    bed.NotifyRules(texts);
  }
}

void AddParse(Suite& suite, const RuleKindOf& kind, int count) {
  const std::string name = "parse/" + kind.name;
  suite.Add(name, count, [=](Report& report, const Effort& effort) {
    auto texts = std::make_shared<const std::vector<std::string>>(kind.texts(count, 0));
    std::size_t bytes = 0;
    bool all = true;
    for (const std::string& text : *texts) {
      bytes += text.size();
      all &= kind.parse(text);
    }
    const Body parse = Repeat([texts, parse = kind.parse](int) {
      return [texts, parse] {
        for (const std::string& text : *texts) Keep(parse(text));
      };
    });
    Row row = Compared(name, count, "");
    row.unit = "us";
    row.failed = !all;
    row.note = all ? std::to_string(count) + (count == 1 ? " rule, " : " rules, ") + std::to_string(bytes) + " bytes" : "a rule that cannot be read";
    report.Add(Measure(row, {parse}, {}, effort, kMicro));
  });
}

// From the news of one changed rule to a pick that obeys it.
void AddChange(Suite& suite, const RuleKindOf& kind) {
  const std::string name = "rule_change/" + kind.name;
  suite.Add(name, kProviders, [=](Report& report, const Effort& effort) {
    auto bed = std::make_shared<Bed>(BedShape{kProviders, "random"});
    bed->WarmUp(InvocationOf(*bed, {}));
    auto turn = std::make_shared<int>(0);
    const std::uint64_t before = bed->directory().Stats().version;
    const auto change = [=] {
      Apply(*bed, kind, 1, ++*turn);
      Keep(bed->directory().Select(InvocationOf(*bed, {})).ok());
    };
    change();
    change();
    Row row = Compared(name, kProviders, "");
    row.unit = "ms";
    row.failed = bed->directory().Stats().version < before + 2 || bed->directory().Explain({}).skipped.size() != kind.explained;
    row.note = row.failed            ? "the rule is not obeyed"
               : kind.explained == 0 ? "read, compiled, published, picked by"
                                     : "read, counted, published; not run";
    Side side;
    side.body = Repeat([change](int) { return change; });
    side.before_run = [bed] { bed->SweepPool(); };
    report.Add(Measure(row, side, {}, effort, kMilli));
  });
}

// Bytes a rule: beside a list of two its own, beside a long one what it remembers of the providers too.
void AddMemory(Suite& suite, const RuleKindOf& kind, int providers) {
  const std::string name = "memory/rule_" + kind.name;
  suite.Add(name, providers, [=](Report& report, const Effort&) {
    ForgetSharedBeds();
    const int count = kind.single ? 1 : 100;
    Bed bed({providers, "random"});
    const auto settle = [&] {
      bed.WarmUp(InvocationOf(bed, {}));
      bed.Advance(std::chrono::seconds(30));
      bed.SweepPool();
    };
    settle();
    // Once with and once without, so that what stays for ever is there.
    Apply(bed, kind, count, 0);
    settle();
    Apply(bed, kind, 0, 0);
    settle();
    const std::int64_t before = LiveBytes();
    Apply(bed, kind, count, 0);
    settle();
    Row row = Compared(name, providers, "");
    row.unit = "B";
    row.value = static_cast<double>(LiveBytes() - before) / count;
    row.note = std::to_string(count) + (count == 1 ? " rule" : " rules, each") + ", its text and the plan in use included";
    report.Add(row);
  });
}

}  // namespace

void AddDocumentRows(Suite& suite, bool) {
  for (const RuleKindOf& kind : Kinds()) {
    AddParse(suite, kind, 1);
    if (!kind.single) AddParse(suite, kind, 100);
  }
  for (const RuleKindOf& kind : Kinds()) AddChange(suite, kind);
  for (const RuleKindOf& kind : Kinds()) {
    for (const int providers : {2, kProviders}) AddMemory(suite, kind, providers);
  }
}

}  // namespace fairlead::bench
