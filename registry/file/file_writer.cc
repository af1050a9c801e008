#include "fairlead/registry/file/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/file/file_scan.h"

namespace fairlead::internal {
namespace {

absl::Status WriteAndSync(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return FileError("cannot create", path, errno);
  absl::Status status;
  while (!text.empty() && status.ok()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      status = FileError("cannot write", path, errno);
    }
  }
  // Without it a crash of the machine may leave the name with nothing behind it.
  if (status.ok() && fdatasync(fd) != 0) status = FileError("cannot write", path, errno);
  close(fd);
  return status;
}

}  // namespace

absl::Status FileWriter::Put(std::string_view url_text, bool dynamic) {
  Urls urls = urls_;
  urls.insert_or_assign(std::string(url_text), dynamic);
  return Change(std::move(urls));
}

absl::Status FileWriter::Remove(std::string_view url_text) {
  Urls urls = urls_;
  if (const auto at = urls.find(url_text); at != urls.end()) urls.erase(at);
  return Change(std::move(urls));
}

absl::Status FileWriter::End() {
  Urls urls = urls_;
  std::erase_if(urls, [](const auto& one) { return one.second; });
  return Change(std::move(urls));
}

absl::Status FileWriter::Restore() { return Write(urls_); }

absl::Status FileWriter::Change(Urls urls) {
  if (urls == urls_) return absl::OkStatus();
  if (urls.empty()) {
    if (unlink(path_.c_str()) != 0 && errno != ENOENT) return FileError("cannot delete", path_, errno);
    path_.clear();
    urls_.clear();
    return absl::OkStatus();
  }
  absl::Status status = Write(urls);
  if (status.ok()) urls_ = std::move(urls);
  return status;
}

absl::Status FileWriter::Write(const Urls& urls) {
  std::string name = path_.empty() ? std::string() : path_.substr(path_.rfind('/') + 1);
  if (name.empty()) {
    random_ = Mix64(random_ + 1);
    name = absl::StrCat("fairlead-", getpid(), "-", absl::Hex(random_, absl::kZeroPad16), ".urls");
  }
  std::string text =
      "# Written by a running provider, and removed when it ends. Left behind? Delete this file.\n";
  for (const auto& [url, dynamic] : urls) absl::StrAppend(&text, url, "\n");

  const std::string hidden = absl::StrCat(directory_, "/.", name, ".tmp");
  const std::string path = absl::StrCat(directory_, "/", name);
  unlink(hidden.c_str());
  absl::Status status = WriteAndSync(hidden, text);
  if (status.ok() && rename(hidden.c_str(), path.c_str()) != 0)
    status = FileError("cannot create", path, errno);
  if (!status.ok()) {
    unlink(hidden.c_str());
    return status;
  }
  path_ = path;
  return absl::OkStatus();
}

}  // namespace fairlead::internal
