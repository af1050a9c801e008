#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "fairlead/tests/conformance/case_reader.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/percent.h"

namespace fairlead::fuzz {
namespace {

constexpr std::size_t kMostSeeds = 300;
constexpr std::size_t kMostBytes = 3000;

using Texts = std::set<std::string>;

bool Has(const std::string& text, const char* piece) { return text.find(piece) != text.npos; }

// What the cases hold, told apart by what it looks like.
struct CaseTexts {
  Texts urls, escaped, rules, documents;

  void Add(const conformance::Json& value) {
    if (value.is_structured()) {
      for (const auto& item : value) Add(item);
      return;
    }
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    if (text.size() > kMostBytes) return;
    if (Has(text, "\n")) {
      documents.insert(text);
    } else if (Has(text, "://") || Has(text, "%3A%2F%2F")) {
      urls.insert(text);
      if (!Has(text, "%3A%2F%2F")) urls.insert(PercentEncode(text));
    } else if (Has(text, "=>")) {
      rules.insert(text);
    }
    if (Has(text, "%")) escaped.insert(text);
  }
};

const CaseTexts& Cases() {
  static const CaseTexts texts = [] {
    CaseTexts all;
    conformance::ReadCases(FAIRLEAD_TEST_DATA "/conformance/cases", [&](conformance::Case c) { all.Add(c.in); },
                           [](const std::string&) {});
    return all;
  }();
  return texts;
}

// Evenly spread ones, so that each kind of case is there.
std::vector<std::string> Some(const Texts& texts, std::size_t most = kMostSeeds) {
  std::vector<std::string> some;
  const std::size_t step = std::max<std::size_t>(1, texts.size() / most);
  std::size_t i = 0;
  for (const std::string& text : texts) {
    if (i++ % step == 0) some.push_back(text);
  }
  return some;
}

std::vector<std::string> Documents(const char* of, std::vector<std::string> more = {}) {
  Texts texts;
  for (const std::string& text : Cases().documents) {
    if (Has(text, of)) texts.insert(text);
  }
  std::vector<std::string> some = Some(texts);
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

// Groups of urls, each made one text.
std::vector<std::string> UrlGroups(const std::function<std::string(const std::vector<std::string>&)>& text_of) {
  const std::vector<std::string> urls = Some(Cases().urls, 600);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < urls.size(); at += 4) {
    texts.push_back(text_of({urls.begin() + static_cast<std::ptrdiff_t>(at),
                             urls.begin() + static_cast<std::ptrdiff_t>(std::min(at + 4, urls.size()))}));
  }
  return texts;
}

std::string Lines(const std::vector<std::string>& texts) {
  std::string lines = "# urls\n";
  for (const std::string& one : texts) lines += one + "\n";
  return lines;
}

std::string PropertiesText(const std::vector<std::string>& texts) {
  std::string lines = "#Dubbo Registry Cache\n";
  for (const std::string& one : texts) lines += "a.B\\:" + std::to_string(lines.size()) + "=" + one + " \\u4e2d\\\n  more\n";
  return lines;
}

std::string RedisText(const std::vector<std::string>& texts) {
  std::string reply = "*" + std::to_string(2 * texts.size()) + "\r\n";
  for (const std::string& one : texts) {
    reply += "$" + std::to_string(one.size()) + "\r\n" + one + "\r\n:" + std::to_string(one.size()) + "\r\n";
  }
  return reply + "+OK\r\n-WRONGTYPE x\r\n$-1\r\n*0\r\n";
}

// The cases hold none.
std::vector<std::string> MeshDocuments() {
  const std::string subsets =
      "---\napiVersion: service.dubbo.apache.org/v1alpha1\nkind: DestinationRule\nmetadata: {name: shop}\nspec:\n  host: shop\n"
      "  trafficPolicy: {loadBalancer: {simple: ROUND_ROBIN}}\n  subsets:\n  - {name: hz, labels: {region: hz}}\n"
      "  - {name: sh, labels: {region: sh, level: '3'}}\n  - {name: all}\n  - {name: nobody, labels: {region: x}}\n";
  const auto service = [](const std::string& routes) {
    return "apiVersion: service.dubbo.apache.org/v1alpha1\nkind: VirtualService\nmetadata: {name: shop}\nspec:\n  hosts: [shop]\n"
           "  dubbo:\n" + routes;
  };
  return {
      service("  - services: [{exact: s.A}]\n    routedetail:\n    - name: gray\n      match:\n      - method: {name_match: {prefix: find}}\n"
              "        sourceLabels: {region: hz}\n      route:\n      - {destination: {host: shop, subset: sh, fallback: {destination: {subset: hz}}}}\n"
              "    - route:\n      - {destination: {subset: hz}, weight: 80}\n      - {destination: {subset: sh}, weight: 20}\n") + subsets,
      service("  - routedetail:\n    - match:\n      - method: {argc: 3, args: [{index: 0, str_value: {oneof: [{exact: a}, {regex: 'a+'}]}}, "
              "{index: 2, type: int, num_value: {oneof: [{exact: 7}, {range: {start: 5, end: 9}}, {mod: 2, exact: 1}]}}]}\n"
              "      - attachments: {dubboContext: {user: {exact: vip}, env: {noempty: x}}}\n      route:\n      - destination: {subset: nobody}\n"
              "      - destination: {subset: all}\n        weight: 0\n      - destination: {subset: sh}\n        weight: 2147483647\n") + subsets,
      subsets + service("  - services: [{wildcard: '*'}, {empty: x}]\n    routedetail:\n    - match: [{method: {args: [{index: 1, bool_value: {exact: true}}], "
                        "argp: [int]}}]\n      route: [{destination: {subset: all}}]\n    - {match: [{attachments: {tracingContext: {a: {exact: b}}}, "
                        "headers: {}}], route: []}\n    - {name: last, route: [{destination: {subset: hz, fallback: {weight: 1, destination: "
                        "{subset: sh, fallback: {destination: {subset: all}}}}}}]}\n"),
      "kind: VirtualService\nmetadata: {name: shop.other}\nspec: {dubbo: []}\n---\nkind: Gateway\nmetadata: {name: shop}\n---\n" + subsets,
  };
}

std::vector<std::string> ScriptDocuments() {
  return {"configVersion: v3.0\nscope: application\nkey: orders\nenabled: true\nforce: false\nruntime: true\ntype: javascript\nscript: |\n"
          "  (function route(invokers, invocation, context) {\n    return invokers;\n  }(invokers, invocation, context));\n",
          "key: orders\nenabled: false\nscript: 'x'\n", "valid: false\ntype: groovy\nscript: \"a\\nb\"\npriority: 7\n",
          "type: javascript\nscript: ''\ncolour: blue\n"};
}

// Some of each kind, and urls that carry rules.
std::vector<std::string> LintTexts() {
  std::vector<std::string> texts = Some(Cases().documents, 120);
  for (const std::string& rule : Some(Cases().rules, 60)) {
    texts.push_back(rule);
    texts.push_back("route://0.0.0.0/s.A?category=routers&force=true&runtime=false&priority=1&rule=" + PercentEncode(rule));
    texts.push_back(PercentEncode(texts.back()));
  }
  for (const char* text : {"script://0.0.0.0/s.A?category=routers&type=javascript&rule=%28function%28%29%7B%7D%28%29%29",
                           "route://0.0.0.0/s.A?router=script&rule=x", "override://10.0.0.9/s.A?category=configurators&timeout=6&application=shop",
                           "absent://0.0.0.0:20880/s.A?weight=x&disabled=true&side=consumer"}) {
    texts.emplace_back(text);
  }
  for (const auto& more : {MeshDocuments(), ScriptDocuments()}) texts.insert(texts.end(), more.begin(), more.end());
  return texts;
}

const std::map<std::string, std::function<std::vector<std::string>()>, std::less<>>& Makers() {
  static const std::map<std::string, std::function<std::vector<std::string>()>, std::less<>> makers = {
      {"url", [] { return Some(Cases().urls); }},
      {"percent", [] { return Some(Cases().escaped); }},
      {"condition_rule", [] { return Some(Cases().rules); }},
      {"yaml", [] { return Some(Cases().documents); }},
      {"condition_document", [] { return Documents("conditions"); }},
      {"tag_document", [] { return Documents("tags"); }},
      {"affinity_document",
       [] {
         return std::vector<std::string>{
             "configVersion: v3.1\nscope: service\nkey: a.B\nenabled: true\nruntime: true\naffinityAware:\n  key: region\n  ratio: 20\n",
             "affinityAware: {key: env, ratio: 100}\n", "enabled: false\naffinityAware: {ratio: '7', key: host}\n",
             "affinityAware: {key: '', ratio: -1}\n"};
       }},
      {"configurator_document",
       [] {
         return Documents("configs", {"[\"override://0.0.0.0/a.B?category=configurators&timeout=6\"]",
                                      "configVersion: v3.0\nconfigs:\n- side: provider\n  match: {address: {cird: 10.0.0.0/8}, "
                                      "service: {oneof: [{prefix: a}]}, app: {oneof: [{regex: 'a+'}]}, param: [{key: k, value: "
                                      "{noempty: x}}]}\n  parameters: {weight: 5}\n"});
       }},
      {"mesh_document", MeshDocuments},
      {"script_document", ScriptDocuments},
      {"rule_lint", LintTexts},
      {"properties", [] { return UrlGroups(PropertiesText); }},
      {"file_lines", [] { return UrlGroups(Lines); }},
      {"child_names", [] { return UrlGroups(Lines); }},
      {"multicast_message",
       [] {
         std::vector<std::string> texts = Some(Cases().urls, 100);
         for (std::size_t i = 0, n = texts.size(); i < n; ++i) {
           static constexpr const char* kVerbs[] = {"register ", "unregister ", "subscribe ", "unsubscribe "};
           texts.push_back(kVerbs[i % 4] + texts[i] + "\n");
         }
         return texts;
       }},
      {"redis_reply", [] { return UrlGroups(RedisText); }},
  };
  return makers;
}

}  // namespace

std::vector<std::string> SeedsOf(std::string_view target) {
  const auto at = Makers().find(target);
  if (at == Makers().end()) throw std::runtime_error("no seeds for " + std::string(target));
  std::vector<std::string> seeds = at->second();
  std::erase_if(seeds, [](const std::string& one) { return one.size() > 4 * kMostBytes; });
  if (seeds.empty()) throw std::runtime_error("the cases hold nothing for " + std::string(target));
  return seeds;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Makers()) names.push_back(name);
  return names;
}

}  // namespace fairlead::fuzz
