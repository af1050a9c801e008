#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/protection.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/host.h"
#include "fairlead/url/match.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/provider.h"
#include "fairlead/url/service_key.h"
#include "fairlead/url/service_view.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_address.h"
#include "fairlead/url/url_pool.h"
#include "java_answers.h"
#include "pushed_urls.h"
#include "runner.h"

// The curated vectors about urls: `registry.<group>` and the url kinds of `routing.<kind>`.
namespace fairlead::conformance {
namespace {

std::string Text(const Json& in, const char* key) { return TextOrEmpty(in.at(key)); }

Json DescribeParsed(const UrlParts& url) {
  Json answer = {{"protocol", OrNull(url.protocol)},
                 {"username", OrNull(url.username)},
                 {"password", OrNull(url.password)},
                 {"host", OrNull(url.host)},
                 {"port", url.port},
                 {"path", OrNull(url.path)},
                 {"params", ParamsJson(url.params)},
                 {"full", url.ToFullString()},
                 {"service_key", KeyOrNull(url, url.ServiceKey())}};
  if (url.ToString() != url.ToFullString()) answer["str"] = url.ToString();
  return answer;
}

Json AnswerServiceKey(const Case& c) {
  const UrlParts url = MustParse(c.in.get<std::string>());
  return {{"service_key", KeyOrNull(url, url.ServiceKey())},
          {"colon_separated_key", JavaColonKey(url)},
          {"path_key", KeyOrNull(url, PathKey(url))},
          {"protocol_service_key", JavaProtocolServiceKey(url)},
          {"display_service_key", JavaDisplayKey(url)},
          {"service_interface", HasInterface(url) ? Json(url.ServiceInterface()) : Json()},
          {"service_string", Print(url, {.service_key_as_path = true, .params = false})},
          {"identity_string", url.ToIdentityString()}};
}

// The rows name a method and its arguments; what is printed afterwards depends on the method.
class Serialise {
 public:
  Json operator()(const Case& c) const {
    const std::string row = c.in.get<std::string>();
    const std::size_t open = row.find('('), close = row.rfind(')');
    const std::string method = row.substr(0, open);
    const std::vector<std::string> arguments = open == std::string::npos
                                                   ? std::vector<std::string>()
                                                   : Arguments(row.substr(open + 1, close - open - 1));
    UrlParts url = MustParse("dubbo://u:p@h:1/p?z=1&A=2&a=3&m.x=4&_=5&B=%20x");
    const std::vector<std::string_view> names(arguments.begin(), arguments.end());
    if (method == "toString") return Print(url, {.only = names});
    if (method == "toFullString") return Print(url, {.credentials = true, .only = names});
    if (method == "toIdentityString") return url.ToIdentityString();
    if (method == "toParameterString") return QueryOf(url, names);

    if (method == "removeParameters") {
      for (const std::string& name : arguments) url.params.erase(name);
      return url.QueryString();
    }
    if (method == "addParametersIfAbsent") {
      for (const auto& [key, value] : Pairs(arguments)) url.params.emplace(key, value);
      return url.QueryString();
    }
    if (method == "setPort") {
      url.port = ParseJavaInt(arguments.at(0)).value();
      return url.ToIdentityString();
    }
    if (method == "setAddress") {
      if (const absl::Status status = SetAddress(arguments.at(0), url); !status.ok())
        return JavaError(status);
    } else if (method == "setPath") {
      url.SetPath(arguments.at(0));
    } else if (method == "setProtocol") {
      url.protocol = arguments.at(0);
    } else {
      url.params.clear();
      if (method == "addParameter") {
        if (!arguments.at(1).empty()) url.params.insert_or_assign(arguments.at(0), arguments.at(1));
      } else if (method == "addParameterAndEncoded") {
        url.params.insert_or_assign(arguments.at(0), PercentEncode(arguments.at(1)));
      } else if (method == "addParameters") {
        for (const auto& [key, value] : Pairs(arguments)) url.params.insert_or_assign(key, value);
      } else {
        throw std::runtime_error("unknown method " + method);
      }
    }
    return url.ToString();
  }

 private:
  static std::string Unquoted(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '\''), text.end());
    return text;
  }

