#ifndef FAIRLEAD_URL_PROVIDER_H_
#define FAIRLEAD_URL_PROVIDER_H_

#include <string_view>

#include "fairlead/url/url_parts.h"

namespace fairlead {

// Can `text` be a protocol? Letters, digits and `+ . - _`, at least one.
bool IsProtocolName(std::string_view text);

// Why no consumer can use `url` as a provider, whatever protocols it speaks: "no host to connect to". Empty when it
// can. Says the same to who registers and to who subscribes. The text is a constant.
std::string_view WhyNoProvider(const UrlParts& url);

// The protocol that a consumer speaks with a provider whose port understands several, as Dubbo 3.3 has it: its
// `preferred.protocol`, or its own; but for a consumer that lists protocols (`accepted`, which may be empty), the first of
// them if that is the provider's own or among its `ext.protocol`. A view of one of the arguments.
std::string_view EffectiveProtocol(std::string_view accepted, const UrlParts& url);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_PROVIDER_H_
