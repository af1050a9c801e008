#include "fairlead/registry/delegate/delegate_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

DelegateCalls::OnUrls OnlyStatus(Done done) {
  return [done = std::move(done)](const DelegateCalls::Urls& urls) mutable {
    if (done) done(urls.status());
  };
}

// What answers with a status alone.
template <class Answered>
RegistryService::Answer WithStatus(Answered answered) {
  return [answered = std::move(answered)](absl::Status status) {
    answered(status.ok() ? DelegateCalls::Urls(std::vector<std::string>()) : DelegateCalls::Urls(std::move(status)));
  };
}

}  // namespace

// The service may outlive the executor, and must not keep it.
template <class F>
auto DelegateCalls::Later(F task) {
  return [executor = std::weak_ptr<Executor>(context_.executor), weak = weak_from_this(),
          task = std::move(task)](auto... args) {
    if (const auto runs = executor.lock()) {
      runs->Post([weak, task, ... moved = std::move(args)]() mutable {
        if (const auto self = weak.lock()) task(*self, std::move(moved)...);
      });
    }
  };
}

template <class F>
bool DelegateCalls::CallService(std::string_view what, F call) {
  if (service_ == nullptr) return true;
  // It may end all from within.
  const std::shared_ptr<RegistryService> service = service_;
  bool threw = false;
  CallHost([&] { call(*service); },
           [&](std::string_view text) {
             threw = true;
             ++exceptions_;
             context_.log->Error("FL-8-1", address_, absl::StrCat("RegistryService::", ToAbsl(what), " threw: ", ToAbsl(text)));
           });
  return !threw;
}

template <class Call>
void DelegateCalls::Make(std::string_view what, OnUrls answer, Call call) {
  const std::uint64_t id = ++last_id_;
  Timer limit = context_.executor->After(limit_, [this, id, name = std::string(what)] {
    OnAnswer(id, absl::DeadlineExceededError(absl::StrCat("registry ", address_, ": RegistryService::", name,
                                                          " was not answered within ", limit_.count(), " ms")));
  });
  pending_.emplace(id, Pending{std::move(answer), std::move(limit)});
  Post([id, what, call = std::move(call)](DelegateCalls& self) mutable {
    // Forgotten before it was made.
    if (!self.pending_.contains(id)) return;
    const auto answered = self.Later([id](DelegateCalls& later, Urls urls) { later.OnAnswer(id, std::move(urls)); });
    const bool threw = !self.CallService(what, [&](RegistryService& service) { call(service, answered); });
    if (threw) {
      self.OnAnswer(id, absl::InternalError(absl::StrCat("registry ", self.address_, ": RegistryService::", ToAbsl(what), " threw")));
    }
  });
}

// The host may do from within a call whatever it likes, and be called for that in turn: so each call is a task of its own.
template <class F>
void DelegateCalls::Post(F task) {
  context_.executor->Post([weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock()) task(*self);
  });
}

void DelegateCalls::OnAnswer(std::uint64_t id, Urls answer) {
  auto pending = pending_.extract(id);
  if (!pending.empty()) pending.mapped().answer(std::move(answer));
}

void DelegateCalls::Register(const std::string& url, Done done) {
  Make("Register", OnlyStatus(std::move(done)), [url](RegistryService& service, auto answered) {
    service.Register(url, WithStatus(answered));
  });
}

void DelegateCalls::Unregister(const std::string& url, Done done) {
  Make("Unregister", OnlyStatus(std::move(done)), [url](RegistryService& service, auto answered) {
    service.Unregister(url, WithStatus(answered));
  });
}

void DelegateCalls::Subscribe(const std::string& url, std::function<void(std::vector<std::string>)> notify, Done done) {
  auto told = Later([notify = std::move(notify)](DelegateCalls&, std::vector<std::string> urls) { notify(std::move(urls)); });
  Make("Subscribe", OnlyStatus(std::move(done)), [url, told = std::move(told)](RegistryService& service, auto answered) {
    service.Subscribe(url, told, WithStatus(answered));
  });
}

void DelegateCalls::Unsubscribe(const std::string& url) {
  // Whatever it answers, nobody listens to that subscription any more.
  Post([url](DelegateCalls& self) {
    self.CallService("Unsubscribe", [&](RegistryService& service) { service.Unsubscribe(url, [](const absl::Status&) {}); });
  });
}

void DelegateCalls::Lookup(const std::string& url, OnUrls found) {
  Make("Lookup", std::move(found), [url](RegistryService& service, auto answered) {
    service.Lookup(url, answered);
  });
}

bool DelegateCalls::IsAvailable() {
  bool available = false;
  CallService("IsAvailable", [&](const RegistryService& service) { available = service.IsAvailable(); });
  return available;
}

void DelegateCalls::OnLinkLost(std::function<void()> lost) {
  auto told = Later([lost = std::move(lost)](DelegateCalls&) { lost(); });
  Post([told = std::move(told)](DelegateCalls& self) {
    self.CallService("OnLinkLost", [&](RegistryService& service) { service.OnLinkLost(told); });
  });
}

void DelegateCalls::End() {
  pending_.clear();
  // Ended by a task of its own: this may be one of its calls.
  if (service_ != nullptr) context_.executor->Post([service = std::move(service_)]() mutable { service = nullptr; });
  service_ = nullptr;
}

}  // namespace fairlead::internal
