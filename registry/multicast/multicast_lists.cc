#include "fairlead/registry/multicast/multicast_lists.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/match.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t kSession = 1;  // the one there is, as long as the backend lives

bool IsRules(Category category) { return category == Category::kConfigurators || category == Category::kRouters; }

// Asks for all there is under the names, of any group and version: which of it is wanted is told apart here.
std::string QuestionUrl(std::string_view host, std::string_view service, const std::set<Category>& categories, bool unicast) {
  std::string names;
  for (const Category category : categories) absl::StrAppend(&names, names.empty() ? "" : ",", ToAbsl(CategoryName(category)));
  const bool all = service == "*";
  return absl::StrCat(all ? "admin://" : "consumer://", ToAbsl(host), all ? "" : "/", all ? "" : ToAbsl(service),
                      "?category=", names, "&check=false&classifier=*&enabled=*&group=*&interface=", ToAbsl(service),
                      "&unicast=", unicast ? "true" : "false", "&version=*");
}

}  // namespace

MulticastLists::MulticastLists(const MulticastOptions& options, const RegistryContext& context, MulticastVoice& voice,
                               const MulticastAnnouncer& announcer)
    : options_(options),
      context_(context),
      voice_(voice),
      announcer_(announcer),
      rounds_(options, context, voice, heard_,
              {[this](const std::string& service) { static_cast<void>(Say(service, CategoriesOf(service), false)); },
               [this](const RegistryKey& key, const std::string& text) {
                 if (watches_services()) static_cast<void>(voice_.Say(MulticastVerb::kUnregister, text));
                 OnChange(key);
               }}),
      names_window_(options.burst) {}

MulticastLists::List& MulticastLists::ListOf(const RegistryKey& key) {
  const auto [at, added] = lists_.try_emplace(key);
  if (added) {
    at->second.id = ++last_id_;
    at->second.window = BurstWindow(IsRules(key.category) ? BurstWindow::Limits::Fixed(milliseconds(0)) : options_.burst);
    // Who hears of all services has heard of this one.
    at->second.answered = names_answered_;
    Ask(key.service, key.category);
  }
  return at->second;
}

void MulticastLists::EndList(const RegistryKey& key) {
  lists_.erase(key);
  if (watches_services() || !CategoriesOf(key.service).empty()) return;
  heard_.Forget(key.service);
  questions_.erase(key.service);
  rounds_.End(key.service);
}

void MulticastLists::Watch(const RegistryKey& key, Children on_list) {
  List& list = ListOf(key);
  list.on_list = std::move(on_list);
  list.watch = ++last_id_;
  if (list.answered) TellSoon(key, list);
}

void MulticastLists::Unwatch(const RegistryKey& key) {
  const auto at = lists_.find(key);
  if (at == lists_.end()) return;
  at->second.on_list = nullptr;
  at->second.watch = 0;
  if (at->second.once.empty()) EndList(key);
}

void MulticastLists::ReadOnce(const RegistryKey& key, Children once) {
  List& list = ListOf(key);
  list.once.push_back(std::move(once));
  if (list.answered) TellSoon(key, list);
}

void MulticastLists::WatchServices(Names on_names) {
  on_names_ = std::move(on_names);
  ++names_id_;
  names_answered_ = false;
  told_names_.reset();
  for (int category = 0; category < kCategoryCount; ++category) {
    Ask(std::string(kAllServices), static_cast<Category>(category));
  }
}

void MulticastLists::UnwatchServices() {
  on_names_ = nullptr;
  ++names_id_;
  names_answered_ = false;
  names_timer_.Cancel();
  const std::string all(kAllServices);
  questions_.erase(all);
  rounds_.End(all);
  std::set<std::string> services;
  heard_.AddServicesTo(services);
  for (const std::string& service : services) {
    if (service != kAllServices && CategoriesOf(service).empty()) heard_.Forget(service);
  }
  // Their own rounds begin.
  for (const auto& [key, list] : lists_) Ask(key.service, key.category);
}

bool MulticastLists::Wants(const RegistryKey& key) const {
  if (watches_services() || lists_.contains(key)) return true;
  // A rule for all services.
  return key.service == kAllServices && IsRules(key.category) && !lists_.empty();
}

std::set<Category> MulticastLists::CategoriesOf(const std::string& service) const {
  std::set<Category> categories;
  if (service == kAllServices && watches_services()) {
    for (int category = 0; category < kCategoryCount; ++category) categories.insert(static_cast<Category>(category));
    return categories;
  }
  for (auto at = lists_.lower_bound({service, Category{}}); at != lists_.end() && at->first.service == service; ++at) {
    categories.insert(at->first.category);
  }
  return categories;
}

