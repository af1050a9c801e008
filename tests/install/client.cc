// The embedding example of the README, built against an installed copy of the library.
#include <cstdio>
#include <memory>
#include <utility>

#include "fairlead/fairlead.h"

namespace {

struct MyChannel final : fairlead::Invoker {
  explicit MyChannel(fairlead::Url url) : url_(std::move(url)) {}
  const fairlead::Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override { return true; }
  void Destroy() override {}
  fairlead::Url url_;
};

struct MyProtocol final : fairlead::Protocol {
  absl::StatusOr<std::unique_ptr<fairlead::Invoker>> Refer(const fairlead::Url& url, fairlead::Availability) override {
    return std::make_unique<MyChannel>(url);
  }
};

absl::Status Run() {
  auto runtime = fairlead::Runtime::Create({.extensions = fairlead::DefaultExtensions()});
  if (!runtime.ok()) return runtime.status();
  auto provider = (*runtime)->Register("memory://here", "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0");
  if (!provider.ok()) return provider.status();
  auto orders = (*runtime)->Refer("memory://here", "consumer://10.0.0.7/com.acme.Orders?version=1.0.0",
                                  std::make_shared<MyProtocol>());
  if (!orders.ok()) return orders.status();
  auto lease = (*orders)->Select({.method = (*orders)->Method("get")});
  if (!lease.ok()) return lease.status();
  std::printf("picked %s\n", lease->invoker().url().Address().c_str());
  lease->End(absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
