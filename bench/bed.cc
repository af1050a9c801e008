#include "fairlead/bench/bed.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <new>
#include <utility>

#include "fairlead/loadbalance/policies.h"
#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/url/percent.h"

namespace fairlead::bench {

Idle::Idle(Url url) : url_(std::move(url)) {
  int a = 0, b = 0, c = 0;
  std::sscanf(std::string(url_.host()).c_str(), "10.%d.%d.%d", &a, &b, &c);
  number_ = (a * 256 + b) * 256 + c;
}
void* Idle::operator new(std::size_t size) {
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void Idle::operator delete(void* memory) { std::free(memory); }

std::int32_t WeightOf(int i) { return 50 + i % 5 * 25; }

std::string AddressOf(int i) {
  return "10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) + "." + std::to_string(i % 256) + ":20880";
}

std::string ProviderText(int i, ProviderShape shape) {
  std::string text = "dubbo://" + AddressOf(i) + "/com.acme.Orders?application=orders&interface=com.acme.Orders&side=provider" +
                     "&timestamp=1700000000000";
  if (shape.weighted) text += "&region=r" + std::to_string(i % 7) + "&weight=" + std::to_string(WeightOf(i));
  if (shape.generation > 0) text += "&generation=" + std::to_string(shape.generation);
  return PercentEncode(text);
}

DirectoryConfig MakeConfig(std::shared_ptr<Executor> executor, const Clock& clock, Logger& log, UrlPool& pool,
                           std::shared_ptr<Protocol> protocol, const std::string& policy) {
  DirectoryConfig config;
  config.executor = std::move(executor);
  config.clock = &clock;
  config.log = &log;
  config.pool = &pool;
  config.protocol = std::move(protocol);
  config.consumer = *Url::Parse(
      "consumer://10.255.0.9/com.acme.Orders?interface=com.acme.Orders&side=consumer&application=shop&loadbalance=" + policy,
      pool);
  config.seed = 1;
  config.policy = [policies = DefaultLoadBalances()](
                      std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
    for (const auto& one : policies) {
      if (one->name() == name) return one;
    }
    return absl::NotFoundError("no such policy");
  };
  config.router = [factory = MakeConditionRouterFactory()](
                      std::string_view) -> absl::StatusOr<std::shared_ptr<RouterFactory>> { return factory; };
  return config;
}

std::vector<Url> RuleUrls(const std::vector<std::string>& rules, UrlPool& pool) {
  std::vector<Url> urls;
  for (const std::string& rule : rules) {
    urls.push_back(*Url::Parse(
        "route://0.0.0.0/com.acme.Orders?category=routers&force=true&rule=" + PercentEncode(rule), pool));
  }
  return urls;
}

class Bed::IdleProtocol final : public Protocol {
 public:
  explicit IdleProtocol(bool keep_reports) : keep_reports_(keep_reports) {}
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability report) override {
    auto invoker = std::make_unique<Idle>(effective);
    if (keep_reports_) made_.emplace_back(invoker.get(), std::move(report));
    return invoker;
  }
  void SetDown(std::size_t count) {
    for (std::size_t i = 0; i < made_.size(); ++i) {
      made_[i].first->SetUp(i >= count);
      if (i < count) {
        made_[i].second.Down();
      } else {
        made_[i].second.Up();
      }
    }
  }

 private:
  const bool keep_reports_;
  std::deque<std::pair<Idle*, Availability>> made_;
};

Bed::Bed(const BedShape& shape) : protocol_(std::make_shared<IdleProtocol>(shape.can_go_down)) {
  DirectoryConfig config =
      MakeConfig(std::shared_ptr<Executor>(&executor_, [](Executor*) {}), clock_, log_, pool_, protocol_, shape.policy);
  config.documents = documents_;
  directory_ = RegistryDirectory::Create(std::move(config));
  handle_ = directory_->MakeDirectory(nullptr);
  method_ = handle_->Method("get");
  Notify(Category::kConfigurators, {});
  Notify(Category::kRouters, RuleUrls(shape.rules, pool_));
  texts_.reserve(static_cast<std::size_t>(shape.n));
  for (int i = 0; i < shape.n; ++i) texts_.push_back(ProviderText(i, {shape.weighted, 0}));
  NotifyProviders();
}

Bed::~Bed() {
  handle_.reset();
  directory_->Close(std::chrono::nanoseconds(0), nullptr);
  executor_.Advance(std::chrono::seconds(1));
}

void Bed::NotifyProviders() {
  if (!children_.Update(texts_)) return;
  std::vector<Url> urls;
  urls.reserve(texts_.size());
  for (const auto& child : children_.children()) urls.push_back(child.url);
  Notify(Category::kProviders, std::move(urls));
}

void Bed::Notify(Category category, std::vector<Url> urls) {
  const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
  directory_->Notify({"com.acme.Orders", category, ++version_, kind, std::move(urls)});
  executor_.RunReady();
}

void Bed::NotifyUrls(Category category, const std::vector<std::string>& texts) {
  std::vector<Url> urls;
  for (const std::string& text : texts) urls.push_back(*Url::Parse(text, pool_));
  Notify(category, std::move(urls));
}

void Bed::SetDocument(const std::string& name, std::optional<std::string> text) {
  documents_->Set(name, std::move(text));
  executor_.RunReady();
}

void Bed::SweepPool() {
  pool_.Sweep();
  clock_.Advance(std::chrono::minutes(10));
  pool_.Sweep();
}

void Bed::WarmUp(const Invocation& invocation) {
  (void)handle_->Select(invocation);
  executor_.Advance(std::chrono::milliseconds(50));
  if (handle_->Explain(invocation).plan.starts_with("walk")) {
    std::fprintf(stderr, "no plan was built: what follows measures walks\n%s", handle_->Explain(invocation).ToString().c_str());
    std::exit(1);
  }
}

void Bed::SetDown(int count) {
  protocol_->SetDown(static_cast<std::size_t>(count));
  executor_.Advance(std::chrono::milliseconds(50));
}

namespace {
std::vector<std::pair<BedShape, std::shared_ptr<Bed>>> shared_beds;
}

std::shared_ptr<Bed> SharedBed(const BedShape& shape) {
  for (const auto& [of, bed] : shared_beds) {
    if (of == shape) return bed;
  }
  // Two, for a row that compares one with the other.
  if (shared_beds.size() == 2) shared_beds.erase(shared_beds.begin());
  auto bed = std::make_shared<Bed>(shape);
  shared_beds.emplace_back(shape, bed);
  return bed;
}

void ForgetSharedBeds() { shared_beds.clear(); }

}  // namespace fairlead::bench