void MulticastLists::Ask(const std::string& service, Category category) {
  if (watches_services() && service != kAllServices) return;
  to_ask_[service].insert(category);
  if (std::exchange(ask_due_, true)) return;
  ask_ = context_.executor->After(nanoseconds(0), [this] { AskNow(); });
}

absl::Status MulticastLists::Say(const std::string& service, const std::set<Category>& categories, bool unicast) {
  if (!unicast) rounds_.OnAsked(service);
  return voice_.Say(MulticastVerb::kSubscribe, QuestionUrl(voice_.local_host(), service, categories, unicast));
}

void MulticastLists::AskNow() {
  ask_due_ = false;
  for (const auto& [name, categories] : std::exchange(to_ask_, {})) {
    const std::string& service = name;
    if (!rounds_.Has(service)) rounds_.Begin(service);
    const absl::Status said = Say(service, categories, options_.unicast);
    if (absl::IsUnavailable(said)) continue;  // asked with the link
    if (absl::IsInvalidArgument(said)) {
      for (const Category category : categories) Fail({service, category}, said);
      continue;
    }
    // Takes the place of one on the way, whose lists wait for its answers too.
    Question& question = questions_[service];
    question = {};
    question.categories = categories;
    question.again = context_.executor->After(options_.reply_wait / 2, [this, service] { AskAgain(service); });
    question.end = context_.executor->After(options_.reply_wait, [this, service] {
      const auto over = questions_.extract(service);
      Settle(service);
    });
  }
}

// Datagrams get lost, and what is meant for this host may have gone to another process of it.
void MulticastLists::AskAgain(const std::string& service) {
  const auto at = questions_.find(service);
  if (at == questions_.end()) return;
  const Question& question = at->second;
  if (options_.unicast ? question.heard_directly : question.heard) return;
  static_cast<void>(Say(service, question.categories, false));
}

void MulticastLists::OnAnswers(const std::string& service, bool unicast) {
  for (const std::string& asked : {service, std::string(kAllServices)}) {
    const auto at = questions_.find(asked);
    if (at == questions_.end()) continue;
    at->second.heard = true;
    at->second.heard_directly |= unicast;
    at->second.quiet = context_.executor->After(options_.reply_wait / 4, [this, asked] { Settle(asked); });
  }
}

void MulticastLists::OnSubscribe(const UrlParts& consumer) {
  constexpr std::string_view kAny = "*";
  const bool all_of_it = consumer.Param("group") == kAny && consumer.Param("version") == kAny &&
                         consumer.Param("classifier") == kAny && consumer.Param("enabled") == kAny;
  if (!all_of_it || BoolParam(consumer, "unicast", true)) return;
  const std::string asked = consumer.ServiceInterface();
  const std::string_view wanted = consumer.Param("category");
  std::set<std::string> services = {asked};
  if (asked == kAllServices) {
    for (const auto& [key, list] : lists_) services.insert(key.service);
  }
  for (const std::string& service : services) {
    const std::set<Category> ours = CategoriesOf(service);
    if (std::all_of(ours.begin(), ours.end(), [&](Category one) { return MatchesCategory(CategoryName(one), wanted); })) {
      rounds_.OnAsked(service);
    }
  }
}

// One of its callbacks may end any list, or all of it; what is told is told by tasks of their own.
void MulticastLists::Settle(const std::string& service) {
  const bool all = service == kAllServices;
  for (auto& [key, list] : lists_) {
    if ((!all && key.service != service) || std::exchange(list.answered, true)) continue;
    TellSoon(key, list);
  }
  if (!all || !watches_services() || std::exchange(names_answered_, true)) return;
  TellNamesAfter(nanoseconds(0));
}

void MulticastLists::OnLink() {
  for (const auto& [key, list] : lists_) Ask(key.service, key.category);
  if (!watches_services()) return;
  for (int category = 0; category < kCategoryCount; ++category) {
    Ask(std::string(kAllServices), static_cast<Category>(category));
  }
}

void MulticastLists::Fail(const RegistryKey& key, const absl::Status& why) {
  const auto at = lists_.find(key);
  if (at == lists_.end() || at->second.answered) return;
  at->second.timer = context_.executor->After(nanoseconds(0), [this, key, id = at->second.id, why] {
    TellList(key, id, {.generation = kSession, .status = why, .children = {}});
  });
}

