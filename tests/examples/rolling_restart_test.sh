#!/usr/bin/env bash
# Three provider processes on a real registry, each restarted once while a consumer process calls them without
# pause: no call may fail, and the three that came must answer as well as the three that went.
# Usage: rolling_restart_test.sh REGISTRY DIRECTORY_OF_THE_PROGRAMS
set -euo pipefail
registry=$1 programs=$2
# A name of its own, so that runs on one registry do not meet.
service=com.acme.RollingRestart$$
work=$(mktemp -d)
declare -A running=()

cleanup() {
  local pid
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$work"/* >&2
  exit 1
}

start_provider() {  # NAME: the name comes back with every answer, as the region
  "$programs/provider" "$registry" --service "$service" --region "$1" --param warmup=0 >"$work/$1" 2>&1 &
  running[$1]=$!
  local i
  for ((i = 0; i < 100; ++i)); do
    if grep -qs '^registered dubbo://' "$work/$1"; then return; fi
    kill -0 "${running[$1]}" 2>/dev/null || fail "provider $1 ended"
    sleep 0.1
  done
  fail "provider $1 did not register within 10 s"
}

stop_provider() {  # NAME
  kill -TERM "${running[$1]}"
  wait "${running[$1]}" || fail "provider $1 ended with code $?"
  unset "running[$1]"
}

for number in 1 2 3; do start_provider "old-$number"; done
"$programs/consumer" "$registry" --service "$service" --consumer-params loadbalance=roundrobin --seconds 120 \
  --interval-ms 1 >"$work/consumer" 2>&1 &
running[consumer]=$!
sleep 1
for number in 1 2 3; do
  stop_provider "old-$number"
  start_provider "new-$number"
done
sleep 2

kill -TERM "${running[consumer]}" 2>/dev/null || fail "the consumer ended too early"
wait "${running[consumer]}" || fail "the consumer ended with code $?"
unset 'running[consumer]'
for number in 1 2 3; do stop_provider "new-$number"; done

tally=$(sed -n '/^calls: /h; /^calls: /!H; ${x;p}' "$work/consumer")
printf '%s\n' "$tally"
grep -q 'failed calls: 0 ' <<<"$tally" || fail "calls failed"
for name in old-1 old-2 old-3 new-1 new-2 new-3; do
  grep -q " $name\$" <<<"$tally" || fail "$name never answered"
done
