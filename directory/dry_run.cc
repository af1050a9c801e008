#include "fairlead/directory/dry_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/dry_calls.h"
#include "fairlead/directory/dry_directory.h"
#include "fairlead/directory/plan_builder.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

using internal::DirectorySnapshot;
using internal::DryDirectory;
using internal::PlanBuilder;
using Ends = DryRunReport::Ends;
using Places = std::vector<std::size_t>;

constexpr double kSameShare = 1e-9;

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

// One of the two directories, asked where calls end.
class Side {
 public:
  Side(const std::shared_ptr<internal::DryWorld>& world, const DryRunInput& input, const Url& consumer,
       const std::vector<const RuleSet*>& rules)
      : directory_(world, input, consumer, rules), from_(snapshot().valid) {
    for (const Slot slot : snapshot().table->by_rank) {
      if (!input.listing.providers[directory_.PlaceOf(slot)].up) from_.Remove(slot);
      slot_of_[directory_.PlaceOf(slot)] = slot;
    }
  }

  DirectorySnapshot& snapshot() const { return directory_.snapshot(); }
  const DryDirectory& directory() const { return directory_; }

  // A number of the outcome, the same for calls that end alike.
  std::size_t OutcomeOf(std::string_view method, const Invocation& invocation) {
    std::vector<RouteCase> cases;
    for (const internal::ChainLink& link : snapshot().chain) cases.push_back(link.Classify({method, invocation}));
    const auto [at, fresh] = by_cases_.try_emplace(cases, outcomes_.size());
    if (!fresh) return at->second;
    Ends ends = EndsOf(cases);
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (outcomes_[i].sets == ends.sets && outcomes_[i].emptied_by == ends.emptied_by) return at->second = i;
    }
    outcomes_.push_back(std::move(ends));
    return at->second;
  }
  const Ends& outcome(std::size_t which) const { return outcomes_[which]; }

  // The effective url; nullptr of who is not in use.
  const Url* EffectiveOf(std::size_t place) const {
    const auto at = slot_of_.find(place);
    return at == slot_of_.end() ? nullptr : &snapshot().table->providers[at->second].effective;
  }

 private:
  Ends EndsOf(const std::vector<RouteCase>& cases) const {
    Ends ends;
    const auto found = PlanBuilder(snapshot(), nullptr).Ends(from_, cases);
    if (!found.has_value()) {
      // So many draws that nobody can be said to be out of it; picks walk such calls.
      ends.sets.emplace_back(1.0, PlacesOf(from_));
      ends.candidates = from_.count();
      return ends;
    }
    std::set<std::size_t> candidates;
    for (const PlanBuilder::End& end : *found) {
      if (end.set.empty()) {
        ends.fails += end.probability;
        ends.emptied_by = !snapshot().status.ok() ? std::string(snapshot().status.message())
                          : end.emptied_by.empty() ? "every provider is down" : Shortened(end.emptied_by);
        continue;
      }
      ends.sets.emplace_back(end.probability, PlacesOf(end.set));
      candidates.insert(ends.sets.back().second.begin(), ends.sets.back().second.end());
    }
    ends.candidates = candidates.size();
    return ends;
  }
  Places PlacesOf(const InvokerSet& set) const {
    Places places;
    set.ForEach([&](Slot slot) { places.push_back(directory_.PlaceOf(slot)); });
    std::sort(places.begin(), places.end());
    return places;
  }

  const DryDirectory directory_;
  InvokerSet from_;
  std::unordered_map<std::size_t, Slot> slot_of_;
  std::map<std::vector<RouteCase>, std::size_t> by_cases_;
  std::vector<Ends> outcomes_;
};

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
    const internal::FoundCalls found = internal::FindCalls(input_);
    report_.not_tried = found.left_out;
    std::vector<std::string> tags = found.tags;
    tags.insert(tags.begin(), "");
    for (const std::string& tag : tags) {
      for (const std::string& method : found.methods) Try(method, method, tag);
      Try("(any other)", found.other, tag);
    }
    for (const DryRunCall& call : input_.calls) Try(call);
    CompareParameters();
    CompareTexts();
    return std::move(report_);
  }

 private:
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

  void Try(const std::string& shown, const std::string& method, const std::string& tag) {
    Invocation invocation;
    const Attachment attachment{names::kTag, tag};
    if (!tag.empty()) invocation.attachments = {&attachment, 1};
    Add(shown, method, tag, {}, invocation);
  }

  void Try(const DryRunCall& call) {
    std::vector<Argument> arguments;
    for (const std::string& text : call.arguments) arguments.push_back({text});
    std::vector<Attachment> attachments;
    for (const auto& [key, value] : call.attachments) attachments.push_back({key, value});
    Invocation invocation;
    invocation.arguments = arguments;
    invocation.attachments = attachments;
    const std::string* tag = nullptr;
    for (const auto& [key, value] : call.attachments) {
      if (key == names::kTag) tag = &value;
    }
    Add(call.method, call.method, tag == nullptr ? "" : *tag, call.label.empty() ? call.method : call.label, invocation);
  }

  // Calls of one tag that end alike are one entry.
  void Add(const std::string& shown, const std::string& method, const std::string& tag, const std::string& label,
           const Invocation& invocation) {
    const std::size_t was = before_.OutcomeOf(method, invocation), is = after_.OutcomeOf(method, invocation);
    if (label.empty()) {
      const auto [at, fresh] = entries_.try_emplace({tag, was, is}, report_.calls.size());
      if (!fresh) return report_.calls[at->second].methods.push_back(shown);
    }
    DryRunReport::Calls calls;
    calls.methods.push_back(shown);
    calls.tag = tag;
    calls.label = label;
    calls.before = before_.outcome(was);
    calls.after = after_.outcome(is);
    const Places old_places = Candidates(calls.before), new_places = Candidates(calls.after);
    std::set_difference(old_places.begin(), old_places.end(), new_places.begin(), new_places.end(), std::back_inserter(calls.lost));
    std::set_difference(new_places.begin(), new_places.end(), old_places.begin(), old_places.end(), std::back_inserter(calls.gained));
    calls.shares_change = calls.lost.empty() && calls.gained.empty() && !SameShares(calls.before, calls.after);
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
    for (const Side* side : {&before_, &after_}) {
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
  Side before_, after_;
  DryRunReport report_;
  std::map<std::tuple<std::string, std::size_t, std::size_t>, std::size_t> entries_;
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
