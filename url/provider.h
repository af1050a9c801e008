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

}  // namespace fairlead

#endif  // FAIRLEAD_URL_PROVIDER_H_
