#ifndef FAIRLEAD_URL_SERVICE_VIEW_H_
#define FAIRLEAD_URL_SERVICE_VIEW_H_

#include <string>
#include <string_view>

#include "fairlead/url/url_parts.h"

namespace fairlead {

// What a consumer says to all its providers: its url without the parameters that only a provider can state (release,
// dubbo, methods, timestamp, dubbo.tag).
UrlParts ConsumerHalf(const UrlParts& consumer);

// A provider as a Dubbo 3.x consumer sees it without merging the two urls: three layers, looked up in the order
// overrides, consumer, provider, where an empty value counts as absent. What identifies a provider (group, version,
// its application) is always its own; interface and side are always the consumer's.
//
// A view: cheap to make, valid while the three urls live.
class ServiceView {
 public:
  // `consumer_half` is a ConsumerHalf, `overrides` the result of configurators or nullptr.
  ServiceView(const UrlParts& provider, const UrlParts& consumer_half, const UrlParts* overrides = nullptr)
      : provider_(provider), consumer_(consumer_half), overrides_(overrides) {}

  std::string_view Param(std::string_view key, std::string_view fallback = {}) const;
  // Method values of the three layers first, so that a provider's method value beats a consumer's plain one.
  std::string_view MethodParam(std::string_view method, std::string_view key, std::string_view fallback = {}) const;
  // Both sides' lists, the provider's first, for parameters that add up (filters, listeners).
  std::string JoinedParam(std::string_view key) const;

  std::string_view Application() const;        // the consumer's
  std::string_view RemoteApplication() const;  // the provider's
  std::string_view Side() const;               // the consumer's
  std::string_view Category() const { return "providers"; }
  std::string ServiceInterface() const { return consumer_.ServiceInterface(); }
  std::string ServiceKey() const;
  // The provider's, or the consumer's when the provider has none.
  std::string_view Path() const;

  // The provider's own url, with the path of Path().
  UrlParts Own() const;
  // The provider's parameters and what only the consumer has, for logs: not the effective values.
  std::string ToString() const;

 private:
  const UrlParts& provider_;
  const UrlParts& consumer_;
  const UrlParts* overrides_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_SERVICE_VIEW_H_
