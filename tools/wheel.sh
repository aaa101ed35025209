#!/usr/bin/env bash
# Builds the Python package as a wheel that needs nothing of the system it is installed on, dist/lithe-*.whl, or tests it.
#
#   tools/wheel.sh build     when what it is made of has changed
#   tools/wheel.sh test      in an environment of its own, in which the system's copies of its libraries cannot be loaded
#
# The wheel is for the Python that .venv-wheel was made from: Debian's, or what $PYTHON named when it was made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/.venv-wheel/bin/python
work=build-wheel
stamp=$work/wheel.stamp
levels="x86-64-v2;x86-64-v3;x86-64-v4"

# Prints a file that a wheel is made of and that has changed since the last one was built, if there is one.
changed() {
  find lithe apps python cmake bench/machine.h pyproject.toml CMakeLists.txt README.md viewer/dist/viewer.html tools/wheel.sh tools/repair_wheel.py \
    requirements-wheel.txt -type f -not -path 'python/tests/*' -not -name '*.pyc' -newer "$stamp" -print -quit
}

build() {
  [[ -f viewer/dist/viewer.html ]] || { echo "wheel: error: viewer/dist/viewer.html is not there; run make viewer first" >&2 && exit 1; }
  if [[ -f $stamp && -z $(changed) ]] && compgen -G 'dist/lithe-*.whl' >/dev/null; then
    echo "wheel: $(echo dist/lithe-*.whl) is current"
    return
  fi
  mkdir -p "$work"
  touch "$work/started" # what is edited while it builds is newer
  rm -rf "$work/raw" dist/lithe-*.whl
  # Without isolation: the build's needs are in .venv-wheel already.
  PATH=$PWD/.venv-wheel/bin:$PATH CC=cc CXX=c++ "$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    -w "$work/raw" --config-settings=build-dir="$work" --config-settings=cmake.define.LITHE_LEVELS="$levels" .
  PATH=$PWD/.venv-wheel/bin:$PATH "$python" tools/repair_wheel.py "$work"/raw/lithe-*.whl dist
  touch -r "$work/started" "$stamp"
}

run_tests() {
  local venv=$PWD/$work/venv
  "$python" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$(echo dist/lithe-*.whl)"
  LITHE_WHEEL_VENV=$venv LITHE_WHEEL=$(echo "$PWD"/dist/lithe-*.whl) .venv/bin/python -m pytest -q -p no:cacheprovider tests/wheel
}

case ${1-} in
  build) build ;;
  test) run_tests ;;
  *)
    echo "usage: tools/wheel.sh build | test" >&2
    exit 2
    ;;
esac
