#include "fairlead/registry/multicast/heard_urls.h"

namespace fairlead::internal {

HeardUrls::Added HeardUrls::Add(const HeardUrl& url, Clock::SteadyTime now) {
  List* list = Find(url.key);
  if (Heard* known = Find(url.key, url.identity); known != nullptr) {
    known->lives_at = now;
    known->probing = false;
    known->second_try.Cancel();
    if (known->text == url.text || url.timestamp < known->timestamp) return Added::kKnown;
    known->text = url.text;
    known->timestamp = url.timestamp;
    return Added::kNews;
  }
  if (size_ >= kMost) return Added::kFull;
  if (list == nullptr) list = &lists_[url.key];
  Heard& heard = (*list)[url.identity];
  heard.text = url.text;
  heard.timestamp = url.timestamp;
  heard.lives_at = now;
  if (IsProbed(url.parts)) {
    heard.host = url.parts.host.value_or("");
    if (heard.host.starts_with('[') && heard.host.ends_with(']')) heard.host = heard.host.substr(1, heard.host.size() - 2);
    heard.port = static_cast<std::uint16_t>(url.parts.port);
  }
  ++size_;
  taken_back_.erase(url.key);
  return Added::kNews;
}

bool HeardUrls::Remove(const HeardUrl& url) {
  const auto list = lists_.find(url.key);
  if (list == lists_.end()) return false;
  const auto at = list->second.find(url.identity);
  if (at == list->second.end()) return false;
  // Without a timestamp it means any.
  if (url.timestamp != 0 && url.timestamp < at->second.timestamp) return false;
  // Anybody may register and take back ever new services; one that is not remembered here is unknown instead of empty.
  if (list->second.size() == 1 && taken_back_.size() < kMost) taken_back_.insert(url.key);
  Erase(list, at);
  return true;
}

void HeardUrls::Drop(const RegistryKey& key, const std::string& identity) {
  const auto list = lists_.find(key);
  if (list == lists_.end()) return;
  if (const auto at = list->second.find(identity); at != list->second.end()) Erase(list, at);
}

void HeardUrls::Erase(std::map<RegistryKey, List>::iterator list, List::iterator url) {
  list->second.erase(url);
  --size_;
  if (list->second.empty()) lists_.erase(list);
}

void HeardUrls::Forget(const std::string& service) {
  for (int category = 0; category < kCategoryCount; ++category) {
    const RegistryKey key{service, static_cast<Category>(category)};
    taken_back_.erase(key);
    const auto list = lists_.find(key);
    if (list == lists_.end()) continue;
    size_ -= list->second.size();
    lists_.erase(list);
  }
}

void HeardUrls::AddTo(const RegistryKey& key, NewestUrls& urls) const {
  const auto list = lists_.find(key);
  if (list == lists_.end()) return;
  for (const auto& [identity, heard] : list->second) urls.Add(identity, heard.timestamp, heard.text);
}

void HeardUrls::AddServicesTo(std::set<std::string>& services) const {
  for (const auto& [key, list] : lists_) services.insert(key.service);
}

HeardUrls::List* HeardUrls::Find(const RegistryKey& key) {
  const auto list = lists_.find(key);
  return list == lists_.end() ? nullptr : &list->second;
}

HeardUrls::Heard* HeardUrls::Find(const RegistryKey& key, const std::string& identity) {
  List* const list = Find(key);
  if (list == nullptr) return nullptr;
  const auto at = list->find(identity);
  return at == list->end() ? nullptr : &at->second;
}

}  // namespace fairlead::internal
