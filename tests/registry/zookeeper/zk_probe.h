#ifndef FAIRLEAD_TESTS_REGISTRY_ZOOKEEPER_ZK_PROBE_H_
#define FAIRLEAD_TESTS_REGISTRY_ZOOKEEPER_ZK_PROBE_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/base/asio_executor.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/zookeeper/zk_backend.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// A ZooKeeper backend on a thread of its own, for tests on another one: keeps what it tells and waits for it.
// Every callback is checked to come on the executor and outside of the backend's methods. Thread-safe.
class ZkProbe {
 public:
  using Session = RegistryBackend::Session;
  using List = std::vector<std::string>;

  // `parameters` follow "zookeeper://<address>?". Starts at once unless told not to.
  explicit ZkProbe(const std::string& address, const std::string& parameters = "session=4000",
                   const std::string& credentials = {}, bool start = true);
  // Stops when nobody did.
  ~ZkProbe();
  ZkProbe(const ZkProbe&) = delete;
  ZkProbe& operator=(const ZkProbe&) = delete;

  void Start();
  // Waits until its Done; the status is Done's.
  absl::Status Stop();

  // On the executor, with the backend; waits for the end of `work`.
  void Run(const std::function<void(RegistryBackend&)>& work);

  // Each waits for the answer.
  absl::Status Put(std::string_view service, Category category, std::string_view url, bool dynamic = true);
  absl::Status Remove(std::string_view service, Category category, std::string_view url);
  ChildrenAnswer Read(std::string_view service, Category category);

  void Watch(const std::string& service, Category category);
  void Unwatch(const std::string& service, Category category);
  void WatchServices();
  void WatchConfig(const std::string& group, const std::string& key);

  // What was told of a watch so far; the names of lists are decoded and sorted.
  std::vector<ChildrenAnswer> Told(const std::string& service, Category category);
  std::vector<List> ToldServices();
  std::vector<absl::StatusOr<std::optional<std::string>>> ToldConfig(const std::string& group,
                                                                     const std::string& key);
  std::vector<Session> sessions();

  // Wait, for 30 s at most, and say whether it came true. No children are expected of a missing path too.
  bool AwaitList(const std::string& service, Category category, const List& expected);
  bool AwaitFailure(const std::string& service, Category category, absl::StatusCode code);
  bool AwaitMissing(const std::string& service, Category category);
  bool AwaitServices(const List& expected);
  bool AwaitConfig(const std::string& group, const std::string& key,
                   const std::optional<std::string>& expected);
  bool AwaitSession(Session last);
  // `condition` must not call the probe.
  bool Await(const std::function<bool()>& condition);

  ZkClientId session_id();
  std::string Describe();
  const LogRecorder& log() const { return recorder_; }
  Executor& executor() { return *executor_; }

 private:
  using Key = std::pair<std::string, Category>;

  void CheckPlace();
  template <class Answer>
  Answer Ask(const std::function<void(RegistryBackend&, absl::AnyInvocable<void(Answer)>)>& ask,
             Answer no_answer);
  template <class Record>
  void Recorded(const Record& record);

  const LogRecorder recorder_;
  UrlPool pool_;
  Logger logger_;
  std::shared_ptr<Executor> executor_;
  std::unique_ptr<internal::ZkBackend> backend_;  // used and destroyed on the executor
  bool in_method_ = false;                        // executor only
  bool stopped_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::vector<ChildrenAnswer>> lists_;
  std::vector<List> services_;
  std::map<std::pair<std::string, std::string>, std::vector<absl::StatusOr<std::optional<std::string>>>>
      configs_;
  std::vector<Session> sessions_;
};

// One server for the tests that leave it running; each uses a root of its own. Stopped at the program's end.
const ZookeeperServer& SharedServer();

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_ZOOKEEPER_ZK_PROBE_H_
