#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/registry/redis/redis_backend.h"
#include "fairlead/registry/redis/redis_layout.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/tests/registry/redis/fake_redis.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_parts.h"
#include "fairlead/url/url_pool.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

UrlParts ParseUrl(const std::string& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  if (!url.ok()) throw std::runtime_error(std::string(url.status().message()));
  return *std::move(url);
}

Json Keys(const Case& c) {
  const std::string root = c.in.at("root");
  if (c.in.contains("key")) {
    const std::string key = c.in.at("key");
    return {{"to_service_path", std::string(internal::RedisServicePathOfKey(root, key))},
            {"to_service_name", std::string(internal::RedisServiceOfKey(root, key))},
            {"to_category_name", std::string(internal::RedisCategoryOfKey(key))}};
  }
  const UrlParts url = ParseUrl(c.in.at("url"));
  const std::string service = url.ServiceInterface();
  return {{"service_path", internal::RedisServicePath(root, service)},
          {"category_key", internal::RedisCategoryKey(root, service, url.Param("category", "providers"))},
          {"hash_field", url.ToFullString()}};
}

Json Life(const Case& c) {
  std::string url = "dubbo://10.0.0.1:20880/a.b.C";
  if (!c.in.at("dynamic").is_null()) url += "?dynamic=" + c.in.at("dynamic").get<std::string>();
  switch (internal::RedisLifeOf(url, c.in.at("value").get<std::string>(), 1000)) {
    case internal::RedisLife::kLive:
      return true;
    case internal::RedisLife::kExpired:
      return false;
    case internal::RedisLife::kUnreadable:
      break;
  }
  return {{"skipped", "the others are used"}};
}

Json Skips(const Case& c) {
  const int attempt = c.in.get<int>();
  const int least = internal::RedisSkippedRounds(attempt, 0);
  for (int draw = 1; draw <= 9; ++draw) {
    const int skips = internal::RedisSkippedRounds(attempt, draw);
    if (skips == least) return least;
    if (skips != least + draw) throw std::runtime_error("draws do not add up");
  }
  return std::to_string(least) + "+r";
}

// What the registry itself does, on a server in the test's own time.
class Scene {
 public:
  Scene() : backend_(*internal::RedisOptions::Parse(*Url::Parse("redis://h", pool_)),
                     {executor_, &clock_, &pool_, &log_, 1}, redis_.dialer()) {
    backend_.Start([](RegistryBackend::Session) {});
    executor_->RunReady();
  }

  void Register(const std::string& text) {
    const UrlParts url = ParseUrl(text);
    backend_.Put(url.ServiceInterface(), CategoryOf(url.Param("category", "providers")).value(), url.ToFullString(),
                 url.Param("dynamic") != "false", nullptr);
    executor_->RunReady();
  }
  void Unregister(const std::string& text) {
    const UrlParts url = ParseUrl(text);
    backend_.Remove(url.ServiceInterface(), CategoryOf(url.Param("category", "providers")).value(), url.ToFullString(),
                    nullptr);
    executor_->RunReady();
  }
  void Subscribe(const std::string& text) {
    const UrlParts url = ParseUrl(text);
    if (url.ServiceInterface() == "*") {
      backend_.WatchServices([this](const absl::StatusOr<std::vector<std::string>>&) { ++told_; });
    } else {
      for (const Category category : SubscribedCategories(url)) {
        backend_.Watch(url.ServiceInterface(), category, [this](const ChildrenAnswer&) { ++told_; });
      }
    }
    executor_->RunReady();
  }
  void Message(const std::string& key, const std::string& message) {
    redis_.Publish(key, message);
    executor_->RunReady();
  }
  void HalfASession() { executor_->Advance(std::chrono::seconds(30)); }
  void Wipe() { redis_.server().hashes.clear(); }

