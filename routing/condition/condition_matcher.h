#ifndef FAIRLEAD_ROUTING_CONDITION_CONDITION_MATCHER_H_
#define FAIRLEAD_ROUTING_CONDITION_CONDITION_MATCHER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/routing/router.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// What Java's matchers compare when an argument or attachment cannot be read. It is a text like any other, so
// `!=` and `*` hold.
inline constexpr std::string_view kUnreadableValue = "dubbo_internal_not_found_argument_condition_value";

// Where a url has the value of a rule's key: a parameter, or one of the parts that override parameters of the
// same name: protocol, username, password, host, port, path, address.
class UrlKey {
 public:
  explicit UrlKey(std::string_view key);
  // nullopt when absent; an empty parameter is there. `storage` keeps a text that had to be made.
  std::optional<std::string_view> Read(const UrlParts& url, std::string& storage) const;

  const std::string& name() const { return name_; }

 private:
  enum class Part : std::uint8_t {
    kParameter,
    kProtocol,
    kUsername,
    kPassword,
    kHost,
    kPort,
    kPath,
    kAddress
  };
  Part part_ = Part::kParameter;
  std::string name_;
};

// The text that `$key` stands for: the consumer's parameter, or its protocol, username, password, host, port
// ("0" when absent) or path. Empty when absent, and an empty pattern hits only empty text.
std::string ResolveReference(const UrlParts& consumer, std::string_view key);

// The *when* side of a rule, compiled: is this call, by this consumer, one that the rule is about?
//
// Conditions on the consumer's url are asked once per snapshot, those on the call at each call. A key reads:
// `attachments[k]` an attachment; `arguments[i]` an argument's text (null is the text "null"; beyond the
// count, or when its text was not given, kUnreadableValue); `method` and `methods` the call's method (for a
// call that names none they never hold); anything else the consumer's url. `$x` is plain text here.
// Immutable; thread-safe.
class CallMatcher {
 public:
  CallMatcher(const Conditions& when, Compat compat);

  // What of a call it reads; nothing when no call can match.
  Reads reads() const;
  bool MatchesConsumer(const UrlParts& consumer) const;
  // The rest. Data plane: no lock, no allocation, no clock; linear in the call's arguments or attachments.
  bool MatchesCall(const RouteCall& call) const;

 private:
  struct OnConsumer {
    UrlKey key;
    ValueMatcher values;
  };
  struct OnArgument {
    std::uint32_t index;
    bool when_missing;  // what holds at or beyond the argument count
    ValueMatcher values;
  };
  struct OnAttachment {
    std::string key;
    ValueMatcher values;
  };
  bool never_ = false;
  std::vector<OnConsumer> consumer_;
  std::vector<ValueMatcher> method_;
  std::vector<OnArgument> arguments_;
  std::vector<OnAttachment> attachments_;
};

// The *then* side of a rule, compiled for one consumer: may this provider be reached? Keys read the
// provider's original url; there is no call here, so `arguments` and `attachments` keys read kUnreadableValue
// and `method` a parameter of that name. `$x` is the consumer's value. Immutable; thread-safe.
class ProviderMatcher {
 public:
  ProviderMatcher(const Conditions& then, const UrlParts& consumer, Compat compat);

  bool Matches(const UrlParts& provider) const;
  // The consumer's values for all `$` patterns, in order: equal references make equal matchers of one rule.
  const std::vector<std::string>& references() const { return references_; }
  static std::vector<std::string> References(const Conditions& then, const UrlParts& consumer);

 private:
  struct OnProvider {
    UrlKey key;
    ValueMatcher values;
  };
  bool never_ = false;
  std::vector<OnProvider> keys_;
  std::vector<std::string> references_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_CONDITION_MATCHER_H_
