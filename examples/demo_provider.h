#ifndef FAIRLEAD_EXAMPLES_DEMO_PROVIDER_H_
#define FAIRLEAD_EXAMPLES_DEMO_PROVIDER_H_

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "fairlead/cluster/runtime.h"
#include "fairlead/examples/toy_rpc.h"

namespace demo {

inline constexpr char kRegistry[] = "memory://demo";
inline constexpr char kService[] = "com.acme.Orders";

struct ProviderSpec {
  std::string name, region;
  int weight = 100;
  std::chrono::milliseconds work{1};
};

// What `provider` is as a program, as an object: a TCP server and its place in the registry. Answers with its name.
class Provider {
 public:
  static absl::StatusOr<std::unique_ptr<Provider>> Start(fairlead::Runtime& runtime, const ProviderSpec& spec) {
    auto server = toy::TcpServer::Start({.work = spec.work},
                                        [name = spec.name](const toy::TcpServer::Request&) { return name; });
    if (!server.ok()) return server.status();
    // Warm-up would give a young provider a small share for ten minutes; the demo shows the weights themselves.
    std::string url = "dubbo://127.0.0.1:" + std::to_string((*server)->port()) + "/" + kService +
                      "?region=" + spec.region + "&weight=" + std::to_string(spec.weight) + "&warmup=0";
    auto registration = runtime.Register(kRegistry, url);
    if (!registration.ok()) return registration.status();
    return std::unique_ptr<Provider>(new Provider(std::move(url), *std::move(server), *std::move(registration)));
  }

  // In this order no call is lost: out of the registry, time for consumers to hear of it, answers to what is in
  // flight, and only then the end of the connections.
  void Leave(std::chrono::milliseconds grace) {
    registration_.Unregister();
    std::this_thread::sleep_for(grace);
    server_->Stop(std::chrono::seconds(2));
  }

  const std::string& url() const { return url_; }
  std::uint16_t port() const { return server_->port(); }

 private:
  Provider(std::string url, std::unique_ptr<toy::TcpServer> server, fairlead::Registration registration)
      : url_(std::move(url)), server_(std::move(server)), registration_(std::move(registration)) {}

  const std::string url_;
  const std::unique_ptr<toy::TcpServer> server_;
  fairlead::Registration registration_;
};

}  // namespace demo

#endif  // FAIRLEAD_EXAMPLES_DEMO_PROVIDER_H_
