#include "fairlead/directory/dry_side.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

using Ends = DryRunReport::Ends;
using Places = std::vector<std::size_t>;

// Of one outcome, beside its providers.
constexpr std::size_t kWorkPerOutcome = 50;

std::size_t HashOf(const Ends& ends) {
  std::size_t hash = std::hash<std::string>()(ends.emptied_by);
  for (const auto& [share, places] : ends.sets) {
    hash = Mix64(hash ^ std::hash<double>()(share));
    for (const std::size_t place : places) hash = Mix64(hash ^ place);
  }
  return hash;
}

// With a tag or, when it is empty, without attachments; lives as long as the tag.
class TaggedCall {
 public:
  explicit TaggedCall(const std::string& tag) : attachment_{names::kTag, tag} {
    if (!tag.empty()) invocation_.attachments = {&attachment_, 1};
  }
  TaggedCall(const TaggedCall&) = delete;
  TaggedCall& operator=(const TaggedCall&) = delete;
  const Invocation& invocation() const { return invocation_; }

 private:
  const Attachment attachment_;
  Invocation invocation_;
};

}  // namespace

DrySide::DrySide(const std::shared_ptr<DryWorld>& world, const DryRunInput& input, const Url& consumer,
                 const std::vector<const RuleSet*>& rules)
    : directory_(world, input, consumer, rules), from_(snapshot().valid) {
  for (const Slot slot : snapshot().table->by_rank) {
    if (!input.listing.providers[directory_.PlaceOf(slot)].up) from_.Remove(slot);
    slot_of_[directory_.PlaceOf(slot)] = slot;
  }
  const std::vector<ChainLink>& chain = snapshot().chain;
  for (std::uint32_t link = 0; link < chain.size(); ++link) {
    const bool by_call = chain[link].runtime || chain[link].wishes;
    const bool by_method = Has(chain[link].router->reads(), Reads::kMethod);
    (by_call ? by_method ? of_pair_ : of_tag_ : of_method_).push_back(link);
  }
}

DrySide::Cases DrySide::CasesOf(const std::vector<std::uint32_t>& links, std::string_view method, const Invocation& invocation) const {
  Cases cases;
  for (const std::uint32_t link : links) {
    const RouteCase which = snapshot().chain[link].Classify({method, invocation});
    if (which != 0) cases.push_back({link, which});
  }
  return cases;
}

std::uint32_t DrySide::NumberOf(const Cases& cases, std::map<Cases, std::uint32_t>& numbers, std::vector<const Cases*>& by_number) {
  const auto [at, fresh] = numbers.try_emplace(cases, static_cast<std::uint32_t>(by_number.size()));
  if (fresh) by_number.push_back(&at->first);
  return at->second;
}

std::uint32_t DrySide::ClassOfMethod(std::string_view method) {
  return NumberOf(CasesOf(of_method_, method, {}), method_numbers_, methods_);
}

std::uint32_t DrySide::ClassOfTag(const std::string& tag) {
  return NumberOf(CasesOf(of_tag_, "", TaggedCall(tag).invocation()), tag_numbers_, tags_);
}

std::size_t DrySide::OutcomeOf(std::string_view method, std::uint32_t method_class, const std::string& tag, std::uint32_t tag_class) {
  const std::uint32_t pair = NumberOf(CasesOf(of_pair_, method, TaggedCall(tag).invocation()), pair_numbers_, pairs_);
  const auto [at, fresh] = by_numbers_.try_emplace({method_class, tag_class, pair}, 0);
  if (!fresh) return at->second;
  Cases cases = *methods_[method_class];
  for (const Cases* more : {tags_[tag_class], pairs_[pair]}) cases.insert(cases.end(), more->begin(), more->end());
  std::sort(cases.begin(), cases.end());
  return at->second = OutcomeOf(cases);
}

std::size_t DrySide::OutcomeOf(std::string_view method, const Invocation& invocation) {
  Cases cases;
  for (const auto* links : {&of_method_, &of_tag_, &of_pair_}) {
    const Cases more = CasesOf(*links, method, invocation);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  std::sort(cases.begin(), cases.end());
  return OutcomeOf(cases);
}

std::size_t DrySide::OutcomeOf(const Cases& cases) {
  const auto [at, fresh] = by_cases_.try_emplace(cases, outcomes_.size());
  if (!fresh) return at->second;
  Ends ends = EndsOf(cases);
  work_ += kWorkPerOutcome + cases.size();
  for (const auto& [share, places] : ends.sets) work_ += places.size();
  const std::size_t hash = HashOf(ends);
  const auto [begin, end] = by_hash_.equal_range(hash);
  const auto same = std::find_if(begin, end, [&](const auto& one) {
    return outcomes_[one.second].sets == ends.sets && outcomes_[one.second].emptied_by == ends.emptied_by;
  });
  if (same != end) return at->second = same->second;
  by_hash_.emplace(hash, outcomes_.size());
  outcomes_.push_back(std::move(ends));
  return at->second;
}

const Url* DrySide::EffectiveOf(std::size_t place) const {
  const auto at = slot_of_.find(place);
  return at == slot_of_.end() ? nullptr : &snapshot().table->providers[at->second].effective;
}

Ends DrySide::EndsOf(const Cases& cases) const {
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
    if (found->size() > 1) candidates.insert(ends.sets.back().second.begin(), ends.sets.back().second.end());
  }
  ends.candidates = found->size() == 1 && ends.sets.size() == 1 ? ends.sets.front().second.size() : candidates.size();
  return ends;
}

Places DrySide::PlacesOf(const InvokerSet& set) const {
  Places places;
  set.ForEach([&](Slot slot) { places.push_back(directory_.PlaceOf(slot)); });
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace fairlead::internal
