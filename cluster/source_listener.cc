#include "fairlead/cluster/source_listener.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead::internal {

SourceListener::Attachments SourceListener::AttachmentsOf(const Url& registry, std::vector<std::string>* remarks) {
  Attachments attachments;
  std::string_view rest = registry.Param("attachments");
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      remarks->push_back(absl::StrCat("attachments: '", Shortened(one, 60), "' is no k=v; it says nothing"));
      continue;
    }
    attachments.insert_or_assign(std::string(one.substr(0, equals)), std::string(one.substr(equals + 1)));
  }
  return attachments;
}

void SourceListener::Notify(Notification full) {
  const bool says = full.category == Category::kProviders && !(full.cached && full.kind == ListKind::kUnknown);
  if (full.category == Category::kProviders && !attachments_.empty()) {
    for (Url& url : full.urls) {
      const bool has_all = std::all_of(attachments_.begin(), attachments_.end(),
                                       [&](const auto& one) { return !url.Param(one.first).empty(); });
      if (has_all) continue;
      UrlParts parts = url.parts();
      for (const auto& [key, value] : attachments_) parts.params.emplace(key, value);
      url = Url::Of(std::move(parts), pool_);
    }
  }
  to_->Notify(std::move(full));
  if (!says || std::exchange(has_answered_, true)) return;
  if (auto answered = std::exchange(answered_, nullptr)) answered();
}

}  // namespace fairlead::internal
