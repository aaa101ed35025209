#!/usr/bin/env bash
# Installs the wheel of dist/ into .venv-python, or tests what is installed there.
#
#   tools/python.sh install
#   tools/python.sh test [arguments of pytest]
#   tools/python.sh fast-test [arguments of pytest]    behaviour alone, without what takes torch minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
python=$root/.venv-python/bin/python
stamp=.venv-python/installed.stamp

install() {
  local wheel
  wheel=$(echo dist/lithe-*.whl)
  [[ -f $wheel ]] || { echo "python: error: there is no dist/lithe-*.whl; run make wheel first" >&2 && exit 1; }
  if [[ -f $stamp && ! $wheel -nt $stamp ]] && "$python" -m pip show --quiet lithe 2>/dev/null; then
    echo "python: lithe is installed in .venv-python"
    return
  fi
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
  touch "$stamp"
  echo "python: installed $wheel into .venv-python"
}

# From a folder of its own: in the source tree, lithe/ would be found before the package.
run_pytest() {
  scratch=$(mktemp -d) # of the whole script: removed when it ends
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch"
  "$python" -m pytest -p no:cacheprovider --import-mode=importlib -o pythonpath="$root/python/tests" -q -rs "$@" "$root/python/tests"
}

run_tests() {
  run_pytest "$@"
  "$python" -m mypy --strict --no-error-summary --cache-dir="$scratch/mypy" -p lithe
  "$python" "$root/tools/api_reference.py" --check "$root/docs/api.md"
}

case ${1-} in
  install) install ;;
  test) run_tests "${@:2}" ;;
  fast-test) run_pytest --ignore="$root/python/tests/test_torch.py" -k "not train_policy" "${@:2}" ;;
  *)
    echo "usage: tools/python.sh install | test [arguments of pytest] | fast-test [arguments of pytest]" >&2
    exit 2
    ;;
esac
