#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>

#include "fairlead/base/asio_executor.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/file/directory_watch.h"
#include "fairlead/registry/file/file_registry.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/temp_directory.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

// The last list heard of, and a way to wait for one.
class LastList final : public NotifyListener {
 public:
  void Notify(Notification full) override {
    const std::lock_guard lock(mutex_);
    last_.clear();
    for (const Url& url : full.urls) last_ += (last_.empty() ? "" : " ") + url.parts().Address();
    if (full.kind == ListKind::kUnknown) last_ += "?";
    changed_.notify_all();
  }
  // What it is once it is `wanted`, or after 20 s.
  std::string Await(const std::string& wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(20), [&] { return last_ == wanted; });
    return last_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string last_ = "nothing yet";
};

// Real files, inotify, threads and time.
class FileWatchTest : public ::testing::Test {
 protected:
  ~FileWatchTest() override { End(); }

  std::shared_ptr<LastList> Watch(const std::string& path) {
    Do([&] {
      const RegistryContext context{executor_, &RealClock(), &pool_, &log_, 1};
      const Url url = *Url::Parse("file://" + path, pool_);
      auto backend = MakeFileRegistryFactory()->Create(url, context);
      ASSERT_TRUE(backend.ok()) << backend.status();
      registry_ = FailbackRegistry::Create(url, *std::move(backend), context);
      registry_->Subscribe(*Url::Parse("consumer://10.0.0.9/a.B", pool_), list_, [](const absl::Status&) {});
    });
    return list_;
  }
  void End() {
    std::promise<void> ended;
    Do([&] {
      if (registry_ == nullptr) return ended.set_value();
      registry_->Destroy([&](const absl::Status&) { ended.set_value(); });
    });
    ended.get_future().wait();
    Do([&] { registry_.reset(); });
  }
  void Do(const std::function<void()>& task) {
    std::promise<void> over;
    executor_->Post([&] {
      task();
      over.set_value();
    });
    over.get_future().wait();
  }
  std::string Describe() {
    std::string text;
    Do([&] { text = registry_->Describe(); });
    return text;
  }

  TempDirectory directory_;
  UrlPool pool_;
  LogRecorder recorder_;
  Logger log_{recorder_.sink(), RealClock()};
  std::shared_ptr<Executor> executor_ = MakeThreadExecutor("test");
  std::shared_ptr<LastList> list_ = std::make_shared<LastList>();
  std::shared_ptr<FailbackRegistry> registry_;
};

TEST_F(FileWatchTest, FollowsEveryWayOfChangingAFile) {
  const auto list = Watch(directory_ / "p.txt");
  EXPECT_EQ(list->Await(""), "") << "missing";
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.1:1"), "10.0.0.1:1");
  directory_.Replace("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.2:1"), "10.0.0.2:1");
  directory_.Append("p.txt", "dubbo://10.0.0.3:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.2:1 10.0.0.3:1"), "10.0.0.2:1 10.0.0.3:1");
  directory_.Write("p.txt", "dubbo://10.0.0.4:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.4:1"), "10.0.0.4:1");
  directory_.Remove("p.txt");
  EXPECT_EQ(list->Await("?"), "?") << "unknown, for its grace";
  directory_.Replace("p.txt", "dubbo://10.0.0.5:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.5:1"), "10.0.0.5:1");
  EXPECT_EQ(recorder_.count("FL-5-4"), 0u);
  EXPECT_THAT(Describe(), ::testing::HasSubstr("inotify"));
}

TEST_F(FileWatchTest, FollowsADirectoryThatAppearsAndIsReplaced) {
  const auto list = Watch(directory_ / "d/sub");
  directory_.Mkdir("d/sub");
  directory_.Write("d/sub/a.txt", "dubbo://10.0.0.1:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.1:1"), "10.0.0.1:1");
  directory_.Mkdir("new");
  directory_.Write("new/a.txt", "dubbo://10.0.0.2:1/a.B\n");
  std::filesystem::rename(directory_ / "d/sub", directory_ / "d/old");
  std::filesystem::rename(directory_ / "new", directory_ / "d/sub");
  EXPECT_EQ(list->Await("10.0.0.2:1"), "10.0.0.2:1");
  directory_.Append("d/sub/b.txt", "dubbo://10.0.0.3:1/a.B\n");
  EXPECT_EQ(list->Await("10.0.0.2:1 10.0.0.3:1"), "10.0.0.2:1 10.0.0.3:1");
}

