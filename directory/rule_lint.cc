#include "fairlead/directory/rule_lint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/configurator_lint.h"
#include "fairlead/directory/rule_flags.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/routing/lint/condition_lint.h"
#include "fairlead/routing/lint/document_lint.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

using internal::ConditionFrame;
using internal::LintReport;
using internal::SequencedRule;

RuleTextKind KindOfName(std::string_view name) {
  const auto parts = internal::ParseRuleName(name);
  if (!parts.has_value()) return RuleTextKind::kGuess;
  switch (parts->kind) {
    case internal::RuleKind::kConfigurators:
      return RuleTextKind::kConfigurators;
    case internal::RuleKind::kConditions:
      return RuleTextKind::kConditions;
    case internal::RuleKind::kTags:
      return RuleTextKind::kTags;
    case internal::RuleKind::kAffinity:
      return RuleTextKind::kAffinity;
    case internal::RuleKind::kMesh:
      return RuleTextKind::kMesh;
    case internal::RuleKind::kScript:
      return RuleTextKind::kScript;
  }
  return RuleTextKind::kGuess;
}

bool LooksLikeUrl(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  if (end == text.npos || end == 0) return false;
  const std::string_view rest = text.substr(end);
  return rest.starts_with("://") || rest.starts_with("%3A%2F%2F") || rest.starts_with("%3a%2f%2f");
}

RuleTextKind KindOfFields(std::string_view text) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  if (!documents.ok() || documents->empty()) return RuleTextKind::kGuess;
  static constexpr std::pair<std::string_view, RuleTextKind> kFields[] = {
      {"conditions", RuleTextKind::kConditions}, {"tags", RuleTextKind::kTags},   {"affinityAware", RuleTextKind::kAffinity},
      {"configs", RuleTextKind::kConfigurators}, {"script", RuleTextKind::kScript}, {"apiVersion", RuleTextKind::kMesh}};
  const YamlValue& root = documents->front().root;
  for (const auto& [field, kind] : kFields) {
    if (root.Find(field) != nullptr) return kind;
  }
  const bool urls = root.kind() == YamlValue::Kind::kList && !root.items().empty() && root.items().front().text() != nullptr;
  return urls && LooksLikeUrl(*root.items().front().text()) ? RuleTextKind::kConfigurators : RuleTextKind::kGuess;
}

// Where each byte of what `written` decodes to stands in it, one more for the end.
std::vector<std::size_t> PlacesDecoded(std::string_view written) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < written.size();) {
    places.push_back(at);
    const bool escape = written[at] == '%' && at + 2 < written.size() && HexDigit(written[at + 1]) >= 0;
    at += escape ? 3 : 1;
  }
  places.push_back(written.size());
  return places;
}

// Where the bytes of a url's `rule` stand in the url's text, which is encoded once or, as in a node's name, twice.
std::function<YamlMark(std::size_t)> PlacesOfRule(std::string_view text, std::string_view rule) {
  const bool twice = text.find("://") == text.npos;
  const std::string_view name = twice ? "rule%3D" : "rule=";
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += name.size()) {
    const bool starts = at > 0 && (text[at - 1] == '?' || text[at - 1] == '&' || text[at - 1] == ';' || twice);
    if (starts) begin = at + name.size();
  }
  const std::string_view written = text.substr(begin, text.find('&', begin) - begin);
  std::vector<std::size_t> places = PlacesDecoded(written);
  if (twice) {
    std::string once;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      const std::size_t at = places[i];
      once += places[i + 1] - at == 3 ? static_cast<char>(HexDigit(written[at + 1]) * 16 + std::max(HexDigit(written[at + 2]), 0))
                                      : written[at];
    }
    std::vector<std::size_t> inner = PlacesDecoded(once);
    for (std::size_t& place : inner) place = places[place];
    places = std::move(inner);
  }
  if (begin == 0 || places.size() < rule.size() + 1) return [](std::size_t) { return YamlMark{1, 1}; };
  return [begin, places = std::move(places)](std::size_t byte) {
    return YamlMark{1, static_cast<int>(begin + places[std::min(byte, places.size() - 1)]) + 1};
  };
}

// A condition rule among the urls, for what is said of them together.
struct UrlRule {
  std::size_t index;
  std::string service;  // as documents of services are named: interface:version:group
  std::int64_t priority;
  SequencedRule rule;
};

