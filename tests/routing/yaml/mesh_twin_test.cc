// Mesh documents against a slow twin, over random documents, consumers, lists with their edits, and calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/random.h"
#include "fairlead/routing/mesh/mesh_router.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/tests/routing/routing_fixture.h"

namespace fairlead {
namespace {

using Texts = std::map<std::string, std::string>;

// A document as its author means it, and Dubbo's steps as the reference tells them: every provider is looked at again for
// each call, and a draw is made with each number that could be drawn.
struct SlowMesh {
  struct Provider {
    Slot slot;
    std::string application;
    Texts parameters;
  };
  struct Call {
    std::string service, method;
    std::vector<std::string> arguments;
    Texts attachments;
  };
  struct Match {
    std::optional<std::string> method;  // exact
    std::optional<int> argc;
    std::optional<int> start, end;      // of the number that argument 0 is
    Texts labels, attachments;          // exact
  };
  struct Destination {
    std::vector<std::string> subsets;
    int weight;
  };
  struct Detail {
    std::vector<Match> match;
    std::vector<Destination> to;
  };
  struct Route {
    std::vector<std::string> services;
    std::vector<Detail> details;
  };
  struct Application {
    std::vector<std::vector<Route>> virtual_services;
    std::vector<std::vector<std::pair<std::string, Texts>>> destination_rules;
  };
  using Slots = std::set<Slot>;

  std::map<std::string, Application> applications;
  bool strict = true;

  static bool Holds(const Match& match, const Call& call, const Texts& consumer) {
    if (match.method && *match.method != call.method) return false;
    if (match.argc && *match.argc != static_cast<int>(call.arguments.size())) return false;
    if (match.start || match.end) {
      if (call.arguments.empty() || call.arguments[0].find_first_not_of("0123456789") != std::string::npos) return false;
      const int number = std::stoi(call.arguments[0]);
      if ((match.start && number < *match.start) || (match.end && number >= *match.end)) return false;
    }
    const auto has = [](const Texts& texts, const Texts& wanted) {
      return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
        return texts.contains(one.first) && texts.at(one.first) == one.second;
      });
    };
    return has(consumer, match.labels) && has(call.attachments, match.attachments);
  }
  static const Detail* DetailOf(const Application& application, const Call& call, const Texts& consumer) {
    for (const auto& virtual_service : application.virtual_services) {
      for (const Route& route : virtual_service) {
        const auto& services = route.services;
        if (!services.empty() && std::find(services.begin(), services.end(), call.service) == services.end()) continue;
        for (const Detail& detail : route.details) {
          if (std::all_of(detail.match.begin(), detail.match.end(),
                          [&](const Match& match) { return Holds(match, call, consumer); })) {
            return &detail;
          }
        }
        return nullptr;
      }
    }
    return nullptr;
  }
  static Slots SubsetOf(const std::string& name, const Application& application, const std::string& application_name,
                        const std::vector<Provider>& in) {
    Slots slots;
    for (const auto& rule : application.destination_rules) {
      for (const auto& [subset, labels] : rule) {
        if (subset != name) continue;
        for (const Provider& provider : in) {
          const bool fits = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
            return provider.parameters.contains(label.first) && provider.parameters.at(label.first) == label.second;
          });
          if (provider.application == application_name && fits) slots.insert(provider.slot);
        }
      }
    }
    return slots;
  }
  // How many of the numbers that can be drawn lead to each set; the empty one when there is none.
  std::map<Slots, std::uint64_t> Ends(const Application& application, const std::string& name, const Call& call,
                                      const Texts& consumer, const std::vector<Provider>& in) const {
    const Detail* detail = DetailOf(application, call, consumer);
    if (detail == nullptr || detail->to.empty()) return {{{}, 1}};
    const auto compute = [&](const Destination& destination) {
      for (const std::string& subset : destination.subsets) {
        if (Slots slots = SubsetOf(subset, application, name, in); !slots.empty()) return slots;
      }
      return Slots();
    };
    int sum = 0;
    for (const Destination& destination : detail->to) sum += std::max(destination.weight, 1);
    std::map<Slots, std::uint64_t> ends;
    for (int drawn = 0; drawn < sum; ++drawn) {
      Slots found;
      int rest = drawn;
      for (const Destination& destination : detail->to) {
        rest -= std::max(destination.weight, 1);
        if ((strict ? rest <= 0 : rest < 0) && found.empty()) found = compute(destination);
      }
      for (const Destination& destination : detail->to) {
        if (found.empty()) found = compute(destination);
      }
      ++ends[found];
    }
    return ends;
  }
  std::map<Slots, std::uint64_t> Shares(const Call& call, const Texts& consumer, const std::vector<Provider>& in) const {
    std::map<Slots, std::uint64_t> all = {{{}, 1}};
    for (const auto& [name, application] : applications) {
      if (application.virtual_services.empty() || application.destination_rules.empty()) continue;
      std::map<Slots, std::uint64_t> next;
      for (const auto& [set, ways] : Ends(application, name, call, consumer, in)) {
        for (const auto& [other, other_ways] : all) {
          Slots both = other;
          both.insert(set.begin(), set.end());
          next[both] += ways * other_ways;
        }
      }
      all = std::move(next);
    }
    Slots everybody;
    for (const Provider& provider : in) everybody.insert(provider.slot);
    if (const auto nobody = all.find({}); nobody != all.end()) {
      all[everybody] += nobody->second;
      all.erase(nobody);
    }
    return all;
  }
};

