#include "fairlead/registry/redis/redis_link.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// The value of a line "name:value" of INFO.
std::string_view InfoValue(std::string_view info, std::string_view name) {
  const std::string line = absl::StrCat("\n", ToAbsl(name), ":");
  std::size_t at = info.find(line);
  if (at == std::string_view::npos) return {};
  at += line.size();
  return info.substr(at, info.find_first_of("\r\n", at) - at);
}

// Of AUTH or SELECT.
absl::Status GreetingStatus(const RedisReply& error, const std::string& command, std::string_view server) {
  absl::Status status = RedisErrorStatus(error, absl::StrCat(command, " at ", ToAbsl(server)));
  if (!error.IsError("ERR")) return status;
  if (command == "SELECT") return absl::InvalidArgumentError(absl::StrCat(status.message(), "; correct db.index of the registry url"));
  return absl::UnauthenticatedError(absl::StrCat(status.message(), "; correct the password of the registry url, or take it out"));
}

}  // namespace

RedisLink::RedisLink(const RedisOptions& options, const RedisServer& server, const RegistryContext& context,
                     std::uint64_t seed, const RedisDialer& dial, Observer& observer)
    : options_(options),
      server_(server),
      context_(context),
      dial_(dial),
      observer_(observer),
      random_(seed),
      trouble_(absl::CancelledError("connecting")) {}

void RedisLink::Start() { Connect(); }

void RedisLink::Close() {
  closed_ = true;
  up_ = false;
  next_step_.Cancel();
  commands_.reset();
  messages_.reset();
  link_life_.reset();
  trouble_ = absl::CancelledError("stopped");
}

void RedisLink::Connect() {
  ++attempt_;
  greetings_ = 2;  // the two that open
  const RedisConnection::Limits limits{options_.connection_timeout, options_.answer_timeout};
  RedisConnection::Observer& self = *this;
  commands_ = std::make_unique<RedisConnection>(*context_.executor, dial_, server_, limits, self);
  messages_ = std::make_unique<RedisConnection>(*context_.executor, dial_, server_, limits, self);
}

void RedisLink::Greet(RedisConnection& connection, const RedisWords& command, Answer then) {
  ++greetings_;
  Ask(connection, command, [this, what = command.front(), then = std::move(then)](RedisReply reply) mutable {
        if (reply.is_error() && then == nullptr) {
          // INFO and TIME are conveniences that an ACL may forbid; AUTH and SELECT are not.
          return Lose(GreetingStatus(reply, what, server_.address));
        }
        if (reply.IsError("NOAUTH") || reply.IsError("LOADING") || reply.IsError("DENIED")) {
          return Lose(RedisErrorStatus(reply, server_.address));
        }
        if (then) then(std::move(reply));
        if (commands_ != nullptr) OnGreeted();
      });
}

void RedisLink::OnOpen(RedisConnection& connection) {
  if (!options_.password.empty()) {
    Greet(connection, {"AUTH", options_.password}, nullptr);
  }
  if (&connection == commands_.get()) {
    Greet(connection, {"INFO", "server"}, [this](RedisReply reply) { OnInfo(reply); });
    Greet(connection, {"INFO", "replication"},
          [this](const RedisReply& reply) { replica_ = InfoValue(reply.text, "role") == "slave"; });
    if (options_.db != 0) Greet(connection, {"SELECT", std::to_string(options_.db)}, nullptr);
    Greet(connection, {"TIME"}, [this, asked = context_.clock->SteadyNow()](RedisReply reply) { OnTime(reply, asked); });
  } else {
    // A server that takes connections and stays silent is none. An error is an answer too.
    Greet(connection, {"PING"}, [](RedisReply) {});
  }
  OnGreeted();
}

// Answers of a server that cannot serve now, whatever it is asked, or that has become another one's replica.
bool RedisLink::EndsTheLink(const RedisReply& reply) const {
  return reply.IsError("LOADING") || reply.IsError("MASTERDOWN") || reply.IsError("NOAUTH") ||
         (reply.IsError("READONLY") && !replica_);
}

void RedisLink::OnInfo(const RedisReply& info) {
  run_id_ = std::string(InfoValue(info.text, "run_id"));
  const std::string_view mode = InfoValue(info.text, "redis_mode");
  if (mode != "cluster" && mode != "sentinel") return;
  Lose(absl::UnimplementedError(absl::StrCat(server_.address, " is a Redis ",
                                             mode == "cluster" ? "Cluster node" : "Sentinel",
                                             ", which is not spoken here; name standalone servers, "
                                             "redis://host:port?backup=host:port, or a proxy")));
}

void RedisLink::OnGreeted() {
  if (--greetings_ > 0) return;
  up_ = true;
  link_life_ = std::make_shared<int>(0);
  up_since_ = context_.clock->SteadyNow();
  trouble_ = absl::OkStatus();
  CheckLater();
  observer_.OnUp(*this);
}

void RedisLink::AskTime() {
  // An answer that is due says as much.
  if (commands_->pending() > 0) return;
  Ask(*commands_, {"TIME"},
      [this, asked = context_.clock->SteadyNow()](const RedisReply& reply) { OnTime(reply, asked); });
}