  static std::vector<std::string> Arguments(const std::string& text) {
    std::vector<std::string> arguments;
    std::size_t from = 0;
    while (from <= text.size()) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      arguments.push_back(Unquoted(text.substr(from, end - from)));
      from = end + 1;
    }
    return arguments;
  }

  // `{k:v,..}`, cut at the commas already.
  static std::map<std::string, std::string> Pairs(const std::vector<std::string>& arguments) {
    std::map<std::string, std::string> pairs;
    for (std::string item : arguments) {
      item.erase(std::remove_if(item.begin(), item.end(), [](char x) { return x == '{' || x == '}'; }),
                 item.end());
      const std::size_t colon = item.find(':');
      pairs[item.substr(0, colon)] = item.substr(colon + 1);
    }
    return pairs;
  }

  static std::string QueryOf(const UrlParts& url, const std::vector<std::string_view>& names) {
    UrlParts only;
    only.params = url.params;
    return Print(only, {.only = names}).substr(1);
  }
};

Json AnswerBackupAddress(const Case& c) {
  const UrlParts url = MustParse(c.in.get<std::string>());
  const auto joined = [](const std::vector<std::string>& addresses) {
    std::string text;
    for (const std::string& address : addresses) text += (text.empty() ? "" : ",") + address;
    return text;
  };
  Json urls = Json::array();
  const absl::StatusOr<std::vector<UrlParts>> backups = BackupUrls(url);
  if (!backups.ok()) return JavaError(backups.status());
  for (const UrlParts& one : *backups) urls.push_back(one.Address());
  return {{"backup_address", joined(BackupAddresses(url))},
          {"backup_address_default_6379", joined(BackupAddresses(url, 6379))},
          {"backup_urls", urls}};
}

Json AnswerAddress(const Case& c) {
  if (c.in.contains("addresses")) {
    const absl::StatusOr<std::vector<UrlParts>> urls = ParseAddresses(Text(c.in, "addresses"));
    if (!urls.ok()) return JavaError(urls.status());
    Json texts = Json::array();
    for (const UrlParts& url : *urls) texts.push_back(url.ToFullString());
    return texts;
  }
  UrlParts defaults;
  if (c.in.at("defaults").is_object()) {
    for (const auto& [key, value] : c.in["defaults"].items()) {
      const std::string text = value.get<std::string>();
      if (key == "protocol") {
        defaults.protocol = text;
      } else if (key == "username") {
        defaults.username = text;
      } else if (key == "password") {
        defaults.password = text;
      } else if (key == "path") {
        defaults.path = text;
      } else if (key == "port") {
        defaults.port = ParseJavaInt(text).value_or(0);
      } else {
        defaults.params.insert_or_assign(key, text);
      }
    }
  }
  const absl::StatusOr<UrlParts> url = ParseAddress(Text(c.in, "address"), defaults);
  return url.ok() ? Json(url->ToFullString()) : JavaError(url.status());
}

Json AnswerEquality(const Case& c) {
  UrlPool pool;
  const absl::StatusOr<Url> a = Url::Parse(c.in.at(0).get<std::string>(), pool);
  const absl::StatusOr<Url> b = Url::Parse(c.in.at(1).get<std::string>(), pool);
  return {{"equals", *a == *b}, {"hash_equal", a->Hash() == b->Hash()}};
}

Json AnswerMethodParameter(const Case& c) {
  const UrlParts url = MustParse(Text(c.in, "url"));
  const std::string method = Text(c.in, "method"), key = Text(c.in, "key");
  const std::string* strict = url.FindMethodParam(method, key);
  const bool has = strict != nullptr && !strict->empty();
  return {{"method_parameter", has ? Json(*strict) : ParamOrNull(url, key)},
          {"has_method_parameter", has},
          {"any_method_parameter", AnyMethodParameter(url, key)}};
}

Json AnswerTyped(const Case& c) {
  UrlParts url;
  url.params.insert_or_assign("k", c.in.get<std::string>());
  const auto number = [](const absl::StatusOr<std::int32_t>& value) {
    return value.ok() ? Json(*value) : JavaError(value.status());
  };
  const Json all = {{"get_int_default_7", number(IntParam(url, "k", 7))},
                    {"get_positive_default_7", number(PositiveParam(url, "k", 7))},
                    {"get_bool_default_true", BoolParam(url, "k", true)},
                    {"get_bool_default_false", BoolParam(url, "k", false)}};
  Json asked = Json::object();
  for (const auto& [getter, value] : c.out.items()) asked[getter] = all.at(getter);
  return asked;
}

