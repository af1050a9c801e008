#include "fairlead/cluster/runtime_metrics.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

using Kind = MetricSample::Kind;

constexpr std::size_t kLabelBytes = 200;

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// One metric of each Thing.
template <class Thing>
struct Metric {
  std::string_view name, help;
  Kind kind;
  double (*value)(const Thing&);
};

constexpr Metric<RegistryReading> kOfRegistries[] = {
    {"fairlead_registry_connected", "1 while a session lives and its link is up.", Kind::kGauge,
     [](const RegistryReading& r) { return r.status.state == RegistryState::kConnected ? 1.0 : 0.0; }},
    {"fairlead_registry_stale_seconds", "How long the lists have not been known to be right; 0 while they are.", Kind::kGauge,
     [](const RegistryReading& r) { return Seconds(r.status.stale_for); }},
    {"fairlead_registry_retries_pending", "Operations that wait to be tried again.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.retries_pending); }},
    {"fairlead_registry_unacknowledged", "Operations that the registry has not confirmed.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.unacknowledged); }},
    {"fairlead_registry_registered", "Urls that are to be in the registry.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.registered); }},
    {"fairlead_registry_subscriptions", "Different consumer urls.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.subscriptions); }},
    {"fairlead_registry_watches", "Lists that are watched.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.watches); }},
    {"fairlead_registry_cached_services", "Services whose lists are those of the list cache file.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.cached); }},
    {"fairlead_registry_unreadable", "Children that are skipped now, a hundred at most.", Kind::kGauge,
     [](const RegistryReading& r) { return static_cast<double>(r.status.unreadable.size()); }},
    {"fairlead_registry_notifications_total", "Lists told to subscribers.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.notifications); }},
    {"fairlead_registry_unchanged_total", "Lists that said nothing new.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.unchanged); }},
    {"fairlead_registry_stale_answers_total", "Answers of ended sessions, dropped.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.stale); }},
    {"fairlead_registry_skipped_total", "Children that could not be read, when they appeared.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.skipped); }},
    {"fairlead_registry_retries_total", "Operations tried again.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.retries); }},
    {"fairlead_registry_resync_repairs_total", "Changes that only the periodic look found.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.resync_repairs); }},
    {"fairlead_registry_host_exceptions_total", "Exceptions of listeners and callbacks.", Kind::kCounter,
     [](const RegistryReading& r) { return static_cast<double>(r.status.counters.host_exceptions); }},
};

constexpr Metric<DirectoryReading> kOfDirectories[] = {
    {"fairlead_directory_providers", "Providers listed.", Kind::kGauge,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.providers); }},
    {"fairlead_directory_valid_providers", "Of those, the ones that were up when the tables were made.", Kind::kGauge,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.valid); }},
    {"fairlead_directory_protected_seconds", "How long an empty list of the registry has been held back; 0 = none is.", Kind::kGauge,
     [](const DirectoryReading& d) { return Seconds(d.stats.protected_for); }},
    {"fairlead_directory_script_rules", "Script rules of provider applications, which are not run.", Kind::kGauge,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.scripts); }},
    {"fairlead_directory_snapshots_total", "Snapshots made.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.version); }},
    {"fairlead_directory_snapshot_age_seconds", "Since the latest snapshot was made.", Kind::kGauge,
     [](const DirectoryReading& d) { return Seconds(d.stats.age); }},
    {"fairlead_directory_walked_total", "Picks without a plan, which went through the rules themselves.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.walked); }},
    {"fairlead_directory_wishes_dropped_total", "Of those, the ones that could not ask for their plan.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.wishes_dropped); }},
    {"fairlead_directory_plans_built_total", "Plans that picks had asked for.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.plans_built); }},
    {"fairlead_directory_plans_refused_total", "Plans asked for and not built: too many, or too many sets.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.plans_refused); }},
    {"fairlead_directory_redrawn_total", "Draws that fell on a provider that was down, draining or tried.", Kind::kCounter,
     [](const DirectoryReading& d) { return static_cast<double>(d.stats.redrawn); }},
};

MetricSample::Labels LabelsOf(const RegistryReading& registry) {
  return {{"registry", Shortened(registry.status.address, kLabelBytes)}, {"connection", std::to_string(registry.connection)}};
}
MetricSample::Labels LabelsOf(const DirectoryReading& directory) {
  return {{"service", Shortened(directory.service, kLabelBytes)}, {"reference", std::to_string(directory.reference)}};
}

template <class Thing, std::size_t n>
void Append(const Metric<Thing> (&metrics)[n], const std::vector<Thing>& things, std::vector<MetricSample>* samples) {
  for (const Metric<Thing>& metric : metrics) {
    for (const Thing& thing : things) {
      samples->push_back({metric.name, metric.help, metric.kind, LabelsOf(thing), metric.value(thing)});
    }
  }
}

}  // namespace

std::vector<MetricSample> RuntimeSamples(const std::vector<RegistryReading>& registries,
                                         const std::vector<DirectoryReading>& directories, std::size_t pooled_urls) {
  std::vector<MetricSample> samples;
  Append(kOfRegistries, registries, &samples);
  const auto about = [&](std::string_view name, std::string_view help, const RegistryReading& registry,
                         std::string_view label, std::string text) {
    MetricSample sample{name, help, Kind::kGauge, LabelsOf(registry), 1};
    sample.labels.emplace_back(label, std::move(text));
    samples.push_back(std::move(sample));
  };
  for (const RegistryReading& registry : registries) {
    about("fairlead_registry_state", "1, with the state of the session as a label.", registry, "state",
          std::string(RegistryStateName(registry.status.state)));
  }
  for (const RegistryReading& registry : registries) {
    if (registry.status.last_error.ok()) continue;
    about("fairlead_registry_last_error", "1, with the error as a label; absent when there is none.", registry, "error",
          Shortened(registry.status.last_error.ToString(), kLabelBytes));
  }
  Append(kOfDirectories, directories, &samples);
  samples.push_back({"fairlead_pooled_urls", "Different url texts that are kept.", Kind::kGauge, {},
                     static_cast<double>(pooled_urls)});
  return samples;
}

}  // namespace fairlead::internal
