#include "fairlead/directory/governance.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/directory/rule_flags.h"
#include "fairlead/routing/mock/mock_router.h"
#include "fairlead/routing/wish.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kHeldWithProviders =
    "the registry lists none any more; the last ones stay in force with the protected providers";

// A line for each flag of a usable rule or override that cannot be read, naming what it is taken for.
std::vector<std::string> NamedFlags(std::string_view what, const UrlParts& url) {
  std::vector<std::string> lines = UnreadableFlags(url);
  for (std::string& line : lines) line = absl::StrCat(ToAbsl(what), ": ", Shortened(Redacted(url.ToString())), ": ", line);
  return lines;
}

void Append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> Named(std::string_view what, std::vector<std::string> lines) {
  for (std::string& line : lines) line = absl::StrCat(ToAbsl(what), ": ", line);
  return lines;
}

std::vector<LastGood::Broken> Unidentified(const std::vector<std::string>& unreadable) {
  std::vector<LastGood::Broken> broken;
  for (const std::string& text : unreadable) broken.push_back({text, {}});
  return broken;
}

}  // namespace

Governance::Governance(const DirectoryConfig& config) : config_(config), consumer_(config.consumer), named_(config), documents_(config) {}

void Governance::SetList(Listed& listed, LastGood& last, ListKind kind, std::vector<Url> urls,
                         std::vector<std::string> unreadable) {
  if (!listed.list.Set(kind, std::move(urls), std::move(unreadable), config_.clock->SteadyNow())) return;
  if (kind == ListKind::kEmpty && !listed.list.held()) last.Clear();
  listed.dirty = true;
}

void Governance::SetOverrides(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable) {
  SetList(overrides_, last_overrides_, kind, std::move(urls), std::move(unreadable));
}

void Governance::SetRules(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable) {
  SetList(rules_, last_rules_, kind, std::move(urls), std::move(unreadable));
}

void Governance::Hold() {
  documents_.Hold();
  for (Listed* listed : {&overrides_, &rules_}) listed->dirty |= listed->list.Hold(config_.clock->SteadyNow());
}

void Governance::LetGo() {
  documents_.LetGo();
  const auto let_go = [this](Listed& listed, LastGood& last) {
    if (!listed.list.LetGo(config_.clock->SteadyNow())) return;
    last.Clear();
    listed.dirty = true;
  };
  let_go(overrides_, last_overrides_);
  let_go(rules_, last_rules_);
}

void Governance::ApplyDocuments(const std::function<void(std::string)>& on_fault) {
  named_.Make(on_fault);
  documents_dirty_ |= documents_.Apply(on_fault).overrides;
}

bool Governance::ApplyOverrides() {
  const bool listed = std::exchange(overrides_.dirty, false);
  if (!std::exchange(documents_dirty_, false) && !listed) return false;
  if (listed) ReadOverrides();
  std::vector<Configurators> sources = documents_.Overrides();
  sources.insert(sources.begin(), registered_);
  configurators_ = Configurators::InTurn(sources);
  consumer_ = configurators_.empty() ? config_.consumer
                                     : Url::Of(configurators_.Apply(config_.consumer.parts()), *config_.pool);
  return true;
}

void Governance::ReadOverrides() {
  bad_overrides_.clear();
  broken_overrides_ = Named("override", overrides_.list.unreadable());
  std::vector<absl::Status> rejected;
  registered_ = Configurators::FromUrls(overrides_.list.urls(), config_.local_address, &rejected, &bad_overrides_);
  std::vector<Url> usable;
  std::vector<LastGood::Broken> broken = Unidentified(overrides_.list.unreadable());
  for (const Url& url : overrides_.list.urls()) {
    if (rejected.empty() || url.protocol() == "empty" || Configurator::Create(url.parts()).ok()) {
      usable.push_back(url);
    } else {
      broken.push_back({url.ToString(), IdentityOfOverride(url.parts())});
    }
  }
  std::vector<std::string> flags;
  for (const Url& url : usable) {
    std::vector<std::string> lines = NamedFlags("override", url.parts());
    // What is not enabled has its line for Explain already.
    if (url.BoolParam(names::kEnabled, true)) bad_overrides_.insert(bad_overrides_.end(), lines.begin(), lines.end());
    Append(flags, std::move(lines));
  }
  WarnOfEach("FL-3-13", flags);
  const std::vector<LastGood::Kept> kept = last_overrides_.Update(usable, broken);
  if (!kept.empty()) {
    for (const LastGood::Kept& one : kept) usable.push_back(one.url);
    registered_ = Configurators::FromUrls(usable, config_.local_address);
  }
  std::vector<std::string> lines;
  for (const absl::Status& status : rejected) lines.push_back(absl::StrCat("override: ", status.message()));
  Append(broken_overrides_, lines);
  registered_ = registered_.Without(
      [this](std::string_view key, std::string_view value) { return ValueExpected(key, value, config_.policy); }, lines);
  WarnOfEach("FL-3-4", lines);
  // Those without effect, which are there already, are nothing to warn of.
  bad_overrides_.insert(bad_overrides_.end(), lines.begin(), lines.end());
  TellKept("override", kept, last_overrides_, bad_overrides_);
  if (overrides_.list.held()) bad_overrides_.push_back(absl::StrCat("overrides: ", ToAbsl(kHeldWithProviders)));
}

