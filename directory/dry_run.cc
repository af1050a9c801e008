#include "fairlead/directory/dry_run.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/dry_calls.h"
#include "fairlead/directory/dry_directory.h"
#include "fairlead/directory/dry_side.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

using internal::DirectorySnapshot;
using Ends = DryRunReport::Ends;
using Places = std::vector<std::size_t>;

constexpr double kSameShare = 1e-9;
// What calls may be tried for together, in providers of outcomes: some seconds, and 16 bytes each.
constexpr std::size_t kMostWork = 20'000'000;
constexpr std::size_t kWorkPerPair = 5, kWorkPerEntry = 50;
// How often rules are asked which of their cases a method, or a tag, is.
constexpr std::size_t kMostClassified = 20'000'000;

// What a Runtime adds to a consumer's url that overrides and documents ask for.
absl::StatusOr<Url> Completed(const Url& consumer, UrlPool& pool) {
  UrlParts parts = consumer.parts();
  const std::string service = parts.ServiceInterface();
  if (service.empty() || service == "*") {
    return absl::InvalidArgumentError(absl::StrCat("consumer \"", Shortened(consumer.ToString()),
                                                   "\" names no service; write it as path, consumer://host/com.acme.Orders"));
  }
  if (!parts.protocol.has_value()) parts.protocol = "consumer";
  parts.params.emplace(names::kInterface, service);
  parts.params.emplace(names::kSide, "consumer");
  parts.params.emplace(names::kCategory, "providers,configurators,routers");
  return Url::Of(std::move(parts), pool);
}

Places Candidates(const Ends& ends) {
  Places all;
  for (const auto& [share, places] : ends.sets) all.insert(all.end(), places.begin(), places.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// What each provider gets of such calls, if all in a set got the same.
std::map<std::size_t, double> SharesOf(const Ends& ends) {
  std::map<std::size_t, double> shares;
  for (const auto& [share, places] : ends.sets) {
    for (const std::size_t place : places) shares[place] += share / static_cast<double>(places.size());
  }
  return shares;
}

bool SameShares(const Ends& a, const Ends& b) {
  const auto one = SharesOf(a), other = SharesOf(b);
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::abs(x.second - y.second) < kSameShare;
  });
}

class Comparison {
 public:
  Comparison(const DryRunInput& input, const std::shared_ptr<internal::DryWorld>& world, const Url& consumer)
      : input_(input),
        before_(world, input, consumer, {&input.before}),
        after_(world, input, consumer, {&input.before, &input.after}) {}

  DryRunReport Run() {
    NameProviders();
    TryFound();
    for (const DryRunCall& call : input_.calls) Try(call);
    CompareParameters();
    CompareTexts();
    return std::move(report_);
  }

 private:
  // A method or a tag, and its class on both sides.
  struct Found {
    std::string name;
    std::uint32_t before, after;
  };
  // An entry of the report under construction.
  struct Entry {
    std::size_t tag;
    std::vector<std::size_t> methods;
    std::size_t was, is;
  };

  void NameProviders() {
    std::map<std::string, int> times;
    for (const auto& provider : input_.listing.providers) ++times[provider.url.Address()];
    for (const auto& provider : input_.listing.providers) {
      const std::string address = provider.url.Address();
      report_.providers.push_back(times[address] == 1 ? Shortened(address)
                                                      : Shortened(absl::StrCat(ToAbsl(provider.url.protocol()), "://", address, "/",
                                                                               provider.url.ServiceKey())));
    }
  }