void MulticastLists::OnTrouble(const absl::Status& why) {
  for (const auto& [key, list] : lists_) Fail(key, why);
  if (!watches_services() || names_answered_) return;
  names_timer_ = context_.executor->After(nanoseconds(0), [this, why] { TellNames(why); });
}

void MulticastLists::OnRegister(const HeardUrl& url, bool unicast) {
  if (!Wants(url.key)) return;
  const HeardUrls::Added added = heard_.Add(url, Now());
  if (added == HeardUrls::Added::kFull) {
    context_.log->Warn("FL-7-6", options_.address,
                       absl::StrCat("more than ", HeardUrls::kMost, " urls are announced: ", Redacted(url.text),
                                    " and others are left out"));
    return;
  }
  OnAnswers(url.key.service, unicast);
  if (added == HeardUrls::Added::kNews) OnChange(url.key);
}

void MulticastLists::OnUnregister(const HeardUrl& url) {
  if (heard_.Remove(url)) OnChange(url.key);
}

void MulticastLists::OnChange(const RegistryKey& key) {
  if (key.service == kAllServices) {
    for (auto& [place, list] : lists_) {
      if (place.category == key.category && list.answered) TellSoon(place, list);
    }
  } else if (const auto at = lists_.find(key); at != lists_.end() && at->second.answered) {
    TellSoon(key, at->second);
  }
  if (!watches_services() || !names_answered_) return;
  if (const auto wait = names_window_.OnEvent(Now())) TellNamesAfter(*wait);
}

void MulticastLists::TellNamesAfter(nanoseconds delay) {
  names_timer_ = context_.executor->After(delay, [this] {
    names_window_.OnRead(Now());
    std::set<std::string> services;
    heard_.AddServicesTo(services);
    announcer_.AddServicesTo(services);
    services.erase(std::string(kAllServices));
    std::vector<std::string> names(services.begin(), services.end());
    if (told_names_ == names) return;
    told_names_ = names;
    TellNames(std::move(names));
  });
}

// It may end itself, or all.
void MulticastLists::TellNames(absl::StatusOr<std::vector<std::string>> names) {
  Names call = std::exchange(on_names_, [](const absl::StatusOr<std::vector<std::string>>&) {});
  const std::uint64_t id = names_id_;
  call(std::move(names));
  if (names_id_ == id && !ended_) on_names_ = std::move(call);
}

void MulticastLists::TellSoon(const RegistryKey& key, List& list) {
  // Those who read once do not wait for the end of a burst.
  const auto wait = list.once.empty() ? list.window.OnEvent(Now()) : nanoseconds(0);
  if (!wait) return;
  list.timer = context_.executor->After(*wait, [this, key, id = list.id] { TellList(key, id, Answer(key)); });
}

ChildrenAnswer MulticastLists::Answer(const RegistryKey& key) const {
  NewestUrls urls;
  heard_.AddTo(key, urls);
  announcer_.AddTo(key, urls);
  const RegistryKey for_all{std::string(kAllServices), key.category};
  if (IsRules(key.category)) {
    heard_.AddTo(for_all, urls);
    announcer_.AddTo(for_all, urls);
  }
  ChildrenAnswer answer;
  answer.generation = kSession;
  answer.children = urls.Texts();
  // That nobody has said anything does not say that there is nobody.
  answer.missing = answer.children.empty() && !heard_.taken_back(key);
  return answer;
}

void MulticastLists::TellList(const RegistryKey& key, std::uint64_t id, const ChildrenAnswer& answer) {
  const auto at = lists_.find(key);
  if (at == lists_.end() || at->second.id != id) return;
  List& list = at->second;
  list.window.OnRead(Now());
  std::vector<Children> all = std::exchange(list.once, {});
  // Any of them may end the watch, and with it itself, or begin another, or end all.
  if (const std::uint64_t watch = list.watch; watch != 0) {
    Children on_list = std::exchange(list.on_list, nullptr);
    on_list(answer);
    const auto now = lists_.find(key);
    if (now != lists_.end() && now->second.watch == watch) now->second.on_list = std::move(on_list);
  }
  for (Children& once : all) {
    if (!ended_) once(answer);
  }
  const auto now = lists_.find(key);
  if (now != lists_.end() && now->second.id == id && now->second.watch == 0 && now->second.once.empty()) EndList(key);
}

void MulticastLists::End() {
  ended_ = true;
  on_names_ = nullptr;
  names_timer_.Cancel();
  ask_.Cancel();
  questions_.clear();
  lists_.clear();
}

}  // namespace fairlead::internal
