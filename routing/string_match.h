#ifndef FAIRLEAD_ROUTING_STRING_MATCH_H_
#define FAIRLEAD_ROUTING_STRING_MATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// A declaration of RE2's class; its header stays out of ours.
namespace re2 {
class RE2;
}

namespace fairlead {

// A condition on one text, as rule documents state it: `{prefix: "a"}`. Of several kinds the first decides that is given,
// in the order of the members below; with none nothing matches. Immutable once compiled; thread-safe.
class StringMatch {
 public:
  struct Kinds {
    std::optional<std::string> exact = {};
    std::optional<std::string> prefix = {};
    std::optional<std::string> regex = {};     // of RE2; the whole text must fit
    std::optional<std::string> wildcard = {};  // `*` is any text; any other is compared as it is, as in Dubbo
    std::optional<std::string> empty = {};     // whatever it says: absent or ""
    std::optional<std::string> noempty = {};   // there, and not ""
  };

  // Compiled regular expressions, and what they may need while they match, are bounded by this many bytes; so is the text.
  static constexpr std::size_t kRegexMemory = 1 << 20;
  static constexpr std::size_t kRegexText = 4096;

  // What the regular expressions of one document may need together. An instruction of a compiled one is some 16 bytes and a
  // third of a microsecond.
  struct Budget {
    static constexpr std::size_t kInstructions = 1 << 19;
    static constexpr std::size_t kOfEach = 32;  // beside its own, for what a regex is besides them
    std::size_t left = kInstructions;
  };

  // Matches nothing.
  StringMatch() = default;
  // kInvalidArgument names the regular expression that RE2 cannot read, or that is over the budget: its own, or `budget`,
  // from which it takes what it needs.
  static absl::StatusOr<StringMatch> Compile(Kinds kinds, Budget* budget = nullptr);

  // nullopt: there is no text; then only `empty` and `noempty` are asked. Linear in the text. A regex takes a lock inside
  // RE2, the others none.
  bool Matches(std::optional<std::string_view> text) const;

  const Kinds& kinds() const { return kinds_; }
  // "prefix \"a\"", for people.
  std::string ToString() const;

 private:
  Kinds kinds_;
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_STRING_MATCH_H_
