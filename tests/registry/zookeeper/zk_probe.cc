#include "fairlead/tests/registry/zookeeper/zk_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>

#include "fairlead/registry/zookeeper/zk_options.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

constexpr std::chrono::seconds kPatience{30};

class ServerEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override { server.reset(); }

  std::unique_ptr<ZookeeperServer> server;
};

ServerEnvironment* const environment =
    static_cast<ServerEnvironment*>(::testing::AddGlobalTestEnvironment(new ServerEnvironment));

}  // namespace

const ZookeeperServer& SharedServer() {
  if (environment->server == nullptr) {
    environment->server = std::make_unique<ZookeeperServer>();
    const absl::Status status = environment->server->Start();
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  return *environment->server;
}

ZkProbe::ZkProbe(const std::string& address, const std::string& parameters, const std::string& credentials,
                 bool start)
    : logger_(recorder_.sink(), RealClock()), executor_(MakeThreadExecutor("probe")) {
  const std::string at = credentials.empty() ? "" : credentials + "@";
  const absl::StatusOr<Url> url = Url::Parse("zookeeper://" + at + address + "?" + parameters, pool_);
  RegistryContext context{executor_, &RealClock(), &pool_, &logger_, 7};
  backend_ = std::make_unique<internal::ZkBackend>(*internal::ZkOptions::Parse(*url), context);
  if (start) Start();
}

ZkProbe::~ZkProbe() {
  if (!stopped_) {
    EXPECT_EQ(Stop(), absl::OkStatus());
  }
  std::promise<void> destroyed;
  executor_->Post([&] {
    backend_.reset();
    destroyed.set_value();
  });
  destroyed.get_future().wait();
}

void ZkProbe::Run(const std::function<void(RegistryBackend&)>& work) {
  std::promise<void> done;
  executor_->Post([&] {
    in_method_ = true;
    work(*backend_);
    in_method_ = false;
    done.set_value();
  });
  done.get_future().wait();
}

void ZkProbe::CheckPlace() {
  EXPECT_TRUE(executor_->RunsHere());
  EXPECT_FALSE(in_method_);
  EXPECT_FALSE(stopped_);
}

template <class Record>
void ZkProbe::Recorded(const Record& record) {
  CheckPlace();
  const std::lock_guard lock(mutex_);
  record();
  changed_.notify_all();
}

void ZkProbe::Start() {
  Run([this](RegistryBackend& backend) {
    backend.Start([this](Session session) { Recorded([&] { sessions_.push_back(session); }); });
  });
}

// Gives `ask` a callback for the answer and waits for it. One that never comes fails the test.
template <class Answer>
Answer ZkProbe::Ask(const std::function<void(RegistryBackend&, absl::AnyInvocable<void(Answer)>)>& ask,
                    Answer no_answer) {
  const auto result = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = result->get_future();
  Run([&](RegistryBackend& backend) {
    ask(backend, [this, result](Answer answer) {
      CheckPlace();
      result->set_value(std::move(answer));
    });
  });
  if (future.wait_for(kPatience) == std::future_status::ready) return future.get();
  ADD_FAILURE() << "no answer";
  return no_answer;
}

absl::Status ZkProbe::Stop() {
  const absl::Status status = Ask<absl::Status>(
      [this](RegistryBackend& backend, Done done) {
        backend.Stop([this, done = std::move(done)](absl::Status result) mutable {
          done(std::move(result));
          stopped_ = true;
        });
      },
      absl::UnknownError("Stop did not answer"));
  Run([](RegistryBackend&) {});  // until stopped_ is set
  return status;
}

absl::Status ZkProbe::Put(std::string_view service, Category category, std::string_view url, bool dynamic) {
  return Ask<absl::Status>([&](RegistryBackend& backend,
                               Done done) { backend.Put(service, category, url, dynamic, std::move(done)); },
                           absl::UnknownError("Put did not answer"));
}

absl::Status ZkProbe::Remove(std::string_view service, Category category, std::string_view url) {
  return Ask<absl::Status>(
      [&](RegistryBackend& backend, Done done) { backend.Remove(service, category, url, std::move(done)); },
      absl::UnknownError("Remove did not answer"));
}

ChildrenAnswer ZkProbe::Read(std::string_view service, Category category) {
  return Ask<ChildrenAnswer>(
      [&](RegistryBackend& backend, Children done) { backend.Read(service, category, std::move(done)); }, {});
}

void ZkProbe::Watch(const std::string& service, Category category) {
  Run([&](RegistryBackend& backend) {
    backend.Watch(service, category, [this, key = Key(service, category)](ChildrenAnswer answer) {
      for (std::string& child : answer.children) child = PercentDecode(child).value();
      std::sort(answer.children.begin(), answer.children.end());
      Recorded([&] { lists_[key].push_back(std::move(answer)); });
    });
  });
}

void ZkProbe::Unwatch(const std::string& service, Category category) {
  Run([&](RegistryBackend& backend) { backend.Unwatch(service, category); });
}

void ZkProbe::WatchServices() {
  Run([&](RegistryBackend& backend) {
    backend.WatchServices([this](absl::StatusOr<List> names) {
      if (names.ok()) std::sort(names->begin(), names->end());
      Recorded(
          [&] { services_.push_back(names.ok() ? *std::move(names) : List{names.status().ToString()}); });
    });
  });
}

void ZkProbe::WatchConfig(const std::string& group, const std::string& key) {
  Run([&](RegistryBackend& backend) {
    backend.WatchConfig(
        group, key, [this, path = std::pair(group, key)](absl::StatusOr<std::optional<std::string>> value) {
          Recorded([&] { configs_[path].push_back(std::move(value)); });
        });
  });
}

std::vector<ChildrenAnswer> ZkProbe::Told(const std::string& service, Category category) {
  const std::lock_guard lock(mutex_);
  return lists_[Key(service, category)];
}

std::vector<ZkProbe::List> ZkProbe::ToldServices() {
  const std::lock_guard lock(mutex_);
  return services_;
}

std::vector<absl::StatusOr<std::optional<std::string>>> ZkProbe::ToldConfig(const std::string& group,
                                                                            const std::string& key) {
  const std::lock_guard lock(mutex_);
  return configs_[{group, key}];
}

std::vector<ZkProbe::Session> ZkProbe::sessions() {
  const std::lock_guard lock(mutex_);
  return sessions_;
}

bool ZkProbe::Await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::unique_lock lock(mutex_);
  // In slices: what the condition looks at may change without a callback.
  while (!changed_.wait_for(lock, std::chrono::milliseconds(20), condition)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

bool ZkProbe::AwaitList(const std::string& service, Category category, const List& expected) {
  return Await([&] {
    const auto& told = lists_[Key(service, category)];
    // A path that never had a child is "missing".
    return !told.empty() && told.back().status.ok() && (expected.empty() || !told.back().missing) &&
           told.back().children == expected;
  });
}

bool ZkProbe::AwaitFailure(const std::string& service, Category category, absl::StatusCode code) {
  return Await([&] {
    const auto& told = lists_[Key(service, category)];
    return !told.empty() && told.back().status.code() == code;
  });
}

bool ZkProbe::AwaitMissing(const std::string& service, Category category) {
  return Await([&] {
    const auto& told = lists_[Key(service, category)];
    return !told.empty() && told.back().missing;
  });
}

bool ZkProbe::AwaitServices(const List& expected) {
  return Await([&] { return !services_.empty() && services_.back() == expected; });
}

bool ZkProbe::AwaitConfig(const std::string& group, const std::string& key,
                          const std::optional<std::string>& expected) {
  return Await([&] {
    const auto& told = configs_[{group, key}];
    return !told.empty() && told.back().ok() && *told.back() == expected;
  });
}

bool ZkProbe::AwaitSession(Session last) {
  return Await([&] { return !sessions_.empty() && sessions_.back() == last; });
}

ZkClientId ZkProbe::session_id() {
  ZkClientId id;
  Run([&](RegistryBackend&) {
    id.session = backend_->session().id().id;
    id.password = backend_->session().id().password;
  });
  return id;
}

std::string ZkProbe::Describe() {
  std::string text;
  Run([&](RegistryBackend& backend) { text = backend.Describe(); });
  return text;
}

}  // namespace fairlead
