#ifndef FAIRLEAD_LOADBALANCE_WARMUP_H_
#define FAIRLEAD_LOADBALANCE_WARMUP_H_

#include <cstdint>
#include <string_view>

#include "fairlead/url/url.h"

// Weights as Dubbo's consumers read them: `weight` in its method form first (100 by default), reduced while a
// provider is younger than its `warmup` (ten minutes by default). All functions are pure and thread-safe.
namespace fairlead {

inline constexpr std::int32_t kDefaultWeight = 100;
inline constexpr std::int32_t kDefaultWarmupMs = 600'000;

// The weight of a provider that has been up for `uptime_ms` of a warm-up of `warmup_ms`, as Dubbo computes it (single
// precision, then truncated): between 1 and `weight`, in proportion to the uptime. Defined for every input.
std::int32_t WarmupWeight(std::int32_t uptime_ms, std::int32_t warmup_ms, std::int32_t weight);

// The weight of a provider for calls of `method` ("" = no particular method) at a moment of the wall clock. Never
// negative. A provider from the future (its clock is ahead) has weight 1; numbers that cannot be read count as
// absent. Time of a few parameter look-ups.
std::int32_t EffectiveWeight(const Url& effective, std::string_view method, std::int64_t now_ms);

// The wall-clock moment of the next change of the weight, for any method, by warm-up alone; 0 = it never changes
// again. Constant for a provider that is warm, else linear in its parameters.
std::int64_t NextWeightChange(const Url& effective, std::int64_t now_ms);

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_WARMUP_H_
