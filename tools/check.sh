#!/usr/bin/env bash
# The slow checks, one phase after the other. What passed is remembered in build-check/, so that an interrupted or failed run goes on
# where it stopped; a change of any file makes all of it run again.
#
#   tools/check.sh [--again] [PHASE…]   all, or those named; --again: also what has passed since the last change
#   tools/check.sh --list               what there is
#
# LITHE_CHECK_SCALE=10 makes the random runs and the fuzzers ten times as long as usual, and so on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=check
state=build-check
source tools/phases.sh
scale=${LITHE_CHECK_SCALE:-1}
[[ $scale =~ ^[1-9][0-9]*$ ]] || fail "LITHE_CHECK_SCALE is '$scale'; it must be a whole number, 1 or more."

# configure_and_build PRESET [TARGET…]
configure_and_build() {
  cmake --preset "$1" --log-level=WARNING >/dev/null
  cmake --build --preset "$1" ${2:+--target "${@:2}"}
}

phase packages "installs what all of it needs"
run_packages() { tools/setup.sh build viewer test browser wheel python package check bench; }

phase benchmarks "builds the benchmarks, and all else as it is used"
run_benchmarks() { configure_and_build bench; }

phase viewer "the viewer's page in a browser, with a stand-in for the server, which can do all that goes wrong"
run_viewer() {
  tools/viewer.sh build
  tools/viewer.sh mock
}

phase headers "each header compiles alone, with gcc and with clang, warnings as errors"
run_headers() {
  configure_and_build headers check_headers
  configure_and_build headers-clang check_headers
}

phase sanitizers "all tests with assertions and the address and undefined-behaviour sanitizers"
run_sanitizers() {
  configure_and_build asan
  # A tenth of the random cases: each takes ten times as long.
  LITHE_TEST_SCALE=small ctest --preset asan
}

phase random "all tests with three times as many random cases, those of dynamics with five times, times LITHE_CHECK_SCALE"
run_random() {
  configure_and_build release
  LITHE_TEST_SCALE=$((3 * scale)) ctest --preset release --exclude-regex '^(install|cli|compare|experiments|dynamics)\.'
  LITHE_TEST_SCALE=$((5 * scale)) ctest --preset release --tests-regex '^dynamics\.'
}

phase long-random "a million problems of contact, and a million steps of a half cheetah, times LITHE_CHECK_SCALE"
run_long_random() {
  configure_and_build release
  LITHE_TEST_SCALE=$((50 * scale)) ctest --preset release -R 'RandomLcp|Robots.AHalfCheetah'
}

phase fuzzers "each fuzzer for 20 seconds, times LITHE_CHECK_SCALE"
run_fuzzers() {
  configure_and_build fuzz
  tools/fuzz.sh build-fuzz $((20 * scale))
}

phase environments "the fast tests in hostile environments (tools/hostile_environments.sh --list)"
run_environments() { tools/hostile_environments.sh; }

phase options "builds without what can be left out (tools/options.sh)"
run_options() { tools/options.sh; }

phase debian-package "the Debian package, installed, with the examples built against it"
run_debian_package() {
  tools/viewer.sh build
  tools/package.sh build
  tools/package.sh test
}

phase from-source "the Python package, built from source in a fresh environment (pip install .)"
run_from_source() {
  local venv=build-check/venv
  tools/viewer.sh build
  /usr/bin/python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check .
  cd build-check # in the source tree, lithe/ would be found before the package
  venv/bin/python -c 'import lithe; print(lithe.build_info()); lithe.World("half_cheetah").step()'
  venv/bin/lithe demo --out demo
}

phase clang "library, command line and examples with clang, warnings as errors"
run_clang() { configure_and_build clang lithe_cli examples/all; }

run_phases "$@"
