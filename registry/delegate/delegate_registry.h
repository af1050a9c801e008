#ifndef FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_REGISTRY_H_
#define FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_REGISTRY_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "fairlead/registry/delegate/registry_service.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Makes the service behind a registry's url, once for each registry. Called on the executor; returns at once, connected or
// not.
using RegistryServiceMaker = std::function<absl::StatusOr<std::shared_ptr<RegistryService>>(const Url& registry)>;

// Registries that are services of the host's own RPC, under a scheme of the host's choice; in Dubbo 2.7 it is `dubbo`.
//
//   class MyRegistry : public fairlead::RegistryService {
//    public:
//     explicit MyRegistry(std::shared_ptr<MyChannel> channel) : channel_(std::move(channel)) {}
//     void Register(const std::string& url, Answer done) override { channel_->Call("register", url, Reply(std::move(done))); }
//     void Unregister(const std::string& url, Answer done) override { channel_->Call("unregister", url, Reply(std::move(done))); }
//     void Subscribe(const std::string& url, Notify notify, Answer done) override {
//       channel_->OnCallback(url, std::move(notify));              // what the server calls back with, by url
//       channel_->Call("subscribe", url, Reply(std::move(done)));
//     }
//     void Unsubscribe(const std::string& url, Answer done) override {
//       channel_->OnCallback(url, nullptr);
//       channel_->Call("unsubscribe", url, Reply(std::move(done)));
//     }
//     void Lookup(const std::string& url, Found found) override { channel_->Call("lookup", url, Lists(std::move(found))); }
//     bool IsAvailable() const override { return channel_->connected(); }
//     void OnLinkLost(std::function<void()> lost) override { channel_->OnDisconnect(std::move(lost)); }
//    ...
//   };
//   auto factory = fairlead::MakeDelegateRegistryFactory("dubbo", [](const fairlead::Url& registry) {
//     return std::make_shared<MyRegistry>(MyChannel::To(registry.Address())); });
//   auto extensions = fairlead::DefaultExtensions().ToBuilder().AddRegistry(std::move(factory)).Build();
//   auto runtime = fairlead::Runtime::Create({.extensions = *extensions});
//   auto orders = (*runtime)->Refer("dubbo://10.0.0.1:9090", "consumer://10.0.0.7/com.acme.Orders", protocol);
//
// Parameters of the registry's url:
//
//   reconnect.period    ms between two looks whether the service is there; default 3000
//   timeout             ms that an answer may take, and that check=true waits for a first list; default 5000
//   delay-notification  ms between two notifications of a changing list of providers or consumers. Without it the wait grows
//                       from 100 ms to 1 s while changes keep coming; rules are told at once
//
// A connection that was lost is the end of the session: the service forgets what a client registered that is gone. The last
// lists stay in use. With the next connection everything is registered and subscribed anew; before, nothing is tried, so that
// nothing is put off by looking. A call that failed while the connection stood is tried again with back-off, on its own.
// Subscribing that was confirmed but brought no list within a quarter of `timeout` looks the list up.
//
// There are no documents of rules; rules and overrides that are registered as urls work.
std::unique_ptr<RegistryFactory> MakeDelegateRegistryFactory(std::string scheme, RegistryServiceMaker make);

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_DELEGATE_DELEGATE_REGISTRY_H_
