#!/usr/bin/env bash
# What the programs say to arguments they cannot use, and their exit codes.
# Usage: command_lines_test.sh PROVIDER CONSUMER
set -euo pipefail
provider=$1 consumer=$2 bad=0

expect() {  # CODE PATTERN PROGRAM [ARGUMENT...]
  local code=$1 pattern=$2 got=0 output
  shift 2
  output=$("$@" 2>&1) || got=$?
  [[ ",$code," == *",$got,"* ]] || { echo "exit code $got instead of $code: $*"; bad=1; }
  grep -qE -- "$pattern" <<<"$output" || { echo "no '$pattern' in the output of: $*"; bad=1; }
}

for program in "$provider" "$consumer"; do
  expect 0 '^usage: .* REGISTRY' "$program" --help
  expect 2 'missing REGISTRY' "$program"
  expect 2 'unknown argument: --sevrice' "$program" memory://x --sevrice com.acme.Orders
  expect 2 '--service needs a value' "$program" memory://x --service
  expect 1,2 'nosuch' "$program" nosuch://127.0.0.1:1
done
expect 2 '--port=99999: expected a whole number from 0 to 65535' "$provider" memory://x --port 99999
expect 2 '--param color: expected K=V' "$provider" memory://x --param color
expect 2 '--calls=many: expected a whole number' "$consumer" memory://x --calls=many
expect 1 'cannot listen on nowhere:0' "$provider" memory://x --host nowhere
expect 1 'failed calls: 1 +failed picks: 1' "$consumer" memory://x --calls 1
exit $bad
