#include "fairlead/routing/tag/tag_router.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/mask.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

template <class T>
using ByText = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

constexpr std::uint32_t kNone = 0xffffffffu;

// Tags that providers give themselves have masks up to this much memory together; the others are looked for provider by
// provider. Hundreds of tags are usual, one for each of ten thousand providers is not.
constexpr std::size_t kStaticMaskBytes = 8 << 20;

// The providers of `scope` whom the addresses of those of `fitting` fit.
InvokerSet AtAddressesOf(const RouteInput& input, const InvokerSet& fitting, const InvokerSet& scope) {
  MatchedAddresses addresses;
  fitting.ForEach([&](Slot slot) { addresses.Add(input.providers[slot]); });
  InvokerSet there(input.providers.size());
  scope.ForEach([&](Slot slot) {
    if (slot < input.providers.size() && input.providers[slot].listed() && addresses.Has(input.providers[slot])) there.Add(slot);
  });
  return there;
}

}  // namespace

class TagRouter::Table final : public RouteTable {
 public:
  static constexpr RouteCase kPasses = 0, kUntagged = 1;

  Table(std::shared_ptr<const Rules> rules, const RouteInput& input, const Table* previous)
      : rules_(std::move(rules)),
        consumer_tag_(input.consumer.Param(names::kTag)),
        consumer_forces_(input.consumer.BoolParam(names::kForceTag, false)) {
    if (previous != nullptr && previous->rules_ != rules_) previous = nullptr;
    CompileStatic(input, previous);
    CompileRules(input, previous);
    plain_ = without_static_tag_;
    for (const Scope& scope : scopes_) {
      for (const Named& named : scope.named) plain_ -= named.mask;
    }
    CompileTargets(input.providers.size());
  }

  std::uint32_t cases() const override { return 2 + 2 * static_cast<std::uint32_t>(targets_.size()); }

  RouteCase Classify(const RouteCall& call) const override {
    if (nobody_is_tagged_ && !Forces(call.invocation)) return kPasses;
    const std::string_view* attached = call.invocation.FindAttachment(names::kTag);
    const std::string_view tag = attached != nullptr && !attached->empty() ? *attached : consumer_tag_;
    if (tag.empty()) return nobody_is_tagged_ ? kPasses : kUntagged;
    const bool forces = Forces(call.invocation);
    const std::uint32_t target = TargetOf(tag, forces);
    return 2 + 2 * target + (forces ? 1 : 0);
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    if (which == kUntagged) {
      if (out.KeepIfAny(plain_)) return;
      return out.Block("the call has no tag and every provider has one");
    }
    const Target& target = targets_[(which - 2) / 2];
    const bool forces = (which - 2) % 2 != 0;
    if (target.unmasked != kNone ? out.KeepIfAny([&](Slot slot) { return StaticTag(slot) == target.unmasked; })
                                 : out.KeepIfAny(target.mask)) {
      return;
    }
    if (forces) return out.Block("no provider has the call's tag, and dubbo.force.tag is true");
    if (out.KeepIfAny(target.rule_forces ? target.rest : plain_)) {
      return out.Note("no provider has the call's tag, so those without a tag stay");
    }
    out.Block(target.rule_forces ? "no provider has the call's tag, and the rule has force=true"
                                 : "no provider has the call's tag, and every one has another");
  }

  std::string Describe(RouteCase which) const override {
    if (which == kPasses) return "no provider is tagged";
    if (which == kUntagged) return "the call has no tag";
    const Target& target = targets_[(which - 2) / 2];
    const char* force = (which - 2) % 2 != 0 ? ", forced" : "";
    if (!target.known) return absl::StrCat("the call has a tag that nothing here has", force);
    return absl::StrCat("the call's tag ", target.prefix ? "begins with \"" : "is \"", Shortened(target.tag, 80), "\"",
                        target.by_rule ? ", which a rule names" : "", force);
  }

 private:
  // Who has one name by the rule.
  struct Named {
    const std::string* name;  // nullptr: none
    InvokerSet mask;
  };
  // What one rule says of its providers.
  struct Scope {
    InvokerSet members;
    std::vector<InvokerSet> fits;  // by tag of the rule: who fits it by itself
    std::vector<Named> named;

    const InvokerSet* Find(std::string_view name) const {
      for (const Named& one : named) {
        if (one.name != nullptr && *one.name == name) return &one.mask;
      }
      return nullptr;
    }
  };
  // What a call with some tag asks for.
  struct Target {
    InvokerSet mask;
    std::uint32_t unmasked = kNone;  // instead of the mask: providers with this static tag
    bool rule_forces = false;        // some rule that names the tag
    InvokerSet rest;                 // if so: those without a tag whose rule does not
    bool known = false, by_rule = false, prefix = false;
    std::string tag;
  };
  // Targets of one tag that is known.
  struct Known {
    std::uint32_t exact = 0, forced = 0, prefix = kNone;
  };