  // Since the last time; a time to expire is told from now. How many fields a hash has is asked before each HGETALL, and
  // the arguments of SCAN are how, not what: both are left out.
  Json Commands() {
    Json all = Json::array();
    for (internal::RedisWords words : std::exchange(redis_.server().commands, {})) {
      if (words[0] == "HLEN" || (words[0] == "SCAN" && words[1] != "0")) continue;
      if (words[0] == "SCAN") words = {"SCAN", words[3]};
      if (words[0] == "HSET") words[3] = "T+" + std::to_string(std::stoll(words[3]) - clock_.SystemMillis());
      all.push_back(words);
    }
    return all;
  }
  int told() { return std::exchange(told_, 0); }

 private:
  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  Logger log_{[](const LogRecord&) {}, clock_};
  FakeRedis redis_{*executor_, clock_};
  int told_ = 0;
  internal::RedisBackend backend_;
};

Json Only(const Json& commands, std::string_view name) {
  Json some = Json::array();
  for (const Json& words : commands) {
    if (words.at(0) == name) some.push_back(words);
  }
  return some;
}

// The text after `prefix`; nullopt when `text` begins otherwise.
std::optional<std::string> After(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

Json Commands(const Case& c) {
  const std::string in = c.in;
  Scene scene;
  if (const auto url = After(in, "register ")) {
    scene.Register(*url);
    return scene.Commands();
  }
  if (const auto url = After(in, "unregister ")) {
    scene.Unregister(*url);
    return scene.Commands();
  }
  if (const std::size_t at = in.find(", registered "); in.starts_with("heartbeat tick") && at != std::string::npos) {
    scene.Register(in.substr(at + std::string_view(", registered ").size()));
    scene.Commands();
    scene.HalfASession();
    Json commands = scene.Commands();
    scene.Wipe();
    scene.HalfASession();
    if (Only(scene.Commands(), "PUBLISH").size() == 1 && Only(commands, "PUBLISH").empty()) {
      commands.push_back({"PUBLISH register only if HSET returned 1"});
    }
    return commands;
  }
  if (const auto pattern = After(in, "notifier of ")) {
    scene.Subscribe("admin://10.0.0.9?interface=*&category=*");
    return Only(scene.Commands(), "PSUBSCRIBE");
  }
  if (const auto message = After(in, "message ")) {
    const std::size_t on = message->find(" on ");
    const std::string key = message->substr(on + 4);
    const std::string service(internal::RedisServiceOfKey("/dubbo/", key));
    scene.Register("dubbo://10.0.0.1:20880/" + service + "?category=" + std::string(internal::RedisCategoryOfKey(key)));
    scene.Subscribe("consumer://10.0.0.9/" + service + "?category=*");
    scene.HalfASession();
    scene.Commands();
    scene.told();
    scene.Message(key, message->substr(0, on));
    Json commands = scene.Commands();
    if (scene.told() == 1) commands.push_back({"notify every matching subscription of this registry"});
    return commands;
  }
  if (const auto url = After(in, "subscribe ")) {
    scene.Register("dubbo://10.0.0.1:20880/a.b.C");
    scene.Commands();
    scene.Subscribe(*url);
    Json commands = scene.Commands();
    if (ParseUrl(*url).ServiceInterface() != "*") return commands;
    commands = Only(commands, "SCAN");
    if (scene.told() == 1) commands.push_back({"one notification per service path"});
    return commands;
  }
  throw std::runtime_error("what does this ask for?");
}

}  // namespace

void RegisterRedisKinds(KindTable& kinds) {
  kinds.Add("registry.redis_keys", ExactKind(Keys));
  kinds.Add("registry.redis_root_from_group", ExactKind([](const Case& c) {
              return Json(internal::RedisRoot(c.in.is_null() ? "" : c.in.get<std::string>()));
            }));
  kinds.Add("registry.redis_commands", ExactKind(Commands));
  kinds.Add("registry.redis_value_rules", ExactKind(Life));
  kinds.Add("registry.redis_notifier_skips", ExactKind(Skips));
}

}  // namespace fairlead::conformance
