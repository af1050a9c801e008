#include "fairlead/registry/redis/redis_keeper.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/redis/redis_reads.h"
#include "fairlead/url/redact.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kFieldsADelete = 500;

// The server holds nothing of what was put.
bool Refused(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status) ||
         absl::IsUnimplemented(status);
}

std::string Subject(std::string_view what, std::string_view key, std::string_view field) {
  return absl::StrCat(ToAbsl(what), " ", Redacted(field), " in ", ToAbsl(key));
}

}  // namespace

// One operation, carried to several servers.
class RedisKeeper::Write {
 public:
  Write(RedisKeeper& keeper, std::string subject, std::size_t legs, absl::AnyInvocable<void(absl::Status)> done)
      : keeper_(keeper), alive_(keeper.alive_), subject_(std::move(subject)), legs_(legs), done_(std::move(done)) {}

  const std::string& subject() const { return subject_; }

  // Posted, since a leg that is lost ends while its connection is destroyed.
  void EndLeg(bool lost, const absl::Status& status) {
    if (alive_.expired()) return;
    done_once_ = done_once_ || (!lost && status.ok());
    if (!status.ok()) error_ = status;
    lost_ = lost_ || lost;
    if (--legs_ > 0) return;
    const RegistryContext& context = keeper_.context_;
    if (done_once_ && (lost_ || !error_.ok())) {
      context.log->Warn("FL-6-7", keeper_.options_.address,
                        absl::StrCat("not all servers have it, ", subject_, ": ",
                                     error_.ok() ? "a connection was lost" : error_.ToString()));
    }
    if (!done_once_ && error_.ok()) return;
    context.executor->Post([alive = alive_, done = std::move(done_),
                            status = done_once_ ? absl::OkStatus() : error_]() mutable {
      if (!alive.expired()) done(std::move(status));
    });
  }

 private:
  RedisKeeper& keeper_;
  const std::weak_ptr<int> alive_;
  const std::string subject_;
  std::size_t legs_;
  absl::AnyInvocable<void(absl::Status)> done_;
  bool done_once_ = false;
  bool lost_ = false;
  absl::Status error_;
};

// What is asked of one server; lost when it ends without an answer.
class RedisKeeper::Leg {
 public:
  explicit Leg(std::shared_ptr<Write> write) : write_(std::move(write)) {}
  ~Leg() { write_->EndLeg(answers_ > 0, status_); }
  Leg(const Leg&) = delete;
  Leg& operator=(const Leg&) = delete;

  void OnAnswer(const RedisReply& reply) {
    --answers_;
    if (reply.is_error() && status_.ok()) status_ = RedisErrorStatus(reply, write_->subject());
  }

 private:
  const std::shared_ptr<Write> write_;
  int answers_ = 2;
  absl::Status status_;
};

struct RedisKeeper::Round {
  RedisLink& link;
  std::vector<Place> todo;
  std::size_t next = 0;
  std::size_t under_way = 0;
};

struct RedisKeeper::Cleaning {
  RedisLink& link;
  std::set<std::string> keys;
};

std::int64_t RedisKeeper::Now(const RedisLink& link) const {
  return context_.clock->SystemMillis() + std::max<std::int64_t>(0, link.clock_offset().count());
}

RedisKeeper::Field* RedisKeeper::Find(const std::string& key, const std::string& field) {
  const auto fields = owned_.find(key);
  if (fields == owned_.end()) return nullptr;
  const auto at = fields->second.find(field);
  return at == fields->second.end() ? nullptr : &at->second;
}

void RedisKeeper::Carry(const Links& links, const RedisWords& command, std::string_view message,
                        std::shared_ptr<Write> write) {
  for (RedisLink* const link : links) {
    const auto leg = std::make_shared<Leg>(write);
    link->Command(command, [leg](const RedisReply& reply) { leg->OnAnswer(reply); });
    link->Command(RedisPublishCommand(command[1], message), [leg](const RedisReply& reply) { leg->OnAnswer(reply); });
  }
}

void RedisKeeper::Put(const Links& links, const std::string& key, const std::string& field, bool dynamic, Done done) {
  if (links.empty()) return;
  std::int64_t now = 0;
  for (const RedisLink* const link : links) now = std::max(now, Now(*link));
  const std::int64_t expires = now + options_.session.count();
  owned_[key][field] = {dynamic, expires};
  if (!dynamic) {
    for (const RedisLink* const link : links) {
      lasting_[{key, field}].insert(link);
      missed_[link].erase({key, field});
    }
  }
  auto write = std::make_shared<Write>(*this, Subject("registering", key, field), links.size(),
                                       [this, key, field, done = std::move(done)](absl::Status status) mutable {
                                         if (Refused(status)) {
                                           owned_[key].erase(field);
                                           if (owned_[key].empty()) owned_.erase(key);
                                         }
                                         if (done) done(std::move(status));
                                       });
  Carry(links, RedisSetCommand(key, field, expires), kRedisRegister, std::move(write));
}

void RedisKeeper::Remove(const Links& links, const std::string& key, const std::string& field, Done done) {
  if (links.empty()) return;
  if (const auto fields = owned_.find(key); fields != owned_.end()) {
    fields->second.erase(field);
    if (fields->second.empty()) owned_.erase(fields);
  }
  if (const auto at = lasting_.find({key, field}); at != lasting_.end()) {
    for (const RedisLink* const link : at->second) {
      if (std::find(links.begin(), links.end(), link) == links.end()) missed_[link].insert(at->first);
    }
    lasting_.erase(at);
  }
  auto write = std::make_shared<Write>(*this, Subject("unregistering", key, field), links.size(),
                                       [done = std::move(done)](absl::Status status) mutable {
                                         if (done) done(std::move(status));
                                       });
  Carry(links, RedisDeleteCommand(key, field), kRedisUnregister, std::move(write));
}

