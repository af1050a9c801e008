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

// The parameters of a registry url that are about the caller's own calls. Several urls may name one registry and
// share its connection; each of them has its own.
struct RegistryCallOptions {
  // `timeout`: how long check=true waits for a first answer.
  std::chrono::milliseconds timeout{5000};
  // `check`: failures are told, and end the wish.
  bool check = true;
  // `register`: false: urls are not stored. `subscribe`: false: nothing is subscribed.
  bool registers = true, subscribes = true;
  // `simplified`: few parameters are registered.
  bool simplified = false;
  // `accepts`: protocols, as written.
  std::vector<std::string> accepts;
  // `enable-empty-protection`: an empty list of providers after one that was not does not hold at once.
  bool empty_protection = true;
  // `protect-max-age`: but after this long; 0 = at once after all.
  std::chrono::milliseconds protect_max_age{600000};

  // May a url of this protocol be registered? Dubbo 3.3: with any plain element in `accepts` the protocol
  // must be one of those, else it must not be one of the elements written `-protocol`. Case and blanks count.
  bool Accepts(std::string_view protocol) const;
};

// What a registry url's parameters mean, read once. Defaults apply to absent and empty parameters. What is not
// about calls is about the connection, or about what is kept up in the background.
struct RegistryOptions : RegistryCallOptions {
  // `protocol://host:port[,backup...]`, or `protocol:///path` where there is no host; without credentials and
  // parameters: for logs and errors.
  std::string address;
  // `session`: what is asked for; the server may shorten it. A shorter one than kShortestSession is taken for that: no client
  // connects, or extends what it registered, in less.
  static constexpr std::chrono::milliseconds kShortestSession{500};
  std::chrono::milliseconds session{60000};
  // `retry.period`: the longest wait between two attempts.
  std::chrono::milliseconds retry_period{5000};
  // `retry.times`: attempts after the first; <= 0 = without end.
  int retry_times = -1;
  // `missing.grace`: a path that is missing this long means empty.
  std::chrono::milliseconds missing_grace{30000};
  // `resync.period`: every list is read again; 0 = never.
  std::chrono::milliseconds resync_period{600000};
  // `delay-notification`: the given window, always that long.
  BurstWindow::Limits burst;
  // How lists are kept in a file across restarts; where is CacheFilePath's to say.
  // `file.interval`: a change is written this much later, with all that came meanwhile. `save.file=true`: at once.
  std::chrono::milliseconds file_interval{500};
  // `file.wait`: how long the registry has for its first answer before the lists in the file are used.
  std::chrono::milliseconds file_wait{2000};
  // `group`: the root of what is stored.
  std::string group = "dubbo";

  // kInvalidArgument names the parameter, its text and what was expected.
  static absl::StatusOr<RegistryOptions> Parse(const Url& registry);
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_OPTIONS_H_
