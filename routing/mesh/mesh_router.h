#ifndef FAIRLEAD_ROUTING_MESH_MESH_ROUTER_H_
#define FAIRLEAD_ROUTING_MESH_MESH_ROUTER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/mesh/mesh_rule.h"
#include "fairlead/routing/router.h"
#include "fairlead/routing/router_order.h"

namespace fairlead {

// The mesh rule of one application, which is about the providers that it registered.
struct ScopedMeshRule {
  std::string application;
  MeshRule rule;
};

// Routes by the mesh rules of all applications together, as one consumer meets them.
//   - Of each application the first route for the service counts, of that the first detail that fits the call; its
//     destinations are drawn from by weight, under kStrict as Dubbo draws (weighted_draw.h).
//   - A destination whose subset has nobody of those that came in has the subset that it falls back to; without one its
//     share is that of the next destination, of the first after the last.
//   - What the applications selected is kept together. Where no rule of theirs selects anybody, providers are dropped once
//     those of another application are selected. When nobody is selected at all, everybody stays.
//
// The work per provider is done when it appears, when its url changes or with a new rule.
class MeshRouter final : public Router {
 public:
  // Applications whose cases or draws, multiplied with those of the others, would be more than a table may have.
  static constexpr std::size_t kMostApplications = 32;
  static constexpr std::uint64_t kMostCases = std::uint64_t{1} << 31, kMostDraws = 4096;

  // nullptr when no rule can select anybody for this consumer (as given, without overrides). Each of `rules` is for
  // another application. `left_out`: applications whose rules count for nothing because of the limits above.
  static std::shared_ptr<const MeshRouter> Make(const std::vector<ScopedMeshRule>& rules, const Url& consumer,
                                                std::vector<std::string>* left_out = nullptr);
  ~MeshRouter() override;

  std::string_view name() const override { return "mesh"; }
  int order() const override { return router_order::kMesh; }
  Reads reads() const override;
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  struct Program;
  class Table;
  explicit MeshRouter(std::shared_ptr<const Program> program);
  const std::shared_ptr<const Program> program_;  // shared with the tables, which may outlive the router
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_MESH_MESH_ROUTER_H_
