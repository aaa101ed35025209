#!/usr/bin/env bash
# Compares what Lithe reads from robot files with MuJoCo's and Pinocchio's own reading of them: the models of tests/compare, and those of
# $LITHE_MODELS (mjcf/*.xml, urdf/*.urdf, urdf/*/*.urdf) where it is set. Both engines go into a Python environment of their own.
#
#   tools/compare.sh [build folder]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=$(find "${1:-build}" -name print_model -type f -perm -u+x | head -n 1)
[[ -n $program ]] || { echo "compare: error: print_model is not built; run make build first" >&2; exit 1; }

venv=.venv-compare
if [[ ! -x $venv/bin/python ]]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check mujoco==4.0.0 pin==4.1.0
fi

shopt -s nullglob
mjcf=(tests/compare/mjcf/*.xml)
urdf=(tests/compare/urdf/*.urdf)
if [[ -n ${LITHE_MODELS:-} ]]; then
  mjcf+=("$LITHE_MODELS"/mjcf/*.xml)
  urdf+=("$LITHE_MODELS"/urdf/*.urdf "$LITHE_MODELS"/urdf/KR5/KR5*.urdf "$LITHE_MODELS"/atlas/atlas_v3_no_head.urdf)
fi
"$venv/bin/python" tests/compare/compare_mujoco.py "$program" "${mjcf[@]}"
"$venv/bin/python" tests/compare/compare_pinocchio.py "$program" "${urdf[@]}"
