#!/usr/bin/env bash
# Compares what Lithe reads from robot files with what others read from them: MuJoCo (MJCF), Pinocchio and urdfdom (URDF), libsdformat
# (SDF). The files are those of tests/compare and, where it is set, of the first folder of $LITHE_MODELS. MuJoCo and Pinocchio go into a Python
# environment of their own, the two libraries come from the system's packages.
#
#   tools/compare.sh [build folder]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}
[[ -f $build/CMakeCache.txt ]] || { echo "compare: error: $build is not a build folder; run make build first" >&2; exit 1; }

tools/setup.sh compare
cmake --log-level=WARNING "$build" >/dev/null # finds what has been installed
cmake --build "$build" --target compare_programs
programs=$build/tests/compare

venv=.venv-compare
if [[ ! -x $venv/bin/python ]]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check mujoco==4.0.0 pin==4.1.0
fi

shopt -s nullglob
mjcf=(tests/compare/mjcf/*.xml)
urdf=(tests/compare/urdf/*.urdf)
models=${LITHE_MODELS:-}
models=${models%%:*}
if [[ -n $models ]]; then
  mjcf+=("$models"/mjcf/*.xml)
  urdf+=("$models"/urdf/*.urdf "$models"/urdf/KR5/KR5*.urdf "$models"/atlas/atlas_v3_no_head.urdf)
fi

status=0
"$venv/bin/python" tests/compare/compare_mujoco.py "$programs/print_model" "${mjcf[@]}" || status=1
"$venv/bin/python" tests/compare/compare_pinocchio.py "$programs/print_model" "${urdf[@]}" || status=1

# compare_with PROGRAM OUR_FILES … -- THEIR_FILES …: of the second kind, some may be refused by either side.
compare_with() {
  local program=$programs/$1 ours=() theirs=()
  shift
  [[ -x $program ]] || { echo "compare: ${program##*/} is left out: its library is not installed" && return; }
  while (($#)) && [[ $1 != -- ]]; do ours+=("$1") && shift; done
  theirs=("${@:2}")
  "$program" "${ours[@]}" || status=1
  ((${#theirs[@]} == 0)) || "$program" --strangers "${theirs[@]}" || status=1
}

their_urdf=() their_sdf=()
if [[ -n $models ]]; then
  mapfile -d '' -t their_urdf < <(find "$models" -name '*.urdf' -print0 | sort -z)
  mapfile -d '' -t their_sdf < <(find "$models" \( -name '*.sdf' -o -name '*.world' \) -print0 | sort -z)
fi
compare_with compare_urdfdom tests/compare/urdf/*.urdf tests/compare/urdfdom/*.urdf -- "${their_urdf[@]}"
compare_with compare_sdformat tests/compare/sdf/*.sdf -- "${their_sdf[@]}"
exit "$status"
