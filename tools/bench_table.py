#!/usr/bin/env python3
"""Prints what bench_dynamics, bench_collision or bench_step measured as tables.

    tools/bench_table.py [--targets] [--check] [--into <page.md>] <results.json>

Times are minima, some of them also in units u, the time of Eigen's dense Cholesky factorisation of a 33×33
matrix on the same machine in the same run. With --into, the tables also replace what the page has between
its lines <!-- bench dynamics --> (or collision, or step) and <!-- /bench -->. With --targets, a table follows
that compares the results with bench/targets.json; with --check, a missed target fails.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

UNIT = "unit/llt_33"
TARGETS = Path(__file__).resolve().parents[1] / "bench" / "targets.json"
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


class Row(NamedTuple):
    kernel: str
    title: str


DYNAMICS = [
    Row("id_with_kinematics", "ID, with kinematics"),
    Row("mass_matrix_and_factor_with_kinematics", "M and factor, with kinematics"),
    Row("fd_with_kinematics", "FD, with kinematics"),
    Row("id_derivatives", "∂ID by q, v"),
    Row("fd_derivatives", "∂FD by q, v, τ"),
    Row("kinematics", "kinematics"),
    Row("mass_matrix", "M"),
    Row("factor", "factor"),
    Row("factor_inverse", "L⁻¹"),
    Row("solve_with_inverse", "solve with L⁻¹"),
    Row("solve_by_substitution", "solve by substitution"),
]

COLLISION = [
    Row("atlas/detect", "Atlas over a box: all contacts"),
    Row("atlas/columns", "∂(p, n, gap)/∂q of its contacts"),
    Row("atlas_without_exceptions/detect", "with the hulls that overlap by design"),
]
STEP = [
    Row("humanoid", "humanoid, standing on two mesh feet"),
    Row("half_cheetah", "half cheetah, on its feet"),
    Row("stack_20", "stack of 20 boxes"),
    Row("boxes_10", "10 boxes on the ground"),
    Row("boxes_100", "100 boxes"),
    Row("boxes_1000", "1000 boxes"),
]
STAGES = [
    Row("without_contacts", "the same without contacts"),
    Row("detection", "finding the contacts"),
    Row("lcp", "solving the LCP"),
]
PAIR_COLUMNS = ["touching", "separated", "distance"]
SHAPES = ["sphere", "capsule", "cylinder", "box", "mesh", "plane"]


def read_runs(path):
    """The minimum of every benchmark in a JSON file of Google Benchmark: {name: run}."""
    results = json.loads(Path(path).read_text(encoding="utf-8"))
    return {
        run["run_name"]: run
        for run in results["benchmarks"]
        if run.get("aggregate_name") == "min" and not run.get("error_occurred")
    }


def microseconds(runs):
    """{name: µs} of runs."""
    return {name: run["real_time"] * MICROSECONDS[run["time_unit"]] for name, run in runs.items()}


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


def humanoid_table(minima):
    unit = minima[UNIT]
    cells = [["1 u: dense Cholesky, 33×33", f"{unit:.2f}", "1.000"]]
    for row in DYNAMICS:
        time = minima.get(f"humanoid/{row.kernel}")
        if time is not None:
            cells.append([row.title, f"{time:.2f}", f"{time / unit:.3f}"])
    return table(["humanoid, 33 DoFs", "µs", "u"], cells)


def chain_lengths(minima):
    return sorted({int(n.split("/")[0].removeprefix("chain_")) for n in minima if n.startswith("chain_")})


def growth(smaller, larger):
    """p if the time grows as nᵖ between a length and its double."""
    return math.log2(larger / smaller)


def chain_table(minima):
    """µs for each length, and how the time grows from the second longest chain to the longest."""
    lengths = chain_lengths(minima)
    cells = []
    for row in DYNAMICS:
        times = [minima.get(f"chain_{length}/{row.kernel}") for length in lengths]
        if all(time is None for time in times):
            continue
        measured = len(times) > 1 and None not in times[-2:]
        exponent = f"n^{growth(*times[-2:]):.2f}" if measured else ""
        cells.append([row.title, *("" if time is None else f"{time:.3g}" for time in times), exponent])
    return table(["chains, µs by DoFs", *map(str, lengths), "growth"], cells)


def robot_table(minima):
    unit = minima[UNIT]
    cells = []
    for row in COLLISION:
        time = minima.get(row.kernel)
        if time is not None:
            cells.append([row.title, f"{time:.2f}", f"{time / unit:.3f}"])
    return table([f"1 u = {unit:.2f} µs", "µs", "u"], cells)


def pair_table(minima):
    """ns per call: contacts of shapes that touch, of shapes 5 cm apart, and the distance of those."""
    pairs = {name.split("/")[1] for name in minima if name.startswith("pair/")}
    cells = []
    for pair in sorted(pairs, key=lambda pair: [SHAPES.index(shape) for shape in pair.split("_")]):
        times = [minima.get(f"pair/{pair}/{column}") for column in PAIR_COLUMNS]
        cells.append([pair.replace("_", "–"), *("" if time is None else f"{1e3 * time:.0f}" for time in times)])
    return table(["pair, ns", *PAIR_COLUMNS], cells)


def rest_table(minima):
    rests = sorted(name for name in minima if name.startswith("rest/"))
    return table(
        ["at rest", "ns"], [[name.split("/")[1].replace("_", " "), f"{1e3 * minima[name]:.0f}"] for name in rests]
    )


def growth_over_range(counts, times):
    """n^p if the time grows so from the smallest number to the largest."""
    if len(counts) < 2:
        return ""
    return f"n^{math.log(times[-1] / times[0]) / math.log(counts[-1] / counts[0]):.2f}"


def boxes_table(minima):
    """µs by number of boxes, and how the time grows over the whole range."""
    counts = sorted(int(n.split("/")[0].removeprefix("boxes_")) for n in minima if re.fullmatch(r"boxes_\d+/detect", n))
    times = [minima[f"boxes_{count}/detect"] for count in counts]
    cells = [["all contacts", *(f"{time:.3g}" for time in times), growth_over_range(counts, times)]]
    return table(["boxes on a plane, µs", *map(str, counts), "growth"], cells)


def step_table(minima, runs):
    """A warm step: ours and MuJoCo's, with the contacts that each finds."""
    unit = minima[UNIT]

    def contacts(name):
        return f"{runs[name]['contacts']:.0f}" if "contacts" in runs.get(name, {}) else ""

    cells = []
    for row in STEP:
        ours, theirs = minima.get(f"step/{row.kernel}"), minima.get(f"mujoco/{row.kernel}")
        if ours is None:
            continue
        rival = ["", "", ""]
        if theirs is not None:
            rival = [contacts(f"mujoco/{row.kernel}"), f"{theirs:.4g}", f"{theirs / ours:.2f}×"]
        cells.append([row.title, contacts(f"step/{row.kernel}"), f"{ours:.4g}", f"{ours / unit:.4g}", *rival])
    return table([f"warm step, 1 u = {unit:.2f} µs", "contacts", "µs", "u", "MuJoCo: contacts", "µs", "ratio"], cells)