class MeshTwinTest : public RoutingFixture {
 protected:
  std::string Any(const std::vector<std::string>& of) { return of[random_.Below(of.size())]; }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  int Number(int below) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(below))); }
  Texts Labels() {
    Texts labels;
    for (const char* key : {"env", "ver"}) {
      if (Chance(50)) labels[key] = Any({"1", "2"});
    }
    return labels;
  }

  SlowMesh::Match RandomMatch() {
    SlowMesh::Match match;
    if (Chance(40)) match.method = Any({"find", "save"});
    if (Chance(20)) match.argc = Number(3);
    if (Chance(20)) match.start = Number(6);
    if (Chance(20)) match.end = Number(6);
    if (Chance(25)) match.labels = Labels();
    if (Chance(25)) match.attachments["user"] = Any({"vip", "x"});
    return match;
  }
  SlowMesh::Application RandomApplication() {
    SlowMesh::Application application;
    for (int n = Chance(90) ? 1 + Number(2) : 0; n > 0; --n) {
      std::vector<SlowMesh::Route> virtual_service;
      for (int m = Chance(80) ? 1 + Number(2) : 0; m > 0; --m) {
        SlowMesh::Route route;
        for (int k = Chance(40) ? 1 + Number(2) : 0; k > 0; --k) route.services.push_back(Any({"s.A", "s.A", "s.B"}));
        for (int k = Chance(90) ? 1 + Number(3) : 0; k > 0; --k) {
          SlowMesh::Detail detail;
          for (int i = Chance(60) ? 1 + Number(2) : 0; i > 0; --i) detail.match.push_back(RandomMatch());
          for (int i = Chance(90) ? 1 + Number(4) : 0; i > 0; --i) {
            SlowMesh::Destination destination{{}, Number(5)};
            for (int j = 1 + Number(3); j > 0; --j) destination.subsets.push_back(Any({"a", "b", "c", "nobody"}));
            detail.to.push_back(destination);
          }
          route.details.push_back(std::move(detail));
        }
        virtual_service.push_back(std::move(route));
      }
      application.virtual_services.push_back(std::move(virtual_service));
    }
    for (int n = Chance(90) ? 1 + Number(2) : 0; n > 0; --n) {
      std::vector<std::pair<std::string, Texts>> rule;
      for (int m = Chance(90) ? 1 + Number(4) : 0; m > 0; --m) rule.emplace_back(Any({"a", "b", "c"}), Labels());
      application.destination_rules.push_back(std::move(rule));
    }
    return application;
  }

  static std::string Map(const Texts& texts) {
    std::vector<std::string> entries;
    for (const auto& [key, value] : texts) entries.push_back(absl::StrCat(key, ": \"", value, "\""));
    return absl::StrCat("{", absl::StrJoin(entries, ", "), "}");
  }
  static std::string Text(const SlowMesh::Match& match) {
    std::vector<std::string> parts, method;
    if (match.method) method.push_back(absl::StrCat("name_match: {exact: ", *match.method, "}"));
    if (match.argc) method.push_back(absl::StrCat("argc: ", *match.argc));
    if (match.start || match.end) {
      std::vector<std::string> range;
      if (match.start) range.push_back(absl::StrCat("start: ", *match.start));
      if (match.end) range.push_back(absl::StrCat("end: ", *match.end));
      method.push_back(absl::StrCat("args: [{index: 0, num_value: {oneof: [{range: {", absl::StrJoin(range, ", "), "}}]}}]"));
    }
    if (!method.empty()) parts.push_back(absl::StrCat("method: {", absl::StrJoin(method, ", "), "}"));
    if (!match.labels.empty()) parts.push_back(absl::StrCat("sourceLabels: ", Map(match.labels)));
    if (!match.attachments.empty()) {
      std::vector<std::string> entries;
      for (const auto& [key, value] : match.attachments) entries.push_back(absl::StrCat(key, ": {exact: ", value, "}"));
      parts.push_back(absl::StrCat("attachments: {dubboContext: {", absl::StrJoin(entries, ", "), "}}"));
    }
    return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
  }
  static std::string Text(const SlowMesh::Destination& destination) {
    std::string text;
    for (std::size_t i = destination.subsets.size(); i-- > 0;) {
      text = absl::StrCat("destination: {host: h, subset: ", destination.subsets[i],
                          text.empty() ? "" : absl::StrCat(", fallback: {", text, "}"), "}");
    }
    return absl::StrCat("{", text, ", weight: ", destination.weight, "}");
  }
  static std::string Text(const SlowMesh::Application& application) {
    std::string text;
    for (const auto& virtual_service : application.virtual_services) {
      absl::StrAppend(&text, "---\nkind: VirtualService\nmetadata: {name: demo}\nspec:\n  dubbo:\n");
      if (virtual_service.empty()) absl::StrAppend(&text, "    []\n");
      for (const auto& route : virtual_service) {
        std::vector<std::string> services, details;
        for (const auto& service : route.services) services.push_back(absl::StrCat("{exact: ", service, "}"));
        for (const auto& detail : route.details) {
          std::vector<std::string> match, to;
          for (const auto& one : detail.match) match.push_back(Text(one));
          for (const auto& one : detail.to) to.push_back(Text(one));
          details.push_back(absl::StrCat("{match: [", absl::StrJoin(match, ", "), "], route: [", absl::StrJoin(to, ", "), "]}"));
        }
        absl::StrAppend(&text, "    - {services: [", absl::StrJoin(services, ", "), "], routedetail: [",
                        absl::StrJoin(details, ", "), "]}\n");
      }
    }
    for (const auto& rule : application.destination_rules) {
      absl::StrAppend(&text, "---\nkind: DestinationRule\nmetadata: {name: demo}\nspec:\n  subsets:\n");
      if (rule.empty()) absl::StrAppend(&text, "    []\n");
      for (const auto& [name, labels] : rule) absl::StrAppend(&text, "    - {name: ", name, ", labels: ", Map(labels), "}\n");
    }
    return text;
  }

  SlowMesh::Provider RandomProvider(Slot slot) {
    SlowMesh::Provider provider{slot, Any({"app1", "app2", "app3"}), {}};
    if (Chance(80)) provider.parameters["env"] = Any({"1", "2"});
    if (Chance(80)) provider.parameters["ver"] = Any({"1", "2"});
    return provider;
  }
  static std::string UrlOf(const SlowMesh::Provider& provider) {
    std::string url = absl::StrCat("dubbo://10.0.0.", provider.slot, ":1/s.A?application=", provider.application);
    for (const auto& [key, value] : provider.parameters) absl::StrAppend(&url, "&", key, "=", value);
    return url;
  }

  Random random_{11};
};

