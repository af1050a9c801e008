#ifndef FAIRLEAD_DIRECTORY_REGISTRY_CHOICE_H_
#define FAIRLEAD_DIRECTORY_REGISTRY_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/base/random.h"
#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/registry_mode.h"

namespace fairlead::internal {

// One registry's directory as calls choose it.
struct RegistryPlace {
  std::shared_ptr<DirectoryCore> core;
  std::string name;  // for people
  std::string zone;
  std::int32_t weight = 100;  // >= 0
  bool preferred = false;
};

// Several registries behind one Directory, each with its own list and rules: every call chooses one that has a live
// provider (RegistryMode::kZoneAware, kFailover). A choice reads the registries' current snapshots, locks nothing and
// allocates nothing but the text of an error; it is linear in the registries. Immutable, thread-safe.
//
// `front` is the directory's own core. Its snapshots are empty, so that the usual pick ends there and asks here; it says
// whether the directory is ready.
class RegistryChoice {
 public:
  static constexpr std::size_t kMost = 64;

  // `zone`, `force`: the consumer's. REQUIRES: 1 to kMost places, whose cores know the same methods
  RegistryChoice(RegistryMode mode, std::vector<RegistryPlace> places, std::string zone, bool force,
                 std::shared_ptr<DirectoryCore> front);

  // Inside a ReadSection.
  absl::StatusOr<InvokerState*> Lease(const Invocation& invocation, std::span<const ProviderId> tried) const;
  absl::StatusOr<const Invoker*> Look(const Invocation& invocation) const;

  // As of Directory. List: of every registry that such a call may go to now. Listing: of all of them, one after the other.
  std::vector<Url> List(const Invocation& invocation) const;
  DirectoryListing Listing() const;
  PickTrace Explain(const Invocation& invocation, PickTrace::Detail detail) const;
  DirectoryStats Stats() const;  // sums; the age of the youngest list, the longest protection
  MethodId Method(std::string_view name);
  CallNeeds Needs(MethodId method) const;
  void ClearProtection();
  Url consumer() const;

  const std::shared_ptr<DirectoryCore>& front() const { return front_; }
  // Executor only: calls may begin; picks answer kCancelled.
  void Open();
  void Close();

 private:
  enum class Why : std::uint8_t { kPreferred, kZone, kWeight, kFirst, kOrder, kNobody, kNobodyInZone };
  struct Choice {
    Why why = Why::kNobody;
    std::size_t place = 0;
  };
  // What a call asks for.
  struct Wish {
    std::string_view zone;
    bool force = false;
  };

  template <class For>
  absl::StatusOr<typename For::Result*> Pick(const Invocation& invocation, std::span<const ProviderId> tried) const;
  Wish WishOf(const Invocation& invocation) const;
  std::uint64_t Live() const;  // bit per place
  Choice Choose(std::uint64_t among, const Wish& wish, Random& random) const;
  std::uint64_t Possible(std::uint64_t among, const Wish& wish) const;
  absl::Status Nobody(Why why, const Wish& wish) const;
  std::string Describe(const Choice& choice, const Wish& wish) const;
  void Publish(absl::Status status);

  const RegistryMode mode_;
  const std::vector<RegistryPlace> places_;
  const std::string zone_;
  const bool force_;
  const std::shared_ptr<DirectoryCore> front_;
  bool by_zone_ = false;  // some place has one
  std::mutex naming_;     // all cores number methods in one order
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_REGISTRY_CHOICE_H_