// The condition rules of a document.
struct RuleDocument {
  std::size_t index;
  std::string owner;
  std::vector<SequencedRule> rules;

  bool of_service() const { return owner.find(':') != owner.npos; }
};

// How many pairs of a service's and an application's document are compared.
constexpr std::size_t kMostPairs = 300;

std::string ServiceOf(const UrlParts& url) {
  return absl::StrCat(url.ServiceInterface(), ":", ToAbsl(url.Param(names::kVersion)), ":", ToAbsl(url.Param(names::kGroup)));
}

class Lint {
 public:
  explicit Lint(const LintOptions& options) : options_(options), world_{options.providers, options.consumer} {}

  std::vector<Finding> Run(std::span<const RuleText> rules) {
    std::vector<LintReport> reports;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      reports.emplace_back(i);
      One(rules[i], i, reports.back());
    }
    Together(reports);
    std::vector<Finding> findings;
    for (LintReport& report : reports) {
      std::vector<Finding> more = report.Take();
      findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return findings;
  }

 private:
  void One(const RuleText& rule, std::size_t index, LintReport& report) {
    const std::string_view text = rule.text;
    switch (KindOf(rule)) {
      case RuleTextKind::kGuess:
        return report.Add("kind-unknown", {1, 1}, absl::StrCat("neither the name \"", Shortened(rule.name, 80),
                                                               "\" nor the text says what kind of rule this is"));
      case RuleTextKind::kUrl:
        return OfUrl(text, index, report);
      case RuleTextKind::kCondition: {
        const internal::TextLines lines(text);
        ConditionFrame frame;
        frame.compat = options_.compat;
        frame.world = &world_;
        frame.runtime = true;  // the frame, which is not here, says that
        frame.mark = [&lines](std::size_t byte) { return lines.MarkOf(byte); };
        internal::LintConditionRule(text, frame, report);
        return;
      }
      case RuleTextKind::kConditions: {
        RuleDocument document{index, {}, internal::LintConditionDocument(text, options_.compat, world_, report)};
        const auto name = internal::ParseRuleName(rule.name);
        if (!name.has_value() || document.rules.empty()) return;
        document.owner = name->owner;
        for (SequencedRule& one : document.rules) absl::StrAppend(&one.name, " of ", Shortened(rule.name, 200));
        documents_.push_back(std::move(document));
        return;
      }
      case RuleTextKind::kTags:
        return internal::LintTagDocument(text, options_.compat, world_, report);
      case RuleTextKind::kAffinity:
        return internal::LintAffinityDocument(text, world_, report);
      case RuleTextKind::kConfigurators: {
        const auto name = internal::ParseRuleName(rule.name);
        return internal::LintConfiguratorDocument(text, name.has_value() ? name->owner : "", options_, report);
      }
      case RuleTextKind::kMesh:
        return internal::LintMeshDocument(text, options_.compat, report);
      case RuleTextKind::kScript:
        return internal::LintScriptDocument(text, report);
    }
  }

  void OfUrl(std::string_view text, std::size_t index, LintReport& report) {
    const absl::StatusOr<UrlParts> parts = UrlParts::ParseAny(text);
    if (!parts.ok()) return report.Add("url-syntax", {1, 1}, Shortened(FromAbsl(parts.status().message())));
    const std::string protocol = parts->protocol.value_or("");
    if (protocol == "override" || protocol == "absent") return internal::LintConfiguratorUrl(*parts, options_, report);
    if (internal::IsConditionRule(*parts)) return OfConditionUrl(text, *parts, index, report);
    if (internal::IsScriptRule(*parts)) {
      return report.Add("script-not-run", {1, 1}, "scripts are not run here: every provider passes");
    }
    if (protocol == "empty") return;
    report.Add("router-unknown", {1, 1}, absl::StrCat("whether there is a router ", Shortened(internal::RouterName(*parts), 80),
                                                      " only the host knows; its rule is not looked at"));
  }

