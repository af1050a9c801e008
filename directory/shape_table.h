#ifndef FAIRLEAD_DIRECTORY_SHAPE_TABLE_H_
#define FAIRLEAD_DIRECTORY_SHAPE_TABLE_H_

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/url/url.h"

namespace fairlead::internal {

// What follows from the part of an effective url that providers have in common.
struct Shape {
  std::size_t uses = 0;   // by providers held
  std::string transport;  // TransportKey
  std::vector<std::string> own_methods, policies;
  std::string unreadable;  // "weight=heavy, ..."
  bool disabled = false;
  bool tagged = false;  // has a dubbo.tag
  bool mock = false;    // is of that protocol
};

// Shapes, each found out once for all providers that have Url::common() of their effective urls in common: a service
// of ten thousand alike has one. Not thread-safe. Everything is constant on average but for what is said otherwise.
class ShapeTable {
 public:
  // Valid until a ForgetUnused that finds it unused. The first of its kind is linear in the parameters.
  Shape& Get(const Url& effective);
  // REQUIRES: Get has given it.
  const Shape& Of(const Url& effective) const { return shapes_.at(&effective.common()); }

  void Use(Shape& shape);
  // REQUIRES: a provider with this url uses its shape.
  void Unuse(const Url& effective);
  // Linear in those that came, or that the last user left, since the last time.
  void ForgetUnused();

  // Of the shapes in use, sorted: methods with policy parameters of their own; distinct values of `loadbalance`, method
  // forms included. Linear in the result.
  std::vector<std::string> OwnMethods() const { return NamesOf(own_methods_); }
  std::vector<std::string> Policies() const { return NamesOf(policies_); }
  // Does some shape in use have a tag?
  bool tagged() const { return tagged_ > 0; }
  // Is some shape in use a mock?
  bool mocked() const { return mocked_ > 0; }

 private:
  // How many shapes in use have a name.
  using Uses = std::map<std::string, std::size_t>;
  static void CountUses(Uses& uses, const std::vector<std::string>& names, bool more);
  static std::vector<std::string> NamesOf(const Uses& uses);

  std::unordered_map<const UrlParts*, Shape> shapes_;  // by Url::common(), which users and `unused_` keep
  std::vector<Url> unused_;                            // urls of shapes that may have no user
  Uses own_methods_, policies_;
  std::size_t tagged_ = 0, mocked_ = 0;  // shapes in use
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_SHAPE_TABLE_H_
