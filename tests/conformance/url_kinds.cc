#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/base/strings.h"
#include "fairlead/url/host.h"
#include "fairlead/url/match.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/service_key.h"
#include "fairlead/url/service_view.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_address.h"

#include "java_answers.h"
#include "pushed_urls.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

Json DescribeUrl(const UrlParts& url) {
  const bool has_interface = HasInterface(url);
  return {{"full", url.ToFullString()},
          {"string", url.ToString()},
          {"identity", url.ToIdentityString()},
          {"svc_string", Print(url, {.credentials = true, .service_key_as_path = true, .params = false})},
          {"protocol", OrNull(url.protocol)},
          {"user", OrNull(url.username)},
          {"pass", OrNull(url.password)},
          {"host", OrNull(url.host)},
          {"port", url.port},
          {"path", OrNull(url.path)},
          {"params", ParamsJson(url.params)},
          {"address", JavaAddress(url)},
          {"interface", has_interface ? Json(url.ServiceInterface()) : Json()},
          {"service_key", KeyOrNull(url, url.ServiceKey())},
          {"colon_key", JavaColonKey(url)},
          {"compat_colon_key", JavaCompatibleColonKey(url)},
          {"display_key", JavaDisplayKey(url)},
          {"path_key", KeyOrNull(url, PathKey(url))},
          {"protocol_service_key", JavaProtocolServiceKey(url)}};
}

constexpr char kUrlConsumer[] =
    "consumer://10.1.1.1/org.demo.Svc?interface=org.demo.Svc&category=providers,configurators,routers&side=consumer&"
    "application=app-c&group=*&version=*";

Json AnswerUrl(const Case& c) {
  const UrlParts consumer = MustParse(kUrlConsumer);
  const UrlParts half = ConsumerHalf(consumer);
  const std::string raw = c.in.at("raw").get<std::string>();
  Json answer;
  std::string encoded = raw;
  if (!c.in.value("encoded", false)) {
    answer["decoded"] = AnswerOr(UrlParts::Parse(raw), DescribeUrl);
    encoded = PercentEncode(raw);
    answer["encoded_string"] = encoded;
  }
  const absl::StatusOr<UrlParts> parsed = UrlParts::ParseEncoded(encoded);
  answer["encoded_parse"] = AnswerOr(parsed, DescribeUrl);
  // An exception whose text holds the url differs between the two spellings.
  const bool text_differs = answer["encoded_parse"].value("error", "").substr(0, 7) == "Illegal";
  if (answer.contains("decoded") && answer["decoded"] == answer["encoded_parse"] && !text_differs) {
    answer["encoded_parse"] = "same";
  }
  answer["service_address"] = AnswerOr(parsed, [&](const UrlParts& url) { return DescribeView(url, half); });
  const absl::StatusOr<std::optional<PushedUrl>> pushed = ReadPushed(StripVariableKeys(encoded), consumer);
  if (!pushed.ok()) {
    answer["cacheable"] = JavaError(pushed.status());
  } else {
    answer["cacheable"] = Json::array();
    if (pushed->has_value()) answer["cacheable"].push_back(DescribeView((*pushed)->url, half));
    if (answer["cacheable"] == Json::array({answer["service_address"]})) answer["cacheable"] = "same_as_service_address";
  }
  return answer;
}

// One entry of url_get: a getter's value, or the full text after a setter.
class GetKind {
 public:
  Json operator()(const Case& c) const {
    const UrlParts url = MustParse(c.in.at("url").get<std::string>());
    Json results = Json::array();
    for (const Json& get : c.in.at("gets")) results.push_back(Answer(url, get));
    return {{"results", results}};
  }

 private:
  static Json IntOrError(const absl::StatusOr<std::int32_t>& value) {
    return value.ok() ? Json(*value) : JavaError(value.status());
  }

  static Json UserInformation(const UrlParts& url) {
    const std::string user = url.username.value_or(""), password = url.password.value_or("");
    return user.empty() && password.empty() ? "" : user + ":" + password;
  }

  static Json Authority(const UrlParts& url) {
    std::string text = UserInformation(url).get<std::string>();
    if (url.host.has_value()) text += (text.empty() ? "" : "@") + url.Address();
    return NullIfEmpty(text);
  }

  static Json Map(const UrlParts& url) {
    Json map = ParamsJson(url.params);
    const auto put = [&](const char* key, const std::optional<std::string>& value) {
      if (value.has_value()) map[key] = *value;
    };
    put("protocol", url.protocol);
    put("username", url.username);
    put("password", url.password);
    put("host", url.host);
    put("path", url.path);
    if (url.port > 0) map["port"] = std::to_string(url.port);
    if (url.host.has_value()) map["address"] = url.Address();
    return map;
  }

  static Json Raw(const UrlParts& url, const std::string& key) {
    if (key == "host") return OrNull(url.host);
    if (key == "port") return std::to_string(url.port);
    if (key == "protocol") return OrNull(url.protocol);
    if (key == "username") return OrNull(url.username);
    if (key == "password") return OrNull(url.password);
    if (key == "path") return OrNull(url.path);
    return ParamOrNull(url, key);
  }

