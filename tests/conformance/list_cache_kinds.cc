#include <string>
#include <string_view>

#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/java_properties.h"
#include "fairlead/url/url_pool.h"
#include "java_answers.h"
#include "runner.h"

// The list cache file: its format, its name, and whose lists are in it.
namespace fairlead::conformance {
namespace {

// The vectors' inputs and Java's answers are text; the file is ISO-8859-1.
std::string ToLatin1(const std::string& utf8) {
  std::string latin1;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    const bool two_bytes = (c == 0xc2 || c == 0xc3) && i + 1 < utf8.size();
    latin1 += two_bytes ? static_cast<char>((c << 6) | (static_cast<unsigned char>(utf8[++i]) & 0x3f)) : utf8[i];
  }
  return latin1;
}

Outcome JudgeStore(const Case& c) {
  const std::string key = c.in.at("key"), value = c.in.at("value");
  std::string line;
  internal::AppendProperty(key, value, line);
  const absl::StatusOr<internal::Properties> read = internal::ParseProperties(line);
  const bool round_trip = read.ok() && read->size() == 1 && read->begin()->first == key && read->begin()->second == value;
  line.pop_back();
  return {line == c.out && round_trip == c.whole.value("roundtrip", true), line};
}

Json Load(const Case& c) {
  const absl::StatusOr<internal::Properties> read = internal::ParseProperties(ToLatin1(c.in.get<std::string>()));
  if (!read.ok()) return {{"error", "IllegalArgumentException"}};
  Json all = Json::object();
  for (const auto& [key, value] : *read) all[key] = value;
  return all;
}

Json FileName(const Case& c) {
  UrlPool pool;
  const absl::StatusOr<Url> registry = Url::Parse(c.in.get<std::string>(), pool);
  if (!registry.ok()) return JavaError(registry.status());
  return NullIfEmpty(internal::CacheFilePath(*registry, internal::DefaultCacheFile(*registry, "{home}", {})));
}

}  // namespace

void RegisterListCacheKinds(KindTable& kinds) {
  kinds.Add("registry.properties_store", JudgedKind(JudgeStore));
  kinds.Add("registry.properties_load", ExactKind(Load));
  kinds.Add("registry.cache_value_split", ExactKind([](const Case& c) {
              Json pieces = Json::array();
              const std::string value = c.in;
              for (const std::string_view piece : internal::SplitCached(value)) pieces.push_back(std::string(piece));
              return pieces;
            }));
  kinds.Add("registry.registry_cache_file_name", ExactKind(FileName));
  kinds.Add("registry.cache_key_lookup", ExactKind([](const Case& c) {
              return Json(internal::CacheKey(c.in.at("service_key").get<std::string>()) == c.in.at("file_key").get<std::string>());
            }));
}

}  // namespace fairlead::conformance
