#include "fairlead/registry/file/file_backend.h"

#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/random.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/file/file_lines.h"
#include "fairlead/registry/file/file_scan.h"

namespace fairlead::internal {
namespace {

using DocumentText = absl::StatusOr<std::optional<std::string>>;

// A number that no other process takes for its file, also one with the same seed and, in a container, the
// same pid.
std::uint64_t FileNumber(const RegistryContext& context) {
  return Mix64(context.seed ^ Mix64(static_cast<std::uint64_t>(getpid())) ^
               static_cast<std::uint64_t>(RealClock().SystemNow().time_since_epoch().count()));
}

bool Same(const DocumentText& a, const DocumentText& b) {
  return a.status() == b.status() && (!a.ok() || *a == *b);
}

// Names are names, not ways out of the directory.
bool IsFileName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

FileBackend::FileBackend(std::string path, const RegistryContext& context, DirectoryWatchMaker maker)
    : path_(std::move(path)),
      context_(context),
      contents_(path_, *context_.pool, *context_.log),
      feed_(path_, context_, std::move(maker),
            [this](const FileScan& scan, FileFeed::Reading how) { return OnSettled(scan, how); }),
      writer_(path_, FileNumber(context_)),
      owner_(getpid()) {}

void FileBackend::Post(absl::AnyInvocable<void()> task) {
  context_.executor->Post([weak = std::weak_ptr(alive_), task = std::move(task)]() mutable {
    if (const auto alive = weak.lock(); alive != nullptr && *alive) task();
  });
}

void FileBackend::Start(absl::AnyInvocable<void(Session)> on_session) {
  on_session_ = std::move(on_session);
  Post([this] { on_session_(Session::kConnected); });
  feed_.Start();
}

absl::Status FileBackend::Store(Category category, std::string_view url_text, bool dynamic) {
  // Who calls is of no use to whoever reads a file, and a consumer mostly may not write.
  if (category == Category::kConsumers) return absl::OkStatus();
  const FileScan::Kind kind = Scan(path_, {}).kind;
  if (kind == FileScan::Kind::kFile) {
    return absl::FailedPreconditionError(absl::StrCat(path_,
                                                      " is a file, which this registry only reads: add the "
                                                      "url to it as a line, or register in a directory"));
  }
  if (kind == FileScan::Kind::kMissing) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, " does not exist; make a directory there to register in"));
  }
  FAIRLEAD_RETURN_IF_ERROR(CheckFileLine(url_text, *context_.pool));
  const absl::Status status = writer_.Put(url_text, dynamic);
  feed_.Nudge();
  return status;
}

void FileBackend::Put(std::string_view, Category category, std::string_view url_text, bool dynamic,
                      Done done) {
  Post([done = std::move(done), status = Store(category, url_text, dynamic)]() mutable {
    done(std::move(status));
  });
}

void FileBackend::Remove(std::string_view service, Category category, std::string_view url_text, Done done) {
  absl::Status status;
  if (writer_.Has(url_text)) {
    status = writer_.Remove(url_text);
    feed_.Nudge();
  } else if (const std::string file = contents_.FileOf({std::string(service), category}, url_text);
             !file.empty()) {
    status = absl::FailedPreconditionError(
        absl::StrCat("the url is a line of ", file, ", which is not this process's; delete the line there"));
  }
  Post([done = std::move(done), status = std::move(status)]() mutable { done(std::move(status)); });
}

void FileBackend::Read(std::string_view service, Category category, fairlead::Children once) {
  RegistryKey key{std::string(service), category};
  if (!contents_.known()) {
    reads_.emplace_back(std::move(key), std::move(once));
    return;
  }
  Post([this, key = std::move(key), once = std::move(once)]() mutable { once(contents_.Children(key)); });
}

void FileBackend::Watch(std::string_view service, Category category, fairlead::Children on_full_list) {
  RegistryKey key{std::string(service), category};
  const std::uint64_t id = ++last_id_;
  lists_[key] = {id, std::move(on_full_list)};
  Post([this, key = std::move(key), id] { TellList(key, id); });
}

void FileBackend::Unwatch(std::string_view service, Category category) {
  lists_.erase({std::string(service), category});
}

void FileBackend::TellList(const RegistryKey& key, std::uint64_t id) {
  const auto at = lists_.find(key);
  if (at == lists_.end() || at->second.id != id || !contents_.known()) return;
  // The callback may end this watch, and with it itself.
  fairlead::Children call = std::move(at->second.call);
  call(contents_.Children(key));
  const auto now = lists_.find(key);
  if (now != lists_.end() && now->second.id == id) now->second.call = std::move(call);
}

// A bad line is in no list, so that none may tell of it.
void FileBackend::TellDescription() {
  std::pair described(contents_.Describe(), contents_.BadLines());
  if (described == described_) return;
  described_ = std::move(described);
  if (on_description_change_) on_description_change_();
}

void FileBackend::WatchServices(Names on_names) {
  services_ = {++last_id_, std::move(on_names)};
  services_told_ = false;
  Post([this, id = services_.id] { TellServices(id); });
}

void FileBackend::UnwatchServices() { services_ = {}; }

void FileBackend::TellServices(std::uint64_t id) {
  if (services_.id != id || id == 0 || !contents_.known()) return;
  // What is gone for a moment is no reason to end every service; their lists have their own grace.
  if (contents_.missing() && services_told_) return;
  services_told_ = true;
  absl::StatusOr<std::vector<std::string>> names = contents_.Services();
  if (!contents_.status().ok()) names = contents_.status();
  Names call = std::move(services_.call);
  call(std::move(names));
  if (services_.id == id) services_.call = std::move(call);
}

