#ifndef FAIRLEAD_DIRECTORY_DRY_SIDE_H_
#define FAIRLEAD_DIRECTORY_DRY_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fairlead/directory/dry_directory.h"
#include "fairlead/directory/dry_run.h"
#include "fairlead/directory/plan_builder.h"

namespace fairlead::internal {

// One of the two directories of a dry run, asked where calls end. Rules are asked once per method and once per tag, not for
// each pair of them, but for those that look at both; and where calls end, once for all that the rules do not tell apart.
class DrySide {
 public:
  // As DryDirectory.
  DrySide(const std::shared_ptr<DryWorld>& world, const DryRunInput& input, const Url& consumer,
          const std::vector<const RuleSet*>& rules);

  const DryDirectory& directory() const { return directory_; }
  DirectorySnapshot& snapshot() const { return directory_.snapshot(); }
  // How many rules are asked once per method, per tag, and per pair.
  std::size_t links_by_method() const { return of_method_.size(); }
  std::size_t links_by_tag() const { return of_tag_.size(); }
  std::size_t links_by_pair() const { return of_pair_.size(); }

  // Methods, and tags, that rules which look at one of both do not tell apart have one number. A tag is what a call gives as
  // `dubbo.tag`; empty: none.
  std::uint32_t ClassOfMethod(std::string_view method);
  std::uint32_t ClassOfTag(const std::string& tag);
  // A number of the outcome, the same for calls that end alike.
  std::size_t OutcomeOf(std::string_view method, std::uint32_t method_class, const std::string& tag, std::uint32_t tag_class);
  std::size_t OutcomeOf(std::string_view method, const Invocation& invocation);
  const DryRunReport::Ends& outcome(std::size_t which) const { return outcomes_[which]; }
  // How many providers were looked at, and calls followed through the rules, for all outcomes so far; roughly.
  std::size_t work() const { return work_; }

  // The effective url; nullptr of who is not in use.
  const Url* EffectiveOf(std::size_t place) const;

 private:
  using LinkCase = PlanBuilder::LinkCase;
  // In the chain's order, without those that let everybody through.
  using Cases = std::vector<LinkCase>;

  Cases CasesOf(const std::vector<std::uint32_t>& links, std::string_view method, const Invocation& invocation) const;
  static std::uint32_t NumberOf(const Cases& cases, std::map<Cases, std::uint32_t>& numbers, std::vector<const Cases*>& by_number);
  std::size_t OutcomeOf(const Cases& cases);
  DryRunReport::Ends EndsOf(const Cases& cases) const;
  std::vector<std::size_t> PlacesOf(const InvokerSet& set) const;

  const DryDirectory directory_;
  InvokerSet from_;
  std::unordered_map<std::size_t, Slot> slot_of_;
  std::vector<std::uint32_t> of_method_, of_tag_, of_pair_;  // links by what of calls they look at
  std::map<Cases, std::uint32_t> method_numbers_, tag_numbers_, pair_numbers_;
  std::vector<const Cases*> methods_, tags_, pairs_;  // by number
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> by_numbers_;
  std::map<Cases, std::size_t> by_cases_;
  std::vector<DryRunReport::Ends> outcomes_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;
  std::size_t work_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_DRY_SIDE_H_