Json AnswerServiceAddress(const Case& c) {
  constexpr char kConsumer9[] = "consumer://10.0.0.9/a.b.C?interface=a.b.C&version=9";
  const auto pushed = [](const char* consumer, const char* provider) -> Json {
    const UrlParts wants = MustParse(consumer);
    const auto read = ReadPushed(StripVariableKeys(PercentEncode(provider)), wants);
    if (!read.ok()) return JavaError(read.status());
    if (!read->has_value()) return nullptr;
    const UrlParts url = ServiceView((*read)->url, ConsumerHalf(wants)).Own();
    return {{"protocol", OrNull(url.protocol)},
            {"host", OrNull(url.host)},
            {"port", url.port},
            {"path", OrNull(url.path)},
            {"params", ParamsJson(url.params)}};
  };
  if (c.in.is_string()) {
    const std::string row = c.in.get<std::string>();
    if (row.find("without parameters") != std::string::npos)
      return pushed(kConsumer9, "dubbo://10.0.0.1:20880/a.b.C");
    if (row.find("without port") != std::string::npos) {
      Json answer = pushed("consumer://10.0.0.9/a.b.C?version=1", "dubbo://10.0.0.1/a.b.C?version=1");
      answer.erase("protocol");
      return answer;
    }
    return pushed(kConsumer9, "dubbo://10.0.0.1:20880/a.b.C?version=1");
  }
  const UrlParts half = ConsumerHalf(MustParse(Text(c.in, "consumer")));
  UrlParts provider = MustParse(Text(c.in, "provider"));
  provider.params.insert_or_assign("check", "false");
  const ServiceView view(provider, half);
  Json plain = Json::object();
  for (const auto& [key, value] : c.out.at("get_parameter").items())
    plain[key] = NullIfEmpty(view.Param(key));
  return {{"get_parameter", plain},
          {"get_application", view.Application()},
          {"get_remote_application", view.RemoteApplication()},
          {"service_key", view.ServiceKey()},
          {"find_timeout", view.MethodParam("find", "timeout")},
          {"get_timeout", view.MethodParam("get", "timeout")},
          {"get_retries", view.MethodParam("get", "retries")},
          {"concatenated_reference_filter", view.JoinedParam("reference.filter")},
          {"to_full_string", view.Own().ToFullString()},
          {"to_string", view.ToString()}};
}

// What a consumer that has a list is told. Where the case does not say, Dubbo 3.3's default holds, which is to protect
// nothing.
Json AnswerEmptyProtection(const Case& c) {
  if (!c.in.at("children").empty()) return "the matching url";
  const std::string category = Text(c.in, "category");
  UrlPool pool;
  const Url consumer =
      *Url::Parse("consumer://10.0.0.9/a.B?enable-empty-protection=" + Text(c.in, "enable-empty-protection"), pool);
  internal::Protection protection(RealClock(), internal::Protection::MaxAge(consumer, false, std::chrono::minutes(10)));
  if (category == "providers" && protection.OnEmpty(1) != internal::Protection::Verdict::kForbid) {
    return "nothing (empty list, ignored by AbstractRegistry.notify)";
  }
  return "empty:// with category=" + category;
}

// The expected texts hold what this one adds beyond ProtocolServiceKey's match: equality and Java's printed
// form.
Json AnswerAppLevelMatch(const Case& c) {
  const auto field = [&](const char* side, const char* key) { return Text(c.in.at(side), key); };
  const std::string rule[] = {field("rule", "interface"), field("rule", "version"), field("rule", "group"),
                              field("rule", "protocol")};
  const std::string target[] = {field("target", "interface"), field("target", "version"),
                                field("target", "group"), field("target", "protocol")};
  const ProtocolServiceKey a{rule[0], rule[1], rule[2], rule[3]},
      b{target[0], target[1], target[2], target[3]};
  const Json& protocol = c.in.at("rule").at("protocol");
  // Same interface, group and version, and a protocol that is equal or not asked for; unlike the match, Java
  // tells an absent group or version from an empty one here.
  const bool same = c.in["rule"]["interface"] == c.in["target"]["interface"] &&
                    c.in["rule"]["group"] == c.in["target"]["group"] &&
                    c.in["rule"]["version"] == c.in["target"]["version"] &&
                    (protocol.is_null() || protocol == c.in["target"]["protocol"]);
  return {{"match", Matches(a, b)},
          {"same", same},
          {"rule_string",
           BuildServiceKey(rule[0], rule[2], rule[1]) + ":" + (protocol.is_null() ? "null" : rule[3])}};
}

Json AnswerMerge(const Case& c, const char* provider, const char* consumer) {
  return ParamsJson(MergeConsumer(MustParse(Text(c.in, provider)), ParamsOf(c.in.at(consumer))).params);
}

}  // namespace