  void OfConditionUrl(std::string_view text, const UrlParts& url, std::size_t index, LintReport& report) {
    for (std::string& line : internal::UnreadableFlags(url)) report.Add("control-unreadable", {1, 1}, std::move(line));
    ConditionFrame frame;
    frame.compat = options_.compat;
    frame.world = &world_;
    frame.enabled = BoolParam(url, names::kEnabled, true);
    frame.force = BoolParam(url, names::kForce, false);
    if (url.Find(names::kRuntime) != nullptr) frame.runtime = BoolParam(url, names::kRuntime, false);
    if (!frame.enabled) report.Add("disabled", {1, 1}, "`enabled` is false, so the rule decides nothing; its text is not read");
    const absl::StatusOr<std::string> rule = PercentDecode(url.Param(names::kRule));
    if (!rule.ok()) {
      return report.Add("condition-syntax", {1, 1}, Shortened(FromAbsl(rule.status().message())),
                        frame.enabled ? Severity::kError : Severity::kWarning);
    }
    frame.mark = PlacesOfRule(text, *rule);
    std::optional<SequencedRule> read = internal::LintConditionRule(*rule, frame, report);
    if (!read.has_value() || !frame.enabled) return;
    const std::int64_t priority = ParseJavaInt(url.Param(names::kPriority)).value_or(0);
    read->name = absl::StrCat("rule ", index + 1);
    urls_.push_back({index, ServiceOf(url), priority, *std::move(read)});
  }

  // The document of a service comes before those of applications, and these before its urls, which decide by priority, equal
  // ones in the order of the registry.
  void Together(std::vector<LintReport>& reports) {
    std::stable_sort(urls_.begin(), urls_.end(), [](const UrlRule& a, const UrlRule& b) {
      return a.service != b.service ? a.service < b.service : a.priority < b.priority;
    });
    for (std::size_t begin = 0, end = 0; begin < urls_.size(); begin = end) {
      std::vector<SequencedRule> sequence;
      for (const RuleDocument& document : documents_) {
        if (document.owner == urls_[begin].service) sequence = document.rules;
      }
      const std::size_t before = sequence.size();
      while (end < urls_.size() && urls_[end].service == urls_[begin].service) sequence.push_back(urls_[end++].rule);
      for (std::size_t i = begin + 1; i < end; ++i) {
        if (urls_[i].priority != urls_[i - 1].priority) continue;
        reports[urls_[i].index].Add("priority-equal", {1, 1},
                                    absl::StrCat("rule ", urls_[i - 1].index + 1, " has the priority ", urls_[i].priority,
                                                 " too, so the registry's order says which decides first"));
      }
      const auto report_of = [&](std::size_t which) -> LintReport& { return reports[urls_[begin + which - before].index]; };
      internal::LintSequence(sequence, options_.compat, report_of, {.later_from = before});
    }
    OfApplications(reports);
  }

  // What an application's document says after a service's: of other services it may mean more.
  void OfApplications(std::vector<LintReport>& reports) {
    std::size_t pairs = 0;
    for (const RuleDocument& service : documents_) {
      for (const RuleDocument& application : documents_) {
        if (!service.of_service() || application.of_service()) continue;
        LintReport& report = reports[application.index];
        if (++pairs > kMostPairs) {
          return report.Add("not-compared", application.rules.front().mark,
                            absl::StrCat("only the first ", kMostPairs, " pairs of a service's and an application's document were compared"));
        }
        std::vector<SequencedRule> sequence = service.rules;
        sequence.insert(sequence.end(), application.rules.begin(), application.rules.end());
        internal::LintSequence(sequence, options_.compat, [&report](std::size_t) -> LintReport& { return report; },
                               {.later_from = service.rules.size(),
                                .earlier_to = service.rules.size(),
                                .only = absl::StrCat("for calls of ", Shortened(service.owner, 200))});
      }
    }
  }

  const LintOptions& options_;
  const internal::LintWorld world_;
  std::vector<UrlRule> urls_;
  std::vector<RuleDocument> documents_;
};

}  // namespace

RuleTextKind KindOf(const RuleText& rule) {
  if (rule.kind != RuleTextKind::kGuess) return rule.kind;
  if (const RuleTextKind kind = KindOfName(rule.name); kind != RuleTextKind::kGuess) return kind;
  if (LooksLikeUrl(rule.text)) return RuleTextKind::kUrl;
  if (const RuleTextKind kind = KindOfFields(rule.text); kind != RuleTextKind::kGuess) return kind;
  return rule.text.find("=>") != rule.text.npos ? RuleTextKind::kCondition : RuleTextKind::kGuess;
}

std::vector<Finding> LintRules(std::span<const RuleText> rules, const LintOptions& options) { return Lint(options).Run(rules); }

std::vector<Finding> LintRule(const RuleText& rule, const LintOptions& options) { return LintRules({&rule, 1}, options); }

}  // namespace fairlead
