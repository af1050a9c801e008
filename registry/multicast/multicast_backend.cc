#include "fairlead/registry/multicast/multicast_backend.h"

#include <unistd.h>

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/utf8.h"

namespace fairlead::internal {

using std::chrono::milliseconds;

MulticastBackend::MulticastBackend(MulticastOptions options, const RegistryContext& context, MulticastOpener open)
    : options_(std::move(options)),
      context_(context),
      open_(std::move(open)),
      process_(getpid()),
      random_(Mix64(context.seed)),
      backoff_(milliseconds(200), milliseconds(500), milliseconds(10'000)),
      announcer_(options_.address, context_, *this),
      lists_(options_, context_, *this, announcer_),
      documents_(context_.executor) {}

MulticastBackend::~MulticastBackend() { *alive_ = false; }

absl::Status MulticastBackend::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("multicast registry ", options_.address, ": the process was forked; make a new registry here"));
}

void MulticastBackend::Post(absl::AnyInvocable<void()> task) {
  context_.executor->Post([alive = std::weak_ptr<bool>(alive_), task = std::move(task)]() mutable {
    if (const auto now = alive.lock(); now != nullptr && *now) task();
  });
}

// Answers with what is wrong, later, instead of the work.
template <class Answer>
bool MulticastBackend::Refuses(Answer& answer) {
  absl::Status status = CheckProcess();
  if (status.ok()) return false;
  Post([answer = std::move(answer), status = std::move(status)]() mutable {
    if constexpr (std::is_same_v<Answer, fairlead::Children>) {
      answer({.status = std::move(status), .children = {}});
    } else if (answer) {
      answer(std::move(status));
    }
  });
  return true;
}

void MulticastBackend::Start(absl::AnyInvocable<void(Session)> on_session) {
  on_session_ = std::move(on_session);
  Post([this] { Open(); });
}

void MulticastBackend::Open() {
  absl::StatusOr<std::unique_ptr<MulticastLink>> link = open_(options_, *this);
  if (!link.ok()) {
    context_.log->Warn("FL-7-1", options_.address, absl::StrCat(link.status().ToString(), "; tried again"));
    const bool news = trouble_ != link.status();
    trouble_ = link.status();
    lists_.OnTrouble(trouble_);
    OpenLater();
    if (news && on_description_change_) on_description_change_();
    return;
  }
  trouble_ = absl::OkStatus();
  link_ = *std::move(link);
  // Also after a short while: who hears of it may have missed what was said meanwhile.
  announcer_.AnnounceAll();
  lists_.OnLink();
  on_session_(std::exchange(connected_once_, true) ? Session::kReconnected : Session::kConnected);
}

void MulticastBackend::OpenLater() {
  open_again_ = context_.executor->After(backoff_.Next(random_), [this] { Open(); });
}

void MulticastBackend::CloseLink(const absl::Status& why) {
  closing_ = false;
  link_ = nullptr;
  trouble_ = why;
  context_.log->Warn("FL-7-1", options_.address, absl::StrCat(why.ToString(), "; tried again"));
  OpenLater();
  on_session_(Session::kSuspended);
}

// Whoever sends may be called by the link, which then cannot end.
void MulticastBackend::OnLost(absl::Status why) {
  if (std::exchange(closing_, true)) return;
  Post([this, why = std::move(why)] {
    if (link_ != nullptr) CloseLink(why);
  });
}

absl::Status MulticastBackend::Sent(absl::Status status) {
  if (status.ok()) backoff_.Reset();
  if (absl::IsUnavailable(status)) OnLost(status);
  return status;
}

absl::Status MulticastBackend::Say(MulticastVerb verb, std::string_view url) {
  if (link_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("multicast registry ", options_.address, ": ",
                                               trouble_.ok() ? "not joined yet" : trouble_.message()));
  }
  const std::string text = MulticastText(verb, url);
  if (text.size() > kMostDatagramBytes) {
    return absl::InvalidArgumentError(absl::StrCat(Redacted(url), ": a message of ", text.size(),
                                                   " bytes; a multicast registry has ", kMostDatagramBytes));
  }
  return Sent(link_->Multicast(text));
}

// That one host is out of reach says nothing of the group.
absl::Status MulticastBackend::SayTo(const std::string& host, MulticastVerb verb, std::string_view url) {
  if (link_ == nullptr) return trouble_;
  return link_->Unicast(MulticastText(verb, url), host);
}

void MulticastBackend::Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) {
  if (link_ != nullptr) link_->Probe(host, port, std::move(told));
}

std::string MulticastBackend::local_host() const {
  const std::string address = link_ == nullptr ? std::string("0.0.0.0") : link_->local_address();
  // Dubbo cannot read one of IPv6 that has no port.
  return address.find(':') == std::string::npos ? address : absl::StrCat("[", address, "]:0");
}

