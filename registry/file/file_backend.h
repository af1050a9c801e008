#ifndef FAIRLEAD_REGISTRY_FILE_FILE_BACKEND_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_BACKEND_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/registry/file/directory_watch.h"
#include "fairlead/registry/file/file_contents.h"
#include "fairlead/registry/file/file_feed.h"
#include "fairlead/registry/file/file_writer.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

// A registry in files: one session that never ends, lists from FileContents whenever FileFeed says that they
// settled.
class FileBackend final : public RegistryBackend {
 public:
  // `maker`: what tells of changes; a test brings its own.
  FileBackend(std::string path, const RegistryContext& context, DirectoryWatchMaker maker);
  ~FileBackend() override;

  void Start(absl::AnyInvocable<void(Session)> on_session) override;
  void Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
           Done done) override;
  void Remove(std::string_view service, Category category, std::string_view url_text, Done done) override;
  void Read(std::string_view service, Category category, fairlead::Children once) override;
  void Watch(std::string_view service, Category category, fairlead::Children on_full_list) override;
  void Unwatch(std::string_view service, Category category) override;
  void WatchServices(Names on_names) override;
  void UnwatchServices() override;
  void WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) override;
  void UnwatchConfig(std::string_view group, std::string_view key) override;
  bool ChildrenAreEncoded() const override { return false; }
  std::string Describe() const override;
  std::vector<std::string> Skipped() const override { return contents_.BadLines(); }
  void OnDescriptionChange(absl::AnyInvocable<void()> on_change) override {
    on_description_change_ = std::move(on_change);
  }
  void Stop(Done done) override;

 private:
  using Place = std::pair<std::string, std::string>;  // group, key
  template <class Callback>
  struct Watched {
    std::uint64_t id = 0;
    Callback call;
  };
  struct Document {
    std::string path;
    FileStamp stamp;  // as last read
    std::optional<absl::StatusOr<std::optional<std::string>>> told;
  };

  // A task of its own that does nothing once the backend is stopped or gone.
  void Post(absl::AnyInvocable<void()> task);
  FileFeed::Taken OnSettled(const FileScan& scan, FileFeed::Reading how);
  void TellDescription();
  void TellList(const RegistryKey& key, std::uint64_t id);
  void TellServices(std::uint64_t id);
  void ReadDocument(const Place& place, std::uint64_t id, const FileStamp& stamp, bool again);
  void TellDocument(const Place& place, std::uint64_t id, absl::StatusOr<std::optional<std::string>> text);
  bool RestoreOwnFile(const FileScan& scan);
  void FollowDocuments();
  void End();
  absl::Status Store(Category category, std::string_view url_text, bool dynamic);

  const std::string path_;
  const RegistryContext context_;
  FileContents contents_;
  FileFeed feed_;
  FileWriter writer_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  absl::AnyInvocable<void(Session)> on_session_;
  absl::AnyInvocable<void()> on_description_change_;
  std::pair<std::string, std::vector<std::string>> described_;  // as last told
  std::map<RegistryKey, Watched<fairlead::Children>> lists_;
  std::vector<std::pair<RegistryKey, fairlead::Children>> reads_;  // before anything is known
  Watched<Names> services_;
  bool services_told_ = false;
  std::map<Place, Watched<ConfigValue>> configs_;
  std::map<Place, Document> documents_;
  std::uint64_t last_id_ = 0;
  const pid_t owner_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_BACKEND_H_
