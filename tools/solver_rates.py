#!/usr/bin/env python3
"""Simulates scenes and prints how often each stage of the contact solver answered, as a table.

    tools/solver_rates.py [--lithe build/lithe] [--into docs/lcp.md]

With --into, the table replaces what stands between <!-- rates --> and <!-- /rates --> in that file.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

# Scene, steps, what happens, further arguments.
RUNS = [
    ("boxes:25", 2000, "rest", []),
    ("stack:20", 500, "stand", []),
    ("mass_ratio", 2000, "1 kg under 1,000 kg, and over it", []),
    ("incline", 2000, "slide", []),
    ("rolling_sphere", 2000, "slide, then roll", []),
    ("gripper", 3000, "close, lift, hold", []),
    ("four_bar", 3000, "loop and motor", []),
    ("half_cheetah", 5000, "random controls", ["--controls", "random"]),
    ("humanoid", 3000, "fall from standing", []),
    ("pile:12", 3000, "fall into a pit", []),
    ("pile:50", 1000, "fall into a pit", []),
]

HEADER = "| scene | | steps | rows, mean/max | LCPs | guess % | active set % | path % | unsolved | worst residual |"


def simulate(lithe, scene, steps, arguments):
    command = [lithe, "simulate", scene, "--steps", str(steps), "--json", "--quiet", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def row(scene, steps, what, report):
    lcps, rows = report["lcps"], report["rows"]
    return (
        f"| `{scene}` | {what} | {steps} | {rows['mean']:.0f}/{rows['max']} | {lcps['count']} "
        f"| {lcps['guess_percent']:.2f} | {lcps['active_set_percent']:.2f} | {lcps['path_percent']:.2f} "
        f"| {lcps['unsolved']} | {lcps['worst_residual']:.0e} |"
    )


def table(lithe):
    lines = [HEADER, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for scene, steps, what, arguments in RUNS:
        lines.append(row(scene, steps, what, simulate(lithe, scene, steps, arguments)))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lithe", default="build/lithe", help="the command line to run")
    parser.add_argument("--into", type=Path, help="a file whose table is replaced")
    arguments = parser.parse_args()
    text = table(arguments.lithe)
    print(text)
    if arguments.into:
        old = arguments.into.read_text(encoding="utf-8")
        new = re.sub(r"(<!-- rates -->\n).*?(<!-- /rates -->)", lambda m: m[1] + text + "\n" + m[2], old, flags=re.DOTALL)
        arguments.into.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
