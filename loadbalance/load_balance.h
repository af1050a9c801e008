#ifndef FAIRLEAD_LOADBALANCE_LOAD_BALANCE_H_
#define FAIRLEAD_LOADBALANCE_LOAD_BALANCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "fairlead/base/random.h"
#include "fairlead/loadbalance/draw_table.h"
#include "fairlead/loadbalance/members.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/rpc/slot_list.h"
#include "fairlead/url/url.h"

namespace fairlead {

// What a pick has of its own: the calling thread's generator and number. Cheap to make.
struct PickContext {
  Random& random;
  std::uint32_t thread = 0;  // ThreadSlot()
  bool peek = false;         // an explanation: decide as a pick would, but move no position
};

class Selector;

// A final provider set as a policy sees it. Views that live for the call only.
struct SelectorInput {
  Members by_rank;                  // at least one
  std::string_view method;          // "" = no particular method
  Url consumer;
  Compat compat = Compat::kStrict;
  std::uint64_t seed = 0;           // for phases; the same input and seed give the same selector
  std::int64_t now_ms = 0;          // wall clock: what is remembered of members that left is forgotten by it
  // What Build made, for calls of the same method, of a list that all of these are in, in the same order of rank; or
  // nullptr. Only for policies that want it.
  const Selector* whole = nullptr;
  // The slots of `by_rank`, when somebody else has them too: a selector that needs them keeps this and no copy. Empty
  // when there is none; use SlotsOf.
  SlotList slots;
};

// A table built ahead for one final provider set. Immutable (a cursor or counter inside is atomic);
// thread-safe; Select takes no lock, allocates nothing, reads no clock.
class Selector {
 public:
  virtual ~Selector() = default;
  // Always a member's slot. (A policy that cannot select, such as a ring without points, fails in Build.)
  virtual Slot Select(const Invocation& invocation, PickContext& context) const = 0;
  // The same decision as plain data, for picks that make no virtual call; empty for a selector that has no such form.
  virtual DrawTable table() const { return {}; }
  // One line for Explain: "random, 3 providers, total weight 250".
  virtual std::string Describe() const = 0;
};

// A balancing policy, chosen by the `loadbalance` parameter. Stateless; thread-safe.
class LoadBalance {
 public:
  virtual ~LoadBalance() = default;
  virtual std::string_view name() const = 0;
  // True when calls of different methods must not share a table because it holds a position (round robin).
  virtual bool per_method() const { return false; }
  // True when a pick without arguments cannot decide well (consistent hash).
  virtual bool reads_arguments() const { return false; }
  // True when SelectorInput::whole saves much: it is then kept for each list whose rules look at every call.
  virtual bool wants_whole() const { return false; }
  // `replaced`: the selector that served the same leaf before (same policy), or nullptr; its round-robin
  // position is carried over. A status = every pick of this leaf fails with it.
  virtual absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input,
                                                                const Selector* replaced) const = 0;
  // The same decision without a table, for the first calls of a plan that is not built yet. Linear in members. Data
  // plane: no lock, no allocation (but for the text of an error), no clock.
  virtual absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation& invocation,
                                               PickContext& context) const = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_LOAD_BALANCE_H_
