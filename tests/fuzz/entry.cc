// What libFuzzer calls, and what targets say before they end the process.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "fairlead/tests/fuzz/fuzz.h"

namespace fairlead::fuzz {

void Fail(const char* what, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: this does not hold: %s\n%s\n", file, line, what, detail.c_str());
  std::abort();
}

}  // namespace fairlead::fuzz

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fairlead::fuzz::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
