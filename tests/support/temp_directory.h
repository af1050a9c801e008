#ifndef FAIRLEAD_TESTS_SUPPORT_TEMP_DIRECTORY_H_
#define FAIRLEAD_TESTS_SUPPORT_TEMP_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace fairlead {

// Of any file. Empty when there is none.
inline std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void PutFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// A directory of a test's own, gone with it. Paths have no links in them.
class TempDirectory {
 public:
  TempDirectory() {
    std::string name = std::filesystem::canonical(std::filesystem::temp_directory_path()) / "fairlead-XXXXXX";
    path_ = mkdtemp(name.data()) == nullptr ? std::string() : name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Truncates and writes in place.
  void Write(std::string_view name, std::string_view text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
  }
  void Append(std::string_view name, std::string_view text) const {
    std::ofstream(*this / name, std::ios::binary | std::ios::app) << text;
  }
  // By a rename, so that nobody sees it by half.
  void Replace(std::string_view name, std::string_view text) const {
    const std::string hidden = std::string(name) + ".tmp";
    Write(hidden, text);
    std::filesystem::rename(*this / hidden, *this / name);
  }
  void Remove(std::string_view name) const { std::filesystem::remove_all(*this / name); }
  void Link(std::string_view target, std::string_view name) const {
    std::filesystem::create_symlink(target, *this / name);
  }
  void Mkdir(std::string_view name) const { std::filesystem::create_directories(*this / name); }
  std::string Read(std::string_view name) const {
    return FileText(*this / name);
  }

 private:
  std::string path_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_TEMP_DIRECTORY_H_
