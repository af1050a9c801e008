#include "fairlead/routing/lint/pattern_sets.h"

#include <algorithm>
#include <string>
#include <vector>

namespace fairlead::internal {
namespace {

// Above this many patterns of one key nothing is said, so that the work stays within bounds.
constexpr std::size_t kMostPatterns = 64;
// And of one side with more keys.
constexpr std::size_t kMostKeys = 64;

bool TooMany(const KeyPatterns& key) { return key.matches.size() + key.mismatches.size() > kMostPatterns; }

ValuePattern Compiled(std::string_view text, PatternContext of) { return ValuePattern::Compile(text, of.side, of.compat); }

// What stands before and after the `*` of a glob.
struct Around {
  std::string_view head, tail;
};
Around AroundOf(std::string_view glob) {
  const std::size_t star = glob.rfind('*');
  return {glob.substr(0, star), glob.substr(star + 1)};
}

// On the side about calls both names ask for the invoked method.
bool SameKey(std::string_view a, std::string_view b, RuleSide side) {
  const auto method = [](std::string_view key) { return key == "method" || key == "methods"; };
  return a == b || (side == RuleSide::kWhen && method(a) && method(b));
}

template <class Test>
bool AnyMismatch(const KeyPatterns& key, Test&& test) {
  return std::any_of(key.mismatches.begin(), key.mismatches.end(), test);
}

// No value that the match hits is left by the key's mismatches.
bool IsDead(const std::string& match, const KeyPatterns& key, PatternContext of) {
  return HitsNothing(match, of) || AnyMismatch(key, [&](const std::string& not_this) { return Covers(not_this, match, of); });
}

}  // namespace

bool IsReferenceOn(std::string_view pattern, RuleSide side) {
  return side == RuleSide::kThen && pattern.starts_with('$') && pattern.find('~') == pattern.npos;
}

bool HitsNothing(std::string_view pattern, PatternContext of) {
  if (IsReferenceOn(pattern, of.side)) return false;
  const ValuePattern compiled = Compiled(pattern, of);
  if (const auto constant = compiled.constant()) return !*constant;
  const auto range = compiled.range();
  return range.has_value() && range->low > range->high;
}

bool HitsEverything(std::string_view pattern, PatternContext of) {
  return !IsReferenceOn(pattern, of.side) && Compiled(pattern, of).constant().value_or(false);
}

bool Covers(std::string_view whole, std::string_view part, PatternContext of) {
  if (whole == part || HitsEverything(whole, of) || HitsNothing(part, of)) return true;
  if (IsReferenceOn(whole, of.side) || IsReferenceOn(part, of.side)) return false;
  const ValuePattern outer = Compiled(whole, of), inner = Compiled(part, of);
  if (inner.is_equality()) return outer.Matches(part);
  if (outer.is_equality() || outer.constant() || inner.constant()) return false;
  const auto out = outer.range(), in = inner.range();
  if (out.has_value() || in.has_value()) return out && in && out->low <= in->low && in->high <= out->high;
  const Around a = AroundOf(whole), b = AroundOf(part);
  return b.head.starts_with(a.head) && b.tail.ends_with(a.tail);
}

bool Disjoint(std::string_view a, std::string_view b, PatternContext of) {
  if (HitsNothing(a, of) || HitsNothing(b, of)) return true;
  if (IsReferenceOn(a, of.side) || IsReferenceOn(b, of.side)) return false;
  const ValuePattern one = Compiled(a, of), other = Compiled(b, of);
  if (one.is_equality()) return !other.Matches(a);
  if (other.is_equality()) return !one.Matches(b);
  if (one.constant() || other.constant()) return false;
  const auto first = one.range(), second = other.range();
  if (first.has_value() != second.has_value()) return false;
  if (first.has_value()) return first->high < second->low || second->high < first->low;
  const Around x = AroundOf(a), y = AroundOf(b);
  return !(x.head.starts_with(y.head) || y.head.starts_with(x.head)) ||
         !(x.tail.ends_with(y.tail) || y.tail.ends_with(x.tail));
}

bool NeverHolds(const KeyPatterns& key, PatternContext of) {
  if (key.matches.empty() && key.mismatches.empty()) return true;
  if (TooMany(key)) return false;
  if (AnyMismatch(key, [&](const std::string& text) { return HitsEverything(text, of); })) return true;
  return !key.matches.empty() && std::all_of(key.matches.begin(), key.matches.end(),
                                             [&](const std::string& match) { return IsDead(match, key, of); });
}

bool Covers(const KeyPatterns& whole, const KeyPatterns& part, PatternContext of) {
  if (TooMany(whole) || TooMany(part)) return whole == part;
  if (whole.matches.empty() && whole.mismatches.empty()) return false;
  const bool matches = whole.matches.empty() ||
                       (!part.matches.empty() &&
                        std::all_of(part.matches.begin(), part.matches.end(), [&](const std::string& inner) {
                          return IsDead(inner, part, of) ||
                                 std::any_of(whole.matches.begin(), whole.matches.end(),
                                             [&](const std::string& outer) { return Covers(outer, inner, of); });
                        }));
  return matches && std::all_of(whole.mismatches.begin(), whole.mismatches.end(), [&](const std::string& not_this) {
    const bool excluded = AnyMismatch(part, [&](const std::string& inner) { return Covers(inner, not_this, of); });
    return excluded || (!part.matches.empty() &&
                        std::all_of(part.matches.begin(), part.matches.end(), [&](const std::string& inner) {
                          return Disjoint(not_this, inner, of);
                        }));
  });
}

bool Disjoint(const KeyPatterns& a, const KeyPatterns& b, PatternContext of) {
  if (TooMany(a) || TooMany(b)) return false;
  if (NeverHolds(a, of) || NeverHolds(b, of)) return true;
  const auto excluded = [&](const KeyPatterns& of_this, const KeyPatterns& by) {
    return !of_this.matches.empty() &&
           std::all_of(of_this.matches.begin(), of_this.matches.end(), [&](const std::string& match) {
             if (IsDead(match, of_this, of) || AnyMismatch(by, [&](const std::string& no) { return Covers(no, match, of); })) {
               return true;
             }
             return !by.matches.empty() && std::all_of(by.matches.begin(), by.matches.end(), [&](const std::string& other) {
               return Disjoint(match, other, of);
             });
           });
  };
  return excluded(a, b) || excluded(b, a);
}

bool NeverHolds(const Conditions& side, PatternContext of) {
  if (std::any_of(side.begin(), side.end(), [&](const KeyPatterns& key) { return NeverHolds(key, of); })) return true;
  if (of.side != RuleSide::kWhen) return false;
  // Of these two names for one thing each is there once at most.
  const auto find = [&](std::string_view name) {
    return std::find_if(side.begin(), side.end(), [name](const KeyPatterns& key) { return key.key == name; });
  };
  const auto method = find("method"), methods = find("methods");
  return method != side.end() && methods != side.end() && Disjoint(*method, *methods, of);
}

bool Covers(const Conditions& whole, const Conditions& part, PatternContext of) {
  if (whole == part || NeverHolds(part, of)) return true;
  if (whole.size() > kMostKeys || part.size() > kMostKeys) return false;
  return std::all_of(whole.begin(), whole.end(), [&](const KeyPatterns& outer) {
    return std::any_of(part.begin(), part.end(), [&](const KeyPatterns& inner) {
      return SameKey(outer.key, inner.key, of.side) && Covers(outer, inner, of);
    });
  });
}

bool Disjoint(const Conditions& a, const Conditions& b, PatternContext of) {
  if (NeverHolds(a, of) || NeverHolds(b, of)) return true;
  if (a.size() > kMostKeys || b.size() > kMostKeys) return false;
  return std::any_of(a.begin(), a.end(), [&](const KeyPatterns& one) {
    return std::any_of(b.begin(), b.end(), [&](const KeyPatterns& other) {
      return SameKey(one.key, other.key, of.side) && Disjoint(one, other, of);
    });
  });
}

}  // namespace fairlead::internal
