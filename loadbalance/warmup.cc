#include "fairlead/loadbalance/warmup.h"

#include <algorithm>
#include <limits>

#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

// What Dubbo names the pseudo-service through which one consumer sees several registries.
constexpr std::string_view kRegistryService = "org.apache.dubbo.registry.RegistryService";

bool StandsForRegistry(const Url& url) {
  const std::string_view interface = url.Param(names::kInterface);
  return (interface.empty() ? url.path() : interface) == kRegistryService;
}

std::int32_t WarmupOf(const Url& url) {
  return static_cast<std::int32_t>(url.IntParam(names::kWarmup, kDefaultWarmupMs));
}

// `weight` as configured, `uptime` in ms.
std::int32_t WeightAt(std::int64_t uptime, std::int32_t warmup, std::int32_t weight) {
  if (weight <= 0) return 0;
  if (uptime < 0) return 1;
  if (uptime == 0 || uptime >= warmup) return weight;
  return WarmupWeight(static_cast<std::int32_t>(uptime), warmup, weight);
}

// The first uptime after `uptime` with another weight; -1 = none.
std::int64_t NextChange(std::int64_t uptime, std::int32_t warmup, std::int32_t weight) {
  const std::int32_t now = WeightAt(uptime, warmup, weight);
  // Dubbo gives the full weight at uptime 0, between the 1 before and the ramp after; so 0 and 1 are looked at alone.
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}}) {
    if (uptime < step && WeightAt(step, warmup, weight) != now) return step;
  }
  std::int64_t same = std::max<std::int64_t>(uptime, 1), other = warmup;
  if (same >= other || WeightAt(other, warmup, weight) == now) return -1;
  // From 1 on the weight never falls.
  while (other - same > 1) {
    const std::int64_t middle = same + (other - same) / 2;
    (WeightAt(middle, warmup, weight) == now ? same : other) = middle;
  }
  return other;
}

}  // namespace

std::int32_t WarmupWeight(std::int32_t uptime_ms, std::int32_t warmup_ms, std::int32_t weight) {
  const float share =
      static_cast<float>(uptime_ms) / (static_cast<float>(warmup_ms) / static_cast<float>(weight));
  // Java's conversion to int: saturating, and 0 for what is no number.
  std::int32_t ramp = 0;
  if (share >= 2147483648.0f) {
    ramp = std::numeric_limits<std::int32_t>::max();
  } else if (share > 0) {
    ramp = static_cast<std::int32_t>(share);
  }
  return ramp < 1 ? 1 : std::min(ramp, weight);
}

std::int32_t EffectiveWeight(const Url& effective, std::string_view method, std::int64_t now_ms) {
  if (StandsForRegistry(effective)) {
    return std::max(0, static_cast<std::int32_t>(effective.IntParam(names::kWeight, kDefaultWeight)));
  }
  const std::int32_t weight =
      ParseJavaInt(effective.MethodParam(method, names::kWeight)).value_or(kDefaultWeight);
  const std::int64_t timestamp = effective.timestamp_ms();
  if (weight <= 0 || timestamp <= 0) return std::max(weight, 0);
  return WeightAt(now_ms - timestamp, WarmupOf(effective), weight);
}

std::int64_t NextWeightChange(const Url& effective, std::int64_t now_ms) {
  const std::int64_t timestamp = effective.timestamp_ms();
  if (timestamp <= 0) return 0;
  const std::int64_t uptime = now_ms - timestamp;
  const std::int32_t warmup = WarmupOf(effective);
  if (uptime >= warmup && uptime >= 0) return 0;
  if (StandsForRegistry(effective)) return 0;

  std::int64_t next = -1;
  const auto consider = [&](std::int32_t weight) {
    const std::int64_t change = NextChange(uptime, warmup, weight);
    if (change >= 0 && (next < 0 || change < next)) next = change;
  };
  consider(ParseJavaInt(effective.Param(names::kWeight)).value_or(kDefaultWeight));
  for (const auto& [key, value] : effective.common().params) {
    if (key.size() <= names::kWeight.size() || !key.ends_with(names::kWeight)) continue;
    if (key[key.size() - names::kWeight.size() - 1] != '.') continue;
    if (const auto weight = ParseJavaInt(value)) consider(*weight);
  }
  return next < 0 ? 0 : timestamp + next;
}

}  // namespace fairlead
