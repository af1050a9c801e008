#include "fairlead/registry/delegate/delegate_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/random.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kStopLimit{1000};

bool IsRules(Category category) { return category == Category::kConfigurators || category == Category::kRouters; }

}  // namespace

absl::StatusOr<DelegateOptions> DelegateOptions::Parse(const Url& registry) {
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryOptions common, RegistryOptions::Parse(registry));
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t period, IntParam(registry.parts(), "reconnect.period", 3000));
  if (period < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter reconnect.period=", period, ": expected at least 1"));
  }
  return DelegateOptions{common.address, milliseconds(period), common.timeout, common.burst};
}

DelegateBackend::DelegateBackend(DelegateOptions options, const RegistryContext& context,
                                 std::shared_ptr<RegistryService> service)
    : options_(std::move(options)),
      context_(context),
      calls_(std::make_shared<DelegateCalls>(std::move(service), context_, options_.address, options_.timeout)),
      documents_(context_.executor) {}

DelegateBackend::~DelegateBackend() {
  *alive_ = false;
  calls_->End();
}

void DelegateBackend::Start(absl::AnyInvocable<void(Session)> on_session) {
  on_session_ = std::move(on_session);
  calls_->OnLinkLost(Guarded([this] {
    // Whatever it says of itself now: what this client registered is forgotten.
    if (state_ == State::kUp) Down();
    if (state_ == State::kDown) Look();
  }));
  look_ = context_.executor->After(nanoseconds(0), [this] { Look(); });
}

void DelegateBackend::LookLater() {
  look_ = context_.executor->After(options_.reconnect_period, [this] { Look(); });
}

void DelegateBackend::Look() {
  LookLater();
  const bool available = calls_->IsAvailable();
  if (state_ == State::kStopped) return;
  if (available && state_ != State::kUp) return Up();
  if (!available && state_ == State::kUp) return Down();
  if (available || state_ != State::kNone) return;
  for (const Subscription& subscription : Subscriptions()) subscription->Fail(NotAvailable());
}

absl::Status DelegateBackend::NotAvailable() const {
  return absl::UnavailableError(absl::StrCat("registry ", options_.address, ": the host's RegistryService is not available"));
}

void DelegateBackend::Up() {
  const bool first = ++generation_ == 1;
  state_ = State::kUp;
  for (const Subscription& subscription : Subscriptions()) subscription->Begin();
  // Nothing of this object may be used after it: it may stop it.
  on_session_(first ? Session::kConnected : Session::kNew);
}

void DelegateBackend::Down() {
  state_ = State::kDown;
  calls_->Forget();
  for (const Subscription& subscription : Subscriptions()) subscription->Pause();
  on_session_(Session::kExpired);
}

std::vector<DelegateBackend::Subscription> DelegateBackend::Subscriptions() const {
  std::vector<Subscription> all;
  for (const auto& [key, list] : lists_) all.push_back(list.subscription);
  if (all_) all.push_back(all_->subscription);
  return all;
}

DelegateBackend::Subscription DelegateBackend::Subscribe(std::string question, DelegateSubscription::OnUrls on_urls,
                                                         DelegateSubscription::OnFailure on_failure) {
  const std::uint64_t seed = Mix64(context_.seed + ++subscriptions_made_);
  auto subscription = std::make_shared<DelegateSubscription>(calls_, context_, seed, std::move(question), std::move(on_urls),
                                                             std::move(on_failure));
  if (state_ == State::kUp) subscription->Begin();
  return subscription;
}

void DelegateBackend::Put(std::string_view, Category, std::string_view url_text, bool dynamic, Done done) {
  const std::string text(url_text);
  if (dynamic) dynamic_.insert(text);
  calls_->Register(text, Guarded([done = std::move(done)](absl::Status status) mutable {
                     if (done) done(std::move(status));
                   }));
}

void DelegateBackend::Remove(std::string_view, Category, std::string_view url_text, Done done) {
  const std::string text(url_text);
  calls_->Unregister(text, Guarded([this, text, done = std::move(done)](absl::Status status) mutable {
                       if (status.ok()) dynamic_.erase(text);
                       if (done) done(std::move(status));
                     }));
}

void DelegateBackend::Read(std::string_view service, Category category, fairlead::Children once) {
  RegistryKey key{std::string(service), category};
  const std::string question = QuestionFor(key);
  calls_->Lookup(question, Guarded([generation = generation_, key = std::move(key),
                                    once = std::move(once)](DelegateCalls::Urls urls) mutable {
                   ChildrenAnswer answer;
                   if (urls.ok()) {
                     // One about other categories says that this one has nothing.
                     answer = AnswerFor(key, *std::move(urls)).value_or(ChildrenAnswer());
                   } else {
                     answer.status = urls.status();
                   }
                   answer.generation = generation;
                   once(std::move(answer));
                 }));
}

