#include "fairlead/routing/yaml/yaml_parser.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"
#include "fairlead/routing/yaml/yaml_source.h"

namespace fairlead {
namespace {

using internal::YamlSource;

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

std::size_t PositionOf(const YAML::Mark& mark) { return static_cast<std::size_t>(std::max(mark.pos, 0)); }

YamlMark MarkOf(const YamlSource& source, const YAML::Mark& mark) {
  return source.MarkOf(PositionOf(mark), mark.line, mark.column);
}

// Ends the parser's work from within its callbacks; never leaves this file.
struct Refusal {
  YamlMark mark;
  std::string text;
  bool limit = false;
};

// Makes values of the parser's events, and stops it where a limit is reached, before the values are there, or where
// SnakeYAML would have stopped.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const YamlSource& source, const YamlLimits& limits) : source_(source), limits_(limits) {}

  YamlDocument Take() { return {std::exchange(root_, YamlValue()), std::exchange(remarks_, {})}; }
  // yaml-cpp takes what there is of a quoted text that does not end, when the last line does, and of a document that a line
  // with % ends.
  void CheckEnd() const {
    if (const std::optional<Refusal> unclosed = UnclosedQuote()) throw *unclosed;
    const std::size_t end = last_quote_ != YamlSource::kNone ? source_.FindEndOfQuoted(last_quote_) : last_;
    if (const std::size_t directive = source_.FindDirective(end); directive != YamlSource::kNone) {
      throw Refusal{source_.MarkAt(directive), "a line may begin with % only before ---"};
    }
  }
  std::optional<Refusal> UnclosedQuote() const {
    if (last_quote_ == YamlSource::kNone || source_.FindEndOfQuoted(last_quote_) != YamlSource::kNone) return std::nullopt;
    return Refusal{source_.MarkAt(last_quote_), absl::StrCat("the quote that opens here is not closed; expected a ",
                                                             source_.text().substr(last_quote_, 1), " before the end")};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At what cannot begin a value the parser makes empty documents for ever.
    if (std::exchange(document_at_, PositionOf(mark)) == PositionOf(mark)) {
      throw Refusal{MarkOf(source_, mark), "this begins neither a value nor a document; expected a map, a list, a text or the end"};
    }
    open_.clear();
    anchors_.clear();
    if (source_.LacksStart(PositionOf(mark))) {
      throw Refusal{MarkOf(source_, mark), "expected --- behind the lines that begin with %"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const YamlMark at = Begin(mark);
    CheckNull(PositionOf(mark), at);
    Count({1, 0, 0}, at);
    Add(YamlValue::Plain("", at), anchor, {1, 0, 0}, PositionOf(mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const YamlMark at = Begin(mark);
    const auto of = anchors_.find(anchor);
    if (of == anchors_.end()) throw Refusal{at, "an alias of something that is not complete yet"};
    Count(of->second.extent, at);
    if (open_.size() + of->second.extent.depth > limits_.depth) throw TooDeep(at);
    Add(of->second.value, 0, of->second.extent, PositionOf(mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const YamlMark at = Begin(mark);
    const Extent extent{1, value.size(), 0};
    CheckSpelling(PositionOf(mark));
    Count(extent, at);
    Add(Typed(tag, value, at), anchor, extent, PositionOf(mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Open(mark, tag, anchor, {.is_map = false, .is_block = style == YAML::EmitterStyle::Block});
  }
  void OnSequenceEnd() override {
    Container done = std::move(open_.back());
    open_.pop_back();
    ++done.extent.depth;
    Add(YamlValue::List(std::move(done.items), done.mark), done.anchor, done.extent, done.at);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(mark, tag, anchor, {.is_map = true, .is_block = style == YAML::EmitterStyle::Block});
  }
  void OnMapEnd() override {
    Container done = std::move(open_.back());
    open_.pop_back();
    ++done.extent.depth;
    Add(YamlValue::Map(std::move(done.entries), done.mark), done.anchor, done.extent, done.at);
  }

 private:
  struct Extent {
    std::size_t values = 0, bytes = 0, depth = 0;
  };
  struct Style {
    bool is_map = false, is_block = false;
  };
  struct Container {
    YamlMark mark;
    std::size_t at = 0;
    YAML::anchor_t anchor = 0;
    Style style;
    std::vector<YamlValue> items;
    std::vector<YamlValue::Entry> entries;
    std::unordered_map<std::string, std::size_t> places;  // of keys in `entries`
    std::optional<YamlValue> key;                         // whose value is to come
    std::size_t key_at = 0;                               // where that stands
    bool merges = false;                                  // that key is <<
    Extent extent{1, 0, 0};

    bool awaits_key() const { return style.is_map && !key.has_value(); }
  };
  struct Anchored {
    YamlValue value;
    Extent extent;
  };

  static std::string_view TagOf(YamlValue::Kind kind) {
    switch (kind) {
      case YamlValue::Kind::kNull:
        return "null";
      case YamlValue::Kind::kBool:
        return "bool";
      case YamlValue::Kind::kInteger:
        return "int";
      case YamlValue::Kind::kFloat:
        return "float";
      case YamlValue::Kind::kTimestamp:
        return "timestamp";
      default:
        return "str";
    }
  }
  Refusal TooDeep(YamlMark mark) const {
    return {mark, absl::StrCat("more than ", limits_.depth, " lists and maps in each other"), true};
  }
  static Refusal UnknownTag(const std::string& tag, YamlMark mark) {
    return {mark, absl::StrCat("the tag \"", Shortened(tag, 80), "\" does not fit; leave it out")};
  }

  // Where a node begins.
  YamlMark Begin(const YAML::Mark& mark) {
    const YamlMark at = MarkOf(source_, mark);
    const std::size_t position = PositionOf(mark);
    last_ = position;
    last_quote_ = YamlSource::kNone;
    if (position > 0 && position <= source_.text().size() && source_.text()[position - 1] == '\t') {
      throw Refusal{at, "a tab stands before this; expected blanks"};
    }
    return at;
  }

  // What yaml-cpp adds where nothing was written.
  void CheckNull(std::size_t position, YamlMark at) const {
    if (open_.empty()) return;
    const Container& into = open_.back();
    // The mark of an absent value is that of its key.
    if (into.style.is_map && into.style.is_block && into.key.has_value() && into.key_at == position) {
      throw Refusal{at, absl::StrCat("expected a colon behind the key ", Shortened(into.key->JavaText(), 80))};
    }
    const char here = position < source_.text().size() ? source_.text()[position] : '\0';
    const bool is_key = into.awaits_key();
    if ((is_key && here == ':') || (!into.style.is_block && (is_key || !into.style.is_map) && here == ',')) {
      throw Refusal{at, absl::StrCat("expected a value, found ", std::string(1, here))};
    }
  }

  void CheckSpelling(std::size_t position) {
    const std::size_t begin = source_.SkipProperties(position);
    const char first = begin < source_.text().size() ? source_.text()[begin] : '\0';
    if (first == '\'' || first == '"') last_quote_ = begin;
    if (first != '|' && first != '>') return;
    if (const std::size_t after = source_.FindAfterIndicators(begin); after != YamlSource::kNone) {
      throw Refusal{source_.MarkAt(after), "expected a blank or the end of the line after | or >"};
    }
  }

  YamlValue Typed(const std::string& tag, const std::string& value, YamlMark at) {
    if (tag == "?" || tag.empty()) {
      if (value != "<<") return YamlValue::Plain(value, at);
      if (open_.empty() || !open_.back().awaits_key()) {
        throw Refusal{at, "<< stands for a merge and is no value; put it in quotes"};
      }
      open_.back().merges = true;
      return YamlValue::Plain(value, at);
    }
    const auto is = [&tag](std::string_view name) { return tag == absl::StrCat(ToAbsl(kTagPrefix), ToAbsl(name)); };
    if (tag == "!" || is("str")) return YamlValue::Text(value, at);
    if (is("null")) return YamlValue::Plain("", at);
    YamlValue plain = YamlValue::Plain(value, at);
    // Java reads it anew, so that it has no octals.
    if (is("float") && plain.kind() == YamlValue::Kind::kInteger) plain = YamlValue::Plain(absl::StrCat(value, ".0"), at);
    if (!is(TagOf(plain.kind()))) throw UnknownTag(tag, at);
    return plain;
  }

  void Count(const Extent& extent, YamlMark mark) {
    const char* const aliases = ", aliases counted as what they stand for";
    if (extent.values > limits_.values - counted_.values) {
      throw Refusal{mark, absl::StrCat("more than ", limits_.values, " values", aliases), true};
    }
    if (extent.bytes > limits_.bytes - counted_.bytes) {
      throw Refusal{mark, absl::StrCat("more than ", limits_.bytes, " bytes of texts", aliases), true};
    }
    counted_.values += extent.values;
    counted_.bytes += extent.bytes;
  }

  void Open(const YAML::Mark& begin, const std::string& tag, YAML::anchor_t anchor, Style style) {
    const YamlMark mark = Begin(begin);
    const char* const expected = style.is_map ? "map" : "seq";
    Count({1, 0, 0}, mark);
    if (open_.size() >= limits_.depth) throw TooDeep(mark);
    if (!tag.empty() && tag != "?" && tag != "!" && tag != absl::StrCat(ToAbsl(kTagPrefix), expected)) {
      throw UnknownTag(tag, mark);
    }
    Container& container = open_.emplace_back();
    container.mark = mark;
    container.at = PositionOf(begin);
    container.anchor = anchor;
    container.style = style;
  }

  void Add(YamlValue value, YAML::anchor_t anchor, const Extent& extent, std::size_t position) {
    if (anchor != 0) {
      Count(extent, value.mark());  // of the copy
      anchors_.insert_or_assign(anchor, Anchored{value, extent});
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Container& into = open_.back();
    into.extent.values += extent.values;
    into.extent.bytes += extent.bytes;
    into.extent.depth = std::max(into.extent.depth, extent.depth);
    if (!into.style.is_map) {
      into.items.push_back(std::move(value));
    } else if (into.awaits_key()) {
      into.key = std::move(value);
      into.key_at = position;
    } else {
      AddEntry(into, *std::exchange(into.key, std::nullopt), std::move(value));
    }
  }

  void AddEntry(Container& into, YamlValue key, YamlValue value) {
    if (std::exchange(into.merges, false)) {
      remarks_.push_back({key.mark(), "merge keys (<<) are not supported; what it would bring is left out",
                          "merge-key"});
      return;
    }
    const std::string name = absl::StrCat(static_cast<int>(key.kind()), ":", key.JavaText());
    const auto [at, fresh] = into.places.try_emplace(name, into.entries.size());
    if (fresh) {
      into.entries.emplace_back(std::move(key), std::move(value));
      return;
    }
    remarks_.push_back({key.mark(), absl::StrCat("the key ", Shortened(key.JavaText(), 80), " stands here again, after ",
                                                 into.entries[at->second].first.mark().ToString(), "; this one counts"),
                        "duplicate-key"});
    into.entries[at->second].second = std::move(value);
  }

  const YamlSource& source_;
  const YamlLimits limits_;
  Extent counted_;
  std::size_t document_at_ = YamlSource::kNone;  // where the last document begins
  std::size_t last_ = 0;                         // where the last node begins
  std::size_t last_quote_ = YamlSource::kNone;   // where it opens, when that is a scalar with one
  std::vector<Container> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  YamlValue root_;
  std::vector<YamlRemark> remarks_;
};

absl::Status Error(YamlMark mark, std::string_view text, std::string code) {
  return WithPlace(absl::InvalidArgumentError(absl::StrCat("YAML, ", mark.ToString(), ": ", ToAbsl(text))),
                   {mark.line, mark.column, std::nullopt, std::move(code)});
}

absl::Status WithoutMark(const std::string& text, std::string code) {
  return WithPlace(absl::InvalidArgumentError(text), {1, 1, std::nullopt, std::move(code)});
}

// What yaml-cpp's words leave open: what it expected.
std::string_view WordsOf(const std::string& message) {
  static const std::pair<std::string_view, std::string_view> kWords[] = {
      {YAML::ErrorMsg::END_OF_MAP, "expected a key and a colon, as far in as the keys before, or the end of the map"},
      {YAML::ErrorMsg::END_OF_SEQ, "expected a dash and a blank, as far in as those before, or the end of the list"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "expected , or }"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "expected , or ]"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "the text ends within quotes; expected the closing one"},
      {YAML::ErrorMsg::DOC_IN_SCALAR, "the document ends within quotes; expected the closing one"},
      {YAML::ErrorMsg::MAP_VALUE, "a colon where no key stands; expected a text with one in quotes, or a key in a line of its own"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN, "expected a value; put a text that begins so in quotes"},
  };
  for (const auto& [theirs, ours] : kWords) {
    if (message == theirs) return ours;
  }
  return message;
}

absl::Status ErrorOf(const YamlSource& source, const Builder& builder, const YAML::Exception& error) {
  if (const std::optional<Refusal> unclosed = builder.UnclosedQuote()) return Error(unclosed->mark, unclosed->text, "yaml-syntax");
  if (error.msg == YAML::ErrorMsg::MAP_VALUE) {
    // yaml-cpp sees it at the next colon.
    if (const std::size_t key = source.FindKeyWithoutColon(PositionOf(error.mark)); key != YamlSource::kNone) {
      return Error(source.MarkAt(key), "expected a colon and a blank behind the key", "yaml-syntax");
    }
  }
  return Error(MarkOf(source, error.mark), Shortened(WordsOf(error.msg), 200), "yaml-syntax");
}

// Whether it is about a key in brackets or braces that ends with `:[` or `:{`; then the source has a blank there.
bool Mended(YamlSource& source, const YAML::Exception& error) {
  if (error.msg != YAML::ErrorMsg::END_OF_MAP_FLOW && error.msg != YAML::ErrorMsg::END_OF_SEQ_FLOW) return false;
  const std::size_t at = PositionOf(error.mark);
  if (!source.LacksBlank(at)) return false;
  source.PutBlank(at);
  return true;
}

}  // namespace

absl::StatusOr<std::vector<YamlDocument>> ParseYaml(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return WithoutMark(absl::StrCat("YAML of ", text.size(), " bytes; at most ", limits.bytes, " are read"), "yaml-limit");
  }
  YamlSource source(text);
  if (const std::size_t bad = source.FindUnprintable(); bad != YamlSource::kNone) {
    return Error(source.MarkAt(bad), "a control character, which YAML has only as an escape in double quotes", "yaml-syntax");
  }
  for (std::size_t read_again = 0;;) {
    std::vector<YamlDocument> documents;
    Builder builder(source, limits);
    try {
      std::istringstream stream{source.text()};
      YAML::Parser parser(stream);
      while (parser.HandleNextDocument(builder)) documents.push_back(builder.Take());
      builder.CheckEnd();
      return documents;
    } catch (const Refusal& refusal) {
      return Error(refusal.mark, refusal.text, refusal.limit ? "yaml-limit" : "yaml-syntax");
    } catch (const YAML::Exception& error) {
      if (!Mended(source, error)) return ErrorOf(source, builder, error);
      read_again += source.text().size();
      if (read_again > limits.bytes) {
        return Error(MarkOf(source, error.mark), "too many keys with :[ or :{ behind them; write a blank after the colon",
                     "yaml-limit");
      }
    }
  }
}

absl::StatusOr<YamlDocument> ParseYamlDocument(std::string_view text, const YamlLimits& limits) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text, limits);
  if (!documents.ok()) return documents.status();
  if (documents->empty()) return WithoutMark("YAML: the text has no document; expected a map", "unreadable");
  if (documents->size() > 1) {
    return Error((*documents)[1].root.mark(), "a second document begins here; expected one", "unreadable");
  }
  return std::move(documents->front());
}

}  // namespace fairlead
