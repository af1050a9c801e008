#include "fairlead/registry/multicast/multicast_rounds.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fairlead/url/redact.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kSecondTry{100};  // Dubbo's
constexpr int kTicksASession = 8;

// A name would have to be looked up first, which may take as long as the name service likes.
bool IsNumeric(const std::string& host) {
  in6_addr any;
  return inet_pton(AF_INET, host.c_str(), &any) == 1 || inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

}  // namespace

MulticastRounds::MulticastRounds(const MulticastOptions& options, const RegistryContext& context, MulticastVoice& voice,
                                 HeardUrls& heard, Actions actions)
    : options_(options),
      context_(context),
      voice_(voice),
      heard_(heard),
      actions_(std::move(actions)),
      random_(Mix64(context.seed)) {}

void MulticastRounds::Begin(const std::string& service) {
  rounds_[service].next = NextRound();
  if (!tick_.armed()) TickLater();
}

void MulticastRounds::OnAsked(const std::string& service) {
  const auto at = rounds_.find(service);
  if (at == rounds_.end()) return;
  Round& round = at->second;
  round.next = NextRound();
  // Who did not answer an earlier one must not be spared by new ones that come all the time.
  if (!round.asked_at || Now() - *round.asked_at >= options_.session / 2) round.asked_at = Now();
}

Clock::SteadyTime MulticastRounds::NextRound() {
  const nanoseconds session = options_.session;
  const auto jitter = random_.Below(static_cast<std::uint64_t>(session.count()) / 2 + 1);
  return Now() + session * 3 / 4 + nanoseconds(static_cast<std::int64_t>(jitter));
}

void MulticastRounds::TickLater() {
  tick_ = context_.executor->After(std::max(nanoseconds(options_.session) / kTicksASession, nanoseconds(milliseconds(1))),
                                   [this] {
                                     TickLater();
                                     Tick();
                                   });
}

void MulticastRounds::Tick() {
  // Before the next question in any case.
  const milliseconds patience = std::min(options_.reply_wait, options_.session / 4);
  std::vector<std::string> to_ask;
  for (auto& [service, round] : rounds_) {
    if (Now() >= round.next) {
      to_ask.push_back(service);
      round.next = NextRound();
      continue;
    }
    if (!options_.clean || !round.asked_at || Now() - *round.asked_at < patience) continue;
    std::set<std::string> services = {service};
    if (service == "*") heard_.AddServicesTo(services);
    for (const std::string& one : services) {
      for (int category = 0; category < kCategoryCount; ++category) {
        ProbeSilent({one, static_cast<Category>(category)}, *round.asked_at);
      }
    }
  }
  for (const std::string& service : to_ask) actions_.ask(service);
}

void MulticastRounds::ProbeSilent(const RegistryKey& key, Clock::SteadyTime since) {
  HeardUrls::List* const list = heard_.Find(key);
  if (list == nullptr) return;
  for (auto& [identity, heard] : *list) {
    if (heard.lives_at >= since || heard.probing || !IsNumeric(heard.host)) continue;
    heard.probing = true;
    Probe(key, identity);
  }
}

void MulticastRounds::Probe(const RegistryKey& key, const std::string& identity) {
  const HeardUrls::Heard* const heard = heard_.Find(key, identity);
  if (heard == nullptr || !heard->probing) return;
  voice_.Probe(heard->host, heard->port, [this, key, identity](bool lives) { OnProbed(key, identity, lives); });
}

void MulticastRounds::OnProbed(const RegistryKey& key, const std::string& identity, bool lives) {
  HeardUrls::Heard* const heard = heard_.Find(key, identity);
  // It has been heard of meanwhile.
  if (heard == nullptr || !heard->probing) return;
  if (lives) {
    heard->lives_at = Now();
    heard->probing = false;
    heard->second_try.Cancel();
    return;
  }
  if (!heard->second_try.armed()) {
    heard->second_try = context_.executor->After(kSecondTry, [this, key, identity] { Probe(key, identity); });
    return;
  }
  const std::string text = heard->text;
  heard_.Drop(key, identity);
  ++dropped_;
  context_.log->WarnOf("FL-7-3", options_.address, identity,
                       absl::StrCat(Redacted(text), " neither answers the group nor takes a connection: dropped until it is "
                                                    "heard of again"));
  actions_.dropped(key, text);
}

}  // namespace fairlead::internal
