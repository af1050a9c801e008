#include "fairlead/registry/file/file_contents.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

bool IsUnfinished(const absl::StatusOr<std::string>& content) {
  return content.ok() && !content->empty() && content->back() != '\n';
}

constexpr std::size_t kMostBadLines = 100;

std::string NameOf(std::string_view path, const BadLine& bad) {
  return absl::StrCat(ToAbsl(path.substr(path.rfind('/') + 1)), ":", bad.number, ": ", bad.reason);
}

}  // namespace

bool FileContents::SetState(State state, absl::Status status) {
  const bool changed = state_ != state || status_ != status;
  state_ = state;
  status_ = std::move(status);
  return changed;
}

bool FileContents::SetMissing(std::string_view why) {
  const bool changed = SetState(State::kMissing, absl::OkStatus());
  if (changed) log_.Warn("FL-5-3", path_, why);
  return changed;
}

FileContents::Outcome FileContents::Update(const FileScan& scan, bool again, bool final) {
  const auto told = [](bool changed) { return changed ? Outcome::kChanged : Outcome::kUnchanged; };
  if (scan.kind == FileScan::Kind::kUnreadable) {
    const absl::Status status =
        absl::UnavailableError(absl::StrCat("cannot read ", path_, ": ", scan.trouble));
    return told(SetState(State::kUnreadable, status));
  }
  if (scan.kind == FileScan::Kind::kMissing) {
    return told(SetMissing("the file or directory does not exist; it is waited for"));
  }
  const bool single = scan.kind == FileScan::Kind::kFile;
  if (!single && single_ && scan.files.empty()) {
    files_.clear();
    return told(SetMissing("an empty directory stands where the file was; it counts as missing"));
  }
  single_ = single;

  std::map<std::string, absl::StatusOr<std::string>> contents;
  std::size_t left = kMostBytes;
  for (const auto& [path, stamp] : scan.files) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(stamp.size, 0));
    const auto known = files_.find(path);
    if (known == files_.end() || again || known->second.stamp != stamp) {
      auto content = ReadWholeFile(path, std::min(left, kMostFileBytes));
      if (!final && IsUnfinished(content)) return Outcome::kUnfinished;
      contents.emplace(path, std::move(content));
    }
    left -= std::min(left, size);
  }

  if (single && !contents.empty()) {
    const absl::StatusOr<std::string>& content = contents.begin()->second;
    if (absl::IsNotFound(content.status()) || (content.ok() && content->empty())) {
      files_.clear();
      return told(SetMissing("the file has no content; it counts as missing. For no providers, leave a comment in it"));
    }
    if (!content.ok()) {
      files_.clear();
      return told(SetState(State::kUnreadable, content.status()));
    }
  }

  changed_ = std::erase_if(files_, [&scan](const auto& one) { return !scan.files.contains(one.first); }) > 0;
  for (auto& [path, content] : contents) {
    Take(path, files_[path], scan.files.at(path), std::move(content));
  }
  absl::Status status;
  if (const auto file = files_.find(path_); single && file->second.lines.nothing_readable()) {
    status = absl::UnavailableError(absl::StrCat("cannot read ", path_, ": no line of it is a url (",
                                                 NameOf(path_, file->second.lines.bad.front()),
                                                 "); for no providers, leave only a comment in it"));
  }
  const State state = status.ok() ? State::kRead : State::kUnreadable;
  changed_ |= SetState(state, std::move(status));
  return told(changed_);
}

