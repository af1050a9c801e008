#include "fairlead/tests/fuzz/mutate.h"

#include <algorithm>
#include <string_view>

namespace fairlead::fuzz {
namespace {

constexpr std::size_t kMostBytes = 4096;

constexpr std::string_view kPieces[] = {
    // urls and escapes
    "://", "%3A%2F%2F", "?", "%3F", "&", "%26", "=", "%3D", ";", "@", "#", ":", "/", "//", "[", "]", "::1", "%", "%25", "%2",
    "%E4%B8%AD", "%C0%80", "%ED%A0%80", "\xE4", "\xED\xA0\x80", "+", " ", "default.", "timestamp=", "pid=", "methods=", ":0",
    ":65536", ":-1", "10.0.0.1", "*", "empty://", "dynamic=false", "group=", "version=", "*/",
    // conditions
    "=>", " => ", "!=", ",", "~", "1~5", "$", "$region", "$$", "consumer.", "provider.", "arguments[0]", "arguments[99999999999]",
    "arguments[", "attachments[user]", "attachments[a.b]", "method", "host", "address", "true", "false",
    // documents
    "\n", "\n- ", "\n  ", ": ", "- ", "{", "}", "'", "\"", "\\", "|\n", ">-\n", "&a ", "*a", "<<: ", "---\n", "...\n", "!!int ",
    "!!binary ", "? ", "# ", "\t", "~", "null", "yes", "0x1F", "010", "1:30", ".inf", "1e9", "2001-01-01", "configVersion: v3.1\n",
    "configVersion: v3.0\n", "force: true\n", "enabled: false\n", "conditions:\n", "tags:\n", "weight: 0", "ratio: ",
    "from: {match: ", "to: []", "match: ", "addresses: [", "regex: '(a+)+'", "configs:\n", "parameters: {", "10.0.0.0/8", "0.0.0.0:20880",
    // mesh rules
    "kind: DestinationRule\n", "metadata: {name: shop}\n", "subset: all", "fallback: {destination: {", "labels: {", "oneof: [", "mod: 0, ",
    "range: {start: ", "argc: ", "args: [{index: ", "dubboContext: {", "route: [{destination: {", "services: [",
    // properties
    "\\u", "\\u0000", "\\ud800", "\\uD83D\\uDE00", "\\\n", "\r", "\f", "\\t", "!", "\xEF\xBB\xBF",
    // redis
    "\r\n", "$-1\r\n", "*-1\r\n", "*2\r\n", "$5\r\n", ":1\r\n", "+OK\r\n", "-ERR x\r\n", "9223372036854775807", "-9223372036854775808",
};

std::size_t Place(const std::string& text, Random& random) { return random.Below(text.size() + 1); }

// A part of it, mostly a short one.
std::string_view Part(std::string_view text, Random& random) {
  if (text.empty()) return text;
  const std::size_t begin = random.Below(text.size());
  const std::size_t most = random.Below(3) == 0 ? text.size() - begin : std::min<std::size_t>(text.size() - begin, 24);
  return text.substr(begin, 1 + random.Below(most));
}

void Change(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  switch (random.Below(9)) {
    case 0:
      if (!text.empty()) text[random.Below(text.size())] = static_cast<char>(random.Below(256));
      return;
    case 1:
      text.insert(Place(text, random), 1, static_cast<char>(random.Below(256)));
      return;
    case 2:
    case 3:
      text.insert(Place(text, random), kPieces[random.Below(std::size(kPieces))]);
      return;
    case 4: {
      const std::string_view piece = kPieces[random.Below(std::size(kPieces))];
      const std::size_t at = Place(text, random);
      text.replace(at, std::min(piece.size(), text.size() - at), piece);
      return;
    }
    case 5: {
      const std::string_view part = Part(text, random);
      if (!part.empty()) text.erase(static_cast<std::size_t>(part.data() - text.data()), part.size());
      return;
    }
    case 6: {
      const std::string part(Part(text, random));
      for (std::uint64_t n = random.Below(8) == 0 ? 1 + random.Below(64) : 1; n > 0; --n) text.insert(Place(text, random), part);
      return;
    }
    case 7:
      text.insert(Place(text, random), Part(seeds[random.Below(seeds.size())], random));
      return;
    default:
      text.resize(Place(text, random));
  }
}

}  // namespace

std::string Mutated(const std::vector<std::string>& seeds, Random& random) {
  std::string text = seeds[random.Below(seeds.size())];
  for (std::uint64_t n = 1 + random.Below(random.Below(4) == 0 ? 16 : 4); n > 0; --n) {
    Change(text, seeds, random);
    if (text.size() > kMostBytes) text.resize(kMostBytes);
  }
  return text;
}

}  // namespace fairlead::fuzz
