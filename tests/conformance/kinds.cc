#include "runner.h"

namespace fairlead::conformance {

void RegisterUrlKinds(KindTable& kinds);

void RegisterAllKinds(KindTable& kinds) { RegisterUrlKinds(kinds); }

}  // namespace fairlead::conformance
