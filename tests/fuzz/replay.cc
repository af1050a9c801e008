// Tries a target's seeds and mutations of them, the same ones each time:
//
//   url_fuzz [--mutations N] [--seed N]    as the tests do
//   url_fuzz FILE...                       what was found before
//
// An input that breaks the target is printed as a C string and written to <target>.failed in the working directory.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "fairlead/base/random.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/tests/fuzz/mutate.h"

namespace fairlead::fuzz {
namespace {

constexpr char kFailedName[] = FAIRLEAD_FUZZ_TARGET ".failed";
// Of processor time. An input is at most a few kilobytes: nothing that is linear in it takes a hundredth of this, under any
// sanitizer.
constexpr double kMostSeconds = 5;

const char* tried_bytes = nullptr;
std::size_t tried_size = 0;

void Write(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t done = write(file, bytes, size);
    if (done <= 0) return;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

// Only what a signal's handler may do.
void OnDeath(int signal) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto say = [](const char* text) { Write(STDERR_FILENO, text, std::strlen(text)); };
  say("the input is in " FAIRLEAD_FUZZ_TARGET ".failed:\n\"");
  for (std::size_t i = 0; i < tried_size; ++i) {
    const auto byte = static_cast<unsigned char>(tried_bytes[i]);
    const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?';
    const char escaped[] = {'\\', 'x', kHex[byte >> 4], kHex[byte & 15], '"', '"'};
    if (plain) {
      Write(STDERR_FILENO, tried_bytes + i, 1);
    } else {
      Write(STDERR_FILENO, escaped, sizeof escaped);
    }
  }
  say("\"\n");
  const int file = open(kFailedName, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0) Write(file, tried_bytes, tried_size);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void TryWatched(const std::string& input) {
  tried_bytes = input.data();
  tried_size = input.size();
  const std::clock_t begin = std::clock();
  Try(input);
  FUZZ_EXPECT(static_cast<double>(std::clock() - begin) < kMostSeconds * CLOCKS_PER_SEC, "it took too long");
}

int Main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, OnDeath);
  std::uint64_t mutations = 2000, seed = 1;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if ((word == "--mutations" || word == "--seed") && i + 1 < argc) {
      (word == "--seed" ? seed : mutations) = std::strtoull(argv[++i], nullptr, 10);
    } else {
      files.emplace_back(word);
    }
  }
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 2;
    }
    TryWatched({std::istreambuf_iterator<char>(in), {}});
  }
  if (!files.empty()) return 0;

  const std::vector<std::string> seeds = SeedsOf(FAIRLEAD_FUZZ_TARGET);
  for (const std::string& one : seeds) TryWatched(one);
  Random random(Mix64(seed));
  for (std::uint64_t i = 0; i < mutations; ++i) TryWatched(Mutated(seeds, random));
  std::printf("%s: %zu seeds and %llu mutations\n", FAIRLEAD_FUZZ_TARGET, seeds.size(),
              static_cast<unsigned long long>(mutations));
  return 0;
}

}  // namespace
}  // namespace fairlead::fuzz

#if defined(__SANITIZE_ADDRESS__)
// Its reports end in a signal, so that the input is told.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "abort_on_error=1"; }
#endif

int main(int argc, char** argv) {
  try {
    return fairlead::fuzz::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thrown: %s\n", error.what());
    std::abort();
  }
}
