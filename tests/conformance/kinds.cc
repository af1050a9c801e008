#include "runner.h"

namespace fairlead::conformance {

void RegisterUrlKinds(KindTable& kinds);
void RegisterUrlVectorKinds(KindTable& kinds);
void RegisterRoutingKinds(KindTable& kinds);
void RegisterRuleDocumentKinds(KindTable& kinds);
void RegisterRuleSourceKinds(KindTable& kinds);
void RegisterChainKinds(KindTable& kinds);
void RegisterTagKinds(KindTable& kinds);
void RegisterLoadBalanceKinds(KindTable& kinds);
void RegisterConfiguratorKinds(KindTable& kinds);
void RegisterListCacheKinds(KindTable& kinds);
void RegisterMulticastKinds(KindTable& kinds);
#ifdef FAIRLEAD_HAS_REDIS
void RegisterRedisKinds(KindTable& kinds);
#endif
#ifdef FAIRLEAD_HAS_ZOOKEEPER
void RegisterZookeeperKinds(KindTable& kinds);
#endif

void RegisterAllKinds(KindTable& kinds) {
  RegisterUrlKinds(kinds);
  RegisterUrlVectorKinds(kinds);
  RegisterRoutingKinds(kinds);
  RegisterRuleDocumentKinds(kinds);
  RegisterRuleSourceKinds(kinds);
  RegisterChainKinds(kinds);
  RegisterTagKinds(kinds);
  RegisterLoadBalanceKinds(kinds);
  RegisterConfiguratorKinds(kinds);
  RegisterListCacheKinds(kinds);
  RegisterMulticastKinds(kinds);
#ifdef FAIRLEAD_HAS_REDIS
  RegisterRedisKinds(kinds);
#endif
#ifdef FAIRLEAD_HAS_ZOOKEEPER
  RegisterZookeeperKinds(kinds);
#endif
}

}  // namespace fairlead::conformance
