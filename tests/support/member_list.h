#ifndef FAIRLEAD_TESTS_SUPPORT_MEMBER_LIST_H_
#define FAIRLEAD_TESTS_SUPPORT_MEMBER_LIST_H_

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/loadbalance/policies.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// Providers as a policy sees them, made of url texts. The slot of each is its place in the list unless told.
class MemberList {
 public:
  class Nobody final : public Invoker {
   public:
    const Url& url() const override { return url_; }
    bool IsAvailable() const noexcept override { return true; }
    void Destroy() override {}

   private:
    Url url_;
  };

  static constexpr std::int64_t kNowMs = 1'700'000'000'000;

  MemberList() = default;
  MemberList(const std::vector<std::string>& urls, std::string_view method) {
    for (const std::string& url : urls) Add(url, method);
  }
  // One provider for each weight, with that weight.
  explicit MemberList(const std::vector<std::int32_t>& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) AddWeighted(i, weights[i]);
  }
  MemberList(MemberList&&) = default;
  MemberList& operator=(MemberList&&) = default;
  ~MemberList() {
    for (InvokerState* state : states_) state->Abandon();
  }

  void Add(const std::string& url, std::string_view method) { Add(url, method, providers_.size()); }
  void Add(const std::string& url, std::string_view method, std::size_t slot) {
    absl::StatusOr<Url> parsed = Url::Parse(url, *pool_);
    if (!parsed.ok()) throw std::runtime_error(std::string(parsed.status().message()));
    auto provider = std::make_unique<Provider>();
    provider->original = provider->effective = *parsed;
    states_.push_back(new InvokerState(static_cast<ProviderId>(slot + 1), std::make_unique<Nobody>()));
    members_.push_back({static_cast<Slot>(slot), provider.get(), states_.back(), EffectiveWeight(provider->effective, method, kNowMs)});
    providers_.push_back(std::move(provider));
  }
  // The provider that always has this number, with a weight.
  void AddWeighted(std::size_t number, std::int32_t weight) {
    Add("dubbo://10." + std::to_string(number >> 16) + "." + std::to_string(number >> 8 & 255) + "." +
            std::to_string(number & 255) + ":20880/com.acme.Orders?weight=" + std::to_string(weight),
        "", number);
  }

  SelectorInput Input(std::string_view method = {}, std::string_view consumer = {}) const {
    SelectorInput input;
    input.by_rank = members_;
    input.method = method;
    input.consumer = *Url::Parse("consumer://10.0.0.9/com.acme.Orders?side=consumer" + std::string(consumer), *pool_);
    input.seed = 7;
    input.now_ms = kNowMs;
    return input;
  }
  InvokerState& state(std::size_t i) { return *states_[i]; }
  const std::vector<Member>& members() const { return members_; }

 private:
  std::unique_ptr<UrlPool> pool_ = std::make_unique<UrlPool>();
  std::vector<std::unique_ptr<Provider>> providers_;
  std::vector<InvokerState*> states_;
  std::vector<Member> members_;
};

inline std::shared_ptr<const LoadBalance> PolicyNamed(std::string_view name) {
  for (auto& policy : DefaultLoadBalances()) {
    if (policy->name() == name) return policy;
  }
  throw std::runtime_error("no policy " + std::string(name));
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_MEMBER_LIST_H_
