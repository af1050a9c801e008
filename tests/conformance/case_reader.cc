#include "case_reader.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "canonical_json.h"

namespace fairlead::conformance {
namespace {

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Case MakeCase(std::string kind, std::string file, std::string where, Json whole) {
  Case c;
  c.kind = std::move(kind);
  c.file = std::move(file);
  c.where = std::move(where);
  if (!whole.is_object() || !whole.contains("in"))
    throw std::runtime_error("a case needs an `in` (" + c.where + ")");
  const char* answer = whole.contains("out") ? "out" : "expect";
  if (!whole.contains(answer))
    throw std::runtime_error("a case needs an `out` or `expect` (" + c.where + ")");
  c.in = whole["in"];
  c.out = whole[answer];
  c.id = CaseId(c.in);
  c.whole = std::move(whole);
  return c;
}

void ReadLines(const std::string& file, const std::string& text, const std::function<void(Case)>& each) {
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.empty()) continue;
    const std::string where = "line " + std::to_string(line);
    try {
      Json whole = ParseJson(one);
      std::string kind = file.substr(0, file.find('.'));
      // One file with the answers of several policies, not all of which need be there.
      if (kind == "lb_histogram") kind += "." + whole.at("in").at("algorithm").get<std::string>();
      each(MakeCase(std::move(kind), file, where, std::move(whole)));
    } catch (const std::exception& error) {
      throw std::runtime_error(file + ", " + where + ": " + error.what());
    }
  }
}

void ReadVectors(const std::string& file, const std::string& text, const std::function<void(Case)>& each) {
  try {
    Json whole = ParseJson(text);
    if (whole.contains("groups")) {
      for (auto& [name, group] : whole["groups"].items()) {
        for (Json& vector : group.at("vectors")) {
          std::string where = vector.value("id", "");
          each(MakeCase("registry." + name, file, std::move(where), std::move(vector)));
        }
      }
    } else if (whole.contains("vectors")) {
      for (Json& vector : whole["vectors"]) {
        std::string kind = "routing." + vector.at("kind").get<std::string>();
        std::string where = vector.value("id", "");
        each(MakeCase(std::move(kind), file, std::move(where), std::move(vector)));
      }
    } else {
      throw std::runtime_error("expected a member `groups` or `vectors`");
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
}

}  // namespace

std::string ReadCaseText(const std::filesystem::path& path) {
  // zlib passes through what is not compressed.
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string text;
  std::vector<char> buffer(1 << 18);
  int got = 0;
  while ((got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const bool failed = got < 0;
  const bool truncated = gzclose(file) != Z_OK;  // the checksum is behind the last block
  if (failed || truncated)
    throw std::runtime_error("cannot read " + path.string() + ": damaged or truncated");
  return text;
}

void ReadCases(const std::filesystem::path& folder, const std::function<void(Case)>& each,
               const std::function<void(const std::string& file)>& ends) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) throw std::runtime_error("cannot read folder " + folder.string() + ": " + error.message());
  for (const auto& entry : entries) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t seen = 0;
  const auto counted = [&](Case c) {
    ++seen;
    each(std::move(c));
  };
  for (const auto& path : files) {
    const std::string name = path.filename().string();
    const bool lines = EndsWith(name, ".jsonl") || EndsWith(name, ".jsonl.gz");
    if (!lines && !EndsWith(name, ".json") && !EndsWith(name, ".json.gz")) continue;
    (lines ? ReadLines : ReadVectors)(name, ReadCaseText(path), counted);
    ends(name);
  }
  if (seen == 0) throw std::runtime_error("no case in folder " + folder.string());
}

}  // namespace fairlead::conformance