def stage_table(minima):
    unit = minima[UNIT]
    cells = []
    for row in STAGES:
        time = minima.get(f"stage/{row.kernel}")
        if time is not None:
            cells.append([row.title, f"{time:.2f}", f"{time / unit:.3f}"])
    whole, parts = minima.get("step/humanoid"), [minima.get(f"stage/{row.kernel}") for row in STAGES]
    if whole is not None and None not in parts:
        rest = whole - sum(parts)
        cells.append(["the rest: rows, matrix, impulses", f"{rest:.2f}", f"{rest / unit:.3f}"])
    return table(["the humanoid's step", "µs", "u"], cells)


def box_steps_table(minima):
    """µs per box by number of boxes, and how the time of the whole step grows over the range."""
    counts = sorted(int(n.removeprefix("step/boxes_")) for n in minima if re.fullmatch(r"step/boxes_\d+", n))
    times = [minima[f"step/boxes_{count}"] for count in counts]
    cells = [["one step", *(f"{time / n:.3g}" for time, n in zip(times, counts)), growth_over_range(counts, times)]]
    return table(["boxes on the ground, µs per box", *map(str, counts), "growth"], cells)


def program(minima):
    """Which of the programs wrote the results."""
    if any(name.startswith(("step/", "stage/", "mujoco/")) for name in minima):
        return "step"
    return "collision" if any(name.startswith(("pair/", "rest/", "atlas", "boxes_")) for name in minima) else "dynamics"


