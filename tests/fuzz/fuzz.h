#ifndef FAIRLEAD_TESTS_FUZZ_FUZZ_H_
#define FAIRLEAD_TESTS_FUZZ_FUZZ_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// A fuzz target is a file <name>_fuzz.cc that defines Try. It is built twice: with libFuzzer, which finds new inputs
// ("./dev fuzz"), and with replay.cc, which tries the same seeds and a fixed number of mutations of them in every test run.
namespace fairlead::fuzz {

// What is done with an input, which may be anything: it must end in a moment, throw nothing, and hold what the target
// expects of it.
void Try(std::string_view input);

// What inputs of a target look like, to begin with: taken from the conformance cases, and a few written here. At most a
// few hundred, distinct, each of a few kilobytes. Throws std::runtime_error when there are no cases.
std::vector<std::string> SeedsOf(std::string_view target);
// Every target that SeedsOf knows.
std::vector<std::string> TargetNames();

// Ends the process, with the input that was tried last (replay.cc; libFuzzer does so itself).
[[noreturn]] void Fail(const char* what, const char* file, int line, const std::string& detail);

}  // namespace fairlead::fuzz

#define FUZZ_EXPECT(condition, detail)                                                    \
  do {                                                                                    \
    if (!(condition)) ::fairlead::fuzz::Fail(#condition, __FILE__, __LINE__, (detail));   \
  } while (false)

#endif  // FAIRLEAD_TESTS_FUZZ_FUZZ_H_
