#include "runner.h"

namespace fairlead::conformance {

void RegisterLoadBalanceKinds(KindTable& kinds);
void RegisterUrlKinds(KindTable& kinds);

void RegisterAllKinds(KindTable& kinds) {
  RegisterLoadBalanceKinds(kinds);
  RegisterUrlKinds(kinds);
}

}  // namespace fairlead::conformance
