#ifndef FAIRLEAD_DIRECTORY_DRY_DIRECTORY_H_
#define FAIRLEAD_DIRECTORY_DRY_DIRECTORY_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/dry_run.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/directory/snapshot.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// What directories of one dry run have in common: a clock that stands, a log that nobody reads, the urls.
struct DryWorld {
  explicit DryWorld(const DryRunInput& input);

  class StandingClock final : public Clock {
   public:
    SteadyTime SteadyNow() const override { return steady; }
    SystemTime SystemNow() const override { return system; }
    const SteadyTime steady = RealClock().SteadyNow();
    const SystemTime system = RealClock().SystemNow();
  };
  StandingClock clock;
  Logger log{nullptr, clock};
  UrlPool pool{clock};
  std::vector<Url> providers;  // of the input's listing, by place
};

// A directory whose registry and config center are RuleSets and a list, with connections that are none. It has published
// when it is made. One thread at a time.
class DryDirectory {
 public:
  // `consumer` as a Runtime completes it. The rules come one set after the other, each in place of the one before, as they
  // do live: what cannot be used of a later one leaves its last good version in force. `world`, `input` and the sets
  // outlive it.
  DryDirectory(const std::shared_ptr<DryWorld>& world, const DryRunInput& input, const Url& consumer,
               const std::vector<const RuleSet*>& rules);
  ~DryDirectory();
  DryDirectory(const DryDirectory&) = delete;
  DryDirectory& operator=(const DryDirectory&) = delete;

  DirectorySnapshot& snapshot() const;
  // The place in the listing of whom a slot has.
  std::size_t PlaceOf(Slot slot) const;
  // Documents of the set that the directory follows.
  bool Reads(const std::string& document) const;
  // What of the last set cannot be used, a line each, also of documents that the directory does not follow.
  std::vector<std::string> Broken() const;

 private:
  class Tasks;
  class Source;
  void Tell(Category category, const std::vector<std::string>& texts);
  void Tell(const RuleSet& rules);

  const std::shared_ptr<DryWorld> world_;
  const std::shared_ptr<Tasks> tasks_;
  const std::vector<const RuleSet*> rules_;
  const std::shared_ptr<Source> source_;
  DirectoryConfig config_;
  std::uint64_t version_ = 0;
  std::shared_ptr<RegistryDirectory> directory_;
  std::vector<std::size_t> places_;  // by slot
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_DRY_DIRECTORY_H_