  bool Forces(const Invocation& invocation) const {
    const std::string_view* attached = invocation.FindAttachment(names::kForceTag);
    return attached != nullptr && !attached->empty() ? ParseJavaBool(*attached) : consumer_forces_;
  }

  std::uint32_t TargetOf(std::string_view tag, bool forces) const {
    if (const auto at = known_.find(tag); at != known_.end()) return forces ? at->second.forced : at->second.exact;
    if (forces || !longest_name_) return 0;
    for (std::size_t bar = tag.rfind('|'); bar != tag.npos; bar = bar == 0 ? tag.npos : tag.rfind('|', bar - 1)) {
      if (bar > *longest_name_) continue;
      const auto at = known_.find(tag.substr(0, bar));
      if (at != known_.end() && at->second.prefix != kNone) return at->second.prefix;
    }
    return 0;
  }

  std::uint32_t StaticTag(Slot slot) const { return slot < static_tag_.size() ? static_tag_[slot] : kNone; }

  void CompileStatic(const RouteInput& input, const Table* previous) {
    const bool incremental = previous != nullptr && input.changed != nullptr &&
                             previous->static_names_.size() <= 2 * previous->static_count_ + 64;
    ByText<std::uint32_t> ids;
    if (incremental) {
      static_tag_ = previous->static_tag_;
      static_names_ = previous->static_names_;
      for (std::uint32_t id = 0; id < static_names_.size(); ++id) ids.emplace(static_names_[id], id);
    }
    static_tag_.resize(input.providers.size(), kNone);
    const auto read = [&](Slot slot) {
      if (slot >= static_tag_.size()) return;
      const Provider& provider = input.providers[slot];
      const std::string_view tag = provider.listed() ? provider.effective.Param(names::kTag) : std::string_view();
      static_tag_[slot] = kNone;
      if (tag.empty()) return;
      auto at = ids.find(tag);
      if (at == ids.end()) {
        at = ids.emplace(std::string(tag), static_cast<std::uint32_t>(static_names_.size())).first;
        static_names_.emplace_back(tag);
      }
      static_tag_[slot] = at->second;
    };
    if (incremental) {
      input.changed->ForEach(read);
    } else {
      for (Slot slot = 0; slot < static_tag_.size(); ++slot) read(slot);
    }
    without_static_tag_ = BuildMask(input, incremental ? &previous->without_static_tag_ : nullptr,
                                    [](const Provider& provider) { return provider.effective.Param(names::kTag).empty(); });
  }

  void CompileRules(const RouteInput& input, const Table* previous) {
    for (std::size_t i = 0; i < rules_->size(); ++i) {
      const TagRule& rule = (*rules_)[i].rule;
      const Scope* before = previous != nullptr ? &previous->scopes_[i] : nullptr;
      Scope scope;
      scope.members = BuildMask(input, before != nullptr ? &before->members : nullptr,
                                [&](const Provider& provider) { return ScopeOf(provider) == i; });
      std::map<std::optional<std::string_view>, std::pair<const TagRule::Tag*, InvokerSet>> winners;
      for (const bool by_match : {false, true}) {
        for (std::size_t t = 0; t < rule.tags.size(); ++t) {
          const TagRule::Tag& tag = rule.tags[t];
          if (by_match != tag.by_match()) continue;
          if (scope.fits.size() < rule.tags.size()) scope.fits.resize(rule.tags.size());
          scope.fits[t] = BuildMask(input, before != nullptr ? &before->fits[t] : nullptr, [&](const Provider& provider) {
            return ScopeOf(provider) == i && tag.Fits(provider);
          });
          InvokerSet mask = scope.fits[t];
          if (by_match) {
            mask &= Listed(input);
            if (mask.empty()) continue;
            if (rule.compat == Compat::kStrict) mask = AtAddressesOf(input, mask, scope.members);
          }
          winners.insert_or_assign(tag.name ? std::optional<std::string_view>(*tag.name) : std::nullopt,
                                   std::pair(&tag, std::move(mask)));
        }
      }
      for (auto& [name, winner] : winners) {
        if (name) longest_name_ = std::max(longest_name_, std::optional(name->size()));
        scope.named.push_back({winner.first->name ? &*winner.first->name : nullptr, std::move(winner.second)});
      }
      scopes_.push_back(std::move(scope));
    }
  }

  // Bits of holes mean nothing in a mask, but here they would be somebody.
  static InvokerSet Listed(const RouteInput& input) {
    InvokerSet listed(input.providers.size());
    for (const Slot slot : input.by_rank) listed.Add(slot);
    return listed;
  }

  std::size_t ScopeOf(const Provider& provider) const {
    const std::string_view application = provider.original.Application();
    std::size_t i = 0;
    while (i < rules_->size() && !(*rules_)[i].application.empty() && (*rules_)[i].application != application) ++i;
    return i;
  }

