#!/usr/bin/env bash
# Builds the library without parts that it can go without, and a program with each of them, on a system that seems not to have what those
# parts need.
#
#   tools/options.sh [COMBINATION...]     by default all of: ipopt view files everything message
#
#   ipopt, view, files     without that part; installed, and found by find_package
#   everything             without all three, in another project's build (FetchContent)
#   message                packages that are missing are named all at once
#
# The first three are built as `make build` builds the library, so that ccache has most of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'options: error: %s\n' "$1" >&2
  exit 1
}

# Prints the arguments that leave a part out, and hide what only that part needs.
without() {
  case $1 in
    ipopt) echo -D LITHE_WITH_IPOPT=OFF -D CMAKE_DISABLE_FIND_PACKAGE_Ipopt=ON ;;
    view) echo -D LITHE_WITH_VIEW=OFF -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON ;;
    files) echo -D LITHE_WITH_FILES=OFF -D CMAKE_DISABLE_FIND_PACKAGE_tinyxml2=ON -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON ;;
  esac
}

# cmake, whose messages are for those who see it fail; of the options that hide packages not all are used.
configure() {
  cmake -G Ninja -D CMAKE_BUILD_TYPE=Release --no-warn-unused-cli "$@" >"$scratch/configure.log" 2>&1 || {
    cat "$scratch/configure.log" >&2
    fail "cmake $* failed (its messages are above)"
  }
}

run_parts() {
  local program=$1 word=$2
  "$program" "$word" >"$scratch/parts.log" || {
    cat "$scratch/parts.log" >&2
    fail "$program $word, which is tests/install/parts.cpp, failed"
  }
}

# Programs need all parts but IPOPT, and the examples none.
leave_out() {
  local part=$1 build=build-without-$1 prefix=$scratch/prefix-$1 word=ipopt apps=OFF examples=OFF arguments
  read -r -a arguments <<<"$(without "$part")"
  case $part in
    ipopt) word=no-ipopt apps=ON ;;
    files) examples=ON ;;
  esac
  configure -S . -B "$build" "${arguments[@]}" -D LITHE_BUILD_TESTS=OFF -D LITHE_BUILD_BENCH=OFF \
    -D LITHE_BUILD_APPS=$apps -D LITHE_BUILD_EXAMPLES=$examples -D LITHE_LEVELS=best
  cmake --build "$build"
  cmake --install "$build" --prefix "$prefix" >/dev/null
  configure -S tests/install/consumer -B "$build/consumer" "${arguments[@]}" -D CMAKE_PREFIX_PATH="$prefix" \
    -D PROGRAMS="$PWD/tests/install/parts.cpp"
  cmake --build "$build/consumer"
  run_parts "$build/consumer/parts" "$word"
  if [[ $part == ipopt ]]; then
    "$prefix/bin/lithe" optimize cartpole --method multiple >"$scratch/optimize.log" 2>&1 &&
      fail "lithe optimize --method multiple works without IPOPT"
    grep -q LITHE_WITH_IPOPT "$scratch/optimize.log" || fail "lithe optimize does not say what it lacks: $(<"$scratch/optimize.log")"
  fi
}

leave_out_everything() {
  local build=build-without-everything part arguments=()
  for part in ipopt view files; do
    read -r -a words <<<"$(without "$part")"
    arguments+=("${words[@]}")
  done
  # Lithe brings ccache along only where it is the whole project.
  if command -v ccache >/dev/null; then
    arguments+=(-D "CMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_SLOPPINESS=pch_defines,time_macros;CCACHE_BASEDIR=$PWD;ccache")
  fi
  configure -S tests/install/subproject -B "$build" -D WAY=FetchContent -D LITHE="$PWD" -D LITHE_UNITY=ON "${arguments[@]}"
  cmake --build "$build"
  run_parts "$build/parts" no-ipopt
}

name_what_is_missing() {
  local package
  cmake -G Ninja -S . -B "$scratch/missing" -D CMAKE_DISABLE_FIND_PACKAGE_Ipopt=ON -D CMAKE_DISABLE_FIND_PACKAGE_tinyxml2=ON \
    >"$scratch/missing.log" 2>&1 && fail "cmake does not miss packages that are hidden from it"
  for package in coinor-libipopt-dev libtinyxml2-dev; do
    grep -q "apt-get install.* $package" "$scratch/missing.log" || fail "cmake does not name $package: $(<"$scratch/missing.log")"
  done
}

(($# > 0)) || set -- ipopt view files everything message
for combination in "$@"; do
  echo "options: $combination"
  case $combination in
    ipopt | view | files) leave_out "$combination" ;;
    everything) leave_out_everything ;;
    message) name_what_is_missing ;;
    *) fail "$combination is none of: ipopt view files everything message" ;;
  esac
done
echo "options: all is well"
