#ifndef FAIRLEAD_ROUTING_TAG_TAG_ROUTER_H_
#define FAIRLEAD_ROUTING_TAG_TAG_ROUTER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/routing/router_order.h"
#include "fairlead/routing/tag/tag_rule.h"

namespace fairlead {

// A tag rule and whose providers it is about.
struct ScopedTagRule {
  std::string application;  // of the providers; empty: all of them, as in Dubbo
  TagRule rule;
};

// Keeps calls with a tag among the providers with that tag, and calls without one off them. Stands in every chain, with or
// without rules: providers tag themselves with the parameter `dubbo.tag` too.
//
// A call's tag is its attachment `dubbo.tag`, or else the consumer's parameter of that name; `dubbo.force.tag` likewise.
//   - Tag T: a rule that names T decides who has it, whatever `dubbo.tag` they have; `a|b|c` also finds the rule's `a|b`,
//     then `a`, unless the call forces. Without such a rule those whose `dubbo.tag` is T.
//   - Nobody has it: nobody is left when the call forces; else those without a tag, but for providers whose rule names T and
//     forces.
//   - No tag: those without a tag, and nobody else even if that is nobody.
// Several rules, for providers of several applications, make one decision: who has T is asked of each application's own
// rule, whether anybody has it, of all together.
//
// Under kStrict who has a tag by `match` is decided by the addresses of those that fit it, as Dubbo keeps such tags as lists
// of addresses (MatchedAddresses).
//
// The work per provider is done when it appears, when its urls change or with a new rule. Calls find their case by two
// attachments and a hash; with more `|` in a tag, by one more for each.
class TagRouter final : public Router {
 public:
  // Of the rules for an application the first counts.
  explicit TagRouter(std::vector<ScopedTagRule> rules = {}, int order = router_order::kTag);
  ~TagRouter() override;

  std::string_view name() const override { return "tag"; }
  int order() const override { return order_; }
  Reads reads() const override { return Reads::kAttachments; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  class Table;
  using Rules = std::vector<ScopedTagRule>;
  const std::shared_ptr<const Rules> rules_;  // shared with the tables, which may outlive the router
  const int order_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_TAG_TAG_ROUTER_H_
