#ifndef FAIRLEAD_TESTS_DIRECTORY_FINDINGS_H_
#define FAIRLEAD_TESTS_DIRECTORY_FINDINGS_H_

#include <string>
#include <vector>

#include "fairlead/routing/lint/finding.h"

namespace fairlead {

inline std::string Shown(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& finding : findings) all += finding.ToString() + "\n";
  return all;
}

// "line:column code" of each finding.
inline std::vector<std::string> Places(const std::vector<Finding>& findings) {
  std::vector<std::string> places;
  for (const Finding& one : findings) {
    places.push_back(std::to_string(one.line) + ":" + std::to_string(one.column) + " " + std::string(one.code));
  }
  return places;
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_DIRECTORY_FINDINGS_H_
