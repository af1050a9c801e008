#ifndef FAIRLEAD_BENCH_BED_H_
#define FAIRLEAD_BENCH_BED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/registry_directory.h"
#include "fairlead/registry/child_list.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_rule_source.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::bench {

// An invoker that no call is sent to. Its own memory comes from malloc alone, so that a count of what the library
// allocates does not see it.
class Idle final : public Invoker {
 public:
  explicit Idle(Url url);
  int number() const { return number_; }  // i of ProviderText
  const Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override { return up_; }
  void SetUp(bool up) { up_ = up; }
  void Destroy() override {}

  static void* operator new(std::size_t size);
  static void operator delete(void* memory);

 private:
  const Url url_;
  int number_ = 0;
  bool up_ = true;
};

struct ProviderShape {
  bool weighted = true;     // 50 ... 150 in steps of 25, and a region; else all the same parameters
  std::int32_t generation = 0;  // another number, another url
};
// Provider i of a service, as a registry's child is named.
std::string ProviderText(int i, ProviderShape shape = {});
std::string AddressOf(int i);
std::int32_t WeightOf(int i);

DirectoryConfig MakeConfig(std::shared_ptr<Executor> executor, const Clock& clock, Logger& log, UrlPool& pool,
                           std::shared_ptr<Protocol> protocol, const std::string& policy);
std::vector<Url> RuleUrls(const std::vector<std::string>& rules, UrlPool& pool);

struct BedShape {
  int n = 0;
  std::string policy = "random";
  std::vector<std::string> rules = {};  // condition rules, as text
  bool weighted = true;
  bool can_go_down = false;
  bool operator==(const BedShape&) const = default;
};

// A directory in virtual time, with n providers and any rules, fed as a registry would.
class Bed {
 public:
  explicit Bed(const BedShape& shape);
  ~Bed();

  // The texts are what the registry answers now: they go the way of an answer, from the comparison with the last one on.
  void NotifyProviders();
  void Notify(Category category, std::vector<Url> urls);
  void NotifyUrls(Category category, const std::vector<std::string>& texts);
  void NotifyRules(const std::vector<std::string>& rules) { Notify(Category::kRouters, RuleUrls(rules, pool_)); }
  // A document of the config center; nullopt: there is none.
  void SetDocument(const std::string& name, std::optional<std::string> text);
  void Advance(std::chrono::nanoseconds by) { executor_.Advance(by); }
  // Forgets urls that nobody holds any more, however short a time ago they were let go.
  void SweepPool();

  // Picks until the plan of `invocation` is built.
  void WarmUp(const Invocation& invocation);
  // Reports the first `count` providers down, all others up, and lets the directory plan anew. Needs can_go_down.
  void SetDown(int count);

  std::vector<std::string>& texts() { return texts_; }
  Directory& directory() { return *handle_; }
  MethodId method() const { return method_; }

 private:
  class IdleProtocol;

  FakeClock clock_;
  ManualExecutor executor_{clock_};
  Logger log_{nullptr, clock_};
  UrlPool pool_{clock_};
  internal::ChildList children_{pool_, 1, {}};
  std::shared_ptr<IdleProtocol> protocol_;
  std::shared_ptr<FakeRuleSource> documents_ = std::make_shared<FakeRuleSource>(executor_);
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  MethodId method_ = MethodId::kAny;
  std::uint64_t version_ = 0;
  std::vector<std::string> texts_;
};

// The bed of that shape, its plan for calls without arguments built; the one of the last call is used again.
std::shared_ptr<Bed> SharedBed(const BedShape& shape);
void ForgetSharedBeds();

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_BED_H_
