#!/usr/bin/env bash
# Runs the tests that are over soon, of what is built already: all C++ tests but the longest with a tenth of their random cases
# (LITHE_TEST_SCALE), those of the command line, of the tools and of the Python package, if it is installed. Nothing is written but into
# the temporary folder ($TMPDIR). tools/hostile_environments.sh runs it where tests are known to fail.
#
#   tools/fast_tests.sh [--without-python] [build directory]
#
# $PYTHON is the Python of the tools, by default that of .venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

with_python=true
[[ ${1-} != --without-python ]] || { with_python=false && shift; }
build=$(realpath -- "${1:-build}")
python=${PYTHON:-$PWD/.venv/bin/python}
[[ -x $build/lithe && -d $build/tests ]] || {
  echo "fast_tests: error: there are no tests in $build; build them: cmake --preset release && cmake --build --preset release" >&2
  exit 1
}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# What takes more than a few seconds for one case.
longest=(
  'All/ShortExperiments.*'                  # whole optimisations
  'ViewServer.LetsGoOfWhoSaysOnlyHalf'      # it waits for ten seconds, whatever the machine
)
export LITHE_TEST_SCALE=${LITHE_TEST_SCALE:-small}
export GTEST_BRIEF=1 GTEST_FILTER="-$(IFS=: && echo "${longest[*]}")"
export PYTHONDONTWRITEBYTECODE=1 LITHE_CLI=$build/lithe LITHE_BENCH_MODELS=$PWD/bench/models
unset LITHE_TEST_SEED

failed=()
# test_with NAME COMMAND…: shows what it prints only if it fails.
test_with() {
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$logs/$name" 2>&1; then
    echo "fast_tests: $name passed ($((SECONDS - start)) s)"
  else
    cat "$logs/$name"
    echo "fast_tests: $name FAILED"
    return 1
  fi
}
export -f test_with
export logs

# One process for each room, as many at once as there are cores for this one.
printf '%s\0' "$build"/tests/test_* | while IFS= read -r -d '' program; do
  [[ ! -f $program || ! -x $program ]] || printf '%s\0' "$program"
done >"$logs/programs"
[[ -s $logs/programs ]] || { echo "fast_tests: error: no test_… in $build/tests" >&2 && exit 1; }
xargs -0 -a "$logs/programs" -P "$(nproc)" -I '{}' bash -c 'test_with "$(basename "$1")" "$1"' - '{}' || failed+=("C++")

test_with cli "$python" -m pytest -q -p no:cacheprovider tests/cli || failed+=(cli)
test_with tools "$python" -m pytest -q -p no:cacheprovider tools/tests || failed+=(tools)
if $with_python; then
  if .venv-python/bin/python -c 'import os; os.chdir("/"); import lithe' 2>/dev/null; then
    test_with python tools/python.sh fast-test || failed+=(python)
  else
    echo "fast_tests: the Python package is not installed in .venv-python: its tests are left out (make python installs it)"
  fi
fi

((${#failed[@]} == 0)) || { echo "fast_tests: error: failed: ${failed[*]}" >&2 && exit 1; }
echo "fast_tests: all passed in $SECONDS s"
