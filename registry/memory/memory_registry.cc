#include "fairlead/registry/memory/memory_registry.h"

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/registry/memory/memory_client.h"
#include "fairlead/registry/registry_options.h"

namespace fairlead {
namespace {

class MemoryBackend final : public RegistryBackend {
 public:
  MemoryBackend(std::string name, std::shared_ptr<internal::MemoryClient> client)
      : name_(std::move(name)), client_(std::move(client)) {}
  ~MemoryBackend() override { client_->Disconnect(); }

  void Start(absl::AnyInvocable<void(Session)> on_session) override { client_->Start(std::move(on_session)); }
  void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
           Done done) override {
    client_->Put({std::string(service), category}, std::string(url_text), dynamic, std::move(done));
  }
  void Remove(std::string_view service, Category category, std::string_view url_text, Done done) override {
    client_->Remove({std::string(service), category}, std::string(url_text), std::move(done));
  }
  void Read(std::string_view service, Category category, Children once) override {
    client_->Read({std::string(service), category}, std::move(once));
  }
  void Watch(std::string_view service, Category category, Children on_full_list) override {
    client_->Watch({std::string(service), category}, std::move(on_full_list));
  }
  void Unwatch(std::string_view service, Category category) override {
    client_->Unwatch({std::string(service), category});
  }
  void WatchServices(Names on_names) override { client_->WatchServices(std::move(on_names)); }
  void UnwatchServices() override { client_->UnwatchServices(); }
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override {
    client_->WatchConfig(std::string(group), std::string(key), std::move(on_value));
  }
  void UnwatchConfig(std::string_view group, std::string_view key) override {
    client_->UnwatchConfig(std::string(group), std::string(key));
  }
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override {
    return absl::StrCat("memory store ", name_,
                        client_->connected() ? ", session connected" : ", no session");
  }
  void Stop(Done done) override { client_->Stop(std::move(done)); }

 private:
  const std::string name_;
  const std::shared_ptr<internal::MemoryClient> client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RegistryBackend>> MemoryRegistryFactory::Create(
    const Url& registry, const RegistryContext& context) {
  if (registry.host().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(registry.ToString(), ": expected memory://name"));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryOptions options, RegistryOptions::Parse(registry));
  const bool window_given = !registry.Param("delay-notification").empty();
  const BurstWindow::Limits burst =
      window_given ? options.burst : BurstWindow::Limits::Fixed(std::chrono::milliseconds(0));
  std::string name(registry.host());
  auto client = std::make_shared<internal::MemoryClient>(store(name, options.group), context, burst);
  return std::make_unique<MemoryBackend>(std::move(name), std::move(client));
}

std::shared_ptr<MemoryStore> MemoryRegistryFactory::store(std::string_view name, std::string_view group) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<MemoryStore>& place = stores_[{std::string(name), std::string(group)}];
  if (place == nullptr) place = std::make_shared<MemoryStore>();
  return place;
}

std::shared_ptr<MemoryRegistryFactory> MakeMemoryRegistryFactory() {
  return std::make_shared<MemoryRegistryFactory>();
}

}  // namespace fairlead
