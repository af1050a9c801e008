#ifndef FAIRLEAD_ROUTING_ROUTER_H_
#define FAIRLEAD_ROUTING_ROUTER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/base/random.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/rpc/invoker_set.h"
#include "fairlead/rpc/invoker_table.h"
#include "fairlead/url/url.h"

namespace fairlead {

// Which of a table's cases applies to a call: dense per table, below RouteTable::cases(); 0 = passes through.
using RouteCase = std::uint32_t;

// What a router looks at to classify a call. A bit set. A router that reads neither arguments nor attachments
// is *cached*: it is classified once per method and snapshot; the others are *runtime*: at each call.
// kWishes: of the attachments only those that HasWish of wish.h looks for, and every call without them is case 0, which
// keeps everybody; such a router is cached, and costs those calls nothing.
enum class Reads : std::uint8_t { kConsumer = 0, kMethod = 1, kArguments = 2, kAttachments = 4, kWishes = 8 };
constexpr Reads operator|(Reads a, Reads b) {
  return static_cast<Reads>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool Has(Reads set, Reads bit) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(bit)) != 0;
}

// A call as routers see it: the host's Invocation with its method's name.
struct RouteCall {
  std::string_view method;
  const Invocation& invocation;
};

class RouteTable;

// What one case makes of an incoming set: one set, none, or several with weights (a draw between them). Whatever a
// router gives, only what came in is kept, so that nobody can be brought back. Not thread-safe.
//
// A plan collects every set; a call without a plan draws one while they come, in memory that is there already.
class Outcomes {
 public:
  struct Split {
    std::uint64_t weight;
    InvokerSet set;
  };
  // Collects.
  explicit Outcomes(const InvokerSet& in) : in_(in) {}
  // Draws, into `drawn`, which is another set than `in`; nothing is allocated when it has the capacity of `in`, and so
  // has `spare`, a third set that may be used meanwhile. The texts of notes are dropped unless `explained`.
  Outcomes(const InvokerSet& in, InvokerSet& drawn, Random& random, bool explained, InvokerSet* spare = nullptr)
      : in_(in), drawn_(&drawn), random_(&random), spare_(spare), explained_(explained) {}
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;

  // For routers. KeepAll and KeepIfAny are the cheapest; none of them allocates in a pick.
  void KeepAll() { Add(1, in_); }
  void Keep(const InvokerSet& set) { Add(1, set); }
  // Those of `set`, if any came in; else this says false, and nothing is kept yet.
  bool KeepIfAny(const InvokerSet& set);
  // The same of the slots with `keep(Slot)`, asked of all that came in. REQUIRES: count() == 0
  template <class Keep>
    requires std::is_invocable_r_v<bool, Keep, Slot>
  bool KeepIfAny(Keep&& keep) {
    InvokerSet collected;
    InvokerSet& kept = drawn_ != nullptr ? *drawn_ : collected;
    kept.AssignCommon(in_, in_);
    in_.ForEach([&](Slot slot) {
      if (!keep(slot)) kept.Remove(slot);
    });
    if (kept.empty()) return false;
    count_ = total_ = 1;
    if (drawn_ == nullptr) splits_.push_back({1, std::move(collected)});
    return true;
  }
  // When all weights are 0, every set is as likely. Together they are below 2^64.
  void Add(std::uint64_t weight, const InvokerSet& set);
  // The union of several.
  void Add(std::uint64_t weight, std::span<const InvokerSet* const> sets);
  // What `table` makes of those of `scope` that came in, beside all others that came in: these stay, and count in nothing
  // that it decides. REQUIRES: count() == 0
  void RouteWithin(const InvokerSet& scope, const RouteTable& table, RouteCase which);
  // Nobody is kept, and this is why. What is costly to say comes as a function, which is asked when somebody is told.
  void Block(std::string_view why) {
    if (told_) why_ = why;
  }
  template <class Text>
    requires std::is_invocable_r_v<std::string, Text>
  void Block(Text&& text) {
    if (told_) why_ = text();
  }
  // Beside what is kept, for Explain: why the set is what it is. A text that is costly to make is worth making only
  // when `explained`.
  void Note(std::string_view why) {
    if (explained_) why_ = why;
  }
  bool explained() const { return explained_; }

  // Forgets everything.
  void Reset();

  // How many sets were kept; 0 = blocked.
  std::size_t count() const { return count_; }
  // All of them. REQUIRES: collects
  const std::vector<Split>& splits() const { return splits_; }
  // The one that was drawn: `in` or `drawn`. REQUIRES: draws, and count() > 0
  const InvokerSet& drawn() const { return all_ ? in_ : *drawn_; }
  const std::string& why() const { return why_; }

 private:
  // Is the set that comes now, with this weight, the one that is drawn so far? Each set ends with the share of its
  // weight, whatever comes after it.
  bool Draws(std::uint64_t weight);

  const InvokerSet& in_;
  InvokerSet* const drawn_ = nullptr;  // nullptr: collects
  Random* const random_ = nullptr;
  InvokerSet* const spare_ = nullptr;
  const bool explained_ = true;
  bool told_ = true;  // why nobody is kept
  bool all_ = false;
  std::size_t count_ = 0;
  std::uint64_t total_ = 0;
  std::vector<Split> splits_;
  std::string why_;
};

// A router compiled for one list of providers. Immutable, lives in one snapshot; all methods are thread-safe
// and pure functions of their arguments.
class RouteTable {
 public:
  virtual ~RouteTable() = default;
  virtual std::uint32_t cases() const = 0;
  // Data plane: no lock, no allocation, no clock.
  virtual RouteCase Classify(const RouteCall& call) const = 0;
  // What comes out for `in`. Everything that depends on the list (fallback when empty, force) is decided
  // here. Runs when a plan is built, and in picks that have none yet: data plane, as above, but for the text of Block.
  virtual void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const = 0;
  // For Explain: the rule's text and what the case means.
  virtual std::string Describe(RouteCase which) const = 0;
};

// What Compile may look at. Views that live for the call only; the Provider objects may be kept.
struct RouteInput {
  const ProviderArray& providers;  // by slot, with holes
  std::span<const Slot> by_rank;
  // Slots whose provider is new or changed since `previous` was compiled; masks of other slots may be copied.
  const InvokerSet* changed = nullptr;
  Url consumer;           // with overrides applied
  Url consumer_as_given;  // without
};

// One rule or one fixed stage of the chain. Immutable; control plane only.
class Router {
 public:
  virtual ~Router() = default;
  virtual std::string_view name() const = 0;
  // Ascending in the chain; equal orders keep the order in which they were given.
  virtual int order() const = 0;
  virtual Reads reads() const = 0;
  // `previous` = what this same router compiled to for the last snapshot and the same consumer, or nullptr.
  virtual std::shared_ptr<const RouteTable> Compile(const RouteInput& input,
                                                    const RouteTable* previous) const = 0;
};

// Makes a router from a rule url of category `routers`; chosen by the url's `router` parameter, else by its
// protocol ("route", "condition" ...). Or from a consumer's url, whose parameter `router` names it: then the router is in
// that consumer's chain without any rule. A status other than OK rejects that rule alone. Thread-safe.
class RouterFactory {
 public:
  virtual ~RouterFactory() = default;
  virtual absl::StatusOr<std::shared_ptr<const Router>> Create(const Url& rule, Compat compat) = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_ROUTER_H_
