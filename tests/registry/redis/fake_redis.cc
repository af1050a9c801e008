#include "fairlead/tests/registry/redis/fake_redis.h"

#include <fnmatch.h>

#include <utility>

namespace fairlead {

using internal::RedisReply;
using internal::RedisWords;
using Type = RedisReply::Type;

namespace {

RedisReply Text(std::string text, Type type = Type::kString) {
  RedisReply reply;
  reply.type = type;
  reply.text = std::move(text);
  return reply;
}
RedisReply Number(long long value) {
  RedisReply reply;
  reply.type = Type::kInteger;
  reply.integer = value;
  return reply;
}
RedisReply Array(std::vector<RedisReply> items) {
  RedisReply reply;
  reply.type = Type::kArray;
  reply.items = std::move(items);
  return reply;
}
bool Fits(const std::string& pattern, const std::string& text) { return fnmatch(pattern.c_str(), text.c_str(), 0) == 0; }

}  // namespace

class FakeRedis::Connection final : public internal::RedisStream {
 public:
  Connection(FakeRedis& redis, std::uint16_t port, Events& events) : redis_(redis), port_(port), events_(events) {
    Server& server = redis_.server(port_);
    ++server.dials;
    redis_.connections_.insert(this);
    if (!server.listens) {
      Later([this] { Close("refused"); });
      return;
    }
    Later([this] {
      open_ = true;
      ++redis_.server(port_).connections;
      events_.OnOpen();
    });
  }
  ~Connection() override {
    if (open_) --redis_.server(port_).connections;
    redis_.connections_.erase(this);
  }

  void Send(const RedisWords& command) override {
    Later([this, command] {
      if (!open_) return;
      Server& server = redis_.server(port_);
      RedisReply reply = redis_.Answer(server, *this, command, port_);
      if (server.silent || (server.silent_messages && !channels_.empty())) return;
      if (server.answer_delay.count() == 0) return events_.OnReplies({std::move(reply)});
      delayed_.push_back(redis_.executor_.After(server.answer_delay, [this, reply] { events_.OnReplies({reply}); }));
    });
  }

  void Close(const std::string& why) {
    if (std::exchange(closed_, true)) return;
    if (std::exchange(open_, false)) --redis_.server(port_).connections;
    events_.OnClosed(absl::UnavailableError(why));
  }
  void Message(const std::string& channel, const std::string& message) {
    if (redis_.server(port_).silent || redis_.server(port_).silent_messages) return;
    for (const auto& [name, pattern] : channels_) {
      if (pattern ? !Fits(name, channel) : name != channel) continue;
      std::vector<RedisReply> items;
      items.push_back(Text(pattern ? "pmessage" : "message"));
      if (pattern) items.push_back(Text(name));
      items.push_back(Text(channel));
      items.push_back(Text(message));
      Later([this, items] { events_.OnReplies({Array(items)}); });
    }
  }
  // Does nothing once the connection is gone.
  template <class F>
  void Later(F f) {
    redis_.executor_.Post([alive = std::weak_ptr<int>(alive_), f = std::move(f)] {
      if (!alive.expired()) f();
    });
  }

