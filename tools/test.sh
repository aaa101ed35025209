#!/usr/bin/env bash
# Everything that a change must pass; `make test` runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What mostly waits, for the network or for a browser, does so beside what keeps the processor busy. It is waited for whatever happens:
# packages that are half installed are in the way of everybody, and so are servers that are left behind.
job= log=
beside() {
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  job=$!
}
rejoin() {
  local status=0
  [[ -n $job ]] || return 0
  wait "$job" || status=$?
  job=
  cat "$log"
  rm -f "$log"
  return "$status"
}
trap rejoin EXIT

prepare_viewer_and_python() {
  tools/timed.sh "packages for the viewer and Python, beside the build" tools/setup.sh viewer browser wheel python && make viewer
}

tools/timed.sh "packages for the build" tools/setup.sh build test
beside prepare_viewer_and_python
make layer-check format-check tool-test
make build
tools/timed.sh "tests of C++ and the command line" ctest --preset release
rejoin

beside make viewer-test
make python
rejoin
make python-test