void RedisLink::OnTime(const RedisReply& time, Clock::SteadyTime asked) {
  clock_offset_ = milliseconds(0);
  if (time.items.size() != 2) return;
  const std::optional<std::int64_t> seconds = RedisExpiry(time.items[0].text);
  const std::optional<std::int64_t> micros = RedisExpiry(time.items[1].text);
  constexpr std::int64_t kMostSeconds = 1'000'000'000'000;
  if (!seconds || !micros || *seconds < 0 || *seconds > kMostSeconds || *micros < 0 || *micros > 1'000'000) return;
  const milliseconds offset(*seconds * 1000 + *micros / 1000 - context_.clock->SystemMillis());
  const auto delay = std::chrono::duration_cast<milliseconds>(context_.clock->SteadyNow() - asked);
  const milliseconds most = std::max(options_.session / 8, milliseconds(100)) + delay;
  if (offset <= most && offset >= -most) return;
  clock_offset_ = offset;
  if (std::exchange(skew_told_, true)) return;
  context_.log->Warn("FL-6-3", server_.address,
                     absl::StrCat("the server's clock is ", offset.count() > 0 ? "ahead of" : "behind",
                                  " this machine's by ", std::abs(offset.count()),
                                  " ms; what expires is judged by the clock that says later, until they agree"));
}

void RedisLink::CheckLater() {
  const milliseconds period = std::clamp(options_.session / 6, milliseconds(250), milliseconds(10000));
  next_step_ = context_.executor->After(period, [this] {
    CheckLater();
    if (messages_->pending() == 0) Ask(*messages_, {"PING"}, nullptr);
    AskTime();
  });
}

void RedisLink::Command(const RedisWords& command, Answer answer) {
  if (!up_) return;
  Ask(*commands_, command, [this, answer = std::move(answer)](RedisReply reply) mutable {
    if (EndsTheLink(reply)) return Lose(RedisErrorStatus(reply, server_.address));
    if (answer) answer(std::move(reply));
  });
}

void RedisLink::Subscribe(const std::string& channel, bool pattern, Answer answer) {
  if (up_) Ask(*messages_, {pattern ? "PSUBSCRIBE" : "SUBSCRIBE", channel}, std::move(answer));
}

void RedisLink::Unsubscribe(const std::string& channel, bool pattern) {
  if (up_) Ask(*messages_, {pattern ? "PUNSUBSCRIBE" : "UNSUBSCRIBE", channel}, nullptr);
}

void RedisLink::Ask(RedisConnection& connection, const RedisWords& command, Answer answer) {
  if (connection.Send(command, std::move(answer)) || !answer) return;
  context_.executor->Post([up = std::weak_ptr<int>(link_life_), answer = std::move(answer)]() mutable {
    if (!up.expired()) answer({.type = RedisReply::Type::kError, .text = "too many commands wait for an answer"});
  });
}

void RedisLink::OnMessage(RedisConnection&, const std::string& channel, const std::string& payload) {
  if (up_) observer_.OnMessage(*this, channel, payload);
}

void RedisLink::OnLost(RedisConnection& connection, const absl::Status& why) {
  const char* const which = &connection == messages_.get() ? "subscriptions" : "commands";
  Lose(absl::Status(why.code(), absl::StrCat(server_.address, " (", which, "): ", why.message())));
}

void RedisLink::Lose(const absl::Status& why) {
  if (closed_) return;
  const bool was_up = std::exchange(up_, false);
  link_life_.reset();
  trouble_ = why;
  // Who waited for an answer hears of its end, and may ask again, or stop everything.
  std::exchange(commands_, nullptr).reset();
  std::exchange(messages_, nullptr).reset();
  if (closed_) return;
  // One that came up only to fail again is not a fresh start.
  if (was_up && context_.clock->SteadyNow() - up_since_ >= options_.reconnect_period) attempt_ = 1;
  next_step_ = context_.executor->After(NextWait(), [this] { Connect(); });
  context_.log->Warn(refused() ? "FL-6-2" : "FL-6-1", server_.address,
                     absl::StrCat(was_up ? "connection lost: " : "no connection: ", why.ToString(), "; trying again"));
  if (was_up) return observer_.OnDown(*this);
  observer_.OnNoConnection(*this);
}

bool RedisLink::refused() const {
  return absl::IsUnauthenticated(trouble_) || absl::IsPermissionDenied(trouble_) || absl::IsUnimplemented(trouble_) ||
         absl::IsInvalidArgument(trouble_);
}

milliseconds RedisLink::NextWait() {
  const int rounds = RedisSkippedRounds(attempt_ + 1, static_cast<int>(random_.Below(10)));
  const std::int64_t round = std::max<std::int64_t>(1, options_.reconnect_period.count() / 10);
  // Between half and one and a half of it: those who lost one server together come back one by one.
  const auto whole = static_cast<std::uint64_t>(rounds * round);
  return milliseconds(static_cast<std::int64_t>(whole / 2 + random_.Below(whole + 1)));
}

std::string RedisLink::Describe() const {
  if (up_) return absl::StrCat(server_.address, " up");
  // Nothing is wrong yet.
  if (absl::IsCancelled(trouble_)) return absl::StrCat(server_.address, " ", trouble_.message());
  return absl::StrCat(server_.address, " down: ", trouble_.ToString());
}

}  // namespace fairlead::internal
