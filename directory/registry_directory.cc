#include "fairlead/directory/registry_directory.h"

#include <utility>
#include <vector>

#include "fairlead/registry/registry_key.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

constexpr std::uint32_t Bit(Category category) { return 1u << static_cast<unsigned>(category); }
constexpr std::int64_t kRulesWaitMs = 3000;

// What the first snapshot waits for: the categories of the subscription that say something of picks.
std::uint32_t NeededBy(const Url& consumer) {
  std::uint32_t needed = Bit(Category::kProviders);
  for (const Category category : SubscribedCategories(consumer.parts())) {
    if (category != Category::kConsumers) needed |= Bit(category);
  }
  return needed;
}

}  // namespace

std::shared_ptr<RegistryDirectory> RegistryDirectory::Create(DirectoryConfig config) {
  return std::shared_ptr<RegistryDirectory>(new RegistryDirectory(std::move(config)));
}

RegistryDirectory::RegistryDirectory(DirectoryConfig config)
    : executor_(config.executor),
      log_(config.log),
      consumer_(config.consumer),
      needed_(NeededBy(consumer_)),
      why_empty_(config.why_empty),
      updater_(internal::Updater::Create(std::move(config))) {}

void RegistryDirectory::Notify(Notification full) {
  // A first word of kUnknown is an answer too: there are children, and none can be read. Waiting would not help.
  told_ |= Bit(full.category);
  if (full.category == Category::kProviders && full.kind == ListKind::kEmpty && !full.cached && why_empty_) {
    why_empty_([alive = weak_from_this()](std::string reason) {
      if (const auto self = alive.lock()) self->updater_->SetEmptyReason(std::move(reason));
    });
  }
  if (full.category != Category::kProviders) {
    // Written beside a document that says the same, for readers that know no documents.
    std::erase_if(full.urls, [](const Url& url) { return !url.Param(names::kCompatibleConfig).empty(); });
  }
  updater_->Set(full.category, full.kind, std::move(full.urls), std::move(full.unreadable), full.cached);
  if (updater_->open()) return;
  if ((told_ & needed_) == needed_) {
    gate_ = Timer();
    updater_->Open();
  } else if (waited_) {
    OpenWithoutRules();
  } else if (!gate_.armed()) {
    gate_ = executor_->After(RulesWait(), [alive = weak_from_this()] {
      const auto self = alive.lock();
      if (self == nullptr) return;
      self->waited_ = true;
      self->OpenWithoutRules();
    });
  }
}

std::chrono::milliseconds RegistryDirectory::RulesWait() const {
  return std::chrono::milliseconds(consumer_.IntParam("rules.wait", kRulesWaitMs));
}

// The wait is over; without providers there is nothing to open with.
void RegistryDirectory::OpenWithoutRules() {
  if ((told_ & Bit(Category::kProviders)) == 0) return;
  log_->Warn("FL-3-7", consumer_.ServiceKey(),
             "rules or overrides did not arrive within " + std::to_string(RulesWait().count()) +
                 " ms; picks go on without them until they do");
  updater_->Open();
}

std::shared_ptr<Directory> RegistryDirectory::MakeDirectory(absl::AnyInvocable<void()> on_destroy) const {
  return std::make_shared<Directory>(updater_->core(), std::move(on_destroy));
}

void RegistryDirectory::Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done) {
  gate_ = Timer();
  updater_->Close(deadline, std::move(done));
}

}  // namespace fairlead
