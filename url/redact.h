#ifndef FAIRLEAD_URL_REDACT_H_
#define FAIRLEAD_URL_REDACT_H_

#include <string>
#include <string_view>

namespace fairlead {

// A url's text as a log line or an error may show it: the password, in decoded or percent-encoded text, and
// the values of parameters called `password` become `***`, control characters become `?`, and a long text is
// cut. Linear.
std::string Redacted(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_REDACT_H_