void FileContents::Take(const std::string& path, File& file, const FileStamp& stamp,
                        absl::StatusOr<std::string> content) {
  file.stamp = stamp;
  if (!content.ok()) return Keep(path, file, FromAbsl(content.status().message()));
  if (content->empty() && file.lines.count > 0) return Keep(path, file, "the file has no content");
  const std::uint64_t hash = HashBytes(*content);
  if (file.hash != hash) {
    FileLines lines = ParseFileLines(*content, pool_);
    if (!single_ && lines.nothing_readable() && file.lines.count > 0) {
      return Keep(path, file, absl::StrCat("no line of it is a url (", NameOf(path, lines.bad.front()), ")"));
    }
    file.hash = hash;
    file.lines = std::move(lines);
    changed_ = true;
    for (const BadLine& bad : file.lines.bad) {
      // Another text in the same place is another bad line.
      log_.WarnOf("FL-5-1", absl::StrCat(path, ":", bad.number), absl::StrCat(bad.hash),
                  absl::StrCat(NameOf(path, bad), " (this line is skipped, the others are used)"));
    }
  }
  file.trouble.clear();
}

void FileContents::Keep(const std::string& path, File& file, std::string_view why) {
  if (file.trouble == why) return;
  file.trouble = std::string(why);
  log_.Warn("FL-5-2", path,
            absl::StrCat(file.trouble, "; the ", file.lines.count,
                         " urls it had stay in use. Delete the file to take them away"));
}

bool FileContents::troubled() const {
  if (state_ == State::kUnreadable) return true;
  return std::any_of(files_.begin(), files_.end(),
                     [](const auto& one) { return !one.second.trouble.empty(); });
}

ChildrenAnswer FileContents::Children(const RegistryKey& key) const {
  ChildrenAnswer answer{1, status_, missing(), {}};
  if (state_ != State::kRead) return answer;
  const auto add = [&](const RegistryKey& place) {
    for (const auto& [path, file] : files_) {
      const auto urls = file.lines.urls.find(place);
      if (urls == file.lines.urls.end()) continue;
      answer.children.insert(answer.children.end(), urls->second.begin(), urls->second.end());
    }
  };
  add(key);
  const bool rules = key.category == Category::kConfigurators || key.category == Category::kRouters;
  if (rules && key.service != "*") add({"*", key.category});
  return answer;
}

std::vector<std::string> FileContents::Services() const {
  std::set<std::string> names;
  for (const auto& [path, file] : files_) {
    for (const auto& [key, urls] : file.lines.urls) {
      if (key.service != "*") names.insert(key.service);
    }
  }
  return {names.begin(), names.end()};
}

std::string FileContents::FileOf(const RegistryKey& key, std::string_view url_text) const {
  for (const auto& [path, file] : files_) {
    const auto urls = file.lines.urls.find(key);
    if (urls == file.lines.urls.end()) continue;
    if (std::find(urls->second.begin(), urls->second.end(), url_text) != urls->second.end()) return path;
  }
  return {};
}

std::string FileContents::Describe() const {
  switch (state_) {
    case State::kUnknown:
      return "not read yet";
    case State::kMissing:
      return "missing";
    case State::kUnreadable:
      return std::string(status_.message());
    case State::kRead:
      break;
  }
  std::size_t urls = 0, skipped = 0;
  std::string first, trouble;
  for (const auto& [path, file] : files_) {
    urls += file.lines.count;
    skipped += file.lines.bad_count;
    if (first.empty() && !file.lines.bad.empty()) {
      first = NameOf(path, file.lines.bad.front());
    }
    if (trouble.empty() && !file.trouble.empty()) trouble = absl::StrCat(", ", path, ": ", file.trouble);
  }
  std::string text = absl::StrCat(urls, urls == 1 ? " url in " : " urls in ", files_.size(),
                                  files_.size() == 1 ? " file" : " files");
  if (skipped > 0)
    absl::StrAppend(&text, ", ", skipped, skipped == 1 ? " line" : " lines", " skipped (", first, ")");
  return text + trouble;
}

std::vector<std::string> FileContents::BadLines() const {
  std::vector<std::string> all;
  if (missing()) return all;
  for (const auto& [path, file] : files_) {
    for (const BadLine& bad : file.lines.bad) {
      if (all.size() == kMostBadLines) return all;
      all.push_back(NameOf(path, bad));
    }
  }
  return all;
}

}  // namespace fairlead::internal