  static void AddQuery(const std::string& query, UrlParts& url) {
    static const std::regex kPair("([_.a-zA-Z0-9][-_.a-zA-Z0-9]*)=(.*)");
    std::size_t from = 0;
    while (from <= query.size()) {
      const std::size_t end = std::min(query.find('&', from), query.size());
      const std::string item = query.substr(from, end - from);
      std::smatch match;
      if (std::regex_match(item, match, kPair)) url.params.insert_or_assign(match.str(1), match.str(2));
      from = end + 1;
    }
  }

  static Json Answer(const UrlParts& url, const Json& get) {
    std::vector<std::string> a;
    for (const Json& argument : get) a.push_back(argument.get<std::string>());
    const std::string& op = a.at(0);
    const auto number = [&](std::size_t i) { return ParseJavaInt(a.at(i)).value(); };

    if (op == "str") return ParamOrNull(url, a.at(1));
    if (op == "strd") return url.Param(a.at(1), a.at(2));
    if (op == "int") return IntOrError(IntParam(url, a.at(1), number(2)));
    if (op == "pint") return IntOrError(PositiveParam(url, a.at(1), number(2)));
    if (op == "bool") return BoolParam(url, a.at(1), ParseJavaBool(a.at(2)));
    if (op == "method") {
      const std::string* value = url.FindMethodParam(a.at(1), a.at(2));
      return value != nullptr && !value->empty() ? Json(*value) : ParamOrNull(url, a.at(2));
    }
    if (op == "mint") return IntOrError(MethodIntParam(url, a.at(1), a.at(2), number(3)));
    if (op == "mbool") return MethodBoolParam(url, a.at(1), a.at(2), ParseJavaBool(a.at(3)));
    if (op == "strict") {
      const std::string* value = url.FindMethodParam(a.at(1), a.at(2));
      return value == nullptr ? Json() : Json(*value);
    }
    if (op == "any") return AnyMethodParameter(url, a.at(1));
    if (op == "list") return SplitCommaList(url.Param(a.at(1)));
    if (op == "raw") return Raw(url, a.at(1));
    if (op == "has") return !url.Param(a.at(1)).empty();
    if (op == "hasm") {
      const std::string* value = url.FindMethodParam(a.at(1), a.at(2));
      return value != nullptr && !value->empty();
    }
    if (op == "decoded") {
      const absl::StatusOr<std::string> value = PercentDecode(url.Param(a.at(1)));
      return value.ok() ? Json(*value) : JavaError(value.status());
    }
    if (op == "backup") {
      std::string joined;
      for (const std::string& address : BackupAddresses(url)) joined += (joined.empty() ? "" : ",") + address;
      return joined;
    }
    if (op == "anyhost") return IsAnyHost(url);
    if (op == "localhost") return IsLocalHost(url);
    if (op == "userinfo") return UserInformation(url);
    if (op == "authority") return Authority(url);
    if (op == "abspath") return url.path.has_value() ? Json("/" + *url.path) : Json();
    if (op == "map") return Map(url);

    UrlParts edited = url;
    if (op == "add") {
      if (!a.at(2).empty()) edited.params.insert_or_assign(a.at(1), a.at(2));
    } else if (op == "addabsent") {
      if (!a.at(2).empty()) edited.params.emplace(a.at(1), a.at(2));
    } else if (op == "addenc") {
      if (!a.at(2).empty()) edited.params.insert_or_assign(a.at(1), PercentEncode(a.at(2)));
    } else if (op == "addstr") {
      AddQuery(a.at(1), edited);
    } else if (op == "rm") {
      edited.params.erase(a.at(1));
    } else if (op == "clear") {
      edited.params.clear();
    } else if (op == "sethost") {
      edited.host = a.at(1);
    } else if (op == "setport") {
      edited.port = number(1);
    } else if (op == "setproto") {
      edited.protocol = a.at(1);
    } else if (op == "setpath") {
      edited.SetPath(a.at(1));
    } else if (op == "setaddr") {
      if (const absl::Status status = SetAddress(a.at(1), edited); !status.ok()) return JavaError(status);
    } else {
      throw std::runtime_error("unknown getter or setter " + op);
    }
    return edited.ToFullString();
  }
};

}  // namespace

void RegisterUrlKinds(KindTable& kinds) {
  kinds.Add("url", ExactKind(AnswerUrl));
  kinds.Add("url_get", ExactKind(GetKind()));
  kinds.Add("to_urls", ExactKind(AnswerToUrls));
  kinds.Add("glob", ExactKind([](const Case& c) -> Json {
    return {{"match", MatchesGlob(TextOrEmpty(c.in.at("pattern")), TextOrEmpty(c.in.at("value")))}};
  }));
  kinds.Add("is_match", ExactKind([](const Case& c) -> Json {
    const UrlParts consumer = MustParse(c.in.at("consumer").get<std::string>());
    const UrlParts provider = MustParse(c.in.at("provider").get<std::string>());
    return {{"match", Matches(consumer, provider)}, {"match_addr", MatchesPushed(consumer, provider)}};
  }));
  kinds.Add("merge_url", ExactKind([](const Case& c) -> Json {
    const UrlParts provider = MustParse(c.in.at("provider").get<std::string>());
    return {{"full", MergeConsumer(provider, ParamsOf(c.in.at("local"))).ToFullString()}};
  }));
}

}  // namespace fairlead::conformance
