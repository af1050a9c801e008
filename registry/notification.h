#ifndef FAIRLEAD_REGISTRY_NOTIFICATION_H_
#define FAIRLEAD_REGISTRY_NOTIFICATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/url/url.h"

namespace fairlead {

// What a Notification says of its category.
enum class ListKind : std::uint8_t {
  kList,     // these are the urls
  kEmpty,    // the registry says: none (Dubbo's empty:// url)
  kUnknown,  // the registry cannot say (no answer, path missing, nothing decodable): keep what you have
};

// The complete list of one category of one subscription; never a delta.
struct Notification {
  std::string service;  // service interface the list is about
  Category category = Category::kProviders;
  std::uint64_t version = 0;  // grows with every notification of a subscription and category
  ListKind kind = ListKind::kUnknown;
  std::vector<Url> urls;  // matched against the subscription, in the registry's order
  // Of rules and overrides: the other children of the list, those that are no urls, each with the reason. Somebody may
  // have meant them to replace a url that is no longer here.
  std::vector<std::string> unreadable{};
  bool cached = false;  // from the list cache file, as the registry has not answered yet; it will be told again
};

// Receives lists on the executor, in order, one call at a time. The first calls cover all subscribed
// categories.
class NotifyListener {
 public:
  virtual ~NotifyListener() = default;
  virtual void Notify(Notification full) = 0;
  // What the registry says beside the lists has changed: its session came, broke, ended or was renewed, or other
  // children of the subscribed service than before cannot be read. On the executor, in a task of its own, several
  // changes in one call; a list that goes with it may be told before or after. For those who show the registry's
  // state (Registry::Describe, FailbackRegistry::Unreadable); there is nothing that must be done.
  virtual void OnRegistryChange() {}
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_NOTIFICATION_H_
