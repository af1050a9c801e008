#include "runner.h"

namespace fairlead::conformance {

void RegisterUrlKinds(KindTable& kinds);
#ifdef FAIRLEAD_HAS_ZOOKEEPER
void RegisterZookeeperKinds(KindTable& kinds);
#endif

void RegisterAllKinds(KindTable& kinds) {
  RegisterUrlKinds(kinds);
#ifdef FAIRLEAD_HAS_ZOOKEEPER
  RegisterZookeeperKinds(kinds);
#endif
}

}  // namespace fairlead::conformance