void MulticastBackend::OnDatagrams(std::vector<Datagram> datagrams, std::size_t lost) {
  if (lost > 0) {
    lost_ += lost;
    context_.log->Warn("FL-7-2", options_.address, absl::StrCat(lost, " datagrams came too fast, and are dropped"));
  }
  for (const Datagram& datagram : datagrams) OnDatagram(datagram);
}

void MulticastBackend::Skip(const Datagram& datagram, std::string_view why) {
  ++skipped_;
  context_.log->Warn("FL-7-2", options_.address,
                     absl::StrCat("a datagram from ", datagram.from, " is skipped: ", ToAbsl(why)));
}

void MulticastBackend::OnDatagram(const Datagram& datagram) {
  // What this process says it knows.
  if (datagram.own) return;
  if (datagram.text.size() > kMostDatagramBytes) {
    return Skip(datagram, absl::StrCat("longer than ", kMostDatagramBytes, " bytes, so that other receivers would cut it: ",
                                       Redacted(std::string_view(datagram.text).substr(0, 200))));
  }
  const std::optional<MulticastMessage> message = ReadMulticastMessage(datagram.text);
  if (!message) return Skip(datagram, "expected register, unregister or subscribe, and a url");
  if (message->verb == MulticastVerb::kUnsubscribe) return;
  if (message->verb == MulticastVerb::kSubscribe) {
    const absl::StatusOr<UrlParts> consumer = UrlParts::Parse(message->url);
    if (!consumer.ok() || !IsUtf8(message->url)) return Skip(datagram, "a question that is no url");
    lists_.OnSubscribe(*consumer);
    announcer_.OnSubscribe(*consumer, datagram);
    return;
  }
  const absl::StatusOr<HeardUrl> url = HeardUrl::Read(message->url);
  if (!url.ok()) return Skip(datagram, FromAbsl(url.status().message()));
  if (message->verb == MulticastVerb::kRegister) return lists_.OnRegister(*url, datagram.unicast);
  lists_.OnUnregister(*url);
  announcer_.OnUnregister(*url);
}

void MulticastBackend::Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
                           Done done) {
  if (Refuses(done)) return;
  RegistryKey key{std::string(service), category};
  absl::Status status = announcer_.Put(key, url_text, dynamic);
  lists_.OnOwn(key);
  Post([done = std::move(done), status = std::move(status)]() mutable {
    if (done) done(std::move(status));
  });
}

void MulticastBackend::Remove(std::string_view service, Category category, std::string_view url_text, Done done) {
  if (Refuses(done)) return;
  absl::Status status = announcer_.Remove(url_text);
  if (const absl::StatusOr<HeardUrl> url = HeardUrl::Read(url_text); url.ok()) lists_.OnUnregister(*url);
  lists_.OnOwn({std::string(service), category});
  Post([done = std::move(done), status = std::move(status)]() mutable {
    if (done) done(std::move(status));
  });
}

void MulticastBackend::Read(std::string_view service, Category category, fairlead::Children once) {
  if (!Refuses(once)) lists_.ReadOnce({std::string(service), category}, std::move(once));
}

void MulticastBackend::Watch(std::string_view service, Category category, fairlead::Children on_full_list) {
  if (!Refuses(on_full_list)) lists_.Watch({std::string(service), category}, std::move(on_full_list));
}

void MulticastBackend::Unwatch(std::string_view service, Category category) {
  lists_.Unwatch({std::string(service), category});
}

void MulticastBackend::WatchServices(Names on_names) {
  if (!Refuses(on_names)) lists_.WatchServices(std::move(on_names));
}

void MulticastBackend::UnwatchServices() { lists_.UnwatchServices(); }

void MulticastBackend::WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) {
  if (!Refuses(on_value)) documents_.Watch(group, key, std::move(on_value));
}

void MulticastBackend::UnwatchConfig(std::string_view group, std::string_view key) { documents_.Unwatch(group, key); }

std::string MulticastBackend::Describe() const {
  std::string text = absl::StrCat("multicast ", options_.group, " port ", options_.port, ", ");
  if (!CheckProcess().ok()) return absl::StrCat(text, "forked, not usable");
  if (!*alive_) return absl::StrCat(text, "stopped");
  absl::StrAppend(&text, link_ != nullptr ? absl::StrCat("joined at ", link_->local_address())
                         : trouble_.ok()  ? "not joined yet"
                                          : trouble_.ToString());
  return absl::StrCat(text, ", ", announcer_.size(), " urls announced, ", lists_.heard(), " heard, ", lists_.dropped(),
                      " dropped as dead, ", skipped_, " datagrams skipped, ", lost_, " lost");
}

void MulticastBackend::Stop(Done done) {
  absl::Status status = CheckProcess();
  // A second time, or in a process that never joined, there is nobody to say it with.
  if (*alive_ && status.ok() && link_ != nullptr) announcer_.Leave();
  *alive_ = false;
  lists_.End();
  documents_.Clear();
  open_again_.Cancel();
  link_ = nullptr;
  context_.executor->Post([done = std::move(done), status = std::move(status)]() mutable {
    if (done) done(std::move(status));
  });
}

}  // namespace fairlead::internal
