#!/usr/bin/env bash
# Installs the build into a private prefix and builds and runs a client against it.
# Usage: run.sh BUILD_DIR WORK_DIR
set -euo pipefail
build=$1 work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$work"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$here" -B "$work/client" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_STANDARD=20 >/dev/null
cmake --build "$work/client"
"$work/client/client" | grep -x 'picked 10.0.0.1:20880'
