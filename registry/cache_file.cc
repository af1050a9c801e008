#include "fairlead/registry/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

constexpr int kMostFiles = 64;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::string_view kTitle = "#Dubbo Registry Cache\n";
constexpr std::string_view kOwnerMark = "\n#Fairlead lists of ";
constexpr std::string_view kIdleMark = "_:idle:";
constexpr std::string_view kEndMark = "#Fairlead end ";

// A file descriptor. Closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // The error of closing, which on some file systems is the first to hear that writing failed.
  int Close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

absl::Status Failed(std::string_view what, const std::string& path, int error = errno) {
  return absl::UnavailableError(absl::StrCat(ToAbsl(what), " ", path, ": ", std::strerror(error)));
}

Descriptor Open(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

std::string Folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status MakeFolders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && end == std::string::npos) {
      return Failed("making the directory", folder);
    }
    if (end == std::string::npos) return absl::OkStatus();
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  // Not blocking: a name may lead to a pipe.
  const Descriptor file = Open(path, O_RDONLY | O_NONBLOCK);
  struct stat about;
  if (!file.ok() || ::fstat(file.get(), &about) != 0) return Failed("reading", path);
  if (!S_ISREG(about.st_mode)) return absl::InvalidArgumentError("it is no file");
  if (static_cast<std::size_t>(about.st_size) > kMostBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", about.st_size, " bytes, more than ", kMostBytes));
  }
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("reading", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

absl::Status WriteAll(const Descriptor& file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Failed("writing", path);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return absl::OkStatus();
}

std::string EndLine(std::string_view before) {
  return absl::StrCat(ToAbsl(kEndMark), absl::Hex(HashBytes(before), absl::kZeroPad16), "\n");
}

// The rest of the line that `mark` begins, near the head of the file.
std::string_view OwnerIn(std::string_view text) {
  const std::size_t at = text.substr(0, 4096).find(kOwnerMark);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + kOwnerMark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Of ours, the last line says what stands before it.
absl::StatusOr<Properties> ReadText(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("it is empty");
  if (text.find('\0') != std::string_view::npos) return absl::InvalidArgumentError("it holds zero bytes");
  if (text.back() != '\n' && text.back() != '\r') return absl::InvalidArgumentError("its last line is cut");
  if (const std::string_view owner = OwnerIn(text); !owner.empty()) {
    const std::size_t end = text.rfind(kEndMark);
    if (end == std::string_view::npos || text.substr(end) != EndLine(text.substr(0, end))) {
      return absl::InvalidArgumentError(
          "it was cut or changed after it was written; to use it as it is, delete the lines that begin with "
          "#Fairlead");
    }
  }
  absl::StatusOr<Properties> entries = ParseProperties(text);
  // What is left of a file that was cut early.
  if (entries.ok() && entries->empty() && OwnerIn(text).empty())
    return absl::InvalidArgumentError("it has no lists");
  return entries;
}

}  // namespace

// A lock that others of the same kind, in this process or another, and Dubbo's respect.
class CacheFile::Lock {
 public:
  // Null: somebody holds it.
  static absl::StatusOr<std::unique_ptr<Lock>> Take(const std::string& path) {
    Descriptor file = Open(path, O_RDWR | O_CREAT);
    if (!file.ok()) return Failed("opening the lock", path);
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    // Of the open file, not of the process: two runtimes of one process are two.
    if (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
      if (errno == EAGAIN || errno == EACCES) return nullptr;
      return Failed("locking", path);
    }
    auto lock = std::unique_ptr<Lock>(new Lock(path, std::move(file)));
    // Deleted between the two steps, as Dubbo 3 does: somebody else may have made and locked it anew.
    if (!lock->Stands()) return nullptr;
    return lock;
  }

  // The name still leads to what is locked. Dubbo 3 deletes lock files that others hold.
  bool Stands() const {
    struct stat held, named;
    return ::fstat(file_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  }

 private:
  Lock(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const Descriptor file_;
};

CacheFile::CacheFile(std::string name, std::string registry)
    : name_(std::move(name)), registry_(std::move(registry)) {}
CacheFile::~CacheFile() = default;

std::string CacheFile::Candidate(int number) const {
  return number == 0 ? name_ : absl::StrCat(name_, ".", number);
}

bool CacheFile::IsOthers(const std::string& path) const {
  const Descriptor file = Open(path, O_RDONLY | O_NONBLOCK);
  char head[4096];
  const ssize_t got = file.ok() ? ::read(file.get(), head, sizeof head) : 0;
  if (got <= 0) return false;
  const std::string_view owner = OwnerIn({head, static_cast<std::size_t>(got)});
  return !owner.empty() && owner != registry_;
}

std::optional<CacheFile::Loaded> CacheFile::Load(std::vector<std::string>& remarks) {
  struct Found {
    std::string path;
    struct timespec time;
  };
  std::vector<Found> files;
  for (int number = 0; number < kMostFiles; ++number) {
    const std::string path = Candidate(number);
    struct stat about;
    if (::stat(path.c_str(), &about) == 0) {
      files.push_back({path, about.st_mtim});
    } else if (errno != ENOENT) {
      remarks.push_back(std::string(Failed("looking at", path).message()));
      break;  // the others are in the same directory
    }
  }
  std::stable_sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
    return std::pair(a.time.tv_sec, a.time.tv_nsec) > std::pair(b.time.tv_sec, b.time.tv_nsec);
  });
  for (const Found& file : files) {
    const absl::StatusOr<std::string> text = ReadFile(file.path);
    absl::StatusOr<Properties> entries = text.ok() ? ReadText(*text) : text.status();
    if (!entries.ok()) {
      remarks.push_back(
          absl::StrCat("the list cache file ", file.path, " is ignored: ", entries.status().message()));
      continue;
    }
    const std::string_view owner = OwnerIn(*text);
    if (entries->empty() || (!owner.empty() && owner != registry_)) continue;
    Loaded loaded{file.path, file.time.tv_sec, *std::move(entries), {}};
    for (auto at = loaded.entries.lower_bound(kIdleMark);
         at != loaded.entries.end() && at->first.starts_with(kIdleMark); at = loaded.entries.erase(at)) {
      std::int64_t day = 0;
      if (absl::SimpleAtoi(at->second, &day)) loaded.idle_since[at->first.substr(kIdleMark.size())] = day;
    }
    return loaded;
  }
  return std::nullopt;
}

absl::Status CacheFile::Acquire() {
  if (lock_ != nullptr && lock_->Stands()) return absl::OkStatus();
  lock_.reset();
  path_.clear();
  written_.reset();
  FAIRLEAD_RETURN_IF_ERROR(MakeFolders(Folder(name_)));
  for (int number = 0; number < kMostFiles; ++number) {
    const std::string path = Candidate(number);
    FAIRLEAD_ASSIGN_OR_RETURN(lock_, Lock::Take(path + ".lock"));
    // Looked at under the lock: its owner may be writing.
    if (lock_ != nullptr && IsOthers(path)) lock_.reset();
    if (lock_ == nullptr) continue;
    path_ = path;
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      absl::StrCat(name_, " and ", kMostFiles - 1,
                   " numbered files beside it are locked by others, or another registry's"));
}

absl::StatusOr<bool> CacheFile::Write(const CacheContent& content, std::string_view header) {
  FAIRLEAD_RETURN_IF_ERROR(Acquire());
  std::string text = absl::StrCat(ToAbsl(kTitle), "#", ToAbsl(header), ToAbsl(kOwnerMark), registry_, "\n");
  const std::size_t head = text.size();
  for (const auto& [key, entry] : content) {
    std::string value = CachedValue(entry.lists);
    if (entry.text != nullptr) absl::StrAppend(&value, value.empty() ? "" : " ", *entry.text);
    if (value.empty()) continue;
    AppendProperty(key, value, text);
    if (entry.idle_since > 0) AppendProperty(absl::StrCat(ToAbsl(kIdleMark), key), absl::StrCat(entry.idle_since), text);
  }
  const std::uint64_t hash = HashBytes(std::string_view(text).substr(head));
  if (written_ == hash && ::access(path_.c_str(), F_OK) == 0) return false;

  const std::string temporary = path_ + ".tmp";
  ::unlink(temporary.c_str());  // what a crash left
  const auto give_up = [&](absl::Status status) {
    ::unlink(temporary.c_str());
    return status;
  };
  Descriptor file = Open(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.ok()) return Failed("making", temporary);
  absl::Status put = WriteAll(file, text, temporary);
  if (put.ok()) put = WriteAll(file, EndLine(text), temporary);
  if (!put.ok()) return give_up(std::move(put));
  if (::fsync(file.get()) != 0 || file.Close() != 0) return give_up(Failed("writing", temporary));
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return give_up(Failed("renaming to", path_));
  // So that the new name survives a crash too. Some file systems cannot, and lose nothing but that.
  const Descriptor folder = Open(Folder(path_), O_RDONLY | O_DIRECTORY);
  if (folder.ok()) ::fsync(folder.get());
  written_ = hash;
  return true;
}

std::string JavaDate(std::int64_t seconds) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc = {};
  ::gmtime_r(&time, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%s %s %02d %02d:%02d:%02d UTC %d", kDays[utc.tm_wday],
                kMonths[utc.tm_mon], utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, utc.tm_year + 1900);
  return text;
}

}  // namespace fairlead::internal
