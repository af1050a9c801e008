#include "fairlead/url/merge.h"

#include <algorithm>
#include <array>

#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

// How a provider serves is no business of its consumers.
constexpr std::array<std::string_view, 7> kServerOnly = {"threadname", "threadpool", "corethreads", "threads",
                                                         "queues",     "alive",      "transporter"};
// What describes the provider when it says something about it.
constexpr std::array<std::string_view, 3> kProvidersFirst = {names::kGroup, names::kVersion, "generic"};
// Lists that both sides contribute to, the provider's part first.
constexpr std::array<std::string_view, 2> kJoined = {"reference.filter", "invoker.listener"};

template <class Names>
bool IsIn(const Names& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

UrlParts MergeConsumer(const UrlParts& provider, const UrlParts::Params& consumer) {
  UrlParts merged = provider;
  merged.params.EraseIf([](std::string_view key, std::string_view) {
    constexpr std::string_view kDefault = "default.";
    if (key.substr(0, kDefault.size()) == kDefault) key.remove_prefix(kDefault.size());
    return IsIn(kServerOnly, key);
  });

  UrlParts::Params over = consumer;
  over.EraseIf([&](std::string_view key, std::string_view) {
    return IsIn(names::kProviderOnly, key) || (IsIn(kProvidersFirst, key) && !provider.Param(key).empty());
  });
  for (const std::string_view key : kJoined) {
    const std::string* theirs = provider.Find(key);
    const std::string* ours = over.Find(key);
    if (theirs == nullptr || theirs->empty() || ours == nullptr || ours->empty()) continue;
    over.insert_or_assign(key, *theirs + "," + *ours);
  }
  merged.params.Overlay(over);
  if (const std::string* application = provider.Find(names::kApplication)) {
    merged.params.insert_or_assign(names::kRemoteApplication, *application);
  }
  return merged;
}

}  // namespace fairlead
