#ifndef FAIRLEAD_TESTS_CONFORMANCE_RUNNER_H_
#define FAIRLEAD_TESTS_CONFORMANCE_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "fairlead/rpc/compat.h"

// Conformance cases: inputs with the answers of Dubbo Java. The runner reads a folder of them, asks a
// KindHandler for Fairlead's answer and counts.
//
// To add kinds: write <area>_kinds.cc with `void Register<Area>Kinds(KindTable& kinds)`, which calls
// `kinds.Add("range", ExactKind(...))` for each; add the file to CMakeLists.txt and the call to kinds.cc. A
// kind without a handler is shown as `not supported yet` and fails nothing.
namespace fairlead::conformance {

using Json = nlohmann::json;

struct Case {
  // The file's name for generated corpora (`is_match`; `lb_histogram.<policy>`), `registry.<group>` or
  // `routing.<kind>` for curated vectors.
  std::string kind;
  std::string id;     // first 12 hex digits of the SHA-256 of the canonical `in`
  std::string file;   // without the folder
  std::string where;  // line or vector id, for the reader of a failure
  Json in;
  Json out;    // `out`, or `expect` of the routing vectors
  Json whole;  // the case with all its members
  Compat compat = Compat::kStrict;  // what to answer with; the answers of Dubbo are strict
};

struct Outcome {
  bool passed = false;
  Json got;
};

// Answers one kind. May keep state between cases. A std::exception that it throws fails the case with its
// text.
class KindHandler {
 public:
  virtual ~KindHandler() = default;
  virtual Outcome Run(const Case& c) = 0;
};

class KindTable {
 public:
  void Add(std::string kind, std::unique_ptr<KindHandler> handler) {
    handlers_[std::move(kind)] = std::move(handler);
  }
  KindHandler* Find(const std::string& kind) const {
    const auto at = handlers_.find(kind);
    return at == handlers_.end() ? nullptr : at->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<KindHandler>> handlers_;
};

// The usual handler: passes when `answer` gives exactly the expected value.
std::unique_ptr<KindHandler> ExactKind(std::function<Json(const Case&)> answer);
// For answers that are compared in their own way, such as histograms.
std::unique_ptr<KindHandler> JudgedKind(std::function<Outcome(const Case&)> judge);

// Every kind of every area (kinds.cc).
void RegisterAllKinds(KindTable& kinds);

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_RUNNER_H_
