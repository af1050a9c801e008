#include "fairlead/registry/file/file_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kMostFiles = 1000;
constexpr int kMostLinks = 40;  // as the kernel

std::string ErrorText(int error) { return std::generic_category().message(error); }

bool IsMissing(int error) { return error == ENOENT || error == ENOTDIR; }

FileStamp StampOf(const struct stat& info) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  FileStamp stamp;
  stamp.device = info.st_dev;
  stamp.inode = info.st_ino;
  stamp.size = info.st_size;
  stamp.modified_ns = info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec;
  stamp.changed_ns = info.st_ctim.tv_sec * kSecond + info.st_ctim.tv_nsec;
  return stamp;
}

bool IsLeftover(std::string_view name) {
  constexpr std::array<std::string_view, 6> kEnds = {"~", ".swp", ".swo", ".swx", ".tmp", ".bak"};
  if (name.starts_with('.') || name.starts_with('#')) return true;
  for (const std::string_view end : kEnds) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

std::deque<std::string> Components(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

void ScanDirectory(const std::string& path, FileScan& scan) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
  if (directory == nullptr) {
    scan.kind = IsMissing(errno) ? FileScan::Kind::kMissing : FileScan::Kind::kUnreadable;
    scan.trouble = IsMissing(errno) ? "" : ErrorText(errno);
    return;
  }
  scan.kind = FileScan::Kind::kDirectory;
  while (const dirent* entry = readdir(directory.get())) {
    if (IsLeftover(entry->d_name)) continue;
    struct stat info {};
    // What vanished meanwhile, or a link to nowhere, is not there.
    if (fstatat(dirfd(directory.get()), entry->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode)) continue;
    if (scan.files.size() == kMostFiles) {
      scan.kind = FileScan::Kind::kUnreadable;
      scan.trouble = absl::StrCat("the directory has more than ", kMostFiles, " files");
      return;
    }
    std::string file = absl::StrCat(path, "/", entry->d_name);
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) scan.links.insert(file);
    scan.files.emplace(std::move(file), StampOf(info));
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

absl::StatusOr<std::string> FilePathOf(const Url& registry) {
  const UrlParts& parts = registry.parts();
  const std::string host = parts.host.value_or("");
  const std::string written = parts.path.value_or("");
  std::string path = "/";
  for (std::size_t i = 0; i < written.size(); ++i) {
    const int high = i + 2 < written.size() && written[i] == '%' ? HexDigit(written[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(written[i + 2]) : -1;
    if (low >= 0) {
      path += static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      path += written[i];
    }
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if ((!host.empty() && host != "localhost") || parts.port != 0 || !parts.username.value_or("").empty() ||
      path.size() == 1 || path.size() >= PATH_MAX || path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("registry ", Shortened(registry.ToString()),
                     ": expected file:///absolute/path of a file or a directory (write @ in it as %40)"));
  }
  return path;
}

FileStamp StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return StampOf(info);
  FileStamp stamp;
  stamp.error = IsMissing(errno) ? ENOENT : errno;
  return stamp;
}

FileScan Scan(const std::string& path, const std::set<std::string>& documents) {
  FileScan scan;
  for (const std::string& document : documents) scan.documents.emplace(document, StampOf(document));
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (!IsMissing(errno)) {
      scan.kind = FileScan::Kind::kUnreadable;
      scan.trouble = ErrorText(errno);
    }
  } else if (S_ISDIR(info.st_mode)) {
    ScanDirectory(path, scan);
  } else if (S_ISREG(info.st_mode)) {
    scan.kind = FileScan::Kind::kFile;
    scan.files.emplace(path, StampOf(info));
  } else {
    scan.kind = FileScan::Kind::kUnreadable;
    scan.trouble = "neither a regular file nor a directory";
  }
  return scan;
}

void AddDirectoriesOf(const std::string& path, std::set<std::string>& directories) {
  std::deque<std::string> rest = Components(path);
  std::string here = "/";  // without links
  int links = 0;
  while (!rest.empty()) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") {
      here.resize(std::max<std::size_t>(here.rfind('/'), 1));
      continue;
    }
    const std::string next = absl::StrCat(here, here == "/" ? "" : "/", name);
    struct stat info {};
    if (lstat(next.c_str(), &info) != 0) {
      directories.insert(here);
      return;
    }
    if (S_ISLNK(info.st_mode)) {
      directories.insert(here);
      std::array<char, PATH_MAX> target{};
      const ssize_t size = readlink(next.c_str(), target.data(), target.size());
      if (size <= 0 || ++links > kMostLinks) return;
      const std::string_view text(target.data(), static_cast<std::size_t>(size));
      if (text.starts_with('/')) here = "/";
      const std::deque<std::string> way = Components(text);
      rest.insert(rest.begin(), way.begin(), way.end());
      continue;
    }
    if (rest.empty()) {
      directories.insert(here);
      if (S_ISDIR(info.st_mode)) directories.insert(next);
    }
    here = next;
  }
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return FileError("cannot open", path, errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return FileError("cannot read", path, errno);
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, " is no regular file"));
  const auto too_large = [&] {
    return absl::ResourceExhaustedError(absl::StrCat(path, " has more than ", most, " bytes; split it"));
  };
  if (info.st_size > static_cast<std::int64_t>(most)) return too_large();
  // The size is a hint: the file may grow meanwhile, and some say 0 that are not empty.
  std::string content;
  std::size_t filled = 0;
  while (true) {
    if (filled > most) return too_large();
    if (filled == content.size()) {
      content.resize(std::min(most + 1, std::max(filled * 2, static_cast<std::size_t>(info.st_size) + 1)));
    }
    const ssize_t got = read(file.get(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("cannot read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

absl::Status FileError(std::string_view what, const std::string& path, int error) {
  const std::string text = absl::StrCat(ToAbsl(what), " ", path, ": ", ErrorText(error));
  if (IsMissing(error)) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM || error == EROFS) return absl::PermissionDeniedError(text);
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::UnavailableError(text);
}

}  // namespace fairlead::internal
