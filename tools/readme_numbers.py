#!/usr/bin/env python3
"""Prints the six numbers of the README as a table.

    tools/readme_numbers.py [--into <page.md>] <folder of results>

They come from step.json, gradients.json and optimize.json in that folder, and from the limits in the test of the gradients.
With --into, the table also replaces what the page has between its lines <!-- bench numbers --> and <!-- /bench -->.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from bench_table import microseconds, read_results, read_runs, replace_tables

GRADIENT_TEST = Path(__file__).resolve().parents[1] / "tests" / "step" / "gradcheck_test.cpp"


def constant(source, name):
    """The value of a constexpr in a C++ source, as it is written there."""
    (value,) = re.findall(rf"constexpr \w+ {name} = ([\d.e'-]+);", source)
    return value


def numbers(folder):
    """Rows of: what, the number, where it comes from."""
    step = microseconds(read_runs(read_results(folder / "step.json")))["step/humanoid"]
    scenes = json.loads((folder / "gradients.json").read_text(encoding="utf-8"))["scenes"]
    gradients = {scene["scene"]: scene for scene in scenes}["humanoid"]
    runs = json.loads((folder / "optimize.json").read_text(encoding="utf-8"))["benchmarks"]
    (iteration,) = (run["ms_per_iteration"] for run in runs if run["name"].startswith("ddp_humanoid/1/"))
    test = GRADIENT_TEST.read_text(encoding="utf-8")
    scenes_tested, largest, median = (constant(test, name) for name in ("kSceneCount", "kLargestSceneError", "kMedianError"))
    forward, jacobians, vjp = (gradients[f"{key}_us"] for key in ("forward", "jacobians", "vjp"))
    bench = "[`make bench`](docs/benchmarks.md)"
    return [
        (f"a step of a humanoid: {gradients['nv']} DoFs, {gradients['contacts']} contacts", f"{step:.1f} µs", bench),
        ("all Jacobians of that step, by state and forces", f"{jacobians:.1f} µs, {jacobians / forward:.2f} steps", bench),
        ("a vector–Jacobian product with them", f"{vjp:.1f} µs, {vjp / forward:.2f} steps", bench),
        ("the Jacobians by central differences", f"{gradients['central_us'] / jacobians:.0f} times as long", bench),
        ("an iteration of DDP: that humanoid, 300 steps", f"{iteration:.0f} ms", "[`make bench`](docs/optimize.md)"),
        (
            f"error against finite differences in {int(scenes_tested):,} random scenes",
            f"below {largest}, median below {median}",
            "[`make test`](docs/gradients.md)",
        ),
    ]


def number_table(rows):
    return ["| | | from |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def main():
    parser = argparse.ArgumentParser(description="Prints the six numbers of the README as a table.")
    parser.add_argument("results", type=Path, help="a folder of bench/results")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose table to replace")
    arguments = parser.parse_args()
    try:
        text = "\n".join(number_table(numbers(arguments.results)))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"readme_numbers: error: {arguments.results}: {error}")
    print(text)
    if arguments.into:
        replace_tables(arguments.into, "numbers", text)


if __name__ == "__main__":
    main()
