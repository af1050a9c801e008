#ifndef FAIRLEAD_TESTS_CONFORMANCE_DEVIATIONS_H_
#define FAIRLEAD_TESTS_CONFORMANCE_DEVIATIONS_H_

#include <filesystem>
#include <map>
#include <string>

namespace fairlead::conformance {

// Where Fairlead is deliberately better than Dubbo. The file: {"classes": [{"name", "reason", "right",
// "kinds": [..], "ids": [..]}]}; `right` says what is right instead, an id counts for the listed kinds only,
// since kinds may share an input.
class Deviations {
 public:
  Deviations() = default;
  // Throws std::runtime_error when the file is not as described.
  static Deviations Read(const std::filesystem::path& file);

  // The class that declares the case, nullptr when none does.
  const std::string* Find(const std::string& kind, const std::string& id) const;

 private:
  std::map<std::string, std::map<std::string, std::string>> by_kind_;  // kind, id, class
};

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_DEVIATIONS_H_
