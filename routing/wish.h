#ifndef FAIRLEAD_ROUTING_WISH_H_
#define FAIRLEAD_ROUTING_WISH_H_

#include <memory>
#include <string_view>

#include "fairlead/routing/router.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

// What few calls ask for by an attachment, and most services do not have: a provider of protocol `mock`, or one with a
// tag and else nobody. All functions are linear in the attachments.
namespace fairlead {

inline bool IsTrue(const Invocation& invocation, std::string_view attachment) {
  const std::string_view* value = invocation.FindAttachment(attachment);
  return value != nullptr && ParseJavaBool(*value);
}

inline bool NeedsMock(const Invocation& invocation) { return IsTrue(invocation, names::kNeedMock); }

inline bool ForcesTag(const Invocation& invocation) {
  if (!IsTrue(invocation, names::kForceTag)) return false;
  const std::string_view* tag = invocation.FindAttachment(names::kTag);
  return tag != nullptr && !tag->empty();
}

// Is a router that reads no more of calls than Reads::kWishes asked about this one?
inline bool HasWish(const Invocation& invocation) {
  for (const Attachment& one : invocation.attachments) {
    // Nearly every call ends here: lengths alone tell most names from the two.
    if (one.key.size() != names::kNeedMock.size() && one.key.size() != names::kForceTag.size()) continue;
    return NeedsMock(invocation) || ForcesTag(invocation);
  }
  return false;
}

// Stands for MockRouter or TagRouter where nobody is a mock, or nobody has a tag and the consumer wants none: such a call
// has nobody, all others pass. Costs nothing per provider, and calls without a wish nothing.
std::shared_ptr<const Router> NoMockRouter();
std::shared_ptr<const Router> NoTagRouter();

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_WISH_H_