void DelegateBackend::Watch(std::string_view service, Category category, fairlead::Children on_full_list) {
  const RegistryKey key{std::string(service), category};
  List& list = lists_[key];
  list.on_list = std::make_shared<fairlead::Children>(std::move(on_full_list));
  list.window = BurstWindow(IsRules(category) ? BurstWindow::Limits::Fixed(milliseconds(0)) : options_.burst);
  list.subscription = Subscribe(
      QuestionFor(key), [this, key](std::vector<std::string> urls) { OnList(key, std::move(urls)); },
      [this, key](const absl::Status& why) {
        List& failed = lists_.at(key);
        failed.timer.Cancel();
        failed.window.OnRead(context_.clock->SteadyNow());
        const auto call = failed.on_list;
        (*call)({.generation = generation_, .status = why, .children = {}});
      });
}

void DelegateBackend::Unwatch(std::string_view service, Category category) {
  const auto list = lists_.extract({std::string(service), category});
  if (!list.empty()) list.mapped().subscription->End();
}

void DelegateBackend::OnList(const RegistryKey& key, std::vector<std::string> urls) {
  std::optional<ChildrenAnswer> answer = AnswerFor(key, std::move(urls));
  if (!answer) return;
  List& list = lists_.at(key);
  list.latest = *std::move(answer);
  list.latest.generation = generation_;
  const auto wait = list.window.OnEvent(context_.clock->SteadyNow());
  if (!wait) return;
  if (wait->count() == 0) return TellList(key);
  list.timer = context_.executor->After(*wait, [this, key] { TellList(key); });
}

void DelegateBackend::TellList(const RegistryKey& key) {
  List& list = lists_.at(key);
  list.window.OnRead(context_.clock->SteadyNow());
  // It may end the watch.
  const auto call = list.on_list;
  (*call)(list.latest);
}

void DelegateBackend::WatchServices(Names on_names) {
  UnwatchServices();
  all_.emplace();
  all_->on_names = std::make_shared<Names>(std::move(on_names));
  all_->window = BurstWindow(options_.burst);
  all_->subscription = Subscribe(
      QuestionForServices(),
      [this](const std::vector<std::string>& urls) {
        all_->services.Add(urls);
        const auto wait = all_->window.OnEvent(context_.clock->SteadyNow());
        // Each service is told for itself, so that the first has others behind it.
        if (wait) all_->timer = context_.executor->After(std::max(*wait, nanoseconds(options_.burst.first)), [this] { TellNames(); });
      },
      [this](const absl::Status& why) {
        const auto call = all_->on_names;
        (*call)(why);
      });
}

void DelegateBackend::UnwatchServices() {
  if (!all_) return;
  all_->subscription->End();
  all_.reset();
}

void DelegateBackend::TellNames() {
  all_->window.OnRead(context_.clock->SteadyNow());
  std::vector<std::string> names = all_->services.Names();
  if (all_->told == names) return;
  all_->told = names;
  const auto call = all_->on_names;
  (*call)(std::move(names));
}

std::string DelegateBackend::Describe() const {
  std::string text = absl::StrCat("service of the host, ",
                                  state_ == State::kUp        ? absl::StrCat("connection ", generation_)
                                  : state_ == State::kStopped ? "stopped"
                                  : state_ == State::kDown    ? "connection lost"
                                                              : "not available yet");
  if (calls_->exceptions() > 0) absl::StrAppend(&text, ", ", calls_->exceptions(), " exceptions");
  return text;
}

void DelegateBackend::Stop(Done done) {
  stopping_.push_back(std::move(done));
  const State before = std::exchange(state_, State::kStopped);
  if (before == State::kStopped) {
    if (!*alive_) stop_limit_ = context_.executor->After(nanoseconds(0), [this] { FinishStop(absl::OkStatus()); });
    return;
  }
  look_.Cancel();
  documents_.Clear();
  for (const Subscription& subscription : Subscriptions()) subscription->End();
  lists_.clear();
  all_.reset();
  calls_->Forget();
  // What nobody has taken back: a service need not notice that its client has gone.
  if (before == State::kUp) {
    leaving_ = dynamic_.size();
    for (const std::string& text : dynamic_) {
      calls_->Unregister(text, Guarded([this](const absl::Status&) {
                           if (--leaving_ == 0) FinishStop(absl::OkStatus());
                         }));
    }
  }
  const bool waits = leaving_ > 0;
  stop_limit_ = context_.executor->After(waits ? kStopLimit : milliseconds(0), [this, waits] {
    FinishStop(waits ? absl::DeadlineExceededError(absl::StrCat(
                           "registry ", options_.address, " did not confirm the removal of ", leaving_, " urls within ",
                           kStopLimit.count(), " ms; they stay until the service notices that this client is gone"))
                     : absl::OkStatus());
  });
}

void DelegateBackend::FinishStop(const absl::Status& status) {
  *alive_ = false;
  stop_limit_.Cancel();
  calls_->End();
  // Each may destroy the backend.
  for (Done& done : std::exchange(stopping_, {})) {
    if (done) done(status);
  }
}

}  // namespace fairlead::internal