void Governance::ApplyRules(const std::function<void(std::string)>& on_fault) {
  if (!std::exchange(rules_.dirty, false)) return;
  bad_rules_.clear();
  broken_rules_ = Named("rule", rules_.list.unreadable());
  std::vector<std::string> scripts;
  script_rules_ = 0;
  std::vector<Rule> before = std::exchange(routers_, {});
  const auto take = [&](const Url& url) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Rule& rule) { return rule.url == url; });
    if (same == before.end()) return false;
    routers_.push_back(std::move(*same));
    before.erase(same);
    return true;
  };
  std::vector<Url> usable;
  std::vector<LastGood::Broken> broken = Unidentified(rules_.list.unreadable());
  for (const Url& url : rules_.list.urls()) {
    if (take(url)) {
      usable.push_back(url);
      continue;
    }
    const auto factory = config_.router(url.Param(names::kRouter, url.protocol()));
    if (!factory.ok() && IsScriptRule(url.parts())) {
      // It is as good as any; that nobody runs it here is no mistake of the rule's.
      usable.push_back(url);
      if (!url.BoolParam(names::kEnabled, true)) continue;
      ++script_rules_;
      scripts.push_back(absl::StrCat("script rule: ", Shortened(Redacted(url.ToString())), ": ", ToAbsl(kScriptsAreNotRun)));
      continue;
    }
    auto router = factory.ok() ? GuardedRouter::Create(**factory, url, config_.compat, on_fault)
                               : absl::StatusOr<std::shared_ptr<const GuardedRouter>>(factory.status());
    if (!router.ok()) {
      std::string text = url.ToString();
      bad_rules_.push_back(absl::StrCat("rule: ", Shortened(text), ": ", Shortened(FromAbsl(router.status().message()))));
      // One whose router is not known here may be right where it is.
      if (factory.ok()) broken_rules_.push_back(bad_rules_.back());
      broken.push_back({std::move(text), IdentityOfRule(url.parts())});
      continue;
    }
    usable.push_back(url);
    if (*router != nullptr) routers_.push_back({url, *std::move(router)});
  }
  WarnOfEach("FL-3-5", bad_rules_);
  WarnOfEach("FL-3-17", scripts);
  Append(bad_rules_, std::move(scripts));
  std::vector<std::string> flags;
  for (const Url& url : usable) {
    // A router of the host's own may read these parameters otherwise.
    if (IsConditionRule(url.parts())) Append(flags, NamedFlags("rule", url.parts()));
  }
  WarnOfEach("FL-3-13", flags);
  Append(bad_rules_, std::move(flags));
  std::vector<LastGood::Kept> kept = last_rules_.Update(usable, broken);
  // Of a rule that its factory made no router of there is nothing to keep.
  std::erase_if(kept, [&](const LastGood::Kept& one) { return !take(one.url); });
  TellKept("rule", kept, last_rules_, bad_rules_);
  if (rules_.list.held()) bad_rules_.push_back(absl::StrCat("rules: ", ToAbsl(kHeldWithProviders)));
}

void Governance::TellKept(std::string_view what, const std::vector<LastGood::Kept>& kept,
                       const LastGood& last, std::vector<std::string>& shown) const {
  std::vector<std::string> news;
  // First, as only the beginning of a long list is said line by line.
  if (last.dropped() != 0) {
    news.push_back(absl::StrCat(ToAbsl(what), ": ", last.dropped(), " that broken ones took the place of are not kept in ",
                                "force, as no more than ", last.most(), " are"));
  }
  for (const LastGood::Kept& one : kept) {
    shown.push_back(absl::StrCat(ToAbsl(what), " stays in force though the registry lists it no more: ",
                                 Shortened(one.url.ToString()), ": what came in its place cannot be used: ",
                                 Shortened(one.because)));
    if (one.first) news.push_back(shown.back());
  }
  WarnOfEach("FL-3-12", news);
}

std::vector<std::shared_ptr<const GuardedRouter>> Governance::Routers(bool tagged, bool mocked) const {
  // Without anybody who has or wants a tag there is nothing that tags decide, and calls are spared the question.
  const bool asks = !consumer_.Param(names::kTag).empty() || !config_.consumer.Param(names::kTag).empty() ||
                    config_.consumer.BoolParam(names::kForceTag, false);
  std::vector<std::shared_ptr<const GuardedRouter>> routers = documents_.Routers(tagged || asks);
  // They have no state, and do not throw.
  static const auto mock = GuardedRouter::Of(std::make_shared<const MockRouter>(), nullptr);
  static const auto no_mock = GuardedRouter::Of(NoMockRouter(), nullptr);
  routers.push_back(mocked ? mock : no_mock);
  std::erase_if(routers, [this](const auto& router) { return !named_.Keeps(*router); });
  routers.insert(routers.end(), named_.routers().begin(), named_.routers().end());
  for (const Rule& rule : routers_) routers.push_back(rule.router);
  std::stable_sort(routers.begin(), routers.end(), [](const auto& a, const auto& b) { return a->order() < b->order(); });
  return routers;
}

std::vector<std::string> Governance::Broken() const {
  std::vector<std::string> lines = documents_.Broken();
  Append(lines, broken_rules_);
  Append(lines, broken_overrides_);
  return lines;
}

void Governance::WarnOfEach(std::string_view code, const std::vector<std::string>& inputs) const {
  config_.log->WarnOfEach(code, config_.consumer.ServiceKey(), inputs);
}

}  // namespace fairlead::internal
