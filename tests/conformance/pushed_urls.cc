#include "pushed_urls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/url/match.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/service_view.h"
#include "fairlead/url/typed.h"

#include "java_answers.h"

namespace fairlead::conformance {
namespace {

constexpr std::string_view kQuestion = "%3F", kAnd = "%26", kEquals = "%3D";

// Java's parser of the address half: it takes every '@' and ':' behind the protocol, knows no fragment, and forgets a
// host that has no port.
absl::StatusOr<UrlParts> ParseAddressHalf(std::string text) {
  UrlParts url;
  if (text.find('/') != std::string::npos) {
    url.protocol = "dubbo";
    std::size_t at = text.find("://");
    const std::size_t skip = at != std::string::npos ? 3 : 1;
    if (at == std::string::npos) at = text.find(":/");
    if (at == 0) return absl::InvalidArgumentError("expected a protocol");
    if (at != std::string::npos) {
      url.protocol = text.substr(0, at);
      text.erase(0, at + skip);
    }
    if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
      url.SetPath(text.substr(slash + 1));
      text.erase(slash);
    }
    if (const std::size_t credentials = text.rfind('@'); credentials != std::string::npos) {
      const std::string user = text.substr(0, credentials);
      const std::size_t colon = user.find(':');
      url.username = user.substr(0, colon);
      if (colon != std::string::npos) url.password = user.substr(colon + 1);
      text.erase(0, credentials + 1);
    }
  }
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon + 1 < text.size()) {
    if (const std::size_t percent = text.rfind('%'); percent == std::string::npos || percent < colon) {
      const auto port = ParseJavaInt(std::string_view(text).substr(colon + 1));
      if (!port.has_value()) return absl::InvalidArgumentError("expected a decimal port");
      url.port = std::max(*port, 0);
      url.host = text.substr(0, colon);
    }
  } else if (!url.protocol.has_value()) {
    url.host = text;
  }
  return url;
}

// As Java prints a map.
std::string MapText(const UrlParams& params) {
  std::string text = "{";
  for (const auto& [key, value] : params) text += (text.size() > 1 ? ", " : "") + key + "=" + value;
  return text + "}";
}

}  // namespace

std::string StripVariableKeys(const std::string& raw) {
  const std::size_t question = raw.find(kQuestion);
  if (question == std::string::npos) return raw;
  std::string out = raw.substr(0, question);
  std::string_view rest = std::string_view(raw).substr(question + kQuestion.size());
  std::string kept;
  while (!rest.empty()) {
    const std::size_t end = rest.find(kAnd);
    const std::string_view item = rest.substr(0, end);
    const std::string_view key = item.substr(0, item.find(kEquals));
    if (key.size() == item.size() || (key != names::kTimestamp && key != names::kPid)) {
      if (!kept.empty()) kept += kAnd;
      kept += item;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kAnd.size());
  }
  if (!kept.empty()) out += std::string(kQuestion) + kept;
  for (const std::string_view end : {kAnd, kQuestion}) {
    if (out.size() >= end.size() && out.compare(out.size() - end.size(), end.size(), end) == 0) {
      out.resize(out.size() - end.size());
    }
  }
  return out;
}

absl::StatusOr<std::optional<PushedUrl>> ReadPushed(const std::string& stripped, const UrlParts& consumer) {
  const std::size_t escaped = stripped.find(kQuestion);
  const std::size_t plain = escaped == std::string::npos ? stripped.find('?') : std::string::npos;
  PushedUrl pushed;
  if (escaped == std::string::npos && plain == std::string::npos) {
    // A child without parameters is taken without a look at the consumer.
    FAIRLEAD_ASSIGN_OR_RETURN(pushed.url, UrlParts::ParseEncoded(stripped));
    pushed.raw_address = pushed.url.ToIdentityString();
    return pushed;
  }
  std::string params_text;
  if (escaped != std::string::npos) {
    pushed.raw_address = stripped.substr(0, escaped);
    params_text = stripped.substr(escaped + kQuestion.size());
    FAIRLEAD_ASSIGN_OR_RETURN(std::string address, PercentDecode(pushed.raw_address));
    FAIRLEAD_ASSIGN_OR_RETURN(pushed.url, ParseAddressHalf(std::move(address)));
    FAIRLEAD_ASSIGN_OR_RETURN(const UrlParts params, UrlParts::ParseEncoded(std::string(kQuestion) + params_text));
    pushed.url.params = params.params;
  } else {
    pushed.raw_address = stripped.substr(0, plain);
    FAIRLEAD_ASSIGN_OR_RETURN(pushed.url, ParseAddressHalf(pushed.raw_address));
    pushed.url.params = UrlParts::ParseQuery(stripped.substr(plain + 1));
  }
  pushed.url.params.insert_or_assign(names::kCheck, "false");
  if (!MatchesPushed(consumer, pushed.url)) return std::nullopt;
  return pushed;
}

Json DescribeView(const UrlParts& provider, const UrlParts& consumer_half) {
  const ServiceView view(provider, consumer_half);
  const UrlParts own = view.Own();
  return {{"full", own.ToFullString()},
          {"host", OrNull(own.host)},
          {"port", own.port},
          {"path", OrNull(own.path)},
          {"params", ParamsJson(own.params)},
          {"service_key", view.ServiceKey()},
          {"identity", own.ToIdentityString()},
          {"category", view.Category()},
          {"side", view.Side()},
          {"application", view.Application()},
          {"remote_application", ParamOrNull(provider, names::kApplication)}};
}

Json AnswerToUrls(const Case& c) {
  const UrlParts consumer = MustParse(c.in.at("consumer").get<std::string>());
  Json steps = Json::array();
  std::optional<std::set<std::string>> cached;  // the texts that Java keeps objects for
  for (const Json& push : c.in.at("pushes")) {
    const std::string path = push.at("path").get<std::string>();
    const std::string category = path.substr(path.rfind('/') + 1);
    const Json& children = push.at("raw");
    std::map<std::string, int> urls;
    std::optional<std::set<std::string>> keys = cached;
    if (category == "providers") {
      keys.reset();
      for (const Json& raw : children) {
        if (!keys.has_value()) keys.emplace();
        const std::string stripped = StripVariableKeys(raw.get<std::string>());
        const absl::StatusOr<std::optional<PushedUrl>> pushed = ReadPushed(stripped, consumer);
        if (!pushed.ok()) return JavaError(pushed.status());
        if (!pushed->has_value()) continue;
        keys->insert(stripped);
        ++urls[(*pushed)->raw_address + " | " + MapText((*pushed)->url.params)];
      }
    } else {
      for (const Json& raw : children) {
        const std::string text = raw.get<std::string>();
        if (text.find("%3A%2F%2F") == std::string::npos) continue;
        const absl::StatusOr<UrlParts> url = UrlParts::ParseEncoded(text);
        if (!url.ok()) return JavaError(url.status());
        if (Matches(consumer, *url)) ++urls[url->ToFullString()];
      }
    }
    if (urls.empty()) {
      UrlParts empty = consumer;
      empty.protocol = "empty";
      empty.params.insert_or_assign(names::kCategory, category);
      urls[empty.ToFullString()] = 1;
    }
    Json step = {{"urls", urls}};
    if (keys.has_value()) {
      step["cache_keys"] = *keys;
      step["reused_objects"] = !cached.has_value() ? 0 : std::count_if(keys->begin(), keys->end(), [&](const auto& key) {
        return cached->count(key) > 0;
      });
    }
    cached = std::move(keys);
    steps.push_back(std::move(step));
  }
  return {{"steps", steps}};
}

}  // namespace fairlead::conformance
