#ifndef FAIRLEAD_URL_URL_HASH_H_
#define FAIRLEAD_URL_URL_HASH_H_

#include <cstddef>

#include "fairlead/url/url.h"

namespace fairlead::internal {

// For tables keyed by Url.
struct UrlHash {
  std::size_t operator()(const Url& url) const { return url.Hash(); }
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_URL_URL_HASH_H_
