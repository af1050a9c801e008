#include "fairlead/tests/support/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPollEvery{2};
constexpr milliseconds kStartLimit{30000};
constexpr int kPortAttempts = 8;

std::string TextOf(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_ERROR:
      return "(error) " + std::string(reply.str, reply.len);
    case REDIS_REPLY_ARRAY: {
      std::string text;
      for (std::size_t i = 0; i < reply.elements; ++i) text += (i > 0 ? " " : "") + TextOf(*reply.element[i]);
      return text;
    }
    default:
      return std::string(reply.str, reply.len);
  }
}

}  // namespace

std::uint16_t RedisServer::FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  close(fd);
  return ntohs(address.sin_port);
}

RedisServer::~RedisServer() { Kill(); }

absl::Status RedisServer::Start() {
  if (running()) return absl::OkStatus();
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    if (!port_proved_) port_ = FreePort();
    if (absl::Status launched = Launch(); !launched.ok()) return launched;
    // Ends early when the process ends, which is what a port taken by somebody else in the meantime leads to.
    if (WaitUntilServing(kStartLimit)) {
      port_proved_ = true;
      return absl::OkStatus();
    }
    Kill();
  }
  return absl::UnavailableError(absl::StrCat("no Redis server on port ", port_, ": ", directory_.Read("output")));
}

absl::Status RedisServer::Launch() {
  const std::string output = directory_ / "output";
  std::vector<std::string> words = {"redis-server", "--port",         std::to_string(port_), "--bind", "127.0.0.1",
                                    "--dir",        directory_.path(), "--save",              "3600 1", "--daemonize",
                                    "no",           "--appendonly",    "no"};
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) {
    process_ = 0;
    return absl::ResourceExhaustedError("no process for redis-server");
  }
  if (process_ != 0) return absl::OkStatus();
  // The child of a threaded process: only async-signal-safe calls until exec.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int fd = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  // The test's sockets, its connections to other servers among them, must not live on in this one.
  for (int other = STDERR_FILENO + 1; other < 1024; ++other) close(other);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

bool RedisServer::WaitUntilServing(milliseconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  while (SteadyClock::now() < deadline) {
    // On a port that another test took meanwhile another server answers; the process's number tells them apart. One that
    // wants a password, or is busy loading, answers with an error.
    const std::string info = RedisTestClient(port_).Ask({"INFO", "server"});
    if (info.find("process_id:" + std::to_string(process_) + "\r") != std::string::npos ||
        info.starts_with("(error) NOAUTH")) {
      return true;
    }
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      return false;
    }
    std::this_thread::sleep_for(kPollEvery);
  }
  return false;
}

void RedisServer::Wipe() { directory_.Remove("dump.rdb"); }

struct RedisTestClient::Context {
  redisContext* redis = nullptr;
};

RedisTestClient::RedisTestClient(std::uint16_t port) : context_(new Context) {
  const timeval limit{5, 0};
  context_->redis = redisConnectWithTimeout("127.0.0.1", port, limit);
  if (context_->redis != nullptr && context_->redis->err == 0) redisSetTimeout(context_->redis, limit);
}

RedisTestClient::~RedisTestClient() {
  if (context_->redis != nullptr) redisFree(context_->redis);
  delete context_;
}

namespace {

using Reply = std::unique_ptr<redisReply, void (*)(void*)>;

void Append(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  redisAppendCommandArgv(context, static_cast<int>(words.size()), texts.data(), sizes.data());
}

Reply Next(redisContext* context) {
  void* reply = nullptr;
  if (context == nullptr || context->err != 0 || redisGetReply(context, &reply) != REDIS_OK) reply = nullptr;
  return {static_cast<redisReply*>(reply), freeReplyObject};
}

}  // namespace

std::string RedisTestClient::Ask(const std::vector<std::string>& words) {
  if (context_->redis == nullptr || context_->redis->err != 0) return "(error) not connected";
  Append(context_->redis, words);
  const Reply reply = Next(context_->redis);
  return reply == nullptr ? "(error) no answer" : TextOf(*reply);
}

std::vector<std::string> RedisTestClient::AskAll(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  if (context_->redis == nullptr || context_->redis->err != 0) return parts;
  Append(context_->redis, words);
  const Reply reply = Next(context_->redis);
  for (std::size_t i = 0; reply != nullptr && i < reply->elements; ++i) parts.push_back(TextOf(*reply->element[i]));
  return parts;
}

void RedisTestClient::AskMany(const std::vector<std::vector<std::string>>& commands) {
  if (context_->redis == nullptr || context_->redis->err != 0) return;
  for (const auto& words : commands) Append(context_->redis, words);
  for (std::size_t i = 0; i < commands.size(); ++i) Next(context_->redis);
}

}  // namespace fairlead
