#!/usr/bin/env python3
"""Prints what bench_dynamics measured as tables.

    tools/bench_table.py [--check] [--into <page.md>] <results.json>

Times are minima. On the humanoid they are also given in units u, the time of Eigen's dense Cholesky
factorisation of a 33×33 matrix on the same machine in the same run, because targets are stated in u.
With --check, a missed target fails. With --into, the tables also replace what the page has between
its lines <!-- bench --> and <!-- /bench -->.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

UNIT = "unit/llt_33"
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


class Row(NamedTuple):
    kernel: str
    title: str
    wanted: float = math.nan  # in u
    moonshot: float = math.nan


ROWS = [
    Row("id_with_kinematics", "ID, with kinematics", 0.5, 0.3),
    Row("mass_matrix_and_factor_with_kinematics", "M and factor, with kinematics", 0.7, 0.45),
    Row("fd_with_kinematics", "FD, with kinematics", 0.9, 0.6),
    Row("id_derivatives", "∂ID by q, v", 1.2, 0.7),
    Row("fd_derivatives", "∂FD by q, v, τ", 2.5, 1.6),
    Row("kinematics", "kinematics"),
    Row("mass_matrix", "M"),
    Row("factor", "factor"),
    Row("factor_inverse", "L⁻¹"),
    Row("solve_with_inverse", "solve with L⁻¹"),
    Row("solve_by_substitution", "solve by substitution"),
]


def read_minima(path):
    """{name: microseconds} of every benchmark in a JSON file of Google Benchmark."""
    results = json.loads(Path(path).read_text(encoding="utf-8"))
    return {
        run["run_name"]: run["real_time"] * MICROSECONDS[run["time_unit"]]
        for run in results["benchmarks"]
        if run.get("aggregate_name") == "min" and not run.get("error_occurred")
    }


def table(header, rows):
    """Lines of a Markdown table, also aligned for the eye: first column left, others right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells):
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        )
        return "| " + " | ".join([first, *others]) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(header), line(rule), *map(line, rows)]


def verdict(row, multiple):
    if math.isnan(row.wanted):
        return ""
    if multiple <= row.moonshot:
        return "ok, moonshot"
    return "ok" if multiple <= row.wanted else "miss"


def number(value):
    return "" if math.isnan(value) else f"{value:g}"


def humanoid_table(minima):
    unit = minima[UNIT]
    cells = [["1 u: dense Cholesky, 33×33", f"{unit:.2f}", "1.000", "", "", ""]]
    for row in ROWS:
        time = minima.get(f"humanoid/{row.kernel}")
        if time is not None:
            multiple = time / unit
            marks = [number(row.wanted), number(row.moonshot), verdict(row, multiple)]
            cells.append([row.title, f"{time:.2f}", f"{multiple:.3f}", *marks])
    return table(["humanoid, 33 DoFs", "µs", "u", "wanted", "moonshot", ""], cells)


def chain_lengths(minima):
    return sorted({int(n.split("/")[0].removeprefix("chain_")) for n in minima if n.startswith("chain_")})


def growth(smaller, larger):
    """p if the time grows as nᵖ between a length and its double."""
    return math.log2(larger / smaller)


def chain_table(minima):
    """µs for each length, and how the time grows from the second longest chain to the longest."""
    lengths = chain_lengths(minima)
    cells = []
    for row in ROWS:
        times = [minima.get(f"chain_{length}/{row.kernel}") for length in lengths]
        if all(time is None for time in times):
            continue
        measured = len(times) > 1 and None not in times[-2:]
        exponent = f"n^{growth(*times[-2:]):.2f}" if measured else ""
        cells.append([row.title, *("" if time is None else f"{time:.3g}" for time in times), exponent])
    return table(["chains, µs by DoFs", *map(str, lengths), "growth"], cells)


def misses(minima):
    """What is worse than wanted, or was not measured at all."""
    found = []
    for row in ROWS:
        if math.isnan(row.wanted):
            continue
        time = minima.get(f"humanoid/{row.kernel}")
        if time is None:
            found.append(f"{row.title} was not measured")
        elif time / minima[UNIT] > row.wanted:
            found.append(f"{row.title} takes {time / minima[UNIT]:.3f} u, wanted {row.wanted:g} u")
    return found


def replace_tables(page, text):
    path = Path(page)
    old = path.read_text(encoding="utf-8")
    marked = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
    if len(marked.findall(old)) != 1:
        sys.exit(f"bench_table: error: {page}: needs one line <!-- bench --> and one <!-- /bench --> after it")
    path.write_text(marked.sub(lambda _: text + "\n", old), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Prints what bench_dynamics measured as tables.")
    parser.add_argument("results", help="JSON file written by bench_dynamics --benchmark_out=FILE")
    parser.add_argument("--check", action="store_true", help="fail if a wanted target is missed")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose tables to replace")
    arguments = parser.parse_args()

    try:
        minima = read_minima(arguments.results)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"bench_table: error: {arguments.results}: {error}")
    if UNIT not in minima:
        sys.exit(f"bench_table: error: {arguments.results}: no minimum of {UNIT}, the unit of the targets")

    tables = ["\n".join(humanoid_table(minima))]
    if chain_lengths(minima):
        tables.append("\n".join(chain_table(minima)))
    text = "\n\n".join(tables)
    print(text)
    if arguments.into:
        replace_tables(arguments.into, text)
    if arguments.check:
        missed = misses(minima)
        for miss in missed:
            print(f"bench_table: error: {miss}", file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
