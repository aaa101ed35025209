#!/usr/bin/env python3
"""Compares what Lithe reads from MJCF files with MuJoCo's own reading of them, and prints a table.

    tools/compare_mujoco.py PRINT_MODEL FILE_OR_FOLDER … [--states N] [--json FILE]

PRINT_MODEL is the program tests/compare/print_model of a build (cmake --build build --target print_model); the Python module mujoco is
needed (pip install mujoco). Of a folder all *.xml files with a <worldbody>, or an <include>, are taken. One line per file: the largest
difference of each quantity, relative to its largest entry (or 1), where it is more than 1e-9; or why the file cannot be compared. The exit
code is 0 if every file that both programs load agrees, else 1.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "compare"))
import compare_mujoco  # noqa: E402


def files_of(names):
    for name in names:
        path = pathlib.Path(name)
        for file in sorted(path.rglob("*.xml")) if path.is_dir() else [path]:
            text = file.read_text(errors="replace")
            if not path.is_dir() or ("<mujoco" in text and ("<worldbody" in text or "<include" in text)):
                yield file


def row(print_model, file):
    """(state, text, differences): state is agrees, differs, refused (by Lithe) or skipped (refused by MuJoCo)."""
    try:
        compare_mujoco.mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        return "skipped", "MuJoCo: " + " ".join(str(error).split())[:160], {}
    comparison = compare_mujoco.compare(print_model, str(file))
    refused = [failure for failure in comparison.failures if failure.startswith("print_model: ")]
    if refused:
        return "refused", refused[0].removeprefix("print_model: ")[-200:], {}
    failures = list(dict.fromkeys(comparison.failures))
    return ("differs" if failures else "agrees"), "; ".join(f[:160] for f in failures[:4]), comparison.differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("print_model")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--states", type=int, default=5, help="random configurations of each file")
    parser.add_argument("--json", help="writes all differences there")
    arguments = parser.parse_args()
    compare_mujoco.STATES = arguments.states
    rows, counts = [], {}
    for file in files_of(arguments.files):
        state, text, differences = row(arguments.print_model, file)
        counts[state] = counts.get(state, 0) + 1
        rows.append({"file": str(file), "state": state, "text": text, "differences": differences})
        print(f"{state:8} {file.parent.name}/{file.name}{'  ' if text else ''}{text}", flush=True)
    largest = {}
    for entry in rows:
        for quantity, value in entry["differences"].items():
            if value > largest.get(quantity, (-1, ""))[0]:
                largest[quantity] = (value, entry["file"])
    for quantity, (value, file) in sorted(largest.items()):
        print(f"largest difference of {quantity}: {value:.2g} ({pathlib.Path(file).parent.name}/{pathlib.Path(file).name})")
    print(f"{len(rows)} files: " + ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
    print(f"compared with MuJoCo {compare_mujoco.mujoco.__version__}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))
    return 1 if counts.get("differs") or counts.get("refused") else 0


if __name__ == "__main__":
    sys.exit(main())