  void CompileTargets(std::size_t slots) {
    targets_.emplace_back();  // of a tag that nothing has
    std::vector<std::uint32_t> members(static_names_.size(), 0);
    for (const std::uint32_t id : static_tag_) {
      if (id != kNone) ++members[id];
    }
    std::vector<InvokerSet> masks(static_names_.size());
    std::vector<bool> masked(static_names_.size(), false);
    std::size_t bytes = 0;
    for (std::uint32_t id = 0; id < masks.size(); ++id) {
      if (members[id] == 0) continue;
      ++static_count_;
      const bool named = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
        return LevelOf(scope, static_names_[id]) != nullptr;
      });
      if (!named && bytes + slots / 8 > kStaticMaskBytes) continue;
      bytes += slots / 8;
      masks[id] = InvokerSet(slots);
      masked[id] = true;
    }
    for (Slot slot = 0; slot < static_tag_.size(); ++slot) {
      if (static_tag_[slot] != kNone && masked[static_tag_[slot]]) masks[static_tag_[slot]].Add(slot);
    }
    for (std::uint32_t id = 0; id < masks.size(); ++id) {
      if (members[id] == 0) continue;
      if (masked[id]) {
        AddKnown(static_names_[id], &masks[id]);
        continue;
      }
      Target target;
      target.known = true;
      target.tag = static_names_[id];
      target.unmasked = id;
      const std::uint32_t at = AddTarget(std::move(target));
      known_[static_names_[id]] = {at, at, kNone};
    }
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      for (const Named& named : scopes_[i].named) {
        if (named.name != nullptr && !known_.contains(*named.name)) AddKnown(*named.name, nullptr);
      }
    }
    nobody_is_tagged_ = static_count_ == 0 && std::all_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) {
      return scope.named.empty();
    });
  }

  // The name, or the longest beginning of it up to a `|`, that the rule has.
  static const InvokerSet* LevelOf(const Scope& scope, std::string_view name) {
    while (true) {
      if (const InvokerSet* mask = scope.Find(name)) return mask;
      const std::size_t bar = name.rfind('|');
      if (bar == name.npos) return nullptr;
      name = name.substr(0, bar);
    }
  }

  void AddKnown(const std::string& name, const InvokerSet* static_mask) {
    Known known;
    known.exact = AddTarget(MakeTarget(name, static_mask, LevelOf));
    if (!targets_[known.exact].by_rule) {
      known.forced = known.exact;
    } else {
      const auto exactly = [](const Scope& scope, std::string_view tag) { return scope.Find(tag); };
      known.forced = AddTarget(MakeTarget(name, static_mask, exactly));
      known.prefix = AddTarget(MakeTarget(name, nullptr, LevelOf));
      targets_[known.prefix].prefix = true;
    }
    known_[name] = known;
  }

  template <class Find>
  Target MakeTarget(const std::string& name, const InvokerSet* static_mask, Find&& find) const {
    Target target;
    target.known = true;
    target.tag = name;
    InvokerSet ruled;  // providers whose rule names the tag: what they say themselves does not count
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      const InvokerSet* mask = find(scopes_[i], name);
      if (mask == nullptr) continue;
      target.by_rule = true;
      if ((*rules_)[i].rule.force) {
        if (!target.rule_forces) target.rest = plain_;
        target.rule_forces = true;
        target.rest -= scopes_[i].members;
      }
      target.mask |= *mask;
      ruled |= scopes_[i].members;
    }
    if (static_mask != nullptr) target.mask |= *static_mask - ruled;
    return target;
  }

  std::uint32_t AddTarget(Target target) {
    targets_.push_back(std::move(target));
    return static_cast<std::uint32_t>(targets_.size() - 1);
  }

  const std::shared_ptr<const Rules> rules_;
  const std::string consumer_tag_;
  const bool consumer_forces_;
  std::vector<std::uint32_t> static_tag_;   // by slot, of static_names_; kNone without
  std::vector<std::string> static_names_;   // also some that no provider has any more
  std::size_t static_count_ = 0;            // of them, those that somebody has
  InvokerSet without_static_tag_, plain_;
  std::vector<Scope> scopes_;               // by rule
  std::optional<std::size_t> longest_name_; // of the rules
  std::vector<Target> targets_;             // 0: of a tag that nothing has
  ByText<Known> known_;
  bool nobody_is_tagged_ = false;
};

TagRouter::TagRouter(std::vector<ScopedTagRule> rules, int order)
    : rules_(std::make_shared<const Rules>(std::move(rules))), order_(order) {}

TagRouter::~TagRouter() = default;

std::shared_ptr<const RouteTable> TagRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  return std::make_shared<const Table>(rules_, input, static_cast<const Table*>(previous));
}

}  // namespace fairlead
