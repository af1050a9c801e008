#ifndef FAIRLEAD_REGISTRY_REGISTRY_OPTIONS_H_
#define FAIRLEAD_REGISTRY_REGISTRY_OPTIONS_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/registry/burst_window.h"
#include "fairlead/url/url.h"

namespace fairlead {

// What a registry url's parameters mean, read once. Defaults apply to absent and empty parameters.
struct RegistryOptions {
  // `protocol://host:port[,backup...]`, without credentials and parameters: for logs and errors.
  std::string address;
  std::chrono::milliseconds timeout{5000};         // `timeout`: how long check=true waits for a first answer
  std::chrono::milliseconds session{60000};        // `session`: what is asked for; the server may shorten it
  std::chrono::milliseconds retry_period{5000};    // `retry.period`: longest wait between two attempts
  int retry_times = -1;                            // `retry.times`: attempts after the first; <= 0 = without end
  std::chrono::milliseconds missing_grace{30000};  // `missing.grace`: a path missing this long means empty
  std::chrono::milliseconds resync_period{600000};  // `resync.period`: every list is read again; 0 = never
  bool check = true;                               // `check`
  bool simplified = false;                         // `simplified`: register few parameters
  std::vector<std::string> accepts;                // `accepts`, as written
  BurstWindow::Limits burst;                       // `delay-notification`: the given window, always that long
  std::string group = "dubbo";                     // `group`: the root of what is stored

  // kInvalidArgument names the parameter, its text and what was expected.
  static absl::StatusOr<RegistryOptions> Parse(const Url& registry);

  // May a url of this protocol be registered? Dubbo 3.3: with any plain element in `accepts` the protocol must
  // be one of those, else it must not be one of the elements written `-protocol`. Case and blanks count.
  bool Accepts(std::string_view protocol) const;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_OPTIONS_H_
