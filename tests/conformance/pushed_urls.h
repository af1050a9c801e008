#ifndef FAIRLEAD_TESTS_CONFORMANCE_PUSHED_URLS_H_
#define FAIRLEAD_TESTS_CONFORMANCE_PUSHED_URLS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "fairlead/url/url_parts.h"

#include "runner.h"

// What Dubbo 3.x's registry makes of the children of a `providers` node. The library reads a child with one parser
// and interns the result; Java reads address and parameters apart, with an address parser of its own, and keeps texts
// as keys. That part of Java is told here, so that the rest (parameters, matching, views) is compared exactly.
namespace fairlead::conformance {

struct PushedUrl {
  std::string raw_address;
  UrlParts url;
};

// `timestamp` and `pid`, as whole keys, cut from a percent-encoded text.
std::string StripVariableKeys(const std::string& raw);

// Absent when the consumer does not match it.
absl::StatusOr<std::optional<PushedUrl>> ReadPushed(const std::string& stripped, const UrlParts& consumer);

// A provider over the consumer, as the cases describe it.
Json DescribeView(const UrlParts& provider, const UrlParts& consumer_half);

Json AnswerToUrls(const Case& c);

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_PUSHED_URLS_H_