def tables_of(runs):
    minima = microseconds(runs)
    if program(minima) == "step":
        tables = []
        if any(f"step/{row.kernel}" in minima for row in STEP):
            tables.append(step_table(minima, runs))
        if any(name.startswith("stage/") for name in minima):
            tables.append(stage_table(minima))
        if any(name.startswith("step/boxes_") for name in minima):
            tables.append(box_steps_table(minima))
        return tables
    if program(minima) == "dynamics":
        return [humanoid_table(minima)] + ([chain_table(minima)] if chain_lengths(minima) else [])
    tables = []
    if any(row.kernel in minima for row in COLLISION):
        tables.append(robot_table(minima))
    if any(name.startswith("pair/") for name in minima):
        tables.append(pair_table(minima))
    if any(name.startswith("rest/") for name in minima):
        tables.append(rest_table(minima))
    if any(name.startswith("boxes_") for name in minima):
        tables.append(boxes_table(minima))
    return tables


# Where the times of a program's targets are: the beginning of their names, and the rows that have the titles.
MEASURED = {"dynamics": ("humanoid/", DYNAMICS), "collision": ("", COLLISION), "step": ("step/", STEP)}


def read_targets(name):
    """What bench/targets.json has for a program, or for the gradients."""
    return json.loads(TARGETS.read_text(encoding="utf-8"))[name]


def against_targets(minima):
    """For each target of the program: its title, the time in u or None if it was not measured, wanted, moonshot or None."""
    prefix, rows = MEASURED[program(minima)]
    titles = {row.kernel: row.title for row in rows}
    for kernel, target in read_targets(program(minima)).items():
        time = minima.get(prefix + kernel)
        multiple = None if time is None else time / minima[UNIT]
        yield titles[kernel], multiple, target["wanted"], target.get("moonshot")


def verdict(multiple, wanted, moonshot):
    if multiple is None:
        return "not measured"
    if moonshot is not None and multiple <= moonshot:
        return "ok, moonshot"
    return "ok" if multiple <= wanted else "miss"


def target_table(minima):
    cells = [
        [title, "" if u is None else f"{u:.3f}", f"{wanted:g}", f"{moonshot or ''}", verdict(u, wanted, moonshot)]
        for title, u, wanted, moonshot in against_targets(minima)
    ]
    return table(["targets", "u", "wanted", "moonshot", ""], cells)


def misses(minima):
    """What is worse than wanted, or was not measured at all."""
    for title, multiple, wanted, _ in against_targets(minima):
        if multiple is None:
            yield f"{title} was not measured"
        elif multiple > wanted:
            yield f"{title} takes {multiple:.3f} u, wanted {wanted:g} u"


def replace_tables(page, name, text):
    path = Path(page)
    old = path.read_text(encoding="utf-8")
    marked = re.compile(rf"(?<=<!-- bench {name} -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
    if len(marked.findall(old)) != 1:
        sys.exit(f"bench_table: error: {page}: needs one line <!-- bench {name} --> and one <!-- /bench --> after it")
    path.write_text(marked.sub(lambda _: text + "\n", old), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Prints what the benchmarks measured as tables.")
    parser.add_argument("results", help="JSON file written by one of the programs with --benchmark_out=FILE")
    parser.add_argument("--targets", action="store_true", help="compare with bench/targets.json")
    parser.add_argument("--check", action="store_true", help="fail if a wanted target is missed")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose tables to replace")
    arguments = parser.parse_args()

    try:
        runs = read_runs(arguments.results)
        minima = microseconds(runs)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"bench_table: error: {arguments.results}: {error}")
    if UNIT not in minima:
        sys.exit(f"bench_table: error: {arguments.results}: no minimum of {UNIT}, the unit of the tables")

    text = "\n\n".join("\n".join(lines) for lines in tables_of(runs))
    print(text)
    if arguments.into:
        replace_tables(arguments.into, program(minima), text)
    if arguments.targets:
        print("\n" + "\n".join(target_table(minima)))
    if arguments.check:
        missed = list(misses(minima))
        for miss in missed:
            print(f"bench_table: error: {miss}", file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
