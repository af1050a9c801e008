#ifndef FAIRLEAD_TESTS_REGISTRY_DELEGATE_FAKE_REGISTRY_SERVICE_H_
#define FAIRLEAD_TESTS_REGISTRY_DELEGATE_FAKE_REGISTRY_SERVICE_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/delegate/registry_service.h"
#include "fairlead/url/match.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// The server, as simple as Dubbo's: it matches, and forgets a client that is gone.
struct FakeRegistryServer {
  std::map<const void*, std::set<std::string>> registered;  // by client
  std::map<const void*, std::function<void()>> on_change;   // by client

  std::vector<std::string> Find(const std::string& consumer) const {
    const UrlParts asked = *UrlParts::Parse(consumer);
    std::vector<std::string> found;
    for (const auto& [client, urls] : registered) {
      for (const std::string& url : urls) {
        if (Matches(asked, *UrlParts::Parse(url))) found.push_back(url);
      }
    }
    if (found.empty() && asked.Param("interface") != "*") {
      UrlParts none = asked;
      none.protocol = "empty";
      found.push_back(none.ToFullString());
    }
    return found;
  }
  void Change() {
    for (const auto& [client, told] : on_change) told();
  }
};

// A client of the server, as well or badly as the test wants.
class FakeRegistryService final : public RegistryService {
 public:
  enum class Answers { kAtOnce, kLater, kNever };

  explicit FakeRegistryService(std::shared_ptr<FakeRegistryServer> server) : server_(std::move(server)) {
    server_->on_change[this] = [this] { Push(); };
  }
  ~FakeRegistryService() override { server_->on_change.erase(this); }

  void Register(const std::string& url, Answer done) override {
    Begin("register " + url);
    if (error.ok()) {
      server_->registered[this].insert(url);
      server_->Change();
    }
    Give([this, done = std::make_shared<Answer>(std::move(done))] { (*done)(error); });
    End();
  }
  void Unregister(const std::string& url, Answer done) override {
    Begin("unregister " + url);
    if (error.ok()) {
      server_->registered[this].erase(url);
      server_->Change();
    }
    Give([this, done = std::make_shared<Answer>(std::move(done))] { (*done)(error); });
    End();
  }
  void Subscribe(const std::string& url, Notify notify, Answer done) override {
    Begin("subscribe " + url);
    if (error.ok()) subscribed[url] = notify;
    if (error.ok() && tells_first_list) Give([this, url, notify] { notify(server_->Find(url)); });
    Give([this, done = std::make_shared<Answer>(std::move(done))] { (*done)(error); });
    End();
  }
  void Unsubscribe(const std::string& url, Answer done) override {
    Begin("unsubscribe " + url);
    subscribed.erase(url);
    Give([this, done = std::make_shared<Answer>(std::move(done))] { (*done)(error); });
    End();
  }
  void Lookup(const std::string& url, Found found) override {
    Begin("lookup " + url);
    Give([this, url, found = std::make_shared<Found>(std::move(found))] {
      if (error.ok()) {
        (*found)(server_->Find(url));
      } else {
        (*found)(error);
      }
    });
    End();
  }
  bool IsAvailable() const override {
    ++looked;
    if (throws) throw std::runtime_error("thrown by the test");
    return available;
  }
  void OnLinkLost(std::function<void()> told) override { lost = std::move(told); }

  // The connection goes, and with it what the server knew of this client.
  void Break() {
    available = false;
    server_->registered.erase(this);
    subscribed.clear();
    server_->Change();
  }
  // What waits to be answered.
  void GiveLate() {
    for (auto& give : std::exchange(late, {})) give();
  }
  int Count(std::string_view prefix) const {
    return static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [&](const std::string& call) { return call.starts_with(prefix); }));
  }

  bool available = true;
  bool throws = false;
  bool tells_first_list = true;
  Answers answers = Answers::kAtOnce;
  absl::Status error;
  std::vector<std::string> calls;
  std::map<std::string, Notify> subscribed;
  std::deque<std::function<void()>> late;
  std::function<void()> lost;
  std::function<void(const std::string&)> in_call;  // done within each call
  mutable int looked = 0;
  bool nested = false;

 private:
  void Begin(const std::string& call) {
    nested |= std::exchange(inside_, true);
    calls.push_back(call);
    if (throws) {
      inside_ = false;
      throw std::runtime_error("thrown by the test");
    }
    if (in_call) in_call(call);
  }
  void End() { inside_ = false; }
  void Give(std::function<void()> answer) {
    if (answers == Answers::kAtOnce) answer();
    if (answers == Answers::kLater) late.push_back(std::move(answer));
  }
  void Push() {
    for (const auto& [url, notify] : subscribed) {
      Give([this, url = url, notify = notify] { notify(server_->Find(url)); });
    }
  }

  const std::shared_ptr<FakeRegistryServer> server_;
  bool inside_ = false;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_DELEGATE_FAKE_REGISTRY_SERVICE_H_
