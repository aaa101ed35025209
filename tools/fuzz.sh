#!/usr/bin/env bash
# Runs every fuzzer of a build directory for a while; stops at the first that finds something.
#
#   tools/fuzz.sh <build directory> <seconds per fuzzer>
#
# What a fuzzer learns stays in <build directory>/corpus/<fuzzer>; fuzz/corpus/<fuzzer>, if it is
# there, holds the inputs to start from. The input of a failure is written beside the corpus.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

(($# == 2)) || {
  echo "usage: tools/fuzz.sh <build directory> <seconds per fuzzer>" >&2
  exit 2
}
build=$1
seconds=$2

shopt -s nullglob
count=0
for fuzzer in "$build"/fuzz_*; do
  [[ -f $fuzzer && -x $fuzzer ]] || continue
  name=$(basename "$fuzzer")
  corpora=("$build/corpus/$name")
  mkdir -p "${corpora[0]}"
  [[ ! -d fuzz/corpus/$name ]] || corpora+=("fuzz/corpus/$name")

  echo "fuzz: $name for $seconds s"
  log=$build/$name.log
  "$fuzzer" -max_total_time="$seconds" -artifact_prefix="$build/corpus/$name-" "${corpora[@]}" \
    >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    echo "fuzz: error: $name failed; the whole log is $log" >&2
    exit 1
  }
  tail -n 1 "$log"
  count=$((count + 1))
done
echo "fuzz: $count fuzzers, no failures"
