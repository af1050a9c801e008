#ifndef FAIRLEAD_BASE_METRICS_H_
#define FAIRLEAD_BASE_METRICS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

// One number of one thing. Names and help texts are constants, catalogued in docs/metrics.md; label values may come
// from a registry, are cut when they are long, and hold no secrets.
struct MetricSample {
  enum class Kind : std::uint8_t { kGauge, kCounter };
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  std::string_view name;  // "fairlead_registry_connected": Prometheus' rules of names, seconds and bytes as units
  std::string_view help;
  Kind kind = Kind::kGauge;
  Labels labels;
  double value = 0;
};

// The host's hook: gets all samples there are, those of one name next to each other, every Options::metrics_period.
// Called on the executor; what it throws is logged and dropped.
using MetricsSink = std::function<void(std::span<const MetricSample>)>;

// The samples in Prometheus' text format (version 0.0.4), for whatever answers its scrapes.
std::string PrometheusText(std::span<const MetricSample> samples);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_METRICS_H_
