#ifndef FAIRLEAD_REGISTRY_FILE_FILE_WRITER_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fairlead::internal {

// The file that this process keeps in a registry's directory: fairlead-<pid>-<number>.urls, with what is
// registered here. Always replaced as a whole, so that readers see the old or the new one. Each change is a
// write, a sync and a rename. REQUIRES: executor.
class FileWriter {
 public:
  FileWriter(std::string directory, std::uint64_t seed) : directory_(std::move(directory)), random_(seed) {}

  // What the system says; when not OK, the file is as it was. REQUIRES: CheckFileLine.
  absl::Status Put(std::string_view url_text, bool dynamic);
  absl::Status Remove(std::string_view url_text);
  bool Has(std::string_view url_text) const { return urls_.contains(url_text); }
  // The file as it should stand; empty: none.
  const std::string& path() const { return path_; }
  // Writes it again after somebody deleted it.
  absl::Status Restore();
  // Takes the dynamic urls away, and the file with the last url.
  absl::Status End();

 private:
  using Urls = std::map<std::string, bool, std::less<>>;  // text -> dynamic
  absl::Status Change(Urls urls);
  absl::Status Write(const Urls& urls);

  const std::string directory_;
  std::uint64_t random_;
  std::string path_;  // of the file that stands there; empty: none
  Urls urls_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_WRITER_H_