TEST_F(MeshTwinTest, Equal) {
  std::uint64_t drawn = 0, fell_back = 0, several = 0;
  for (int round = 0; round < 1500; ++round) {
    SlowMesh slow;
    slow.strict = Chance(70);
    const Compat compat = slow.strict ? Compat::kStrict : Compat::kFixed;
    std::vector<ScopedMeshRule> rules;
    std::string texts;
    for (const char* name : {"app1", "app2"}) {
      if (!Chance(name[3] == '1' ? 95 : 40)) continue;
      const std::string text = Text(slow.applications[name] = RandomApplication());
      absl::StrAppend(&texts, "# ", name, "\n", text);
      const absl::StatusOr<MeshDocument> document = ParseMeshDocument(text, compat);
      ASSERT_TRUE(document.ok()) << document.status() << "\n" << text;
      if (!document->empty()) rules.push_back({name, document->rule});
    }
    const Texts labels = Labels();
    std::string consumer = "consumer://10.0.0.9/s.A?application=shop";
    for (const auto& [key, value] : labels) absl::StrAppend(&consumer, "&", key, "=", value);
    consumer_ = Parse(consumer);
    const auto router = MeshRouter::Make(rules, consumer_);

    Provide({});
    std::map<Slot, SlowMesh::Provider> providers;
    std::shared_ptr<const RouteTable> table;
    for (int edit = 0; edit < 3; ++edit) {
      InvokerSet changed(16);
      for (Slot slot = 0; slot < 12; ++slot) {
        if (!Chance(edit == 0 ? 70 : 25)) continue;
        changed.Add(slot);
        if (edit > 0 && Chance(40)) {
          Take(slot);
          providers.erase(slot);
        } else {
          providers[slot] = RandomProvider(slot);
          Put(slot, UrlOf(providers[slot]));
        }
      }
      if (router != nullptr) table = Compile(*router, &changed, table.get());
      for (int n = 0; n < 6; ++n) {
        SlowMesh::Call call{"s.A", Any({"find", "save", "other"}), {}, {}};
        for (int m = Number(3); m > 0; --m) call.arguments.push_back(Any({"0", "1", "3", "5", "text"}));
        if (Chance(50)) call.attachments["user"] = Any({"vip", "x"});
        std::vector<SlowMesh::Provider> in;
        InvokerSet set(16);
        for (const auto& [slot, provider] : providers) {
          if (!Chance(85)) continue;
          in.push_back(provider);
          set.Add(slot);
        }
        if (in.empty()) continue;
        std::map<SlowMesh::Slots, std::uint64_t> expected = slow.Shares(call, labels, in);
        std::vector<Argument> arguments;
        std::vector<Attachment> attachments;
        for (const std::string& argument : call.arguments) arguments.push_back({argument});
        for (const auto& [key, value] : call.attachments) attachments.push_back({key, value});
        const Invocation invocation{.arguments = arguments, .attachments = attachments};

        std::map<SlowMesh::Slots, std::uint64_t> got;
        Outcomes outcomes(set);
        const auto slots_of = [](const InvokerSet& one) {
          SlowMesh::Slots slots;
          one.ForEach([&](Slot slot) { slots.insert(slot); });
          return slots;
        };
        if (table != nullptr) {
          const RouteCase which = table->Classify({call.method, invocation});
          ASSERT_LT(which, table->cases());
          table->Route(which, set, outcomes);
          InvokerSet place(16);
          Outcomes draw(set, place, random_, false);
          table->Route(which, set, draw);
          EXPECT_TRUE(expected.contains(slots_of(draw.drawn()))) << texts;
        } else {
          outcomes.KeepAll();
        }
        for (const auto& split : outcomes.splits()) got[slots_of(split.set)] += split.weight;
        // Shares are equal; the weights may have been reduced.
        std::uint64_t expected_sum = 0, got_sum = 0;
        for (const auto& [slots, ways] : expected) expected_sum += ways;
        for (const auto& [slots, weight] : got) got_sum += weight;
        ASSERT_EQ(got.size(), expected.size()) << texts << consumer;
        for (const auto& [slots, ways] : expected) {
          ASSERT_EQ(got[slots] * expected_sum, ways * got_sum) << texts << consumer;
        }
        drawn += expected.size() > 1;
        fell_back += expected.size() == 1 && expected.begin()->first.size() == in.size();
        several += rules.size() > 1;
      }
    }
  }
  // It has asked what it is for.
  EXPECT_GT(drawn, 1000u);
  EXPECT_GT(fell_back, 1000u);
  EXPECT_GT(several, 1000u);
}

}  // namespace
}  // namespace fairlead
