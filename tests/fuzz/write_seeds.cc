// fuzz_seeds FOLDER: writes the seeds of every target to FOLDER/<target>, for libFuzzer.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "fairlead/tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  try {
    for (const std::string& target : fairlead::fuzz::TargetNames()) {
      const std::filesystem::path folder = std::filesystem::path(argv[1]) / target;
      std::filesystem::create_directories(folder);
      int number = 0;
      for (const std::string& seed : fairlead::fuzz::SeedsOf(target)) {
        std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
