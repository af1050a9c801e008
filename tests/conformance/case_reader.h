#ifndef FAIRLEAD_TESTS_CONFORMANCE_CASE_READER_H_
#define FAIRLEAD_TESTS_CONFORMANCE_CASE_READER_H_

#include <filesystem>
#include <functional>
#include <string>

#include "runner.h"

namespace fairlead::conformance {

// Calls `each` for every case of every `.jsonl`, `.jsonl.gz`, `.json` and `.json.gz` file directly in
// `folder`, by file name. Other files and sub-folders are ignored. `ends` is called after each file with its
// name. Throws std::runtime_error, naming file and line, for what cannot be read, and for a folder without
// any case.
void ReadCases(const std::filesystem::path& folder, const std::function<void(Case)>& each,
               const std::function<void(const std::string& file)>& ends);

// A file's text, unpacked when it is gzip. Throws std::runtime_error for what cannot be read.
std::string ReadCaseText(const std::filesystem::path& path);

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_CASE_READER_H_
