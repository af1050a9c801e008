#include "fairlead/routing/mesh/mesh_router.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/mask.h"
#include "fairlead/routing/weighted_draw.h"

namespace fairlead {
namespace {

// What is left of a rule for one consumer.
struct Destination {
  std::vector<std::size_t> subsets;  // of its application; the first with anybody counts
  std::uint32_t weight = 0;          // in the draw; 0: never drawn
};
struct Detail {
  std::string name;
  std::vector<MeshMatch> match;  // what remains to be asked of calls
  std::vector<Destination> to;
};
// Subsets of one name.
struct Subset {
  std::string name;
  std::vector<MeshRule::Subset> any_of;

  bool Has(const Provider& provider) const {
    return std::any_of(any_of.begin(), any_of.end(), [&](const MeshRule::Subset& one) { return one.Has(provider); });
  }
};
struct Application {
  std::string name;
  std::vector<Subset> subsets;
  std::vector<Detail> details;
  RouteCase stride = 1;

  std::size_t SubsetOf(const MeshRule& rule, const std::string& subset) {
    for (std::size_t i = 0; i < subsets.size(); ++i) {
      if (subsets[i].name == subset) return i;
    }
    Subset made{subset, {}};
    for (const MeshRule::Subset& one : rule.subsets) {
      if (one.name == subset) made.any_of.push_back(one);
    }
    subsets.push_back(std::move(made));
    return subsets.size() - 1;
  }
  std::uint64_t cases() const { return details.size() + 1; }
  std::uint64_t most_draws() const {
    std::uint64_t most = 1;
    for (const Detail& detail : details) most = std::max<std::uint64_t>(most, detail.to.size());
    return most;
  }
};

bool Asks(const MeshMatch& match) { return match.reads() != Reads::kConsumer; }

std::vector<Destination> DestinationsOf(const MeshRule& rule, const MeshRule::Detail& detail, Application& application) {
  std::vector<Destination> all;
  for (std::size_t i = 0; i < detail.to.size(); ++i) {
    Destination one;
    for (const std::string& subset : detail.to[i].subsets) one.subsets.push_back(application.SubsetOf(rule, subset));
    one.weight = internal::WeightInDraw(std::max(detail.to[i].weight, 1u), i == 0, i + 1 == detail.to.size(), rule.compat);
    all.push_back(std::move(one));
  }
  return all;
}

Application ForConsumer(const ScopedMeshRule& scoped, const Url& consumer) {
  Application application;
  application.name = scoped.application;
  const MeshRule::Route* route = scoped.rule.RouteOf(consumer.ServiceInterface());
  if (route == nullptr) return application;
  for (const MeshRule::Detail& given : route->details) {
    if (!std::all_of(given.match.begin(), given.match.end(),
                     [&](const MeshMatch& match) { return match.MatchesConsumer(consumer); })) {
      continue;
    }
    Detail detail{given.name, {}, DestinationsOf(scoped.rule, given, application)};
    std::copy_if(given.match.begin(), given.match.end(), std::back_inserter(detail.match), Asks);
    application.details.push_back(std::move(detail));
    if (application.details.back().match.empty()) break;  // it is for every call
  }
  return application;
}

// Weights are multiplied where several applications draw; their product stays below 2^63.
void ScaleWeights(std::vector<Application>& applications) {
  std::size_t drawing = 0;
  for (const Application& application : applications) drawing += application.most_draws() > 1;
  if (drawing < 2) return;
  const double each = std::exp2(63.0 / static_cast<double>(drawing));
  for (Application& application : applications) {
    for (Detail& detail : application.details) {
      // None becomes nothing, which may add one for each.
      const double most = each - static_cast<double>(detail.to.size());
      double sum = 0;
      for (const Destination& one : detail.to) sum += one.weight;
      if (sum <= most) continue;
      for (Destination& one : detail.to) {
        if (one.weight > 0) one.weight = std::max(static_cast<std::uint32_t>(one.weight * (most / sum)), 1u);
      }
    }
  }
}

}  // namespace

struct MeshRouter::Program {
  std::vector<Application> applications;
  RouteCase cases = 1;
  Reads reads = Reads::kConsumer;
};

class MeshRouter::Table final : public RouteTable {
 public:
  Table(std::shared_ptr<const Program> program, const RouteInput& input, const Table* previous)
      : program_(std::move(program)) {
    if (previous != nullptr && previous->program_ != program_) previous = nullptr;
    for (std::size_t a = 0; a < program_->applications.size(); ++a) {
      const Application& application = program_->applications[a];
      std::vector<InvokerSet> masks;
      for (std::size_t s = 0; s < application.subsets.size(); ++s) {
        masks.push_back(BuildMask(input, previous == nullptr ? nullptr : &previous->masks_[a][s],
                                  [&](const Provider& provider) {
                                    return provider.original.Application() == application.name &&
                                           application.subsets[s].Has(provider);
                                  }));
      }
      masks_.push_back(std::move(masks));
    }
  }

  std::uint32_t cases() const override { return program_->cases; }

