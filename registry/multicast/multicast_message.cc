#include "fairlead/registry/multicast/multicast_message.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/utf8.h"

namespace fairlead::internal {
namespace {

constexpr std::array<std::pair<MulticastVerb, std::string_view>, 4> kVerbs = {{
    {MulticastVerb::kRegister, "register"},
    {MulticastVerb::kUnregister, "unregister"},
    {MulticastVerb::kSubscribe, "subscribe"},
    {MulticastVerb::kUnsubscribe, "unsubscribe"},
}};

// Java's: everything up to a blank, the fill of zeros behind a short datagram too.
constexpr bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool HasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

constexpr std::string_view Word(MulticastVerb verb) { return kVerbs[static_cast<std::size_t>(verb)].second; }

}  // namespace

std::optional<MulticastMessage> ReadMulticastMessage(std::string_view datagram) {
  std::string_view text = Trimmed(datagram);
  text = Trimmed(text.substr(0, text.find('\n')));
  for (const auto& [verb, word] : kVerbs) {
    if (!text.starts_with(word)) continue;
    const std::string_view rest = text.substr(word.size());
    if (!rest.empty() && !IsBlank(rest.front())) return std::nullopt;
    return MulticastMessage{verb, Trimmed(rest)};
  }
  return std::nullopt;
}

std::string MulticastText(MulticastVerb verb, std::string_view url) {
  return absl::StrCat(ToAbsl(Word(verb)), " ", ToAbsl(url), "\n");
}

absl::Status CheckMulticastUrl(std::string_view url) {
  // The longest message there is about a url that is registered, with its blank and its line feed.
  constexpr std::size_t kAround = Word(MulticastVerb::kUnregister).size() + 2;
  if (url.size() > kMostDatagramBytes - kAround) {
    return absl::InvalidArgumentError(absl::StrCat(
        Redacted(url), ": ", url.size(), " bytes; a multicast registry has ", kMostDatagramBytes - kAround,
        " for a url, as its receivers read ", kMostDatagramBytes,
        " bytes of a message: register fewer parameters (simplified=true), or in another registry"));
  }
  if (!IsUtf8(url) || HasControls(url) || Trimmed(url) != url) {
    return absl::InvalidArgumentError(absl::StrCat(
        Redacted(url), ": expected UTF-8 without control characters, and without blanks at its ends; percent-encode them"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HeardUrl> HeardUrl::Read(std::string_view text) {
  if (!IsUtf8(text) || HasControls(text)) return absl::InvalidArgumentError("a url that is no UTF-8 text");
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts parts, UrlParts::Parse(text));
  HeardUrl heard;
  if (parts.protocol.value_or("").empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Redacted(text), ": no protocol"));
  }
  // It says that there are none; here that is said by the last one that leaves.
  if (parts.protocol == "empty") return absl::InvalidArgumentError(absl::StrCat(Redacted(text), ": no url of a service"));
  FAIRLEAD_ASSIGN_OR_RETURN(heard.key, RegistryKeyOf(parts));
  heard.text = text;
  heard.timestamp = ParseJavaLong(parts.Param(names::kTimestamp)).value_or(0);
  heard.parts = parts;
  parts.params.erase(names::kPid);
  parts.params.erase(names::kTimestamp);
  heard.identity = parts.ToFullString();
  return heard;
}

void NewestUrls::Add(std::string_view identity, std::int64_t timestamp, std::string_view text) {
  const auto [at, added] = urls_.try_emplace(identity, timestamp, text);
  if (!added && timestamp >= at->second.first) at->second = {timestamp, text};
}

std::vector<std::string> NewestUrls::Texts() const {
  std::vector<std::string> texts;
  texts.reserve(urls_.size());
  for (const auto& [identity, url] : urls_) texts.emplace_back(url.second);
  return texts;
}

bool IsProbed(const UrlParts& url) {
  if (url.port <= 0 || url.port > 65535 || !BoolParam(url, names::kDynamic, true)) return false;
  const std::string_view protocol = url.protocol ? std::string_view(*url.protocol) : std::string_view();
  return protocol != "consumer" && protocol != "route" && protocol != "override";
}

}  // namespace fairlead::internal
