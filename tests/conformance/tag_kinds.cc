#include <map>
#include <set>
#include <string>

#include "fairlead/routing/string_match.h"
#include "fairlead/routing/tag/address_pattern.h"
#include "fairlead/routing/tag/tag_router.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "routing_case.h"

namespace fairlead::conformance {
namespace {

// Java raises an exception of some class where a pattern and a host cannot be compared; ours has no class.
Outcome AddressCase(const Case& c) {
  const AddressPattern pattern(c.in.at("pattern").get<std::string>(), c.compat);
  const auto answer = pattern.Match(c.in.at("host").get<std::string>(), c.in.value("port", 0));
  if (answer == AddressPattern::Answer::kCannot) {
    const bool both = c.out.is_object() && c.out.contains("error");
    return {both, both ? c.out : Json{{"error", std::string(pattern.status().message())}}};
  }
  const bool match = answer == AddressPattern::Answer::kYes;
  const Json got = c.out.is_boolean() ? Json(match) : Json{{"match", match}};
  return {got == c.out, got};
}

Json StringMatchCase(const Case& c) {
  StringMatch::Kinds kinds;
  const Json given = c.in.at("match");
  const auto read = [&given](const char* name) {
    return given.contains(name) ? std::optional<std::string>(given.at(name).get<std::string>()) : std::nullopt;
  };
  kinds = {read("exact"), read("prefix"), read("regex"), read("wildcard"), read("empty"), read("noempty")};
  const absl::StatusOr<StringMatch> match = StringMatch::Compile(std::move(kinds));
  if (!match.ok()) return std::string(match.status().message());
  if (c.in.at("value").is_null()) return match->Matches(std::nullopt);
  return match->Matches(c.in.at("value").get<std::string>());
}

// Which addresses each tag has, as Java keeps them.
Json TagAddressesOf(const TagRule& rule, const RoutingWorld& world) {
  std::map<std::string, std::set<std::string>> tags;
  for (const bool by_match : {false, true}) {
    for (const TagRule::Tag& tag : rule.tags) {
      if (tag.by_match() != by_match) continue;
      std::set<std::string> addresses(tag.addresses.texts().begin(), tag.addresses.texts().end());
      for (const Slot slot : world.by_rank) {
        const Provider& provider = world.providers[slot];
        if (by_match && tag.Fits(provider)) addresses.insert(provider.original.Address());
      }
      if (!addresses.empty()) tags[tag.name.value_or("null")] = std::move(addresses);
    }
  }
  return tags.empty() ? Json::object() : Json(tags);
}

Json RouteByTag(const TagDocument* document, const RoutingWorld& world, const Call& call) {
  std::vector<ScopedTagRule> rules;
  if (document != nullptr && !document->empty()) rules.push_back({"", document->rule});
  const auto table = world.Compile(TagRouter(std::move(rules)));
  Outcomes outcomes(world.all);
  table->Route(table->Classify({call.method, call.view}), world.all, outcomes);
  return outcomes.splits().empty() ? Json::array() : SlotsOf(outcomes.splits().front().set);
}

Outcome TagCase(const Case& c) {
  const RoutingWorld world(c.in);
  const Call call(c.in);
  if (!c.in.contains("yaml")) {
    const Json got = {{"idx", RouteByTag(nullptr, world, call)}};
    return {got == c.out, got};
  }
  const absl::StatusOr<TagDocument> document = ParseTagDocument(c.in.at("yaml").get<std::string>(), c.compat);
  Json answer = {{"idx", RouteByTag(document.ok() ? &*document : nullptr, world, call)}};
  if (!document.ok()) {
    // What we find when the document is read, Java finds when it looks for the providers of its tags, if there are any.
    const bool found = c.out.contains("parse_error") || !c.out.at("applied") || world.by_rank.empty();
    for (const auto& [key, value] : c.out.items()) {
      if (found && key != "idx") answer[key] = value;
    }
    if (!found) answer["rejected"] = std::string(document.status().message());
    return {answer == c.out, answer};
  }
  answer["valid"] = document->head.valid && document->has_tags;
  answer["force"] = document->head.force;
  answer["enabled"] = document->head.enabled;
  answer["runtime"] = document->head.runtime;
  answer["applied"] = true;
  answer["tag_addresses"] = TagAddressesOf(document->rule, world);
  return {answer == c.out, answer};
}

// The curated form: only who is left.
Outcome CuratedTag(const Case& c) {
  const RoutingWorld world(c.in);
  const Call call(c.in);
  std::optional<TagDocument> document;
  if (c.in.contains("rule")) {
    absl::StatusOr<TagDocument> read = ParseTagDocument(c.in.at("rule").get<std::string>(), c.compat);
    if (read.ok()) document = *std::move(read);
  }
  const Json got = RouteByTag(document ? &*document : nullptr, world, call);
  return {got == c.out, got};
}

// All vectors name the list of another one in words; 16 of its 40 providers have the consumer's region.
Json AffinityCase(const Case& c) {
  Json in = c.in;
  in["providers"] = Json::array();
  for (int i = 0; i < 40; ++i) {
    in["providers"].push_back(std::string("dubbo://127.0.0.1/com.foo.BarService") + (i < 16   ? "?region=beijing"
                                                                                     : i < 28 ? "?region=hangzhou"
                                                                                              : ""));
  }
  const RoutingWorld world(in);
  // JSON is YAML.
  const absl::StatusOr<AffinityDocument> document = ParseAffinityDocument(Json{{"affinityAware", in.at("affinityAware")}}.dump());
  if (!document.ok()) return std::string(document.status().message());
  const auto router = MakeRouter(*document, 0, "affinity");
  if (router == nullptr) return {{"count", world.all.count()}};
  const auto table = world.Compile(*router);
  Outcomes outcomes(world.all);
  table->Route(table->Classify({"find", {}}), world.all, outcomes);
  return {{"count", outcomes.splits().empty() ? 0 : outcomes.splits().front().set.count()}};
}

}  // namespace

void RegisterTagKinds(KindTable& kinds) {
  kinds.Add("ip_expr", JudgedKind(AddressCase));
  kinds.Add("routing.affinity", ExactKind(AffinityCase));
  kinds.Add("routing.ip", JudgedKind(AddressCase));
  kinds.Add("routing.tag", JudgedKind(CuratedTag));
  kinds.Add("tag_route", JudgedKind(TagCase));
  kinds.Add("routing.strmatch", ExactKind(StringMatchCase));
}

}  // namespace fairlead::conformance
