#!/usr/bin/env bash
# Everything that "./dev test" proves, after its packages are installed: three builds, then CTest over the
# release build, whose tests include the sanitizer runs, so that one summary, the last output, covers all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
jobs=$(nproc)

# Started from the build tree's own environment, nothing of an outer CTest or Ninja must leak in.
unset CTEST_OUTPUT_ON_FAILURE NINJA_STATUS || true

configure_and_build() {  # PRESET [-D...] -- [TARGET...]
  local preset=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  shift || true
  printf '\n== building preset %s\n' "$preset"
  cmake --preset "$preset" "${options[@]}" >/dev/null
  cmake --build --preset "$preset" "$@" -- -j "$jobs"
}

configure_and_build release -DFAIRLEAD_BUILD_TESTS=ON -DFAIRLEAD_BUILD_BENCH=OFF --
configure_and_build debug -DFAIRLEAD_BUILD_TESTS=ON -- --target sanitized_tests
configure_and_build tsan -DFAIRLEAD_BUILD_TESTS=ON -- --target sanitized_tests

printf '\n== tests\n'
cd build/release
exec ctest --output-on-failure -j "$jobs" "$@"