void FileBackend::WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) {
  const Place place(group, key);
  const std::uint64_t id = ++last_id_;
  configs_[place] = {id, std::move(on_value)};
  documents_.erase(place);
  if (IsFileName(group) && IsFileName(key)) {
    documents_[place].path = absl::StrCat(path_, "/config/", place.first, "/", place.second);
  }
  FollowDocuments();
  Post([this, place, id] {
    const auto document = documents_.find(place);
    if (document != documents_.end()) return ReadDocument(place, id, StampOf(document->second.path), false);
    TellDocument(place, id,
                 absl::InvalidArgumentError(absl::StrCat("config document ", place.first, "/", place.second,
                                                         ": expected names without a slash")));
  });
}

void FileBackend::UnwatchConfig(std::string_view group, std::string_view key) {
  const Place place(group, key);
  configs_.erase(place);
  if (documents_.erase(place) > 0) FollowDocuments();
}

void FileBackend::FollowDocuments() {
  std::set<std::string> paths;
  for (const auto& [place, document] : documents_) paths.insert(document.path);
  feed_.SetDocuments(std::move(paths));
}

void FileBackend::ReadDocument(const Place& place, std::uint64_t id, const FileStamp& stamp, bool again) {
  const auto at = documents_.find(place);
  if (at == documents_.end()) return;
  Document& document = at->second;
  if (document.told && document.stamp == stamp && !again) return;
  document.stamp = stamp;
  DocumentText text = std::optional<std::string>();
  if (stamp.error != ENOENT) {
    absl::StatusOr<std::string> content = ReadWholeFile(document.path, FileContents::kMostFileBytes);
    if (!content.ok() && !absl::IsNotFound(content.status())) {
      text = content.status();
    } else if (content.ok() && !content->empty()) {
      text = std::optional<std::string>(*std::move(content));
    }
  }
  if (document.told && Same(*document.told, text)) return;
  document.told = text;
  TellDocument(place, id, std::move(text));
}

void FileBackend::TellDocument(const Place& place, std::uint64_t id, DocumentText text) {
  const auto at = configs_.find(place);
  if (at == configs_.end() || at->second.id != id) return;
  ConfigValue call = std::move(at->second.call);
  call(std::move(text));
  const auto now = configs_.find(place);
  if (now != configs_.end() && now->second.id == id) now->second.call = std::move(call);
}

FileFeed::Taken FileBackend::OnSettled(const FileScan& scan, FileFeed::Reading how) {
  const FileContents::Outcome outcome = contents_.Update(scan, how.again, how.final);
  if (outcome == FileContents::Outcome::kUnfinished) return FileFeed::Taken::kUnfinished;
  const bool all = RestoreOwnFile(scan) && !contents_.troubled();
  TellDescription();

  // Any callback may set and end watches, and stop the backend.
  if (outcome == FileContents::Outcome::kChanged) {
    std::vector<std::pair<RegistryKey, std::uint64_t>> lists;
    for (const auto& [key, watch] : lists_) lists.emplace_back(key, watch.id);
    for (const auto& [key, id] : lists) TellList(key, id);
    TellServices(services_.id);
  }
  for (auto& [key, once] : std::exchange(reads_, {})) {
    if (*alive_) once(contents_.Children(key));
  }
  std::vector<std::pair<Place, std::uint64_t>> configs;
  for (const auto& [place, watch] : configs_) configs.emplace_back(place, watch.id);
  for (const auto& [place, id] : configs) {
    const auto document = documents_.find(place);
    if (document == documents_.end()) continue;
    const auto stamp = scan.documents.find(document->second.path);
    if (stamp != scan.documents.end()) ReadDocument(place, id, stamp->second, how.again);
  }
  return all ? FileFeed::Taken::kAll : FileFeed::Taken::kPartly;
}

// Somebody took it for one left behind, or put another directory in place of this one.
bool FileBackend::RestoreOwnFile(const FileScan& scan) {
  if (scan.kind != FileScan::Kind::kDirectory || writer_.path().empty() || StampOf(writer_.path()).exists())
    return true;
  const absl::Status status = writer_.Restore();
  context_.log->Warn("FL-5-6", writer_.path(),
                     status.ok() ? "this process's file was deleted; it is written again"
                                 : absl::StrCat("this process's file was deleted: ", status.ToString()));
  feed_.Nudge();
  return status.ok();
}

std::string FileBackend::Describe() const {
  return absl::StrCat("file ", path_, ", ", contents_.Describe(), ", ", ToAbsl(feed_.mode()));
}

void FileBackend::Stop(Done done) {
  End();
  lists_.clear();
  reads_.clear();
  configs_.clear();
  documents_.clear();
  services_ = {};
  context_.executor->Post([done = std::move(done)]() mutable { done(absl::OkStatus()); });
}

FileBackend::~FileBackend() { End(); }

void FileBackend::End() {
  *alive_ = false;
  feed_.Stop();
  // The child of a fork has a copy of this object, but not the urls.
  if (getpid() != owner_) return;
  if (const absl::Status status = writer_.End(); !status.ok()) {
    context_.log->Warn("FL-5-5", path_, absl::StrCat("urls of this process stay behind: ", status.message()));
  }
}

}  // namespace fairlead::internal
