#ifndef FAIRLEAD_RPC_COMPAT_H_
#define FAIRLEAD_RPC_COMPAT_H_

#include <cstdint>

namespace fairlead {

// Where Java 3.3 errs, both behaviours exist: strict = every decision as Java's, fixed = the right one.
enum class Compat : std::uint8_t { kStrict, kFixed };

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_COMPAT_H_
