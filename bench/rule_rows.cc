// What rules and dead providers cost a pick.
#include <string>
#include <vector>

#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"

namespace fairlead::bench {
namespace {

// Decided once per method and snapshot.
std::vector<std::string> CachedRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) {
    rules.push_back("method=get" + std::string(i % 2 == 0 ? "" : "*") + " => region!=nowhere" + std::to_string(i));
  }
  return rules;
}
// A plain rule of either kind has one key of the call, and one value. Nobody calls with these.
std::vector<std::string> ArgumentRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) {
    rules.push_back("arguments[0]=x" + std::to_string(i) + " => region!=nowhere" + std::to_string(i));
  }
  return rules;
}
// Every call comes under all of these, and each takes its mask to the list.
std::vector<std::string> ApplyingRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) {
    rules.push_back("arguments[0]!=x" + std::to_string(i) + " => region!=nowhere" + std::to_string(i));
  }
  return rules;
}
std::vector<std::string> AttachmentRules(int count) {
  std::vector<std::string> rules;
  for (int i = 0; i < count; ++i) {
    rules.push_back("attachments[user]=x" + std::to_string(i) + " => region!=nowhere" + std::to_string(i));
  }
  return rules;
}
// What a tag router does: who asks for the tag gets its providers.
constexpr char kTagRule[] = "attachments[dubbo.tag]=gray => region=r1";

std::vector<std::string> WithTag(std::vector<std::string> rules) {
  rules.push_back(kTagRule);
  return rules;
}

void AddCached(Suite& suite, int count, int n) {
  const std::string name = "rules/cached_" + std::to_string(count);
  suite.Add(name, n, [=](Report& report, const Effort& effort) {
    report.Add(Measure(Compared(name, n, "0 rules", RatioAtMost(1.05)), {PickBody(WarmBed({n, "random", CachedRules(count)}))},
                       {PickBody(WarmBed({n, "random"}))}, effort));
  });
}

std::string With(std::size_t attachments) { return "/" + std::to_string(attachments) + "_attachments"; }

// `count` rules of a kind against none; the target is for a plain rule.
void AddPlain(Suite& suite, const std::string& kind, std::vector<std::string> (*make)(int), int count,
              std::size_t attachments) {
  const std::string name = "rules/" + kind + "_" + std::to_string(count) + With(attachments);
  suite.Add(name, 1000, [=](Report& report, const Effort& effort) {
    const Call call{false, attachments};
    report.Add(Measure(Compared(name, 1000, "0 rules", DifferenceAtMost(10 * count)),
                       {PickBody(WarmBed({1000, "random", make(count)}, call), call)},
                       {PickBody(WarmBed({1000, "random"}, call), call)}, effort));
  });
}

// Ten runtime rules and a tag-like one.
void AddTagged(Suite& suite, int n, std::size_t attachments) {
  const std::string name = "rules/runtime_10_and_tag" + With(attachments);
  suite.Add(name, n, [=](Report& report, const Effort& effort) {
    const Call call{false, attachments};
    const Body ruled = PickBody(WarmBed({n, "random", WithTag(ArgumentRules(10))}, call), call);
    report.Add(Measure(Compared(name, n, "0 rules"), {ruled}, {PickBody(WarmBed({n, "random"}, call), call)}, effort));
    if (n <= 100) return;
    const Body small = PickBody(WarmBed({100, "random", WithTag(ArgumentRules(10))}, call), call);
    report.Add(Measure(Compared(name + "/growth", n, "n=100", RatioAtMost(1.2)), {ruled}, {small}, effort));
  });
}

// Picks without a plan, which nobody builds as the bed's executor stands still.
void AddWalk(Suite& suite, const std::string& policy, int count, int n) {
  const std::string name = "rules/walk_" + std::to_string(count) + (policy == "random" ? "" : "/" + policy);
  suite.Add(name, n, [=](Report& report, const Effort& effort) {
    const auto bed = SharedBed({n, policy, ApplyingRules(count)});
    const Call call{policy == "consistenthash", 0};
    Row row = Compared(name, n, "");
    const std::uint64_t before = bed->directory().Stats().walked;
    (void)bed->directory().Select(InvocationOf(*bed, call));
    row.failed = bed->directory().Stats().walked != before + 1;
    if (row.failed) row.note = "a plan is there: these are no walks";
    report.Add(Measure(row, {PickBody(bed, call)}, {}, effort));
  });
}

constexpr int kDownList = 1000;

void AddDown(Suite& suite, const std::string& policy, int percent) {
  const std::string name = "down/" + policy + "_" + std::to_string(percent) + "%";
  suite.Add(name, kDownList, [=](Report& report, const Effort& effort) {
    BedShape shape{kDownList, policy};
    const Call call{policy == "consistenthash", 0};
    const auto all_up = WarmBed(shape, call);
    shape.can_go_down = true;
    Bed bed(shape);
    const Invocation invocation = InvocationOf(bed, call);
    bed.WarmUp(invocation);
    bed.SetDown(kDownList * percent / 100);
    // Not owned by the body: the bed outlives the row.
    const Body pick = PickBody(std::shared_ptr<Bed>(&bed, [](Bed*) {}), call);
    Row row = Compared(name, kDownList, "0% down", RatioAtMost(1.10));
    const absl::Status status = bed.directory().WithSelected(invocation, [](const Invoker&) noexcept {});
    if (percent == 100) {
      row.target = {};
      row.failed = !absl::IsUnavailable(status);
      row.note = row.failed ? "a pick without providers: " + std::string(status.message()) : "a ready error";
    } else if (!status.ok()) {
      row.failed = true;
      row.note = std::string(status.message());
    }
    report.Add(Measure(row, {pick}, {PickBody(all_up, call)}, effort));
  });
}

}  // namespace

void AddRuleRows(Suite& suite, bool) {
  for (const int count : {1, 10}) AddCached(suite, count, 1000);
  AddCached(suite, 10, 10'000);
  for (const std::size_t attachments : {0, 4}) {
    for (const int count : {1, 10}) {
      AddPlain(suite, "argument", ArgumentRules, count, attachments);
      AddPlain(suite, "attachment", AttachmentRules, count, attachments);
    }
  }
  for (const std::size_t attachments : {0, 4}) {
    for (const int n : {100, 10'000}) AddTagged(suite, n, attachments);
  }
  for (const int n : {100, 10'000}) AddWalk(suite, "random", 10, n);
  for (const char* policy : {"roundrobin", "leastactive", "consistenthash"}) AddWalk(suite, policy, 10, 10'000);
  AddWalk(suite, "random", 41, 10'000);
}

void AddDownRows(Suite& suite, bool quick) {
  for (const int percent : {0, 50, 90, 99, 100}) AddDown(suite, "random", percent);
  if (quick) return;
  for (const char* policy : {"roundrobin", "consistenthash"}) {
    for (const int percent : {50, 90, 99}) AddDown(suite, policy, percent);
  }
}

}  // namespace fairlead::bench
