// Fairlead in an RPC client, all of it: a runtime, a directory of one service, a pick, a call. The registry is the
// one in memory and two providers run in this process, so that the program needs nothing else; with
// `zookeeper://127.0.0.1:2181` for kRegistry the rest stays as it is.
#include <cstdio>

#include "fairlead/examples/toy_rpc.h"
#include "fairlead/fairlead.h"

namespace {

constexpr char kRegistry[] = "memory://quickstart";

absl::Status CallOrders(fairlead::Runtime& runtime) {
  auto orders = runtime.Refer(kRegistry, "consumer://0.0.0.0/com.acme.Orders?version=1.0.0&loadbalance=roundrobin",
                              std::make_shared<toy::TcpProtocol>());  // your connections, one per provider
  if (!orders.ok()) return orders.status();
  const fairlead::MethodId get = (*orders)->Method("get");  // once per stub method
  for (int call = 1; call <= 4; ++call) {
    absl::StatusOr<fairlead::Lease> lease = (*orders)->Select({.method = get});
    if (!lease.ok()) return lease.status();  // says which rule left nobody
    auto answer = lease->As<toy::TcpChannel>().Call("get", "42");
    lease->End(answer.status());
    if (!answer.ok()) return answer.status();
    std::printf("call %d: %s\n", call, answer->c_str());
  }
  return absl::OkStatus();
}

absl::Status Run() {
  auto runtime = fairlead::Runtime::Create({.extensions = fairlead::DefaultExtensions()});  // own thread
  if (!runtime.ok()) return runtime.status();

  std::vector<std::unique_ptr<toy::TcpServer>> servers;
  std::vector<fairlead::Registration> registrations;  // each unregisters when destroyed
  for (const std::string name : {"first", "second"}) {
    auto server = toy::TcpServer::Start({}, [name](const toy::TcpServer::Request& request) {
      return name + " provider answers " + std::string(request.method) + "(" + std::string(request.argument) + ")";
    });
    if (!server.ok()) return server.status();
    auto registration = (*runtime)->Register(
        kRegistry, "dubbo://127.0.0.1:" + std::to_string((*server)->port()) + "/com.acme.Orders?version=1.0.0");
    if (!registration.ok()) return registration.status();
    servers.push_back(*std::move(server));
    registrations.push_back(*std::move(registration));
  }
  return CallOrders(**runtime);
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "quickstart: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
