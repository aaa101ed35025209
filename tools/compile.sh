#!/usr/bin/env bash
# Compiles targets into build/ and nothing beside them.
#
#   tools/compile.sh TARGET...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A folder that knows of more (tests, benchmarks) stays as it is: the targets are the same.
[[ -f build/build.ninja ]] || cmake --preset demo --log-level=WARNING >/dev/null
cmake --build build --target "$@"
