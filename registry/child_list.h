#ifndef FAIRLEAD_REGISTRY_CHILD_LIST_H_
#define FAIRLEAD_REGISTRY_CHILD_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// The children of one path as last accepted: which texts, in which order, what url each is. Remembers of a
// text only a 64-bit hash: two of a million texts are taken for one with a chance of 1 in 10^7. Pure; not
// thread-safe.
class ChildList {
 public:
  static constexpr std::uint32_t kNew = ~std::uint32_t{0};

  struct Child {
    CompactUrl url;                  // empty: unreadable
    std::uint32_t came_from = kNew;  // index in the list before the last change
    std::uint32_t url_hash : 31 = 0;
    bool shadowed : 1 = false;       // another child is an equal url with a newer timestamp (or came first)
  };
  // A child that is no url, and why; without its password, cut to a readable length.
  struct Unreadable {
    std::uint32_t child = 0;
    std::string text;
    bool foreign = false;  // without the mark
    std::uint64_t hash = 0;  // of the whole child
  };

  // `seed` keys the hashes. `mark`, when not empty, is what the name of every url of this path holds; a child
  // without it is somebody else's and as good as absent.
  ChildList(UrlPool& pool, std::uint64_t seed, std::string_view mark)
      : pool_(pool), seed_(seed), mark_(mark) {}

  // Accepts a full list and says whether it differs from the one before as a set of texts; if not, nothing
  // changes, not even the order. Parses only texts that were not there. Linear: a hash of each text, and a probe of
  // each when some do not stand where they stood.
  bool Update(const std::vector<std::string>& texts);

  const std::vector<Child>& children() const { return children_; }
  bool empty() const { return children_.empty(); }
  // There are urls here, and none of them can be read.
  bool nothing_readable() const {
    return unreadable_.size() == children_.size() && foreign_ < children_.size();
  }
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  // The last change added or took away some of them.
  bool unreadable_changed() const { return unreadable_changed_; }

 private:
  absl::StatusOr<Url> Read(const std::string& text) const;
  bool HasTwin(const Child& child) const;
  void MarkShadowed();

  UrlPool& pool_;
  const std::uint64_t seed_;
  const std::string_view mark_;
  std::vector<std::uint64_t> hashes_;  // of the children's texts
  bool twins_ = false;  // some children are an equal url
  std::vector<Child> children_;
  std::vector<Unreadable> unreadable_;
  bool unreadable_changed_ = false;
  std::size_t foreign_ = 0;
};

// What the name of every url of a rules path holds; Dubbo reads no other child there. Empty for providers,
// which come in both forms. `encoded`: the product stores percent-encoded names.
std::string_view UrlMark(Category category, bool encoded);

// Does a child of a path of `category` answer the subscription `consumer`?
bool MatchesIn(Category category, const Url& consumer, const Url& child);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_CHILD_LIST_H_
