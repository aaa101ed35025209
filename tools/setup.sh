#!/usr/bin/env bash
# Installs what Lithe needs to build and test on Debian or Ubuntu, and nothing that is already there.
#
#   tools/setup.sh            install what is missing
#   tools/setup.sh --bench    also what the benchmarks compare Lithe with, where this system has it
#   tools/setup.sh --compare  also the readers of robot files that `make compare` compares with, where this system has them
#   tools/setup.sh --viewer   also what the viewer's page is built with, unless there are node and npm
#   tools/setup.sh --browser  also that, and a Chromium for the tests of the page, unless there is one ($CHROMIUM)
#   tools/setup.sh --check    only report what is missing; exit 1 if anything is
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  build-essential cmake ninja-build ccache
  clang libclang-rt-dev # sanitizer and fuzzer runtimes, for `make check`
  libeigen3-dev libfmt-dev libcli11-dev libqhull-dev libtinyxml2-dev coinor-libipopt-dev
  libboost-dev # headers of Asio and Beast, for the live viewer
  libgtest-dev libbenchmark-dev
  python3 python3-venv python3-dev
  python3-torch # for the tests of lithe.torch
)
rivals=(libmujoco-dev)                     # what bench_step compares with
readers=(liburdfdom-dev libsdformat-dev) # what tests/compare compares with
# Environments: the tools', and the one in which the Python package is built and tested, which is made from the system's own Python and
# sees its packages (torch from PyPI would bring gigabytes along).
venvs=(.venv .venv-python)

usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: error: %s\n' "$1" >&2
  shift
  (($# == 0)) || printf '  %s\n' "$@" >&2
  exit 1
}

# Prints those of the packages that are not fully installed, one per line.
missing_packages() {
  local installed
  # dpkg-query exits 1 when it does not know one of the names: that is an answer, not an error.
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p') || true
  comm -23 <(printf '%s\n' "$@" | sort) <(printf '%s\n' "$installed" | sort -u)
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
    "Check the network and the package sources of this system, then run tools/setup.sh again."
  "${as_root[@]}" apt-get install --no-install-recommends -y -q "$@" ||
    fail "apt-get could not install: $*" \
      "Its messages above name the package. If it is unknown there, this system's release does not carry it:" \
      "Lithe is tested on Debian 12. Otherwise check network and disk space, then run tools/setup.sh again."
}

requirements_of() {
  case $1 in
    .venv) echo requirements-dev.txt ;;
    .venv-python) echo requirements-python.txt ;;
  esac
}

# The folder counts too: the programs of a virtual environment do not survive a move.
venv_hash() { { pwd && cat "$(requirements_of "$1")"; } | sha256sum; }

venv_is_current() {
  [[ -x $1/bin/python && -f $1/setup.stamp && $(<"$1/setup.stamp") == "$(venv_hash "$1")" ]]
}

make_venv() {
  local venv=$1 requirements python=(python3 -m venv)
  requirements=$(requirements_of "$venv")
  [[ $venv != .venv-python ]] || python=(/usr/bin/python3 -m venv --system-site-packages)
  say "creating $venv from $requirements"
  # --clear, so that nothing of a half-made or outdated environment stays.
  "${python[@]}" --clear "$venv" || fail "${python[*]} $venv failed (its messages are above)." \
    "Check that python3 is the system's own with python3-venv installed, and that this folder is writable."
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" ||
    fail "pip could not install $requirements into $venv (its messages are above)." \
      "Check the network or pip's index settings, then run tools/setup.sh again."
  venv_hash "$venv" >"$venv/setup.stamp"
}

outdated_venvs() {
  local venv
  for venv in "${venvs[@]}"; do venv_is_current "$venv" || echo "$venv"; done
}

# install_optional WHAT_HAPPENS_WITHOUT PACKAGE…: what is compared with is left out where it is not there, so failing to install
# it is no error.
install_optional() {
  local without=$1 missing
  shift
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) || (install_packages "${missing[@]}") || say "going on without ${missing[*]}: $without"
}

# A node of any origin will do, if it is not too old.
install_node() {
  local major
  { command -v node && command -v npm; } >/dev/null || install_packages nodejs npm
  major=$(node -p 'process.versions.node.split(".")[0]')
  ((major >= 18)) || fail "node is of version $(node --version); the viewer needs 18 or newer." \
    "Remove it, so that Debian's own is installed, or install a newer one, then run tools/setup.sh --viewer again."
}

# For $CHROMIUM there is no package to install.
install_chromium() {
  [[ -z ${CHROMIUM:-} ]] || fail "CHROMIUM=$CHROMIUM is not a program." "Let it name a Chromium, or unset it: then Debian's is used."
  install_packages chromium
}

check_only=false
with_rivals=false
with_readers=false
with_node=false
with_browser=false
case "${1-}" in
  '') ;;
  --bench) with_rivals=true ;;
  --compare) with_readers=true ;;
  --viewer) with_node=true ;;
  --browser) with_node=true with_browser=true ;;
  --check) check_only=true ;;
  -h | --help) usage && exit ;;
  *) fail "unknown argument: $1" "$(usage)" ;;
esac

command -v dpkg-query >/dev/null || fail "this script knows Debian and Ubuntu only; dpkg-query was not found." \
  "Install the equivalents of: ${packages[*]}" \
  "and then: python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt"

mapfile -t missing < <(missing_packages "${packages[@]}")
mapfile -t outdated < <(outdated_venvs)

if $check_only; then
  status=0
  ((${#missing[@]} == 0)) || { say "missing packages: ${missing[*]}" && status=1; }
  ((${#outdated[@]} == 0)) || { say "missing or outdated: ${outdated[*]}" && status=1; }
  ((status != 0)) || say "nothing is missing"
  exit "$status"
fi

if ((${#missing[@]} == 0 && ${#outdated[@]} == 0)); then
  say "nothing to do"
else
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  for venv in "${outdated[@]}"; do make_venv "$venv"; done
  say "done"
fi
if $with_rivals; then install_optional "the benchmarks leave its rows out" "${rivals[@]}"; fi
if $with_readers; then install_optional "what is read is not compared with it" "${readers[@]}"; fi
if $with_node; then install_node; fi
if $with_browser && [[ ! -x ${CHROMIUM:-/usr/bin/chromium} ]]; then install_chromium; fi
