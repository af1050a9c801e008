#include "fairlead/routing/yaml/yaml_parser.h"

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

namespace fairlead {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

YamlMark MarkOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Ends the parser's work from within its callbacks; never leaves this file.
struct Refusal {
  YamlMark mark;
  std::string text;
  bool limit = false;
};

// Makes values of the parser's events, and stops it where a limit is reached, before the values are there.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const YamlLimits& limits) : limits_(limits) {}

  YamlDocument Take() { return {std::exchange(root_, YamlValue()), std::exchange(remarks_, {})}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At what cannot begin a value the parser makes empty documents for ever.
    if (std::exchange(document_at_, mark.pos) == mark.pos) {
      throw Refusal{MarkOf(mark), "this begins neither a value nor a document; expected a map, a list, a text or the end"};
    }
    open_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Count(1, MarkOf(mark));
    Add(YamlValue::Plain("", MarkOf(mark)), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto at = anchors_.find(anchor);
    if (at == anchors_.end()) throw Refusal{MarkOf(mark), "an alias of something that is not complete yet"};
    Count(at->second.size, MarkOf(mark));
    if (open_.size() + at->second.depth > limits_.depth) throw TooDeep(MarkOf(mark));
    Add(at->second.value, 0, at->second.depth);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const YamlMark at = MarkOf(mark);
    Count(1, at);
    if (tag == "?" || tag.empty()) {
      const bool merge = value == "<<" && !open_.empty() && open_.back().is_map && !open_.back().key.has_value();
      if (merge) open_.back().merges = true;
      return Add(YamlValue::Plain(value, at), anchor);
    }
    if (tag == "!" || tag == absl::StrCat(ToAbsl(kTagPrefix), "str")) return Add(YamlValue::Text(value, at), anchor);
    YamlValue plain = YamlValue::Plain(value, at);
    if (tag != absl::StrCat(ToAbsl(kTagPrefix), ToAbsl(TagOf(plain.kind())))) throw UnknownTag(tag, at);
    Add(std::move(plain), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(MarkOf(mark), tag, "seq", anchor, false);
  }
  void OnSequenceEnd() override {
    Container done = std::move(open_.back());
    open_.pop_back();
    Add(YamlValue::List(std::move(done.items), done.mark), done.anchor, done.depth + 1);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(MarkOf(mark), tag, "map", anchor, true);
  }
  void OnMapEnd() override {
    Container done = std::move(open_.back());
    open_.pop_back();
    Add(YamlValue::Map(std::move(done.entries), done.mark), done.anchor, done.depth + 1);
  }

 private:
  struct Container {
    YamlMark mark;
    YAML::anchor_t anchor = 0;
    bool is_map = false;
    std::vector<YamlValue> items;
    std::vector<YamlValue::Entry> entries;
    std::unordered_map<std::string, std::size_t> places;  // of keys in `entries`
    std::optional<YamlValue> key;                         // whose value is to come
    bool merges = false;                                  // that key is <<
    std::size_t depth = 0;                                // of what is in it
  };
  struct Anchored {
    YamlValue value;
    std::size_t size = 0, depth = 0;
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

  void Count(std::size_t values, YamlMark mark) {
    if (values > limits_.values - counted_) {
      throw Refusal{mark, absl::StrCat("more than ", limits_.values, " values, aliases counted as what they stand for"),
                    true};
    }
    counted_ += values;
  }

  void Open(YamlMark mark, const std::string& tag, std::string_view expected, YAML::anchor_t anchor, bool is_map) {
    Count(1, mark);
    if (open_.size() >= limits_.depth) throw TooDeep(mark);
    if (!tag.empty() && tag != "?" && tag != "!" && tag != absl::StrCat(ToAbsl(kTagPrefix), ToAbsl(expected))) {
      throw UnknownTag(tag, mark);
    }
    Container& container = open_.emplace_back();
    container.mark = mark;
    container.anchor = anchor;
    container.is_map = is_map;
  }

  void Add(YamlValue value, YAML::anchor_t anchor, std::size_t depth = 0) {
    if (anchor != 0) anchors_.insert_or_assign(anchor, Anchored{value, value.size(), depth});
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Container& into = open_.back();
    into.depth = std::max(into.depth, depth);
    if (!into.is_map) {
      into.items.push_back(std::move(value));
    } else if (!into.key.has_value()) {
      into.key = std::move(value);
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

  const YamlLimits limits_;
  std::size_t counted_ = 0;
  int document_at_ = -1;  // byte where the last document began
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

}  // namespace

absl::StatusOr<std::vector<YamlDocument>> ParseYaml(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return WithoutMark(absl::StrCat("YAML of ", text.size(), " bytes; at most ", limits.bytes, " are read"), "yaml-limit");
  }
  std::vector<YamlDocument> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(limits);
    while (parser.HandleNextDocument(builder)) documents.push_back(builder.Take());
  } catch (const Refusal& refusal) {
    return Error(refusal.mark, refusal.text, refusal.limit ? "yaml-limit" : "yaml-syntax");
  } catch (const YAML::Exception& error) {
    return Error(MarkOf(error.mark), Shortened(error.msg, 200), "yaml-syntax");
  }
  return documents;
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
