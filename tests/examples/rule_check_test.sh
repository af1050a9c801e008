#!/usr/bin/env bash
# What rule_check says of the rules beside this file, line by line, and its exit codes.
# Usage: rule_check_test.sh RULE_CHECK
set -euo pipefail
cd "$(dirname "$0")/rules"
program=$1 bad=0

expect() {  # CODE FILE ARGUMENT...: the exit code, and what the output is
  local code=$1 file=$2 got=0 output
  shift 2
  output=$("$program" "$@" 2>&1) || got=$?
  [ "$got" = "$code" ] || { echo "exit code $got instead of $code: $*"; bad=1; }
  diff -u "$file" <(printf '%s\n' "$output") || { echo "another output than $file: $*"; bad=1; }
}

run=(dry-run --consumer "consumer://10.0.0.9/com.acme.Orders?application=shop" --providers providers.txt)
expect 0 expected_lint.txt lint shop.condition-router
expect 1 expected_lint.txt lint --strict shop.condition-router
expect 1 expected_lint_broken.txt lint broken.txt
expect 3 expected_dry_run.txt "${run[@]}" --before before.txt --after after.txt
expect 0 expected_nothing.txt "${run[@]}" --before before.txt --after before.txt
expect 1 expected_broken.txt "${run[@]}" --before before.txt --after after_broken.txt
expect 1 expected_broken.txt "${run[@]}" --before before.txt --after after_broken.txt --force
got=0
"$program" "${run[@]}" --before before.txt --after after.txt --force >/dev/null || got=$?
[ "$got" = 0 ] || { echo "exit code $got with --force"; bad=1; }
got=0
"$program" dry-run >/dev/null 2>&1 || got=$?
[ "$got" = 2 ] || { echo "exit code $got without arguments"; bad=1; }
exit $bad
