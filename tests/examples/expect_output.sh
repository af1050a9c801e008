#!/usr/bin/env bash
# Runs a program; fails unless it ends with exit code 0 and its output has a line for every pattern.
# Usage: expect_output.sh PATTERN... -- PROGRAM [ARGUMENT...]
set -euo pipefail
patterns=()
while [ "$1" != -- ]; do
  patterns+=("$1")
  shift
done
shift

code=0
output=$("$@" 2>&1) || code=$?
printf '%s\n' "$output"
[ "$code" -eq 0 ] || { echo "FAILED: exit code $code" >&2; exit 1; }
for pattern in "${patterns[@]}"; do
  grep -qE -- "$pattern" <<<"$output" || { echo "FAILED: no line matches: $pattern" >&2; exit 1; }
done
