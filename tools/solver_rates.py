#!/usr/bin/env python3
"""Simulates scenes and prints how often each stage of the contact solver answered, at rest and in motion, as a table.

    tools/solver_rates.py [--lithe build/lithe] [--into docs/lcp.md]

With --into, the table replaces what stands between <!-- rates --> and <!-- /rates --> in that file.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1] / "bench" / "models"
RANDOM, TARGETS = ["--controls", "random"], ["--controls", "targets"]

# Scene or model of bench/models, steps, what happens, further arguments.
RUNS = [
    ("boxes:25", 2000, "rest", []),
    ("stack:20", 500, "stand", []),
    ("mass_ratio", 2000, "1 kg under 1,000 kg, and over it", []),
    ("incline", 2000, "slide", []),
    ("rolling_sphere", 2000, "slide, then roll", []),
    ("gripper", 3000, "close, lift, hold", []),
    ("four_bar", 3000, "loop and motor", []),
    ("half_cheetah", 5000, "random controls", RANDOM),
    ("humanoid", 3000, "fall from standing", []),
    ("humanoid", 3000, "random controls", RANDOM),
    ("pile:12", 3000, "fall into a pit", []),
    ("pile:50", 1000, "fall into a pit", []),
    ("friction_humanoid.xml", 2000, "stand", []),
    ("friction_humanoid.xml", 3000, "random targets", TARGETS),
    ("hull_quadruped.xml", 2000, "stand", []),
    ("hull_quadruped.xml", 3000, "random targets", TARGETS),
    ("planar_loops.xml", 2000, "stand", []),
    ("planar_loops.xml", 3000, "random targets", TARGETS),
    ("hand.xml", 2000, "hold a ball", []),
    ("hand.xml", 3000, "random targets", TARGETS),
]

# The columns: their titles, and what they show of the report that `lithe simulate --json` gives. One that no report has anything for
# (KeyError) is left out.
COLUMNS = {
    "rows, mean/max": lambda report: f"{report['rows']['mean']:.0f}/{report['rows']['max']}",
    "LCPs": lambda report: f"{report['lcps']['count']}",
    "guess %": lambda report: f"{report['lcps']['guess_percent']:.2f}",
    "followed %": lambda report: f"{report['lcps']['followed_percent']:.2f}",
    "active set %": lambda report: f"{report['lcps']['active_set_percent']:.2f}",
    "path %": lambda report: f"{report['lcps']['path_percent']:.2f}",
    "factorisations": lambda report: f"{report['lcps']['factorizations'] / max(1, report['lcps']['count']):.2f}",
    "events": lambda report: f"{report['lcps']['events'] / max(1, report['lcps']['count']):.2f}",
    "dropped": lambda report: f"{report['lcps']['targets_dropped']}",
    "unpolished": lambda report: f"{report['lcps']['unpolished']}",
    "unsolved": lambda report: f"{report['lcps']['unsolved']}",
    "worst residual": lambda report: f"{report['lcps']['worst_residual']:.0e}",
}


def simulate(lithe, scene, steps, arguments):
    name = str(MODELS / scene) if scene.endswith(".xml") else scene
    command = [lithe, "simulate", name, "--steps", str(steps), "--json", "--quiet", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def cell(show, report):
    try:
        return show(report)
    except KeyError:
        return None


def table(reports):
    """Of (scene, steps, what, report)."""
    columns = {title: [cell(show, report) for *_, report in reports] for title, show in COLUMNS.items()}
    columns = {title: cells for title, cells in columns.items() if any(c is not None for c in cells)}
    lines = [f"| scene | | steps | {' | '.join(columns)} |", "|---|---|---:|" + "---:|" * len(columns)]
    for i, (scene, steps, what, _) in enumerate(reports):
        lines.append(f"| `{scene}` | {what} | {steps} | {' | '.join(cells[i] or '' for cells in columns.values())} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lithe", default="build/lithe", help="the command line to run")
    parser.add_argument("--into", type=Path, help="a file whose table is replaced")
    arguments = parser.parse_args()
    runs = [(scene, steps, what, simulate(arguments.lithe, scene, steps, options)) for scene, steps, what, options in RUNS]
    text = table(runs)
    print(text)
    if arguments.into:
        old = arguments.into.read_text(encoding="utf-8")
        new = re.sub(r"(<!-- rates -->\n).*?(<!-- /rates -->)", lambda m: m[1] + text + "\n" + m[2], old, flags=re.DOTALL)
        arguments.into.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