void RedisKeeper::CatchUp(RedisLink& link) {
  const auto at = missed_.find(&link);
  if (at == missed_.end()) return;
  for (const auto& [key, field] : at->second) {
    link.Command(RedisDeleteCommand(key, field), [this, &link, place = Place(key, field)](const RedisReply& reply) {
      if (!reply.is_error()) missed_[&link].erase(place);
    });
    link.Command(RedisPublishCommand(key, kRedisUnregister), nullptr);
  }
}

void RedisKeeper::Extend(RedisLink& link, bool all) {
  if (!rounds_[&link].expired()) {
    context_.log->Warn("FL-6-6", link.server().address,
                       "what is registered here is still being extended when it is time again: the server is slow");
    return;
  }
  auto round = std::make_shared<Round>(Round{link, {}});
  for (const auto& [key, fields] : owned_) {
    for (const auto& [field, what] : fields) {
      if (all || what.dynamic) round->todo.emplace_back(key, field);
    }
  }
  rounds_[&link] = round;
  Continue(round);
}

void RedisKeeper::Continue(const std::shared_ptr<Round>& round) {
  while (round->under_way < kMostExtensions && round->next < round->todo.size() && round->link.up()) {
    if (ExtendOne(round, round->todo[round->next++])) ++round->under_way;
  }
}

bool RedisKeeper::ExtendOne(const std::shared_ptr<Round>& round, const Place& place) {
  Field* const field = Find(place.first, place.second);
  if (field == nullptr) return false;
  RedisLink& link = round->link;
  const std::int64_t now = Now(link);
  // Readers have dropped what was past, though it still stands there.
  const bool lapsed = field->dynamic && field->expires < now;
  const std::int64_t expires = now + options_.session.count();
  link.Command(RedisSetCommand(place.first, place.second, expires),
               [this, round, place, lapsed, expires](const RedisReply& reply) {
                 --round->under_way;
                 if (reply.is_error()) {
                   context_.log->Warn(
                       "FL-6-6", place.first,
                       RedisErrorStatus(reply, Subject("extending", place.first, place.second)).ToString());
                 } else {
                   if (Field* const now_there = Find(place.first, place.second)) now_there->expires = expires;
                   if (reply.integer > 0 || lapsed) {
                     round->link.Command(RedisPublishCommand(place.first, kRedisRegister), nullptr);
                   }
                 }
                 Continue(round);
               });
  return true;
}

void RedisKeeper::Clean(RedisLink& link) {
  if (!cleanings_[&link].expired()) return;
  const auto cleaning = std::make_shared<Cleaning>(Cleaning{link, {}});
  cleanings_[&link] = cleaning;
  ScanRedisKeys(link, RedisPrefixPattern(options_.root),
                [this, cleaning](absl::StatusOr<std::set<std::string>> keys) {
                  // Looking for the services' names fails in the same way, and tells.
                  if (!keys.ok()) return;
                  cleaning->keys = *std::move(keys);
                  CleanNext(cleaning);
                });
}

// One after the other: there is no hurry, and the server has better to do.
void RedisKeeper::CleanNext(const std::shared_ptr<Cleaning>& cleaning) {
  while (!cleaning->keys.empty()) {
    std::string key = std::move(cleaning->keys.extract(cleaning->keys.begin()).value());
    if (!RedisListedService(options_.root, key)) continue;
    return ReadRedisHash(cleaning->link, key, [this, cleaning, key](absl::StatusOr<std::vector<RedisReply>> hash) {
      if (hash.ok()) CleanKey(cleaning, key, *std::move(hash));
      CleanNext(cleaning);
    });
  }
}

void RedisKeeper::CleanKey(const std::shared_ptr<Cleaning>& cleaning, const std::string& key,
                           std::vector<RedisReply> hash) {
  RedisLink& link = cleaning->link;
  const std::int64_t now = context_.clock->SystemMillis() + std::min<std::int64_t>(0, link.clock_offset().count());
  RedisWords command{"HDEL", key};
  for (std::size_t i = 0; i + 1 < hash.size() && command.size() < kFieldsADelete; i += 2) {
    if (RedisLifeOf(hash[i].text, hash[i + 1].text, now - options_.session.count()) != RedisLife::kExpired) continue;
    command.push_back(std::move(hash[i].text));
  }
  if (command.size() == 2) return;
  context_.log->Info("FL-6-8", key, absl::StrCat(command.size() - 2, " entries that nobody extends are deleted"));
  link.Command(command, [&link, key](const RedisReply& reply) {
    if (!reply.is_error() && reply.integer > 0) link.Command(RedisPublishCommand(key, kRedisUnregister), nullptr);
  });
}

void RedisKeeper::Forget() { owned_.clear(); }

std::vector<std::pair<std::string, std::string>> RedisKeeper::Dynamic() const {
  std::vector<Place> all;
  for (const auto& [key, fields] : owned_) {
    for (const auto& [field, what] : fields) {
      if (what.dynamic) all.emplace_back(key, field);
    }
  }
  return all;
}

std::size_t RedisKeeper::size() const {
  std::size_t count = 0;
  for (const auto& [key, fields] : owned_) count += fields.size();
  return count;
}

}  // namespace fairlead::internal
