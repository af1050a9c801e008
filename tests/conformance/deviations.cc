#include "deviations.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "canonical_json.h"

namespace fairlead::conformance {

Deviations Deviations::Read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot open " + file.string());
  std::stringstream text;
  text << stream.rdbuf();
  Deviations deviations;
  try {
    const Json whole = ParseJson(text.str());
    for (const Json& one : whole.at("classes")) {
      const auto name = one.at("name").get<std::string>();
      for (const char* needed : {"reason", "right"}) {
        if (one.at(needed).get<std::string>().empty()) {
          throw std::runtime_error("class " + name + " needs a `" + needed + "`");
        }
      }
      for (const Json& kind : one.at("kinds")) {
        for (const Json& id : one.at("ids")) {
          deviations.by_kind_[kind.get<std::string>()].emplace(id.get<std::string>(), name);
        }
      }
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
  return deviations;
}

const std::string* Deviations::Find(const std::string& kind, const std::string& id) const {
  const auto ids = by_kind_.find(kind);
  if (ids == by_kind_.end()) return nullptr;
  const auto found = ids->second.find(id);
  return found == ids->second.end() ? nullptr : &found->second;
}

}  // namespace fairlead::conformance
