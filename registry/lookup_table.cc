#include "fairlead/registry/lookup_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/child_list.h"
#include "fairlead/registry/list_cache.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

void LookupTable::Lookup(const Url& query, Found done) {
  if (env_.destroyed) return PostResult(std::move(done), absl::CancelledError("the registry was destroyed"));
  std::string service = query.ServiceInterface();
  if (service.empty() || service == "*") {
    return PostResult(
        std::move(done),
        absl::InvalidArgumentError(absl::StrCat(
            Shortened(query.ToString()), ": expected one service interface; subscribe to see all services")));
  }
  const std::uint64_t id = ++last_id_;
  Look& look = looks_[id];
  look.query = query;
  look.service = std::move(service);
  look.categories = SubscribedCategories(query.parts());
  look.done = std::move(done);
  if (env_.cache != nullptr) {
    look.patience = env_.After(env_.options.file_wait, [this, id] {
      if (const auto at = looks_.find(id); at != looks_.end()) UseCache(id, at->second);
    });
  }
  look.deadline = env_.After(env_.options.timeout, [this, id] {
    const auto at = looks_.find(id);
    if (at == looks_.end() || UseCache(id, at->second)) return;
    End(id, env_.NoAnswer(at->second.query.ToString(), env_.options.timeout));
  });
  if (env_.connected()) Ask(id, look);
}

void LookupTable::OnConnected() {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, look] : looks_) ids.push_back(id);
  for (const std::uint64_t id : ids) {
    if (const auto at = looks_.find(id); at != looks_.end()) Ask(id, at->second);
  }
}

void LookupTable::Destroy() {
  while (!looks_.empty()) End(looks_.begin()->first, absl::CancelledError("the registry was destroyed"));
}

void LookupTable::Ask(std::uint64_t id, Look& look) {
  look.found.clear();
  look.open = look.categories.size();
  if (look.open == 0) return End(id, std::vector<Url>());
  const std::uint64_t round = ++look.round;
  for (const Category category : look.categories) {
    env_.backend->Read(look.service, category,
                       env_.Guarded([this, id, round, category](const ChildrenAnswer& answer) {
                         const auto at = looks_.find(id);
                         if (at != looks_.end() && at->second.round == round) {
                           OnAnswer(id, at->second, category, answer);
                         }
                       }));
  }
}

void LookupTable::OnAnswer(std::uint64_t id, Look& look, Category category, const ChildrenAnswer& answer) {
  if (!answer.status.ok()) {
    if (UseCache(id, look)) return;
    return End(id,
               absl::UnavailableError(absl::StrCat("registry ", env_.options.address, " could not look up ",
                                                   look.query.ToString(), ": ", answer.status.ToString())));
  }
  ChildList list(*env_.context.pool, env_.context.seed,
                 UrlMark(category, env_.backend->ChildrenAreEncoded()));
  list.Update(answer.children);
  for (const ChildList::Child& child : list.children()) {
    if (child.url.empty() || child.shadowed) continue;
    if (MatchesIn(category, look.query, child.url)) look.found.push_back(child.url);
  }
  if (--look.open == 0) End(id, std::move(look.found));
}

bool LookupTable::UseCache(std::uint64_t id, Look& look) {
  if (env_.cache == nullptr || !env_.cache->loaded()) return false;
  CachedLists cached = env_.cache->Find(look.query);
  std::vector<Url> found;
  bool known = false;
  for (const Category category : look.categories) {
    std::optional<CachedList>& list = cached.lists[static_cast<std::size_t>(category)];
    if (!list) continue;
    known = true;
    std::move(list->urls.begin(), list->urls.end(), std::back_inserter(found));
  }
  if (!known) return false;
  env_.SaysCacheIsUsed(look.query.ServiceKey(), env_.cache->origin());
  End(id, std::move(found));
  return true;
}

void LookupTable::End(std::uint64_t id, absl::StatusOr<std::vector<Url>> result) {
  auto node = looks_.extract(id);
  PostResult(std::move(node.mapped().done), std::move(result));
}

void LookupTable::PostResult(Found done, absl::StatusOr<std::vector<Url>> result) {
  if (!done) return;
  env_.Post([this, done = std::move(done), result = std::move(result)]() mutable {
    env_.CallHost("a Lookup callback", [&] { done(std::move(result)); });
  });
}

}  // namespace fairlead::internal
