#include "fairlead/registry/zookeeper/zk_backend.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/registry/zookeeper/zk_status.h"

namespace fairlead::internal {

ZkBackend::ZkBackend(ZkOptions options, const RegistryContext& context)
    : session_(std::make_shared<ZkSession>(std::move(options), context)),
      writer_(*session_),
      watches_(*session_, writer_) {}

ZkBackend::~ZkBackend() { session_->Abandon(); }

void ZkBackend::Start(absl::AnyInvocable<void(Session)> on_session) {
  on_session_ = std::move(on_session);
  session_->Start(this);
}

void ZkBackend::OnSession(Session state, bool watches_lost) {
  writer_.OnSession(state, watches_lost);
  // What others miss comes before what we miss: registering anew before reading anew.
  on_session_(state);
  if (session_->connected()) watches_.OnConnected(watches_lost);
}

void ZkBackend::OnChange(ZkChange change, const std::string& path) {
  writer_.OnChange(change, path);
  watches_.OnChange(change, path);
}

std::string ZkBackend::ListPath(std::string_view service, Category category) const {
  return ZkCategoryPath(session_->options().root, service, CategoryName(category));
}

std::string ZkBackend::NodePath(std::string_view service, Category category,
                                std::string_view url_text) const {
  return ZkUrlPath(session_->options().root, service, CategoryName(category), url_text);
}

// Answers with what is wrong, later, instead of the work.
template <class Answer>
bool ZkBackend::RefusesInChild(Answer& answer) {
  absl::Status status = session_->CheckProcess();
  if (status.ok()) return false;
  session_->Post([answer = std::move(answer), status = std::move(status)]() mutable {
    if constexpr (std::is_same_v<Answer, Done>) {
      if (answer) answer(std::move(status));
    } else if constexpr (std::is_invocable_v<Answer&, absl::Status>) {
      answer(std::move(status));
    } else {
      answer({.status = std::move(status)});
    }
  });
  return true;
}

void ZkBackend::Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
                    Done done) {
  if (RefusesInChild(done)) return;
  writer_.Put(NodePath(service, category, url_text), dynamic, std::move(done));
}

void ZkBackend::Remove(std::string_view service, Category category, std::string_view url_text, Done done) {
  if (RefusesInChild(done)) return;
  writer_.Remove(NodePath(service, category, url_text), std::move(done));
}

void ZkBackend::Read(std::string_view service, Category category, fairlead::Children once) {
  auto tell = TellChildren(std::move(once));
  if (RefusesInChild(tell)) return;
  const std::string path = ListPath(service, category);
  session_->Children(path, false, [path, tell = std::move(tell)](ZkReply reply) mutable {
    if (reply.code == ZkCode::kNoNode || reply.never_had_children) return tell({.missing = true});
    tell({.status = ZkStatus(reply, absl::StrCat("reading ", path)), .names = std::move(reply.names)});
  });
}

void ZkBackend::Watch(std::string_view service, Category category, fairlead::Children on_full_list) {
  auto tell = TellChildren(std::move(on_full_list));
  if (RefusesInChild(tell)) return;
  ZkWatches::Manner manner{.create_missing = true};
  // Rules are few and decide where calls go: they do not wait.
  if (category == Category::kProviders || category == Category::kConsumers) {
    manner.burst = session_->options().burst;
  }
  watches_.Add(ZkWatches::Kind::kChildren, ListPath(service, category), manner, std::move(tell));
}

ZkWatches::Told ZkBackend::TellChildren(fairlead::Children children) const {
  return [session = session_.get(), children = std::move(children)](ZkWatches::Found found) mutable {
    ChildrenAnswer answer;
    answer.generation = session->generation();
    answer.status = std::move(found.status);
    answer.missing = found.missing;
    answer.children = std::move(found.names);
    children(std::move(answer));
  };
}

void ZkBackend::Unwatch(std::string_view service, Category category) {
  watches_.Remove(ZkWatches::Kind::kChildren, ListPath(service, category));
}

void ZkBackend::WatchServices(Names on_names) {
  ZkWatches::Told tell = [log = session_->context().log, told = false,
                          on_names = std::move(on_names)](ZkWatches::Found found) mutable {
    if (!found.status.ok()) return on_names(std::move(found.status));
    // A root that was there and went takes no service away; each service's own list says what became of it.
    if (std::exchange(told, true) && found.missing) return;
    std::vector<std::string> unreadable;
    std::vector<std::string> names = ZkServiceNames(found.names, unreadable);
    for (const std::string& name : unreadable) {
      log->Warn("FL-2-7", name, "not the encoded name of a service; skipped");
    }
    on_names(std::move(names));
  };
  if (RefusesInChild(tell)) return;
  watches_.Add(ZkWatches::Kind::kChildren, session_->options().root,
               {.create_missing = true, .burst = session_->options().burst}, std::move(tell));
}

void ZkBackend::UnwatchServices() { watches_.Remove(ZkWatches::Kind::kChildren, session_->options().root); }

void ZkBackend::WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) {
  ZkWatches::Told tell = [told = std::optional<std::optional<std::string>>(),
                          on_value = std::move(on_value)](ZkWatches::Found found) mutable {
    if (!found.status.ok()) return on_value(std::move(found.status));
    // An empty document is none. The same text again (a node written anew, a new session) is no news.
    if (found.data && found.data->empty()) found.data.reset();
    if (told.has_value() && *told == found.data) return;
    told.emplace(found.data);
    on_value(std::move(found.data));
  };
  if (RefusesInChild(tell)) return;
  watches_.Add(ZkWatches::Kind::kData, ZkConfigPath(session_->options().config_root, group, key), {},
               std::move(tell));
}

void ZkBackend::UnwatchConfig(std::string_view group, std::string_view key) {
  watches_.Remove(ZkWatches::Kind::kData, ZkConfigPath(session_->options().config_root, group, key));
}

void ZkBackend::ReadMapping(std::string_view service,
                            absl::AnyInvocable<void(absl::StatusOr<std::string>)> once) {
  if (RefusesInChild(once)) return;
  const std::string path = ZkMappingPath(session_->options().root, service);
  session_->Data(path, false, [path, once = std::move(once)](ZkReply reply) mutable {
    if (reply.code == ZkCode::kNoNode) return once(std::string());
    const absl::Status status = ZkStatus(reply, absl::StrCat("reading ", path));
    if (!status.ok()) return once(status);
    once(reply.data.value_or(std::string()));
  });
}

std::string ZkBackend::Describe() const {
  return absl::StrCat(session_->options().address, ", ", session_->Describe());
}

void ZkBackend::Stop(Done done) { session_->Stop(std::move(done)); }

}  // namespace fairlead::internal
