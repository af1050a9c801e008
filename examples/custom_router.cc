// A router of the host's own: calls stay in the data centre of the caller while it has a provider. Its factory is
// registered under a name; a rule url in the registry that names it puts it into the chain of every consumer of the
// service, and the consumer's parameter `router` into that of one consumer. The registry is the one in memory.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/examples/toy_rpc.h"
#include "fairlead/fairlead.h"
#include "fairlead/routing/filter_router.h"

namespace {

using fairlead::OnEmpty;
using fairlead::Reads;
using fairlead::RouteCase;

constexpr char kRegistry[] = "memory://custom-router";
constexpr char kName[] = "same-dc";

class SameDataCentre final : public fairlead::FilterRouter {
 public:
  explicit SameDataCentre(std::string centre) : centre_(std::move(centre)) {}
  std::string_view name() const override { return kName; }
  int order() const override { return 160; }                    // behind the rules of consoles
  Reads reads() const override { return Reads::kMethod; }       // asked once a method, not at each call
  std::uint32_t cases() const override { return 2; }
  RouteCase Classify(const fairlead::RouteCall& call) const override { return call.method == "replicate" ? 0 : 1; }
  bool Filter(RouteCase, const fairlead::Provider& provider) const override {
    return provider.original.Param("dc") == centre_;
  }
  OnEmpty on_empty() const override { return OnEmpty::kFallBack; }
  std::string Describe(RouteCase which) const override {
    return which == 0 ? "replicate goes everywhere" : "stays in " + centre_;
  }

 private:
  const std::string centre_;
};

class SameDataCentreFactory final : public fairlead::RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const fairlead::Router>> Create(const fairlead::Url& rule, fairlead::Compat) override {
    const std::string centre(rule.Param("centre"));
    if (centre.empty()) return absl::InvalidArgumentError("centre is missing; write for example centre=hangzhou");
    return std::make_shared<const SameDataCentre>(centre);
  }
};

std::string Centres(fairlead::Directory& orders, std::string_view method) {
  std::string text;
  for (const fairlead::Url& url : orders.List({.method = orders.Method(method)})) {
    text += (text.empty() ? "" : " ") + std::string(url.Param("dc"));
  }
  return text;
}

// Until the directory obeys, which takes a moment: nobody waits for it in a program that only picks.
std::string CentresOnce(fairlead::Directory& orders, std::string_view method, std::string_view expected) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (Centres(orders, method) != expected && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Centres(orders, method);
}

absl::Status Run() {
  const auto extensions =
      fairlead::DefaultExtensions().ToBuilder().AddRouter(kName, std::make_shared<SameDataCentreFactory>()).Build();
  if (!extensions.ok()) return extensions.status();
  auto runtime = fairlead::Runtime::Create({.extensions = *extensions});
  if (!runtime.ok()) return runtime.status();

  std::vector<std::unique_ptr<toy::TcpServer>> servers;
  std::vector<fairlead::Registration> registrations;
  const auto announce = [&](const std::string& url) {
    auto registration = (*runtime)->Register(kRegistry, url);
    if (registration.ok()) registrations.push_back(*std::move(registration));
    return registration.status();
  };
  for (const std::string centre : {"hangzhou", "shanghai"}) {
    auto server = toy::TcpServer::Start({}, [centre](const toy::TcpServer::Request&) { return centre; });
    if (!server.ok()) return server.status();
    const std::string address = "127.0.0.1:" + std::to_string((*server)->port());
    if (auto status = announce("dubbo://" + address + "/com.acme.Orders?dc=" + centre); !status.ok()) return status;
    servers.push_back(*std::move(server));
  }
  const std::string consumer = "consumer://0.0.0.0/com.acme.Orders";
  auto orders = (*runtime)->Refer(kRegistry, consumer, std::make_shared<toy::TcpProtocol>());
  if (!orders.ok()) return orders.status();
  std::printf("no rule:           get -> %s\n", CentresOnce(**orders, "get", "hangzhou shanghai").c_str());

  // Everybody's: a rule in the registry, as an operator's console would store it.
  if (auto status = announce("routers://0.0.0.0/com.acme.Orders?category=routers&dynamic=false&name=r1&router=" +
                             std::string(kName) + "&centre=hangzhou");
      !status.ok()) {
    return status;
  }
  std::printf("rule in registry:  get -> %s\n", CentresOnce(**orders, "get", "hangzhou").c_str());
  std::printf("                   replicate -> %s\n", Centres(**orders, "replicate").c_str());
  for (const auto& step : (*orders)->Explain({.method = (*orders)->Method("get")}).routers) {
    std::printf("                   %s: %s, %zu -> %zu\n", step.router.c_str(), step.what.c_str(), step.in, step.out);
  }
  registrations.pop_back();
  std::printf("rule withdrawn:    get -> %s\n", CentresOnce(**orders, "get", "hangzhou shanghai").c_str());

  // One consumer's own: its url names the router, no rule is needed.
  auto ours = (*runtime)->Refer(kRegistry, consumer + "?router=" + kName + "&centre=shanghai", std::make_shared<toy::TcpProtocol>());
  if (!ours.ok()) return ours.status();
  std::printf("consumer's router: get -> %s\n", CentresOnce(**ours, "get", "shanghai").c_str());
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "custom_router: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
