#ifndef FAIRLEAD_REGISTRY_FILE_FILE_LINES_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// A line that is no url of a service, and why.
struct BadLine {
  std::size_t number = 0;  // from 1
  std::string reason;      // of a readable length, without passwords
  std::uint64_t hash = 0;  // of the line
};

// What one file says.
struct FileLines {
  std::map<RegistryKey, std::vector<std::string>> urls;  // in the order of the file
  std::size_t count = 0;                                 // of urls
  std::vector<BadLine> bad;                              // the first hundred
  std::size_t bad_count = 0;

  // It has lines, and none can be read: what it wants to say is not known, which is not "nothing".
  bool nothing_readable() const { return count == 0 && bad_count > 0; }
};

// Reads a file's text: one url a line, decoded or percent-encoded; blank lines and those that begin with `#`
// say nothing. Blanks around a line, a carriage return and a byte order mark are dropped. Lines of more than
// 64 KiB, with control characters, or not in UTF-8 are bad.
//
// A protocol has letters, digits and `+ . - _` only.
//
// A url stands under its interface (`interface`, else the path) and its category: the parameter, or without
// one what its protocol says (override, absent: configurators; route, condition, script: routers; consumer:
// consumers; else providers). A protocol is followed by `://`, also in rules. Interface `*` is for rules only:
// it means every service. Linear; urls go through `pool`.
FileLines ParseFileLines(std::string_view text, UrlPool& pool);

// OK when a file's line of this text is read as the url it is; else kInvalidArgument, which says what a line may be and
// shows no password.
absl::Status CheckFileLine(std::string_view url_text, UrlPool& pool);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_LINES_H_
