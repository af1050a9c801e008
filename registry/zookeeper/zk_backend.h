#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_BACKEND_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_BACKEND_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/zookeeper/zk_session.h"
#include "fairlead/registry/zookeeper/zk_watches.h"
#include "fairlead/registry/zookeeper/zk_writer.h"

namespace fairlead::internal {

// Dubbo's layout on a ZkSession. REQUIRES: executor.
class ZkBackend final : public RegistryBackend, private ZkSession::Observer {
 public:
  ZkBackend(ZkOptions options, const RegistryContext& context);
  ~ZkBackend() override;

  void Start(absl::AnyInvocable<void(Session)> on_session) override;
  void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
           Done done) override;
  void Remove(std::string_view service, Category category, std::string_view url_text, Done done) override;
  void Read(std::string_view service, Category category, fairlead::Children once) override;
  void Watch(std::string_view service, Category category, fairlead::Children on_full_list) override;
  void Unwatch(std::string_view service, Category category) override;
  void WatchServices(Names on_names) override;
  void UnwatchServices() override;
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override;
  void UnwatchConfig(std::string_view group, std::string_view key) override;
  bool ChildrenAreEncoded() const override { return true; }
  void ReadMapping(std::string_view service,
                   absl::AnyInvocable<void(absl::StatusOr<std::string>)> once) override;
  std::string Describe() const override;
  void Stop(Done done) override;

  const ZkSession& session() const { return *session_; }

 private:
  void OnSession(Session state, bool watches_lost) override;
  void OnChange(ZkChange change, const std::string& path) override;

  std::string ListPath(std::string_view service, Category category) const;
  std::string NodePath(std::string_view service, Category category, std::string_view url_text) const;
  ZkWatches::Told TellChildren(fairlead::Children children) const;
  template <class Answer>
  bool RefusesInChild(Answer& answer);

  const std::shared_ptr<ZkSession> session_;
  ZkWriter writer_;
  ZkWatches watches_;
  absl::AnyInvocable<void(Session)> on_session_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_BACKEND_H_
