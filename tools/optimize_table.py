#!/usr/bin/env python3
"""Prints what build/bench_optimize measured as a table.

    tools/optimize_table.py [--into <page.md>] <results.json>

With --into, the table also replaces what the page has between its lines <!-- bench optimize --> and <!-- /bench -->.
"""

import argparse
import json
import sys
from pathlib import Path

from bench_table import replace_tables, table

TITLES = {
    "ddp_humanoid": "DDP, humanoid: 33 DoFs, 300 steps, 27 controls",
    "ddp_catapult": "DDP, catapult: 5 DoFs, 500 steps, 3 controls",
    "search_catapult": "stochastic search, catapult: 64 samples",
}


def solver_table(results):
    """One row per solver and problem: an iteration on one thread, its split, and how much two threads speed it up."""
    runs = {}
    for run in results["benchmarks"]:
        name, threads = run["name"].split("/")[:2]
        runs.setdefault(name, {})[int(threads)] = run
    rows = []
    for name, by_threads in runs.items():
        one, two = by_threads[1], by_threads[2]
        share = [f"{100 * one[stage]:.0f} %" for stage in ("rollout", "derivatives", "solve")]
        whole = f"{one['ms_per_iteration'] / two['ms_per_iteration']:.2f}×"
        rows.append([TITLES.get(name, name), f"{one['ms_per_iteration']:.3g}", *share, whole])
    header = ["an iteration on one core", "ms", "steps and costs", "derivatives", "solving"]
    return table([*header, "on two cores"], rows)


def main():
    parser = argparse.ArgumentParser(description="Prints what build/bench_optimize measured as a table.")
    parser.add_argument("results", help="JSON file written with --benchmark_out=FILE")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose table to replace")
    arguments = parser.parse_args()
    try:
        text = "\n".join(solver_table(json.loads(Path(arguments.results).read_text(encoding="utf-8"))))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"optimize_table: error: {arguments.results}: {error}")
    print(text)
    if arguments.into:
        replace_tables(arguments.into, "optimize", text)


if __name__ == "__main__":
    main()
