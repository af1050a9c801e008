#include "runner.h"

namespace fairlead::conformance {

void RegisterUrlKinds(KindTable& kinds);
void RegisterUrlVectorKinds(KindTable& kinds);

void RegisterAllKinds(KindTable& kinds) {
  RegisterUrlKinds(kinds);
  RegisterUrlVectorKinds(kinds);
}

}  // namespace fairlead::conformance
