#!/usr/bin/env bash
# Runs the benchmarks, prints their tables and how they stand against bench/targets.json. The numbers of a whole run go to
# bench/results/<machine>-<compiler>/, and into docs/benchmarks.md, docs/optimize.md and README.md where these show that machine;
# with arguments, which may leave things out, they stay in build/.
#
#   tools/bench.sh [Google Benchmark arguments]     for example --benchmark_filter=motion/
#
# LITHE_MODELS names folders with robot files, separated by ':': atlas/ for contact detection, scenes in MJCF for steps in motion. Without it the
# rows that need them are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'bench: error: %s\n' "$1" >&2
  exit 1
}

# Prints e.g. "AMD Ryzen 9 7950X" as amd-ryzen-9-7950x.
slug() { tr '[:upper:]' '[:lower:]' | sed -E 's/\((r|tm)\)//g; s/[^a-z0-9.]+/-/g; s/^-+|-+$//g'; }

# show TOOL PAGE RESULT [ARGUMENT…]: prints the tables of a result, and writes them into the page that names it.
show() {
  local tool=$1 page=$2 result=$3 into=()
  shift 3
  if grep -qF "$result" "$page"; then into=(--into "$page"); fi
  python3 "tools/$tool" "$@" "${into[@]}" "$result"
}

programs=(dynamics collision step)
for name in "${programs[@]}"; do
  [[ -x build/bench_$name ]] || fail "build/bench_$name is not there; run make bench"
done

cpu=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1)
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/CMakeCache.txt)
case $("$compiler" --version | head -n 1) in
  *clang*) compiler_name=clang ;;
  *) compiler_name=gcc ;;
esac
machine=$(slug <<<"${cpu:-$(uname -m)} $compiler_name $("$compiler" -dumpversion)")

for name in "${programs[@]}"; do
  result=bench/results/$machine/$name.json
  partial=build/bench_$name.json
  mkdir -p "$(dirname "$result")"
  "build/bench_$name" "$@" --benchmark_out="$partial" --benchmark_out_format=json

  # The name of the host and the machine's load are no part of a result.
  (($# == 0)) || result=$partial.shown
  sed '/"host_name":/d; /"load_avg":/d' "$partial" >"$result"
  show bench_table.py docs/benchmarks.md "$result" --targets
done

# The gradients: their own program, since each scene is measured with its forward step and its differences in turn.
(($# == 0)) || exit 0
result=bench/results/$machine/gradients.json
build/lithe bench --json >"$result"
show gradient_table.py docs/benchmarks.md "$result" --targets

# The solvers: iterations, with one thread and with two.
result=bench/results/$machine/optimize.json
partial=build/bench_optimize.json
build/bench_optimize --benchmark_out="$partial" --benchmark_out_format=json
sed '/"host_name":/d; /"load_avg":/d' "$partial" >"$result"
show optimize_table.py docs/optimize.md "$result"

# The few numbers on the first page.
show readme_numbers.py README.md "bench/results/$machine"
