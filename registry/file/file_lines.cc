#include "fairlead/registry/file/file_lines.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/provider.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/utf8.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kMostBad = 100;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Category CategoryByProtocol(std::string_view protocol) {
  if (protocol == "override" || protocol == "absent") return Category::kConfigurators;
  if (protocol == "route" || protocol == "condition" || protocol == "script") return Category::kRouters;
  if (protocol == "consumer") return Category::kConsumers;
  return Category::kProviders;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

struct Entry {
  RegistryKey key;
  std::string text;
};

absl::StatusOr<Entry> ReadLine(std::string_view line, UrlPool& pool) {
  if (line.size() > kLongestLine) {
    return absl::InvalidArgumentError(
        absl::StrCat("the line has ", line.size(), " bytes; at most ", kLongestLine, " are read"));
  }
  if (std::any_of(line.begin(), line.end(), IsControl) || !IsUtf8(line)) {
    return absl::InvalidArgumentError(
        "expected UTF-8 text without control characters; percent-encode line breaks and the like");
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const Url url, pool.Parse(line));
  if (url.protocol().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shortened(url.ToString()), ": expected a url, protocol://host:port/service"));
  }
  // Any other bytes would be a protocol that nobody speaks, and hide what the line is: a rule would be a provider.
  if (!IsProtocolName(url.protocol())) {
    return absl::InvalidArgumentError(
        absl::StrCat(Redacted(line), ": expected a protocol of letters, digits and + . - _ before ://"));
  }
  const bool encoded = line.find("://") == std::string_view::npos;
  const std::string_view behind = line.substr(std::min(line.size(), url.protocol().size()));
  if (encoded ? !absl::StartsWithIgnoreCase(ToAbsl(behind), "%3A%2F%2F") : !behind.starts_with("://")) {
    // With one slash the text is a path without a host, which is nobody's service.
    return absl::InvalidArgumentError(absl::StrCat(Redacted(line), ": expected :// behind the protocol"));
  }
  Entry entry;
  FAIRLEAD_ASSIGN_OR_RETURN(entry.key, RegistryKeyOf(url.parts()));
  const bool says_category = !url.Param(names::kCategory).empty();
  if (!says_category) entry.key.category = CategoryByProtocol(url.protocol());
  if (!says_category && entry.key.category != Category::kProviders) {
    // Matching reads the category from the url.
    UrlParts parts = url.parts();
    parts.params.insert_or_assign(names::kCategory, CategoryName(entry.key.category));
    entry.text = parts.ToFullString();
  } else {
    entry.text = encoded ? url.ToFullString() : std::string(line);
  }
  // What is escaped in an encoded line separates parameters in a decoded text: it would stand under one service and be
  // read as another's.
  if (encoded) {
    const absl::StatusOr<Url> decoded = pool.Parse(entry.text);
    if (!decoded.ok() || RegistryKeyOf(decoded->parts()).value_or(RegistryKey()).service != entry.key.service) {
      return absl::InvalidArgumentError(
          absl::StrCat(Redacted(line), ": decoded it is another url; expected ? & ; = in names and values to be escaped twice"));
    }
  }
  if (entry.key.category == Category::kProviders && url.host().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Shortened(url.ToString()), ": expected the provider's host"));
  }
  const bool rule =
      entry.key.category == Category::kConfigurators || entry.key.category == Category::kRouters;
  if (entry.key.service == "*" && !rule) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shortened(url.ToString()), ": interface * is for rules only; name the service"));
  }
  return entry;
}

}  // namespace

FileLines ParseFileLines(std::string_view text, UrlPool& pool) {
  FileLines lines;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    absl::StatusOr<Entry> entry = ReadLine(line, pool);
    if (entry.ok()) {
      lines.urls[std::move(entry->key)].push_back(std::move(entry->text));
      ++lines.count;
    } else if (++lines.bad_count <= kMostBad) {
      lines.bad.push_back({number, Shortened(FromAbsl(entry.status().message())), HashBytes(line)});
    }
  }
  return lines;
}

absl::Status CheckFileLine(std::string_view url_text, UrlPool& pool) {
  if (url_text.empty() || url_text.front() == '#' || Trimmed(url_text).size() != url_text.size()) {
    return absl::InvalidArgumentError("cannot be a line of a file: expected a url, without blanks around it");
  }
  const absl::Status status = ReadLine(url_text, pool).status();
  return status.ok() ? status
                     : absl::InvalidArgumentError(absl::StrCat("cannot be a line of a file: ", status.message()));
}

}  // namespace fairlead::internal
