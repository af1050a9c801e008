#!/usr/bin/env bash
# Every source of ours compiles with clang++-14 as well, and every public header compiles alone.
# Usage: check_compiles.sh SOURCE_DIR BUILD_DIR HEADER_LIST
set -euo pipefail
source=$1 build=$2 headers=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What nearly every source includes is read once: it halves the time. Whether a source includes all it needs is for the
# build's own compiler to say.
{
  sed 's#.*#\#include "fairlead/&"#' "$headers"
  printf '#include <%s>\n' gmock/gmock.h gtest/gtest.h
} >"$work/common.h"
clang="clang++-14 -std=c++20 -g -DNDEBUG -fPIE -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra -Wnon-virtual-dtor -Werror"
clang+=" -DGTEST_HAS_PTHREAD=1 -DASIO_STANDALONE -DASIO_NO_DEPRECATED -I $build/include"
$clang -fpch-instantiate-templates -x c++-header "$work/common.h" -o "$work/common.pch"
check="$clang -fsyntax-only -include-pch $work/common.pch"

# One line a command: the compiler's own flags of each entry, without compiling to anything.
sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$build/compile_commands.json" |
  sed -E 's# -(O2|pthread|fPIC|Wshadow=local|fvisibility=[a-z]+)##g; s# -o [^ ]+##; s#\\"#"#g; s#\\\\"#\\"#g' |
  sed -E "s#^(.*ccache )?[^ ]*(c\\+\\+|g\\+\\+) #$check #" |
  sort -u >"$work/commands"
# A source that includes its own header first has shown that it compiles alone.
while read -r header; do
  first=$(grep -m 1 -h '^#include' "$source/${header%.h}.cc" 2>/dev/null || true)
  [ "$first" = "#include \"fairlead/$header\"" ] ||
    echo "g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I $build/include -x c++ $source/$header"
done <"$headers" >>"$work/commands"
# The tests do not build the benchmarks. Those of Google Benchmark are looked at where it is installed.
for file in "$source"/bench/*.cc; do
  if grep -q '<benchmark/' "$file" && ! clang++-14 -fsyntax-only -x c++ - <<<'#include <benchmark/benchmark.h>' 2>/dev/null; then
    continue
  fi
  # The build gives the name of its type, any text does here.
  echo "$check -DFAIRLEAD_BENCH_BUILD=__FILE__ $file"
done >>"$work/commands"
echo "$(wc -l <"$work/commands") compilations"
cd "$build"
tr '\n' '\0' <"$work/commands" | xargs -0 -P "$(nproc)" -I {} bash -c '{} || { echo "failed: {}" >&2; exit 1; }'