void RegisterUrlVectorKinds(KindTable& kinds) {
  kinds.Add("registry.effective_protocol", ExactKind([](const Case& c) {
              const Json& accepted = c.in.at("consumer_protocols");
              const std::string list = accepted.is_null() ? "" : accepted.get<std::string>();
              return Json(EffectiveProtocol(list, MustParse(c.in.at("url").get<std::string>())));
            }));
  kinds.Add("registry.registry_accepts", ExactKind([](const Case& c) {
              UrlPool pool;
              UrlParts registry = MustParse("memory://r");
              registry.params.insert_or_assign("accepts", c.in.get<std::string>());
              const auto options = RegistryOptions::Parse(Url::Of(std::move(registry), pool));
              return options.ok() ? Json(options->Accepts("dubbo")) : Json(std::string(options.status().message()));
            }));
  const auto add = [&](const char* kind, std::function<Json(const Case&)> answer) {
    kinds.Add(kind, ExactKind(std::move(answer)));
  };
  add("registry.url_parse",
      [](const Case& c) { return AnswerOr(UrlParts::Parse(c.in.get<std::string>()), DescribeParsed); });
  add("registry.url_parse_encoded", [](const Case& c) {
    return AnswerOr(UrlParts::ParseEncoded(c.in.get<std::string>()), DescribeParsed);
  });
  kinds.Add("registry.percent_encode", JudgedKind([](const Case& c) {
              const std::string encoded = PercentEncode(c.in.get<std::string>());
              const absl::StatusOr<std::string> decoded = PercentDecode(encoded);
              const bool passed = encoded == c.out && decoded.ok() && *decoded == c.whole.at("decode_out");
              return Outcome{passed, encoded};
            }));
  add("registry.service_key", AnswerServiceKey);
  add("registry.serialise", Serialise());
  add("registry.backup_address", AnswerBackupAddress);
  add("registry.address_with_defaults", AnswerAddress);
  add("registry.url_equality", AnswerEquality);
  add("registry.method_parameter", AnswerMethodParameter);
  add("registry.typed_getters", AnswerTyped);
  add("registry.comma_list", [](const Case& c) -> Json {
    const std::string text = c.in.get<std::string>();
    if (text.empty()) return Json::array({"DEF"});
    return SplitCommaList(text);
  });
  add("registry.any_local_host", [](const Case& c) -> Json {
    const UrlParts url = MustParse(c.in.get<std::string>());
    return {{"any", IsAnyHost(url)}, {"local", IsLocalHost(url)}};
  });
  add("registry.is_match", [](const Case& c) -> Json {
    return Matches(MustParse(c.in.at(0).get<std::string>()), MustParse(c.in.at(1).get<std::string>()));
  });
  add("registry.is_match_category", [](const Case& c) -> Json {
    return MatchesCategory(TextOrEmpty(c.in.at(0)), TextOrEmpty(c.in.at(1)));
  });
  add("registry.glob",
      [](const Case& c) -> Json { return MatchesGlob(TextOrEmpty(c.in.at(0)), TextOrEmpty(c.in.at(1))); });
  add("registry.parse_service_key", [](const Case& c) -> Json {
    const std::string text = c.in.get<std::string>();
    const ServiceKeyParts parts = ParseServiceKey(text);
    return Json::array({NullIfEmpty(parts.group), Json(parts.interface_name), NullIfEmpty(parts.version)});
  });
  add("registry.classify_url", [](const Case& c) -> Json {
    const UrlParts url = MustParse(c.in.get<std::string>());
    return {{"configurator", IsConfigurator(url)}, {"route", IsRoute(url)}, {"provider", IsProvider(url)}};
  });
  add("registry.empty_url", [](const Case& c) -> Json {
    return EmptyUrl(c.in.at(0).get<std::string>(), c.in.at(1).get<std::string>()).ToFullString();
  });
  add("registry.empty_protection", AnswerEmptyProtection);
  add("registry.strip_variable_keys",
      [](const Case& c) -> Json { return StripVariableKeys(c.in.get<std::string>()); });
  add("registry.service_address_url", AnswerServiceAddress);
  add("registry.app_level_service_match", AnswerAppLevelMatch);
  add("registry.merge_url", [](const Case& c) { return AnswerMerge(c, "provider", "consumer_params"); });
  add("routing.merge", [](const Case& c) { return AnswerMerge(c, "remote", "local"); });
  add("routing.glob",
      [](const Case& c) -> Json { return MatchesGlob(Text(c.in, "pattern"), Text(c.in, "value")); });
  add("routing.key", [](const Case& c) -> Json { return MustParse(Text(c.in, "url")).ColonKey(); });
  add("routing.mparam", [](const Case& c) -> Json {
    return NullIfEmpty(MustParse(Text(c.in, "url")).MethodParam(Text(c.in, "method"), Text(c.in, "key")));
  });
}

}  // namespace fairlead::conformance
