#!/usr/bin/env bash
# Builds the Python package as a wheel and installs it into .venv-python, or tests what is installed there.
#
#   tools/python.sh install
#   tools/python.sh test [arguments of pytest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
python=$root/.venv-python/bin/python
wheels=build-python/wheels
stamp=build-python/installed.stamp

# Prints a file that a wheel is made of and that has changed since the last one was installed, if there is one.
changed() {
  local page=viewer/dist/viewer.html # goes along, if it was built
  [[ -f $page ]] || page=
  find lithe python cmake pyproject.toml CMakeLists.txt README.md ${page:+"$page"} -type f -not -path '*/tests/*' -not -name '*.pyc' \
    -newer "$stamp" -print -quit
}

install() {
  if [[ -f $stamp && -z $(changed) ]] && "$python" -m pip show --quiet lithe 2>/dev/null; then
    echo "python: lithe is installed in .venv-python"
    return
  fi
  rm -rf "$wheels"
  # Without isolation: the build's needs are in .venv-python already. With the compiler of the C++ build, whose objects ccache knows.
  CC=cc CXX=c++ "$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$wheels" .
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl
  touch "$stamp"
  echo "python: installed $(basename "$wheels"/*.whl) into .venv-python"
}

# From a folder of its own: in the source tree, lithe/ would be found before the package.
run_tests() {
  scratch=$(mktemp -d) # of the whole script: removed when it ends
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch"
  "$python" -m pytest -p no:cacheprovider --import-mode=importlib -o pythonpath="$root/python/tests" -q -rs "$@" "$root/python/tests"
  "$python" -m mypy --strict --no-error-summary --cache-dir="$scratch/mypy" -p lithe
  "$python" "$root/tools/api_reference.py" --check "$root/docs/api.md"
}

case ${1-} in
  install) install ;;
  test) run_tests "${@:2}" ;;
  *)
    echo "usage: tools/python.sh install | test [arguments of pytest]" >&2
    exit 2
    ;;
esac
