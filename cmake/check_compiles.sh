#!/usr/bin/env bash
# Every source of ours compiles with clang++-14 as well, and every public header compiles alone.
# Usage: check_compiles.sh SOURCE_DIR BUILD_DIR HEADER_LIST
set -euo pipefail
source=$1 build=$2 headers=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line a command: the compiler's own flags of each entry, without compiling to anything.
sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$build/compile_commands.json" |
  sed -E 's#^(.*ccache )?[^ ]*(c\+\+|g\+\+)[^ ]* #clang++-14 -fsyntax-only #; s# -o [^ ]+ # #; s# -Wshadow=local##; s# -O2 # #; s#\\"#"#g; s#\\\\"#\\"#g' |
  sort -u >"$work/commands"
while read -r header; do
  echo "g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I $build/include -x c++ $source/$header"
done <"$headers" >>"$work/commands"
# The tests do not build the benchmarks. Those of Google Benchmark are looked at where it is installed.
for file in "$source"/bench/*.cc; do
  if grep -q '<benchmark/' "$file" && ! clang++-14 -fsyntax-only -x c++ - <<<'#include <benchmark/benchmark.h>' 2>/dev/null; then
    continue
  fi
  # The build gives the name of its type, any text does here.
  echo "clang++-14 -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DFAIRLEAD_BENCH_BUILD=__FILE__ -I $build/include $file"
done >>"$work/commands"
echo "$(wc -l <"$work/commands") compilations"
cd "$build"
tr '\n' '\0' <"$work/commands" | xargs -0 -P "$(nproc)" -I {} bash -c '{} || { echo "failed: {}" >&2; exit 1; }'