  // All methods without a tag, all tags with a method that nobody names, then each pair: as far as the work allows.
  void TryFound() {
    const auto most = [](std::size_t links, std::size_t names) {
      return std::clamp<std::size_t>(kMostClassified / std::max<std::size_t>(links, 1), 1, names);
    };
    const internal::FoundCalls found =
        internal::FindCalls(input_, most(before_.links_by_method() + after_.links_by_method(), internal::kMostDryMethods),
                            most(before_.links_by_tag() + after_.links_by_tag(), internal::kMostDryTags));
    report_.not_tried = found.left_out;
    std::vector<Found> methods, tags = {{"", before_.ClassOfTag(""), after_.ClassOfTag("")}};
    for (const std::string& name : found.methods) methods.push_back({name, before_.ClassOfMethod(name), after_.ClassOfMethod(name)});
    methods.push_back({found.other, before_.ClassOfMethod(found.other), after_.ClassOfMethod(found.other)});
    for (const std::string& name : found.tags) tags.push_back({name, before_.ClassOfTag(name), after_.ClassOfTag(name)});
    const std::size_t other = methods.size() - 1;

    TryPair(methods, other, tags, 0);
    std::size_t tried_methods = 0, tried_tags = 1, pairs = 0;
    while (tried_methods < other && work() < kMostWork / 2) TryPair(methods, tried_methods++, tags, 0);
    while (tried_tags < tags.size() && work() < kMostWork / 4 * 3) TryPair(methods, other, tags, tried_tags++);
    for (std::size_t tag = 1; tag < tried_tags; ++tag) {
      for (std::size_t method = 0; method < tried_methods && work() < kMostWork; ++method, ++pairs) TryPair(methods, method, tags, tag);
    }
    const auto leave_out = [this](std::size_t tried, std::size_t all, const char* what) {
      if (tried < all) report_.not_tried.push_back(absl::StrCat("all but the first ", tried, " of ", all, " ", what, ", as so many differ"));
    };
    leave_out(tried_methods, other, "methods");
    leave_out(tried_tags - 1, tags.size() - 1, "tags");
    leave_out(pairs, (tried_tags - 1) * tried_methods, "pairs of a tag and a method");
    AddEntries(methods, tags);
  }

  std::size_t work() const { return before_.work() + after_.work() + own_work_; }

  void TryPair(const std::vector<Found>& methods, std::size_t method, const std::vector<Found>& tags, std::size_t tag) {
    const Found &of_method = methods[method], &of_tag = tags[tag];
    const std::size_t was = before_.OutcomeOf(of_method.name, of_method.before, of_tag.name, of_tag.before);
    const std::size_t is = after_.OutcomeOf(of_method.name, of_method.after, of_tag.name, of_tag.after);
    own_work_ += kWorkPerPair + before_.links_by_pair() + after_.links_by_pair();
    const auto [at, fresh] = entries_.try_emplace({tag, was, is}, Entry{tag, {}, was, is});
    at->second.methods.push_back(method);
    if (!fresh) return;
    for (const Ends* ends : {&before_.outcome(was), &after_.outcome(is)}) own_work_ += kWorkPerEntry + ends->candidates;
  }

