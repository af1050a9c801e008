#include "fairlead/registry/zookeeper/zk_helpers.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "fairlead/base/signals_blocked.h"

namespace fairlead::internal {
namespace {

std::thread StartThread(const std::string& name, absl::AnyInvocable<void()> work) {
  const SignalsBlocked blocked;
  return std::thread([name, work = std::move(work)]() mutable {
    pthread_setname_np(pthread_self(), name.c_str());
    work();
  });
}

}  // namespace

ZkHelpers::~ZkHelpers() {
  for (auto& [id, thread] : threads_) thread.detach();
}

bool ZkHelpers::Run(const std::string& name, absl::AnyInvocable<void()> work) {
  const std::uint64_t id = ++last_id_;
  try {
    threads_.emplace(
        id, StartThread(name, [id, work = std::move(work), gate = gate_, weak = weak_from_this()]() mutable {
          work();
          work = nullptr;
          gate->Post([weak, id] {
            if (const auto self = weak.lock()) self->OnDone(id);
          });
        }));
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

bool ZkHelpers::RunDetached(const std::string& name, absl::AnyInvocable<void()> work) {
  try {
    StartThread(name, std::move(work)).detach();
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

void ZkHelpers::WhenIdle(absl::AnyInvocable<void()> idle) {
  idle_ = std::move(idle);
  gate_->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnDone(0);
  });
}

void ZkHelpers::OnDone(std::uint64_t id) {
  if (const auto at = threads_.find(id); at != threads_.end()) {
    at->second.join();  // posting was the last it did
    threads_.erase(at);
  }
  if (!threads_.empty()) return;
  if (auto idle = std::exchange(idle_, nullptr)) idle();
}

}  // namespace fairlead::internal
