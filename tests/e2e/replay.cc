#include "replay.h"

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/url/percent.h"
#include "list_answer.h"

namespace fairlead::e2e {
namespace {

using conformance::Json;

constexpr char kBarrier[] = "org.fairlead.Barrier";
constexpr int kRounds = 3;
// Enough to see what one call in fifty gets.
constexpr std::size_t kDraws = 400;

// A transport without a network. Knows the protocols that the recorded consumers knew.
class UrlProtocol final : public Protocol {
 public:
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability) override {
    return std::make_unique<UrlInvoker>(effective);
  }
  bool Speaks(std::string_view protocol) const override {
    static const std::set<std::string_view> known = {"dubbo", "tri", "injvm", "mock", "registry"};
    return known.contains(protocol);
  }

 private:
  class UrlInvoker final : public Invoker {
   public:
    explicit UrlInvoker(Url url) : url_(std::move(url)) {}
    const Url& url() const override { return url_; }
    bool IsAvailable() const noexcept override { return true; }
    void Updated(const Url& effective) override { url_ = effective; }
    void Destroy() override {}

   private:
    Url url_;
  };
};

// A rule in the form of a url, which Dubbo 3.3 never honours and Fairlead does, as Dubbo 2 did.
bool IsUrlRule(const std::string& path) {
  if (path.find("/routers/") == std::string::npos) return false;
  const absl::StatusOr<std::string> url = PercentDecode(path.substr(path.rfind('/') + 1));
  return url.ok() && (url->starts_with("route:") || url->starts_with("condition:"));
}

class Scenario {
 public:
  Scenario(const std::string& server, const std::string& tree, const Json& scenario)
      : server_(server), root_("/" + tree), admin_(server), runtime_(MakeRuntime()) {
    registry_ = absl::StrCat("zookeeper://", server, "/org.apache.dubbo.registry.RegistryService?application=",
                             scenario.at("application").get<std::string>(), "&file-cache=false&timeout=30000&delay-notification=0&group=",
                             tree, "/dubbo&dubbo.config-center.root-path=", root_,
                             "/dubbo/config&enable-empty-protection=false&register=false");
    for (const Json& consumer : scenario.at("consumers")) consumers_[consumer.at("id").get<std::string>()].about = consumer;
    barrier_ = Refer(absl::StrCat("consumer://10.9.8.7/", kBarrier, "?application=barrier"));
  }
  ~Scenario() {
    consumers_.clear();
    barrier_.reset();
    runtime_.reset();
    sessions_.clear();
  }

  std::vector<ListResult> Run(const Json& steps) {
    std::vector<ListResult> results;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Json& step = steps[i];
      const std::string op = step.at("op").get<std::string>();
      if (op == "subscribe") {
        Subscribe(consumers_.at(step.at("consumer").get<std::string>()));
      } else if (op == "list") {
        const Consumer& consumer = consumers_.at(step.at("consumer").get<std::string>());
        Settle(kRounds);
        const auto answer = [&] {
          return AnswerOf(*consumer.directory, consumer.about.at("service").get<std::string>(), step.at("invocation"));
        };
        ListResult result{i, answer(), {}};
        if (step.value("random", false)) {
          result.draws = {result.got};
          while (result.draws.size() < kDraws) {
            (void)consumer.directory->Select({});  // looking at a list draws the same again until somebody picks
            result.draws.push_back(answer());
          }
        }
        results.push_back(std::move(result));
      } else if (op == "close_session") {
        CloseSession(step.at("session").get<std::string>());
      } else {
        Change(op, step);
      }
      // Each change is seen by itself: what a broken rule leaves in force hangs on the one before it.
      if (op != "list") Settle(1);
    }
    return results;
  }

 private:
  struct Consumer {
    Json about;
    std::shared_ptr<Directory> directory;
  };

  static std::unique_ptr<Runtime> MakeRuntime() {
    auto runtime = Runtime::Create({.extensions = DefaultExtensions(), .seed = 1, .log = nullptr, .local_address = "10.9.8.7"});
    if (!runtime.ok()) throw std::runtime_error(runtime.status().ToString());
    return *std::move(runtime);
  }

  std::shared_ptr<Directory> Refer(const std::string& consumer) {
    auto directory = runtime_->Refer(registry_, consumer, std::make_shared<UrlProtocol>());
    if (!directory.ok()) throw std::runtime_error(directory.status().ToString());
    return *std::move(directory);
  }

  void Subscribe(Consumer& consumer) {
    const std::string service = consumer.about.at("service").get<std::string>();
    consumer.directory = Refer(absl::StrCat(
        "consumer://", consumer.about.at("host").get<std::string>(), "/", service, "?application=",
        consumer.about.at("application").get<std::string>(), "&check=false&dubbo=2.0.2&interface=", service,
        "&pid=1001&release=3.3.2&side=consumer&sticky=false&timestamp=1700000000000", consumer.about.at("params").get<std::string>()));
    auto ready = std::make_shared<std::promise<absl::Status>>();
    auto future = ready->get_future();
    consumer.directory->AwaitReady(std::chrono::seconds(30), [ready](absl::Status status) { ready->set_value(std::move(status)); });
    if (const absl::Status status = future.get(); !status.ok()) throw std::runtime_error(status.ToString());
  }

  void Change(const std::string& op, const Json& step) {
    const std::string path = step.at("path").get<std::string>();
    if (IsUrlRule(path)) return;
    const std::string place = root_ + path;
    if (op == "delete") return admin_.Delete(place);
    const std::string data = step.value("data", "");
    if (op == "set") return admin_.Set(place, data);
    if (op != "create") throw std::runtime_error("step '" + op + "' is not known");
    if (!step.value("ephemeral", false)) return admin_.Create(place, data);
    Session& session = sessions_[step.value("session", "")];
    if (session.client == nullptr) session.client = std::make_unique<ZkClient>(server_);
    session.client->Create(place, data, true);
    session.nodes.insert(place);
  }

  void CloseSession(const std::string& name) {
    const auto at = sessions_.find(name);
    if (at == sessions_.end()) return;
    const std::set<std::string> nodes = std::move(at->second.nodes);
    sessions_.erase(at);
    for (const std::string& node : nodes) {
      if (!Eventually([&] { return !admin_.Exists(node); })) throw std::runtime_error(node + " outlives its session");
    }
  }

  void Settle(int rounds) {
    const std::string path = absl::StrCat(root_, "/dubbo/config/dubbo/", kBarrier, "::.configurators");
    for (int round = 0; round < rounds; ++round) {
      const std::string number = std::to_string(++settled_);
      admin_.Create(path, absl::StrCat("configVersion: v3.0\nscope: service\nkey: ", kBarrier,
                                       "\nconfigs:\n- side: consumer\n  parameters: {timeout: ", number, "}\n"));
      if (!Eventually([&] { return barrier_->consumer().Param("timeout") == number; })) {
        throw std::runtime_error("a change did not arrive within 30 s: " + barrier_->Explain({}).registry);
      }
    }
  }

  struct Session {
    std::unique_ptr<ZkClient> client;
    std::set<std::string> nodes;
  };

  const std::string server_, root_;
  std::string registry_;
  ZkClient admin_;
  std::map<std::string, Session> sessions_;
  std::unique_ptr<Runtime> runtime_;
  std::shared_ptr<Directory> barrier_;
  std::map<std::string, Consumer> consumers_;
  int settled_ = 0;
};

}  // namespace

std::vector<ListResult> Replay(const std::string& server, const std::string& tree, const Json& scenario) {
  return Scenario(server, tree, scenario).Run(scenario.at("steps"));
}

}  // namespace fairlead::e2e
