// What a new list costs the control plane.
#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/tests/support/member_list.h"

namespace fairlead::bench {
namespace {

constexpr double kMicro = 1e3, kMilli = 1e6;

// The pass that no change of a list can do without: hash and probe of each text.
Body BarePass(int n) {
  struct Texts {
    std::vector<std::string> texts;
    std::unordered_set<std::string> known;
  };
  auto all = std::make_shared<Texts>();
  for (int i = 0; i < n; ++i) all->texts.push_back(ProviderText(i));
  all->known.insert(all->texts.begin(), all->texts.end());
  return Repeat([all](int) {
    return [all] {
      std::size_t found = 0;
      for (const std::string& text : all->texts) found += all->known.count(text);
      Keep(found);
    };
  });
}

// `changed` of n texts are new in each notification; the plan in use is built again.
void AddNotify(Suite& suite, const std::string& kind, int n, int changed, Target target) {
  suite.Add("notify/" + kind, n, [=](Report& report, const Effort& effort) {
    auto bed = std::make_shared<Bed>(BedShape{n});
    bed->WarmUp(InvocationOf(*bed, {}));
    auto generation = std::make_shared<int>(0);
    Side notify;
    notify.body = Repeat([=](int) {
      return [=] {
        ++*generation;
        for (int i = 0; i < changed; ++i) {
          bed->texts()[static_cast<std::size_t>(i)] = ProviderText(i, {true, *generation});
        }
        bed->NotifyProviders();
      };
    });
    // Between the runs, as time would: those that left are closed, their urls forgotten.
    notify.before_run = [bed] {
      bed->Advance(std::chrono::seconds(30));
      bed->SweepPool();
    };
    Row row = Compared("notify/" + kind, n, "bare pass", target);
    row.unit = "us";
    report.Add(Measure(row, notify, {BarePass(n)}, effort, kMicro));
  });
}

std::shared_ptr<const Selector> BuildRing(const MemberList& members, const Selector* before) {
  return *PolicyNamed("consistenthash")->Build(members.Input("get"), before);
}

std::vector<std::int32_t> Weights(int n) { return std::vector<std::int32_t>(static_cast<std::size_t>(n), 100); }

void AddRingBuild(Suite& suite) {
  suite.Add("ring/build", 300, [](Report& report, const Effort& effort) {
    auto members = std::make_shared<MemberList>(Weights(300));
    const Body build = Repeat([members](int) { return [members] { Keep(BuildRing(*members, nullptr)); }; });
    Row row = Compared("ring/build", 300, "");
    row.unit = "us";
    row.note = "300 x 160 points";
    report.Add(Measure(row, {build}, {}, effort, kMicro));
  });
}

void AddRingChange(Suite& suite, int n) {
  suite.Add("ring/change", n, [n](Report& report, const Effort& effort) {
    auto before = std::make_shared<MemberList>(Weights(n));
    auto after = std::make_shared<MemberList>(Weights(n - 1));
    after->AddWeighted(static_cast<std::size_t>(n), 100);
    const auto ring = BuildRing(*before, nullptr);
    const Body change = Repeat([=](int) { return [=] { Keep(BuildRing(*after, ring.get())); }; });
    const Body build = Repeat([=](int) { return [=] { Keep(BuildRing(*after, nullptr)); }; });
    std::vector<std::string> addresses;
    for (const Member& member : before->members()) addresses.push_back(member.provider->address());
    auto points = std::make_shared<const HashRing>(std::vector<std::string_view>(addresses.begin(), addresses.end()), 160);
    const Body copy = Repeat([points](int) {
      return [all = points->points(), points] { Keep(std::vector<HashRing::Point>(all.begin(), all.end())); };
    });

    Row changed = Compared("ring/change", n, "full build");
    changed.unit = "ms";
    changed.note = "1 provider of them another one";
    changed = Measure(changed, {change}, {build}, effort, kMilli);
    report.Add(changed);
    Row copied = Compared("ring/copy", n, "full build");
    copied.unit = "ms";
    copied.value = 0;
    copied = Measure(copied, {copy}, {build}, effort, kMilli);
    report.Add(copied);
    Row judged = Compared("ring/change/limit", n, "copy + 10% build", RatioAtMost(1));
    judged.unit = "ms";
    judged.value = changed.value;
    judged.quartiles = changed.quartiles;
    judged.base = copied.value + 0.1 * changed.base;
    judged.base_quartiles = copied.quartiles + 0.1 * changed.base_quartiles;
    judged.runs = changed.runs;
    report.Add(judged);
  });
}

}  // namespace

void AddUpdateRows(Suite& suite, bool) {
  for (const int n : {100, 1000, 10'000}) {
    const bool judged = n == 10'000;
    AddNotify(suite, "identical", n, 0, judged ? RatioAtMost(1.5) : Target());
    AddNotify(suite, "one_changed", n, 1, judged ? RatioAtMost(3) : Target());
    AddNotify(suite, "all_new", n, n, {});
  }
  AddRingBuild(suite);
  AddRingChange(suite, 10'000);
}

}  // namespace fairlead::bench
