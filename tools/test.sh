#!/usr/bin/env bash
# Everything that a change must pass; `make test` runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/timed.sh "packages for the build" tools/setup.sh build test

# What later tests need comes from the network while the compiler works. It is waited for whatever happens: packages that are half
# installed are in the way of everybody.
later_log=$(mktemp)
tools/timed.sh "packages for the viewer and Python, beside the build" tools/setup.sh viewer browser wheel python >"$later_log" 2>&1 &
later=$!
finish_later() {
  local status=0
  [[ -n $later ]] || return 0
  wait "$later" || status=$?
  later=
  cat "$later_log"
  rm -f "$later_log"
  return "$status"
}
trap finish_later EXIT

make layer-check format-check tool-test
make build
tools/timed.sh "tests of C++ and the command line" ctest --preset release
finish_later
make viewer-test
make python-test
