#ifndef FAIRLEAD_DIRECTORY_TRACE_RECORDER_H_
#define FAIRLEAD_DIRECTORY_TRACE_RECORDER_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/directory/pick_trace.h"
#include "fairlead/directory/plan.h"
#include "fairlead/directory/snapshot.h"

namespace fairlead::internal {

// Writes a PickTrace while a Picker<RecordingTracer> decides. Lives inside the pick's ReadSection.
class TraceRecorder {
 public:
  // `method` is the call's name.
  TraceRecorder(PickTrace& trace, PickTrace::Detail detail, const DirectorySnapshot& snapshot,
                std::string_view method);

  void Step(const ChainLink& link, RouteCase which, const InvokerSet& in, const Outcomes& outcomes,
            const InvokerSet& out);
  void Planned(const Plan* plan, std::string_view kind);
  // The branch of `plan` that holds what the recorded steps led to; draws when `routed` is of no branch.
  const Leaf& Branch(const Plan& plan, const InvokerSet* routed, Random& random);
  void Candidates(std::size_t count, std::string policy);
  void Refused(Slot slot, bool tried);
  void Chosen(Slot slot);

 private:
  std::string Address(Slot slot) const;
  std::string Protocol(Slot slot) const;
  std::int32_t Weight(Slot slot) const;

  PickTrace& trace_;
  const bool all_;
  const DirectorySnapshot& snapshot_;
  const std::string_view method_;        // whose parameters count
  std::vector<std::uint32_t> line_of_;   // of a slot in trace_.all
  std::set<Slot> shared_;                // kAll: whose address another provider of the list has too
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_TRACE_RECORDER_H_