  FakeRedis& redis_;
  const std::uint16_t port_;
  Events& events_;
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  bool open_ = false;
  bool closed_ = false;
  bool greeted_ = false;
  std::vector<Timer> delayed_;
  std::map<std::string, bool> channels_;  // name -> is a pattern
};

internal::RedisDialer FakeRedis::dialer() {
  return [this](const internal::RedisServer& server, internal::RedisStream::Events& events) {
    return std::make_unique<Connection>(*this, server.port, events);
  };
}

void FakeRedis::Cut(std::uint16_t port) {
  const std::set<Connection*> all = connections_;
  for (Connection* const one : all) {
    if (one->port_ == port) one->Later([one] { one->Close("cut"); });
  }
}

void FakeRedis::Restart(bool wipe, std::uint16_t port) {
  Server& server = servers_[port];
  server.run_id = "run-" + std::to_string(++runs_);
  if (wipe) {
    server.hashes.clear();
    server.strings.clear();
  }
  Cut(port);
}

void FakeRedis::Set(const std::string& key, const std::string& field, std::int64_t expires, std::uint16_t port) {
  servers_[port].hashes[key][field] = std::to_string(expires);
  Publish(key, "register", port);
}

void FakeRedis::Delete(const std::string& key, const std::string& field, std::uint16_t port) {
  auto& hash = servers_[port].hashes[key];
  hash.erase(field);
  if (hash.empty()) servers_[port].hashes.erase(key);
  Publish(key, "unregister", port);
}

void FakeRedis::Publish(const std::string& channel, const std::string& message, std::uint16_t port) {
  for (Connection* const one : connections_) {
    if (one->port_ == port) one->Message(channel, message);
  }
}

std::size_t FakeRedis::subscriptions(std::uint16_t port) const {
  std::size_t count = 0;
  for (const Connection* const one : connections_) count += one->port_ == port ? one->channels_.size() : 0;
  return count;
}

RedisReply FakeRedis::Answer(Server& server, Connection& connection, const RedisWords& words, std::uint16_t port) {
  const std::string& name = words[0];
  if (name == "AUTH") {
    connection.greeted_ = words[1] == server.password;
    return connection.greeted_ ? Text("OK", Type::kStatus) : Text("WRONGPASS invalid password", Type::kError);
  }
  if (!server.password.empty() && !connection.greeted_) return Text("NOAUTH Authentication required.", Type::kError);
  if (name != "INFO" && name != "TIME" && name != "PING" && name != "SELECT") server.commands.push_back(words);
  if (const auto error = server.errors.find(name); error != server.errors.end()) return Text(error->second, Type::kError);
  const std::string key = words.size() > 1 ? words[1] : "";
  const bool wrong = server.strings.contains(key);
  if (name == "PING") return connection.channels_.empty() ? Text("PONG", Type::kStatus) : Array({Text("pong"), Text("")});
  if (name == "SELECT") return Text("OK", Type::kStatus);
  if (name == "INFO") {
    return Text("# S\r\nrun_id:" + server.run_id + "\r\nredis_mode:" + server.mode + "\r\nrole:" + server.role + "\r\n");
  }
  if (name == "TIME") {
    const std::int64_t now = clock_.SystemMillis() + server.clock_offset.count();
    return Array({Text(std::to_string(now / 1000)), Text(std::to_string(now % 1000 * 1000))});
  }
  if (name == "PUBLISH") {
    Publish(key, words[2], port);
    return Number(1);
  }
  if (name == "SUBSCRIBE" || name == "PSUBSCRIBE") {
    connection.channels_[key] = name == "PSUBSCRIBE";
    return Array({Text("subscribe"), Text(key), Number(1)});
  }
  if (name == "UNSUBSCRIBE" || name == "PUNSUBSCRIBE") {
    connection.channels_.erase(key);
    return Array({Text("unsubscribe"), Text(key), Number(1)});
  }
  if (name == "GETRANGE") return server.hashes.contains(key) ? Text("WRONGTYPE no", Type::kError) : Text(server.strings[key]);
  if (name == "SCAN") {
    // In two steps, the second of which repeats a key, as the real one may.
    std::vector<RedisReply> keys;
    for (const auto& [one, hash] : server.hashes) {
      if (Fits(words[3], one)) keys.push_back(Text(one));
    }
    if (key == "0") return Array({Text("7"), Array(keys)});
    if (keys.size() > 1) keys.resize(1);
    return Array({Text("0"), Array(keys)});
  }
  if (wrong) return Text("WRONGTYPE Operation against a key holding the wrong kind of value", Type::kError);
  if (name == "HSET") {
    const bool added = server.hashes[key].insert_or_assign(words[2], words[3]).second;
    return Number(added ? 1 : 0);
  }
  if (name == "HDEL") {
    long long removed = 0;
    const auto at = server.hashes.find(key);
    for (std::size_t i = 2; at != server.hashes.end() && i < words.size(); ++i) removed += static_cast<long long>(at->second.erase(words[i]));
    if (at != server.hashes.end() && at->second.empty()) server.hashes.erase(at);
    return Number(removed);
  }
  const auto at = server.hashes.find(key);
  if (name == "HLEN") {
    if (const auto said = server.lengths.find(key); said != server.lengths.end()) return Number(said->second);
    return Number(at == server.hashes.end() ? 0 : static_cast<long long>(at->second.size()));
  }
  if (name == "HGETALL") {
    std::vector<RedisReply> all;
    if (at != server.hashes.end()) {
      for (const auto& [field, value] : at->second) {
        all.push_back(Text(field));
        all.push_back(Text(value));
      }
    }
    return Array(std::move(all));
  }
  return Text("ERR unknown command '" + name + "'", Type::kError);
}

}  // namespace fairlead
