#include "fairlead/registry/file/file_feed.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {

FileFeed::FileFeed(std::string path, const RegistryContext& context, DirectoryWatchMaker maker,
                   OnSettled on_settled)
    : path_(std::move(path)),
      context_(context),
      maker_(std::move(maker)),
      on_settled_(std::move(on_settled)) {}

void FileFeed::Start() { LookIn(std::chrono::nanoseconds(0)); }

void FileFeed::Stop() {
  stopped_ = true;
  watching_ = false;
  watch_.reset();
  look_.Cancel();
  slow_look_.Cancel();
}

void FileFeed::Nudge() { LookIn(std::chrono::nanoseconds(0)); }

void FileFeed::SetDocuments(std::set<std::string> documents) {
  documents_ = std::move(documents);
  Nudge();
}

void FileFeed::LookIn(std::chrono::nanoseconds delay) {
  if (stopped_) return;
  look_ = context_.executor->After(delay, [this] { Look(false); });
}

// The belt: times may be too coarse to show a second write, so that the look after a change reads in any
// case.
void FileFeed::SlowLookLater() {
  slow_look_ = context_.executor->After(watching_ ? kSlowLook : kPoll, [this] {
    Look(std::exchange(read_again_, false));
    if (!stopped_) SlowLookLater();
  });
}

void FileFeed::Look(bool again) {
  look_.Cancel();
  // Watched before it is looked at, so that no change falls between.
  Watch();
  FileScan scan = Scan(path_, documents_);
  const Clock::SteadyTime now = context_.clock->SteadyNow();
  const bool first = !read_.has_value();
  if (first || scan != seen_) changed_ = now;
  const bool new_links = scan.links != seen_.links;
  seen_ = std::move(scan);
  if (new_links) Watch();
  const bool differs = first || seen_ != *read_;
  if (differs && !std::exchange(differs_, true)) unread_ = now;
  if (!differs) {
    differs_ = false;
    if (!again) return;
  }
  const auto still = now - changed_;
  const bool longest = now - unread_ >= kLongest;
  if (differs && !first && still < kSettle && !longest) return LookIn(kSettle - still);
  const Taken taken = on_settled_(seen_, {again, first || !differs || longest || still >= kPatience});
  if (taken == Taken::kUnfinished) return LookIn(kSettle);
  read_ = seen_;
  differs_ = false;
  read_again_ = !again || taken == Taken::kPartly;
  if (first && !stopped_) SlowLookLater();
}

void FileFeed::Watch() {
  const bool watched = watching_;
  absl::Status status;
  if (watch_ == nullptr) {
    auto made = maker_([this] { Look(false); });
    if (made.ok()) watch_ = *std::move(made);
    status = made.status();
  }
  if (watch_ != nullptr) {
    std::set<std::string> directories;
    AddDirectoriesOf(path_, directories);
    for (const std::string& link : seen_.links) AddDirectoriesOf(link, directories);
    for (const std::string& document : documents_) AddDirectoriesOf(document, directories);
    status = watch_->Set(directories);
  }
  watching_ = status.ok();
  if (!watching_ && !std::exchange(told_polling_, true)) {
    context_.log->Warn(
        "FL-5-4", path_,
        absl::StrCat(status.message(), "; the files are looked at every ", kPoll.count(), " ms instead"));
  }
  if (watching_ && !watched) told_polling_ = false;
}

}  // namespace fairlead::internal