  // Calls of one tag that end alike are one. In the order of tags, and of each by the first method; what stands for methods
  // that nobody names comes last.
  void AddEntries(const std::vector<Found>& methods, const std::vector<Found>& tags) {
    std::vector<Entry> entries;
    for (auto& [key, entry] : entries_) {
      std::sort(entry.methods.begin(), entry.methods.end());
      entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.tag, a.methods.front()) < std::tie(b.tag, b.methods.front());
    });
    for (const Entry& entry : entries) {
      DryRunReport::Calls calls;
      for (const std::size_t method : entry.methods) calls.methods.push_back(method + 1 == methods.size() ? "(any other)" : methods[method].name);
      calls.tag = tags[entry.tag].name;
      Add(std::move(calls), entry.was, entry.is);
    }
  }

  void Try(const DryRunCall& call) {
    std::vector<Argument> arguments;
    for (const std::string& text : call.arguments) arguments.push_back({text});
    std::vector<Attachment> attachments;
    for (const auto& [key, value] : call.attachments) attachments.push_back({key, value});
    Invocation invocation;
    invocation.arguments = arguments;
    invocation.attachments = attachments;
    DryRunReport::Calls calls;
    for (const auto& [key, value] : call.attachments) {
      if (key == names::kTag) calls.tag = value;
    }
    calls.methods = {call.method};
    calls.label = call.label.empty() ? call.method : call.label;
    Add(std::move(calls), before_.OutcomeOf(call.method, invocation), after_.OutcomeOf(call.method, invocation));
  }

  void Add(DryRunReport::Calls calls, std::size_t was, std::size_t is) {
    calls.before = before_.outcome(was);
    calls.after = after_.outcome(is);
    if (calls.before.sets != calls.after.sets) {
      const Places old_places = Candidates(calls.before), new_places = Candidates(calls.after);
      std::set_difference(old_places.begin(), old_places.end(), new_places.begin(), new_places.end(), std::back_inserter(calls.lost));
      std::set_difference(new_places.begin(), new_places.end(), old_places.begin(), old_places.end(), std::back_inserter(calls.gained));
      calls.shares_change = calls.lost.empty() && calls.gained.empty() && !SameShares(calls.before, calls.after);
    }
    report_.calls.push_back(std::move(calls));
  }

  void CompareParameters() {
    using Change = std::tuple<std::string, std::optional<std::string>, std::optional<std::string>>;
    std::map<Change, Places> changes;
    const auto compare = [&changes](const Url& was, const Url& is, std::optional<std::size_t> place) {
      if (was == is) return;
      const UrlParams &old_params = was.common().params, &new_params = is.common().params;
      const auto add = [&](const std::string& key, const std::string* old_value, const std::string* new_value) {
        const auto text = [](const std::string* value) { return value == nullptr ? std::nullopt : std::optional(*value); };
        Places& places = changes[{key, text(old_value), text(new_value)}];
        if (place.has_value()) places.push_back(*place);
      };
      for (const auto& [key, value] : old_params) {
        const std::string* now = new_params.Find(key);
        if (now == nullptr || *now != value) add(key, &value, now);
      }
      for (const auto& [key, value] : new_params) {
        if (old_params.Find(key) == nullptr) add(key, nullptr, &value);
      }
    };
    const auto flush = [&] {
      for (auto& [change, places] : changes) {
        report_.parameters.push_back({std::get<0>(change), std::get<1>(change), std::get<2>(change), std::move(places)});
      }
      changes.clear();
    };
    compare(before_.snapshot().consumer, after_.snapshot().consumer, std::nullopt);
    flush();
    for (std::size_t i = 0; i < input_.listing.providers.size(); ++i) {
      const Url *was = before_.EffectiveOf(i), *is = after_.EffectiveOf(i);
      if (was != nullptr && is != nullptr) compare(*was, *is, i);
      if (was != nullptr && is == nullptr) report_.taken_out.push_back(i);
      if (was == nullptr && is != nullptr) report_.brought_back.push_back(i);
    }
    flush();
  }

  void CompareTexts() {
    report_.broken = after_.directory().Broken();
    const std::vector<std::string>& before = before_.snapshot().skipped;
    std::set<std::string> known(before.begin(), before.end());
    for (const std::string& line : report_.broken) known.insert(Shortened(line, DirectorySnapshot::kMostSkippedBytes));
    for (const std::string& line : after_.snapshot().skipped) {
      if (!known.contains(line)) report_.unusable.push_back(line);
    }
    for (const auto* rules : {&input_.before, &input_.after}) {
      for (const auto& [name, text] : rules->documents) {
        const bool read = before_.directory().Reads(name) || after_.directory().Reads(name);
        const bool said = std::find(report_.unread.begin(), report_.unread.end(), name) != report_.unread.end();
        if (!read && !said) report_.unread.push_back(name);
      }
    }
    std::set<std::string> reads;
    for (const internal::DrySide* side : {&before_, &after_}) {
      for (const internal::ChainLink& link : side->snapshot().chain) {
        const Reads what = link.router->reads();
        const std::string name = Shortened(link.router->name());
        if (Has(what, Reads::kArguments)) reads.insert("arguments of calls, which " + name + " reads");
        // Of attachments tags are tried.
        if (Has(what, Reads::kAttachments) && name != "tag") reads.insert("attachments of calls, which " + name + " reads");
      }
    }
    report_.not_tried.insert(report_.not_tried.end(), reads.begin(), reads.end());
  }

  const DryRunInput& input_;
  internal::DrySide before_, after_;
  DryRunReport report_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Entry> entries_;  // by tag and outcomes
  std::size_t own_work_ = 0;
};

}  // namespace

absl::StatusOr<DryRunReport> DryRun(const DryRunInput& input) {
  const auto world = std::make_shared<internal::DryWorld>(input);
  FAIRLEAD_ASSIGN_OR_RETURN(const Url consumer, Completed(input.listing.consumer, world->pool));
  return Comparison(input, world, consumer).Run();
}

bool DryRunReport::changes() const {
  return !parameters.empty() || !taken_out.empty() || !brought_back.empty() ||
         std::any_of(calls.begin(), calls.end(), [](const Calls& one) { return one.changes(); });
}

bool DryRunReport::loses_all() const {
  return std::any_of(calls.begin(), calls.end(), [](const Calls& one) { return one.loses_all(); });
}

}  // namespace fairlead
