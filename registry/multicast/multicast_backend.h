#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_BACKEND_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_BACKEND_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/backoff.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/multicast/multicast_announcer.h"
#include "fairlead/registry/multicast/multicast_link.h"
#include "fairlead/registry/multicast/multicast_lists.h"
#include "fairlead/registry/multicast/multicast_options.h"
#include "fairlead/registry/multicast/multicast_voice.h"
#include "fairlead/registry/no_documents.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// A multicast group as a registry. One session that lasts as long as the backend, as there is nobody who could forget what
// was registered; while this host cannot send or receive it is suspended.
class MulticastBackend final : public RegistryBackend, private MulticastLink::Events, private MulticastVoice {
 public:
  // `open`: how a link is made; a test brings its own.
  MulticastBackend(MulticastOptions options, const RegistryContext& context, MulticastOpener open);
  ~MulticastBackend() override;

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
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override;
  void OnDescriptionChange(absl::AnyInvocable<void()> on_change) override {
    on_description_change_ = std::move(on_change);
  }
  void Stop(Done done) override;

 private:
  void OnDatagrams(std::vector<Datagram> datagrams, std::size_t lost) override;
  void OnLost(absl::Status why) override;
  absl::Status Say(MulticastVerb verb, std::string_view url) override;
  absl::Status SayTo(const std::string& host, MulticastVerb verb, std::string_view url) override;
  void Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) override;
  std::string local_host() const override;

  absl::Status CheckProcess() const;
  // A task of its own that does nothing once the backend is stopped or gone.
  void Post(absl::AnyInvocable<void()> task);
  template <class Answer>
  bool Refuses(Answer& answer);
  void Open();
  void OpenLater();
  void CloseLink(const absl::Status& why);
  absl::Status Sent(absl::Status status);
  void OnDatagram(const Datagram& datagram);
  void Skip(const Datagram& datagram, std::string_view why);

  const MulticastOptions options_;
  const RegistryContext context_;
  const MulticastOpener open_;
  const pid_t process_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false once stopped
  absl::AnyInvocable<void(Session)> on_session_;
  absl::AnyInvocable<void()> on_description_change_;
  Random random_;
  Backoff backoff_;
  MulticastAnnouncer announcer_;
  MulticastLists lists_;
  std::unique_ptr<MulticastLink> link_;  // gone before what it calls
  absl::Status trouble_;                 // why there is no link
  bool connected_once_ = false;
  bool closing_ = false;
  Timer open_again_;
  NoDocuments documents_;
  std::uint64_t skipped_ = 0;  // datagrams that are no messages
  std::uint64_t lost_ = 0;     // datagrams that came too fast
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_BACKEND_H_