  RouteCase Classify(const RouteCall& call) const override {
    RouteCase which = 0;
    for (const Application& application : program_->applications) {
      for (std::size_t d = 0; d < application.details.size(); ++d) {
        const Detail& detail = application.details[d];
        if (!std::all_of(detail.match.begin(), detail.match.end(),
                         [&](const MeshMatch& match) { return match.MatchesCall(call); })) {
          continue;
        }
        which += static_cast<RouteCase>(d + 1) * application.stride;
        break;
      }
    }
    return which;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == 0 || in.empty()) return out.KeepAll();
    Union chosen;
    AddUnions(which, in, 0, 1, chosen, 0, out);
    if (out.count() > 0) return;
    out.Note("no subset that it leads to has a provider, so all stay");
    out.KeepAll();
  }

  std::string Describe(RouteCase which) const override {
    std::string text;
    for (const Application& application : program_->applications) {
      const Detail* detail = DetailOf(application, which);
      absl::StrAppend(&text, text.empty() ? "" : "; ", "providers of ", Shortened(application.name, 80), ": ",
                      detail == nullptr
                          ? "no detail of the rule fits the call"
                          : absl::StrCat("the detail \"", Shortened(detail->name, 80), "\", ", detail->to.size(),
                                         detail->to.size() == 1 ? " destination" : " destinations"));
    }
    return text;
  }

 private:
  using Union = std::array<const InvokerSet*, kMostApplications>;
  // Where calls may end in one application, each set once, with a weight above 0.
  struct Choices {
    struct One {
      const InvokerSet* set;
      std::uint64_t weight;
    };
    std::array<One, MeshRule::kMostDestinations> all;
    std::size_t count = 0;

    void Add(const InvokerSet* set, std::uint64_t weight) {
      for (std::size_t i = 0; i < count; ++i) {
        if (all[i].set == set) return void(all[i].weight += weight);
      }
      all[count++] = {set, weight};
    }
  };

  static const Detail* DetailOf(const Application& application, RouteCase which) {
    const std::size_t detail = which / application.stride % application.cases();
    return detail == 0 ? nullptr : &application.details[detail - 1];
  }

  void Choose(const Detail& detail, const std::vector<InvokerSet>& masks, const InvokerSet& in, Choices& choices) const {
    std::uint64_t passed_on = 0;  // the shares of destinations without anybody
    for (const Destination& one : detail.to) {
      const auto subset = std::find_if(one.subsets.begin(), one.subsets.end(),
                                       [&](std::size_t at) { return in.Intersects(masks[at]); });
      passed_on += one.weight;
      if (subset != one.subsets.end()) choices.Add(&masks[*subset], std::exchange(passed_on, std::uint64_t{0}));
    }
    if (choices.count == 0) return;
    choices.all[0].weight += passed_on;
    const auto end = std::remove_if(choices.all.begin(), choices.all.begin() + static_cast<std::ptrdiff_t>(choices.count),
                                    [](const Choices::One& one) { return one.weight == 0; });
    choices.count = static_cast<std::size_t>(end - choices.all.begin());
  }

  // One set of each application from `at` on, with every such set of the others.
  void AddUnions(RouteCase which, const InvokerSet& in, std::size_t at, std::uint64_t weight, Union& chosen,
                 std::size_t count, Outcomes& out) const {
    if (at == program_->applications.size()) {
      if (count > 0) out.Add(weight, std::span<const InvokerSet* const>(chosen.data(), count));
      return;
    }
    const Detail* detail = DetailOf(program_->applications[at], which);
    Choices choices;
    if (detail != nullptr) Choose(*detail, masks_[at], in, choices);
    if (choices.count == 0) return AddUnions(which, in, at + 1, weight, chosen, count, out);
    for (std::size_t i = 0; i < choices.count; ++i) {
      // A sole choice has no weight of its own, so that those of the others need not be small.
      const std::uint64_t share = choices.count == 1 ? 1 : choices.all[i].weight;
      chosen[count] = choices.all[i].set;
      AddUnions(which, in, at + 1, weight * share, chosen, count + 1, out);
    }
  }

  const std::shared_ptr<const Program> program_;
  std::vector<std::vector<InvokerSet>> masks_;  // by application, by subset
};

std::shared_ptr<const MeshRouter> MeshRouter::Make(const std::vector<ScopedMeshRule>& rules, const Url& consumer,
                                                   std::vector<std::string>* left_out) {
  auto program = std::make_shared<Program>();
  std::uint64_t cases = 1, draws = 1;
  for (const ScopedMeshRule& scoped : rules) {
    Application application = ForConsumer(scoped, consumer);
    if (application.details.empty()) continue;
    if (program->applications.size() == kMostApplications || cases * application.cases() > kMostCases ||
        draws * application.most_draws() > kMostDraws) {
      if (left_out != nullptr) left_out->push_back(application.name);
      continue;
    }
    application.stride = static_cast<RouteCase>(cases);
    cases *= application.cases();
    draws *= application.most_draws();
    for (const Detail& detail : application.details) {
      for (const MeshMatch& match : detail.match) program->reads = program->reads | match.reads();
    }
    program->applications.push_back(std::move(application));
  }
  if (program->applications.empty()) return nullptr;
  program->cases = static_cast<RouteCase>(cases);
  ScaleWeights(program->applications);
  return std::shared_ptr<const MeshRouter>(new MeshRouter(std::move(program)));
}

MeshRouter::MeshRouter(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

MeshRouter::~MeshRouter() = default;

Reads MeshRouter::reads() const { return program_->reads; }

std::shared_ptr<const RouteTable> MeshRouter::Compile(const RouteInput& input, const RouteTable* previous) const {
  return std::make_shared<const Table>(program_, input, static_cast<const Table*>(previous));
}

}  // namespace fairlead
