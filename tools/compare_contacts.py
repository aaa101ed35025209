#!/usr/bin/env python3
"""Compares the pairs of bodies that touch where MJCF files start with MuJoCo's.

    tools/compare_contacts.py [--lithe PROGRAM] FILE_OR_FOLDER [FILE_OR_FOLDER ...]

For each file (of a folder: each .xml in it that MuJoCo reads) MuJoCo's contacts at qpos0 and `lithe doctor --keyframe qpos0 --json` are held
against each other, body by body. A pair that overlaps by more than 0.1 mm in one of the two must be one in the other; pairs that
are nearer to mere touching are not compared, because both have margins of their own. Prints one line per file that differs or is not
read by Lithe, with the pairs, and the counts. Exit code 0 where all sets are equal, 1 where some differ, 77 where mujoco is not
installed (pip install mujoco).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

DEEP = 1e-4  # m
MOST_SHOWN = 6


def mujoco_pairs(mujoco, file):
    """{(body, body): depth} at qpos0; None where MuJoCo refuses the file, or where there is nothing that could touch."""
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        return None
    if model.ngeom == 0:
        return None
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    # Names as Lithe gives them to what has none.
    names = [model.body(b).name or f"body_{b}" for b in range(model.nbody)]
    pairs = {}
    for contact in data.contact:
        if min(contact.geom1, contact.geom2) < 0:
            continue  # a flexible body: Lithe has none
        bodies = tuple(sorted(names[model.geom_bodyid[geom]] for geom in (contact.geom1, contact.geom2)))
        pairs[bodies] = max(pairs.get(bodies, -contact.dist), -contact.dist)
    return pairs


def lithe_pairs(program, file):
    """The same of Lithe; or the reason why there is none, as a text."""
    command = [program, "doctor", str(file), "--quick", "--keyframe", "qpos0", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        diagnosis = json.loads(run.stdout)
    except json.JSONDecodeError:
        return run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit code {run.returncode}"
    if not diagnosis["loads"]:
        return diagnosis["findings"][0]["text"]
    return {(pair["a"], pair["b"]): pair["depth"] for pair in diagnosis["touching_pairs"]}


def differences(ours, theirs):
    """Pairs that overlap in one of the two and do not touch in the other: (ours only, theirs only)."""

    def missing(here, there):
        return {pair: depth for pair, depth in here.items() if depth > DEEP and pair not in there}

    return missing(ours, theirs), missing(theirs, ours)


def shown(pairs):
    text = ", ".join(f"{a}-{b} ({1e3 * depth:.2f} mm)" for (a, b), depth in sorted(pairs.items())[:MOST_SHOWN])
    return text + (f" and {len(pairs) - MOST_SHOWN} more" if len(pairs) > MOST_SHOWN else "")


def files_of(names):
    for name in names:
        path = Path(name)
        yield from sorted(path.rglob("*.xml")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lithe", default="lithe", help="the program (default: lithe)")
    parser.add_argument("files", nargs="+", metavar="FILE_OR_FOLDER")
    arguments = parser.parse_args()
    try:
        import mujoco
    except ImportError:
        print("compare_contacts: skipped: mujoco is not installed (pip install mujoco)")
        return 77

    equal = different = refused = pairs = 0
    for file in files_of(arguments.files):
        theirs = mujoco_pairs(mujoco, file)
        if theirs is None:
            continue  # a part of a model, mostly
        ours = lithe_pairs(arguments.lithe, file)
        if isinstance(ours, str):
            refused += 1
            print(f"{file}: not read: {ours}")
            continue
        only_ours, only_theirs = differences(ours, theirs)
        pairs += sum(depth > DEEP for depth in theirs.values())
        if not only_ours and not only_theirs:
            equal += 1
            continue
        different += 1
        print(f"{file}: differs" + "".join(
            f"; {who} only: {shown(only)}" for who, only in (("lithe", only_ours), ("mujoco", only_theirs)) if only))
    print(f"{equal} files with equal sets ({pairs} pairs that overlap), {different} that differ, {refused} not read by lithe")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
