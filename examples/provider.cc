// A provider in a process of its own: a TCP server that announces itself in a registry and leaves it without losing
// a call. Start several, then a `consumer`.
#include <csignal>
#include <cstdio>
#include <future>
#include <thread>

#include "fairlead/examples/args.h"
#include "fairlead/examples/toy_rpc.h"
#include "fairlead/fairlead.h"

namespace {

using std::chrono::milliseconds;

constexpr std::string_view kUsage = R"(usage: provider REGISTRY [OPTION]...

Registers itself and answers calls over TCP until SIGINT or SIGTERM.

  REGISTRY          for example zookeeper://127.0.0.1:2181
  --service NAME    interface, default com.acme.Orders
  --host H          numeric address to listen on and to announce, default 127.0.0.1
  --port N          default 0: any free one
  --region R, --weight W, --version V, --group G, --application A
                    parameters of its url
  --param K=V       any other parameter, as it shall stand in the url; may be repeated
  --work-ms N       how long it thinks about each answer, default 0
  --grace-ms N      how long it serves on after it unregistered, default 500

Exit code 0 after a signal, 1 when it cannot listen or register, 2 for wrong arguments.
)";

struct Settings {
  std::string registry, service, parameters, region;
  toy::TcpServerOptions server;
  milliseconds grace{0};
};

Settings Read(int argc, char** argv) {
  toy::Args args(argc, argv, kUsage);
  Settings settings;
  settings.service = args.Option("--service", "com.acme.Orders");
  settings.server.host = args.Option("--host", "127.0.0.1");
  settings.server.port = static_cast<std::uint16_t>(args.Number("--port", 0, 65535).value_or(0));
  settings.server.work = milliseconds(args.Number("--work-ms", 0, 60000).value_or(0));
  settings.grace = milliseconds(args.Number("--grace-ms", 0, 60000).value_or(500));
  for (const std::string name : {"region", "weight", "version", "group", "application"}) {
    const auto value = args.Option("--" + name);
    if (value) settings.parameters += "&" + name + "=" + *value;
    if (value && name == "region") settings.region = *value;
  }
  while (const auto parameter = args.Option("--param")) {
    if (parameter->find('=') == std::string::npos) args.Fail("--param " + *parameter + ": expected K=V");
    settings.parameters += "&" + *parameter;
  }
  settings.registry = args.Positional("REGISTRY");
  args.Finish();
  return settings;
}

absl::Status Serve(const Settings& settings, const sigset_t& ending) {
  auto server = toy::TcpServer::Start(settings.server, [&settings](const toy::TcpServer::Request& request) {
    return std::string(request.server) + (settings.region.empty() ? "" : " " + settings.region);
  });
  if (!server.ok()) return server.status();
  auto runtime = fairlead::Runtime::Create({.extensions = fairlead::DefaultExtensions()});
  if (!runtime.ok()) return runtime.status();

  const std::string self = "dubbo://" + settings.server.host + ":" + std::to_string((*server)->port()) + "/" +
                           settings.service + "?side=provider" + settings.parameters;
  auto registration = (*runtime)->Register(settings.registry, self);
  if (!registration.ok()) return registration.status();
  std::printf("registered %s\n", self.c_str());
  std::fflush(stdout);

  int signal = 0;
  sigwait(&ending, &signal);

  // Consumers first stop choosing this provider; what they sent until then is still answered.
  registration->Unregister();
  std::this_thread::sleep_for(settings.grace);
  (*server)->Stop(std::chrono::seconds(5));
  std::promise<void> over;
  (*runtime)->Shutdown(std::chrono::seconds(1), [&over](const absl::Status&) { over.set_value(); });
  over.get_future().wait();
  std::printf("unregistered %s\n", self.c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = Read(argc, argv);
  // Blocked before the first thread exists: all inherit it, and only sigwait sees the signals.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  const absl::Status status = Serve(settings, ending);
  if (!status.ok()) std::fprintf(stderr, "provider: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
