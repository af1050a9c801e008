#include "runner.h"

namespace fairlead::conformance {

void RegisterConfiguratorKinds(KindTable& kinds);
void RegisterRoutingKinds(KindTable& kinds);
void RegisterUrlKinds(KindTable& kinds);
void RegisterUrlVectorKinds(KindTable& kinds);

void RegisterAllKinds(KindTable& kinds) {
  RegisterConfiguratorKinds(kinds);
  RegisterRoutingKinds(kinds);
  RegisterUrlKinds(kinds);
  RegisterUrlVectorKinds(kinds);
}

}  // namespace fairlead::conformance
