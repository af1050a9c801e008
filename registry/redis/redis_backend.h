#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_BACKEND_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_BACKEND_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/registry/redis/redis_io.h"
#include "fairlead/registry/redis/redis_keeper.h"
#include "fairlead/registry/redis/redis_link.h"
#include "fairlead/registry/redis/redis_watches.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// Dubbo's layout in Redis. Redis has no sessions: one is begun here with the first connection and is over when no server
// could be reached for `session`, for by then what was registered has expired, or when the server that is used from now
// on has other data (another one, or one that was restarted). REQUIRES: executor.
class RedisBackend final : public RegistryBackend, private RedisLink::Observer {
 public:
  // `dial`: null for real connections; a test brings its own.
  RedisBackend(RedisOptions options, const RegistryContext& context, RedisDialer dial = nullptr);
  ~RedisBackend() override;

  void Start(absl::AnyInvocable<void(Session)> on_session) override;
  void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic, Done done) override;
  void Remove(std::string_view service, Category category, std::string_view url_text, Done done) override;
  void Read(std::string_view service, Category category, fairlead::Children once) override;
  void Watch(std::string_view service, Category category, fairlead::Children on_full_list) override;
  void Unwatch(std::string_view service, Category category) override;
  void WatchServices(Names on_names) override;
  void UnwatchServices() override;
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override;
  void UnwatchConfig(std::string_view group, std::string_view key) override;
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override;
  std::vector<std::string> Skipped() const override { return watches_->Skipped(); }
  void OnDescriptionChange(absl::AnyInvocable<void()> on_change) override {
    on_description_change_ = std::move(on_change);
  }
  absl::Status Refusal() const override;
  void Stop(Done done) override;

 private:
  enum class State : std::uint8_t { kNone, kUp, kSuspended, kOver };

  void OnUp(RedisLink& link) override;
  void OnDown(RedisLink& link) override;
  void OnNoConnection(RedisLink& link) override;
  void OnMessage(RedisLink& link, const std::string& channel, const std::string& payload) override;

  RedisLink* Best() const;
  void TellTrouble(const RedisLink& link);
  void SwitchTo(RedisLink& link);
  void Suspend();
  void EndSession();
  bool HasOurData(const RedisLink& link) const;
  void Tell(Session session);
  void BeatLater();
  RedisKeeper::Links Writable() const;
  void FinishStop(const absl::Status& status);
  void Post(absl::AnyInvocable<void()> task);
  // In a forked child nothing works, and nothing is sent on the parent's connections.
  absl::Status CheckProcess() const;
  template <class Answer>
  bool Refuses(Answer& answer);
  std::string ListKey(std::string_view service, Category category) const;
  RedisWatches::Told TellChildren(fairlead::Children children) const;

  const RedisOptions options_;
  const RegistryContext context_;
  const pid_t process_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false once stopped
  absl::AnyInvocable<void(Session)> on_session_;
  absl::AnyInvocable<void()> on_description_change_;
  absl::Status start_error_;

  std::unique_ptr<RedisIo> io_;
  RedisDialer dial_;
  std::vector<std::unique_ptr<RedisLink>> links_;
  std::unique_ptr<RedisKeeper> keeper_;
  std::unique_ptr<RedisWatches> watches_;

  RedisLink* current_ = nullptr;
  State state_ = State::kNone;
  bool refused_ = false;  // as was told last
  Clock::SteadyTime unheard_since_{};  // of any server, while suspended
  std::uint64_t generation_ = 0;
  std::map<const RedisLink*, std::string> runs_;  // of servers that have this session's data: their run ids
  Timer session_end_;
  Timer beat_;
  std::vector<Done> stopping_;
  bool stopped_ = false;
  Timer stop_limit_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_BACKEND_H_