TEST_F(FileWatchTest, FollowsAConfigMapWhoseDataLinkIsSwapped) {
  directory_.Mkdir("mount/..1");
  directory_.Write("mount/..1/p.txt", "dubbo://10.0.0.1:1/a.B\n");
  directory_.Link("..1", "mount/..data");
  directory_.Link("..data/p.txt", "mount/p.txt");
  const auto list = Watch(directory_ / "mount/p.txt");
  EXPECT_EQ(list->Await("10.0.0.1:1"), "10.0.0.1:1");
  for (int i = 2; i < 5; ++i) {
    const std::string version = ".." + std::to_string(i), address = "10.0.0." + std::to_string(i) + ":1";
    directory_.Mkdir("mount/" + version);
    directory_.Write("mount/" + version + "/p.txt", "dubbo://" + address + "/a.B\n");
    directory_.Link(version, "mount/..data_tmp");
    std::filesystem::rename(directory_ / "mount/..data_tmp", directory_ / "mount/..data");
    directory_.Remove("mount/.." + std::to_string(i - 1));
    EXPECT_EQ(list->Await(address), address);
  }
}

TEST_F(FileWatchTest, ItsThreadHasANameNoSignalsAndAnEnd) {
  const auto threads = [] {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream name(task.path() / "comm");
      std::string text;
      std::getline(name, text);
      if (text != "fl-file") continue;
      ++count;
      std::ifstream status(task.path() / "status");
      for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigBlk:")) continue;
        const auto blocked = std::stoull(line.substr(7), nullptr, 16);
        EXPECT_NE(blocked & (1ull << (SIGTERM - 1)), 0u);
        EXPECT_NE(blocked & (1ull << (SIGCHLD - 1)), 0u);
      }
    }
    return count;
  };
  directory_.Write("p.txt", "dubbo://10.0.0.1:1/a.B\n");
  EXPECT_EQ(Watch(directory_ / "p.txt")->Await("10.0.0.1:1"), "10.0.0.1:1");
  // The thread names itself.
  directory_.Write("p.txt", "dubbo://10.0.0.2:1/a.B\n");
  EXPECT_EQ(list_->Await("10.0.0.2:1"), "10.0.0.2:1");
  EXPECT_EQ(threads(), 1);
  End();
  EXPECT_EQ(threads(), 0);
}

TEST_F(FileWatchTest, AWatchThatCannotBeSetIsToldAndTheOthersAreSet) {
  std::promise<void> heard;
  std::unique_ptr<internal::DirectoryWatch> kept;
  Do([&] {
    auto watch = internal::InotifyMaker(*executor_)([&, told = false]() mutable {
      if (!std::exchange(told, true)) heard.set_value();
    });
    ASSERT_TRUE(watch.ok()) << watch.status();
    EXPECT_TRUE((*watch)->Set({directory_.path(), directory_ / "missing"}).ok()) << "the missing is left out";
    EXPECT_FALSE((*watch)->Set({directory_.path(), std::string(5000, 'x')}).ok());
    directory_.Write("a", "x");
    kept = *std::move(watch);
  });
  EXPECT_EQ(heard.get_future().wait_for(seconds(20)), std::future_status::ready);
  Do([&] { kept.reset(); });
}

TEST_F(FileWatchTest, TheChildOfAForkMayDropItsCopy) {
  auto watch = internal::InotifyMaker(*executor_)([] {});
  ASSERT_TRUE(watch.ok()) << watch.status();
  const pid_t child = fork();
  if (child == 0) {
    watch->reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace fairlead
