#!/usr/bin/env python3
"""Prints what bench_dynamics, bench_collision or bench_step measured as tables.

    tools/bench_table.py [--targets] [--check] [--into <page.md>] <results.json>

Times are minima, but for the steps in motion, of islands and of batches, which are means of one run; ratios are to MuJoCo in the same
run, or to Lithe's own other times. With --into, the tables also replace what the page has between its lines <!-- bench dynamics --> (or
collision, step, motion, forces, islands, batch) and <!-- /bench -->. With --targets, a table follows that compares the results with
bench/targets.json; with --check, a missed target fails.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

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


def read_results(path):
    """A JSON file of Google Benchmark."""
    results = json.loads(Path(path).read_text(encoding="utf-8"))
    if not results["benchmarks"]:
        raise ValueError("nothing was measured")
    return results


def read_runs(results):
    """The minimum of every benchmark that was repeated: {name: run}."""
    return {
        run["run_name"]: run
        for run in results["benchmarks"]
        if run.get("aggregate_name") == "min" and not run.get("error_occurred")
    }


def microseconds(runs):
    """{name: µs} of runs: processor time, which others on the machine take no part of."""
    return {name: run["cpu_time"] * MICROSECONDS[run["time_unit"]] for name, run in runs.items()}


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


def rival_of(kernel):
    """What MuJoCo does for one of our kernels of contact detection."""
    name, what = kernel.split("/")
    return f"mujoco/{name}" if what == "detect" else None


def beside_mujoco(minima, ours, theirs):
    """Cells: our time, MuJoCo's and how many times as long that is, as far as they were measured."""
    time, rival = minima.get(ours), minima.get(theirs)
    return [time_cell(time), time_cell(rival), ratio_cell(rival, time)]


def humanoid_table(minima):
    cells = [
        [row.title, *beside_mujoco(minima, f"humanoid/{row.kernel}", f"mujoco/{row.kernel}")]
        for row in DYNAMICS
        if f"humanoid/{row.kernel}" in minima
    ]
    return table(["humanoid, 33 DoFs", "µs", "MuJoCo, µs", "MuJoCo / Lithe"], cells)


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
    cells = [
        [row.title, *beside_mujoco(minima, row.kernel, rival_of(row.kernel))] for row in COLLISION if row.kernel in minima
    ]
    return table(["contacts", "µs", "MuJoCo, µs", "MuJoCo / Lithe"], cells)


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
    cells = []
    for title, pattern in (("all contacts", "boxes_{}/detect"), ("MuJoCo", "mujoco/boxes_{}")):
        times = [minima.get(pattern.format(count)) for count in counts]
        if None not in times:
            cells.append([title, *(f"{time:.3g}" for time in times), growth_over_range(counts, times)])
    return table(["boxes on a plane, µs", *map(str, counts), "growth"], cells)


def step_table(minima, runs):
    """A warm step: ours and MuJoCo's, with the contacts that each finds."""

    def contacts(name):
        return f"{runs[name]['contacts']:.0f}" if "contacts" in runs.get(name, {}) else ""

    cells = []
    for row in STEP:
        ours, theirs = f"step/{row.kernel}", f"mujoco/{row.kernel}"
        if ours in minima:
            time, rival, ratio = beside_mujoco(minima, ours, theirs)
            cells.append([row.title, contacts(ours), time, contacts(theirs), rival, ratio])
    return table(["warm step", "contacts", "µs", "MuJoCo: contacts", "µs", "MuJoCo / Lithe"], cells)


def stage_table(minima):
    """Parts of the humanoid's step, also as shares of it."""
    whole = minima.get("step/humanoid")
    parts = {row.title: minima.get(f"stage/{row.kernel}") for row in STAGES}
    if whole is not None and None not in parts.values():
        parts["the rest: rows, matrix, impulses"] = whole - sum(parts.values())
    cells = [
        [title, f"{time:.2f}", "" if whole is None else f"{100 * time / whole:.0f} %"]
        for title, time in parts.items()
        if time is not None
    ]
    return table(["the humanoid's step", "µs", "share"], cells)


def box_steps_table(minima):
    """µs per box by number of boxes, and how the time of the whole step grows over the range."""
    counts = sorted(int(n.removeprefix("step/boxes_")) for n in minima if re.fullmatch(r"step/boxes_\d+", n))
    times = [minima[f"step/boxes_{count}"] for count in counts]
    cells = [["one step", *(f"{time / n:.3g}" for time, n in zip(times, counts)), growth_over_range(counts, times)]]
    return table(["boxes on the ground, µs per box", *map(str, counts), "growth"], cells)


def time_cell(time):
    """Three digits or a few more; nothing where nothing was measured."""
    if time is None or math.isnan(time):
        return ""
    return f"{time:,.0f}" if time >= 100 else f"{time:.3g}"


def ratio_cell(numerator, denominator):
    if not numerator or not denominator or math.isnan(numerator) or math.isnan(denominator):
        return ""
    return f"{numerator / denominator:.2f}×"


def single_runs(results, section):
    """{name: run} of a section whose members are measured once; those that could not be have an error_message."""
    parts = {}
    for run in results["benchmarks"]:
        kind, name, *_ = run["run_name"].split("/")
        if kind == section:
            parts[name] = run
    # By name, numbers in it by their value.
    return dict(sorted(parts.items(), key=lambda item: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", item[0])]))


def measured(runs):
    return {name: run for name, run in runs.items() if not run.get("error_occurred")}


def skipped_lines(runs):
    return [f"- {name}: {' '.join(run['error_message'].split())}" for name, run in runs.items() if run.get("error_occurred")]


def deaf_lines(runs):
    """Models of which actuators have no effect in Lithe: both engines leave these alone, but the motion is less than it might be."""
    return [
        f"- {name}: {run['left_out']:.0f} of its actuators are left out in both engines"
        for name, run in measured(runs).items()
        if run["left_out"]
    ]


def motion_table(runs, title="in motion, µs"):
    """Steps with random controls, or forces, beside the warm step, in both engines."""
    header = [title, "DoFs", "rows", "MuJoCo: mean", "95 %", "max", "Lithe: mean", "95 %", "99.9 %", "max", "step 0"]
    header += ["MuJoCo / Lithe", "at rest: MuJoCo", "Lithe", "motion / rest", "max / mean"]
    cells = []
    for name, run in measured(runs).items():
        cells.append(
            [
                name,
                f"{run['nv']:.0f}",
                f"{run['rows']:.0f}",
                *(time_cell(run.get(f"mujoco_{key}")) for key in ("mean", "95", "max")),
                *(time_cell(run[key]) for key in ("mean", "95", "99.9", "max", "first")),
                ratio_cell(run.get("mujoco_mean"), run["mean"]),
                *(time_cell(run.get(key)) for key in ("mujoco_rest", "rest")),
                ratio_cell(run["mean"], run["rest"]),
                ratio_cell(run["max"], run["mean"]),
            ]
        )
    return table(header, cells)


def island_table(runs):
    """Stacks, walls and piles from their start on, and at the end."""
    header = ["from the start on, µs", "rows", "steps", "MuJoCo: mean", "max", "Lithe: mean", "95 %", "max", "unsolved"]
    header += ["MuJoCo / Lithe", "last fifth: MuJoCo", "Lithe", "MuJoCo / Lithe"]
    cells = []
    for name, run in measured(runs).items():
        cells.append(
            [
                name.replace("_", " "),
                f"{run['rows']:.0f}",
                f"{run['steps']:.0f}",
                *(time_cell(run.get(f"mujoco_{key}")) for key in ("mean", "max")),
                *(time_cell(run[key]) for key in ("mean", "95", "max")),
                f"{100 * unsolved_share(run):.2g} %",
                ratio_cell(run.get("mujoco_mean"), run["mean"]),
                *(time_cell(run.get(key)) for key in ("mujoco_rest", "rest")),
                ratio_cell(run.get("mujoco_rest"), run["rest"]),
            ]
        )
    return table(header, cells)


def unsolved_share(run):
    """Of the LCPs."""
    return run["unsolved"] / run["islands"] if run["islands"] else 0


def families(runs):
    """{family: [(n, run) by n]} of islands that were measured in several sizes."""
    found = {}
    for name, run in measured(runs).items():
        found.setdefault(name.rsplit("_", 1)[0], []).append((run["n"], run))
    return {family: sorted(sizes, key=lambda size: size[0]) for family, sizes in found.items() if len(sizes) > 1}


def growth_table(runs):
    """p if the time of a step grows as nᵖ from the smallest scene to the largest."""

    def growth_of(sizes, key):
        known = [(n, run[key]) for n, run in sizes if run.get(key)]
        return growth_over_range(*zip(*known)) if len(known) > 1 else ""

    cells = [
        [
            f"{family}, {sizes[0][0]:.0f} to {sizes[-1][0]:.0f}",
            *(growth_of(sizes, key) for key in ("mujoco_mean", "mean", "mujoco_rest", "rest", "rows")),
        ]
        for family, sizes in families(runs).items()
    ]
    return table(["growth", "MuJoCo: mean", "Lithe: mean", "last fifth: MuJoCo", "Lithe", "rows"], cells)


def together_and_alone(run):
    """A step and its VJP, per world: in the batch, and of a world alone."""
    return run["step"] + run["vjp"], run["alone_step"] + run["alone_vjp"]


def batch_table(runs):
    """What a world takes in a batch, against a world alone."""
    header = ["batch, µs per world", "worlds", "threads", "step", "/ alone", "VJP", "/ alone", "both / alone", "both, wall"]
    header += ["kB per world", "MuJoCo: step"]
    cells = []
    for name, run in measured(runs).items():
        cells.append(
            [
                name.rsplit("_", 1)[0].replace("_", " "),
                *(f"{run[key]:.0f}" for key in ("worlds", "threads")),
                *(time_cell(run["step"]), ratio_cell(run["step"], run["alone_step"])),
                *(time_cell(run["vjp"]), ratio_cell(run["vjp"], run["alone_vjp"])),
                ratio_cell(*together_and_alone(run)),
                time_cell(run["step_wall"] + run["vjp_wall"]),
                f"{run['kilobytes']:.0f}",
                time_cell(run.get("mujoco_step")),
            ]
        )
    return table(header, cells)


# Of a solver's work in motion: counters per step, and their titles. A new counter of bench/motion.cpp is a line here.
WORK = {
    "contacts": "contacts",
    "rows": "rows",
    "islands": "LCPs",
    "guessed": "guess",
    "followed": "followed",
    "active_set": "active set",
    "path": "path",
    "other": "other",
    "unsolved": "unsolved",
    "targets_dropped": "dropped",
    "unpolished": "unpolished",
    "factorizations": "factorisations",
    "events": "events",
}


def work_table(runs, title, prefix=""):
    """What the steps had to do, per step."""
    members = measured(runs)
    keys = [key for key in WORK if any(prefix + key in run for run in members.values())]
    rows = [
        [name, *(f"{run.get(prefix + key, 0):.3g}" for key in keys), f"{run['restarts']:.0f}"]
        for name, run in members.items()
    ]
    return table([title, *(WORK[key] for key in keys), "restarts"], rows)


def step_tables(results):
    """{section: tables} of what bench_step measured."""
    runs = read_runs(results)
    minima = microseconds(runs)
    sections = {}
    warm = []
    if any(f"step/{row.kernel}" in minima for row in STEP):
        warm.append(step_table(minima, runs))
    if any(name.startswith("stage/") for name in minima):
        warm.append(stage_table(minima))
    if any(name.startswith("step/boxes_") for name in minima):
        warm.append(box_steps_table(minima))
    sections["step"] = warm
    motion = single_runs(results, "motion")
    if measured(motion):
        work = [work_table(motion, "per step in motion"), work_table(motion, "per step at rest", "rest_")]
        sections["motion"] = [motion_table(motion), *work]
    notes = skipped_lines(motion) + deaf_lines(motion)
    if notes:
        sections.setdefault("motion", []).append(notes)
    forces = single_runs(results, "forces")
    if measured(forces):
        sections["forces"] = [motion_table(forces, "random forces, µs"), work_table(forces, "per step under random forces")]
    islands = single_runs(results, "islands")
    if measured(islands):
        sections["islands"] = [island_table(islands)] + ([growth_table(islands)] if families(islands) else [])
    batches = single_runs(results, "batch")
    if measured(batches):
        sections["batch"] = [batch_table(batches)]
    return {name: tables for name, tables in sections.items() if tables}


def dynamics_tables(results):
    minima = microseconds(read_runs(results))
    return {"dynamics": [humanoid_table(minima)] + ([chain_table(minima)] if chain_lengths(minima) else [])}


def collision_tables(results):
    minima = microseconds(read_runs(results))
    tables = []
    if any(row.kernel in minima for row in COLLISION):
        tables.append(robot_table(minima))
    if any(name.startswith("pair/") for name in minima):
        tables.append(pair_table(minima))
    if any(name.startswith("rest/") for name in minima):
        tables.append(rest_table(minima))
    if any(name.startswith("boxes_") for name in minima):
        tables.append(boxes_table(minima))
    return {"collision": tables}


def program(results):
    """Which of the programs wrote the results."""
    names = [run["run_name"] for run in results["benchmarks"]]
    if any(name.startswith(("step/", "stage/", "motion/", "forces/", "islands/", "batch/")) for name in names):
        return "step"
    return "collision" if any(name.startswith(("pair/", "rest/", "atlas", "boxes_")) for name in names) else "dynamics"


TABLES = {"dynamics": dynamics_tables, "collision": collision_tables, "step": step_tables}


class Target(NamedTuple):
    """What bench/targets.json wants of a ratio, and what it is (None: not measured)."""

    title: str
    value: float | None
    wanted: float
    moonshot: float | None
    at_least: bool

    def met(self, bound):
        return self.value is not None and (self.value >= bound if self.at_least else self.value <= bound)

    def verdict(self):
        if self.value is None:
            return "not measured"
        if self.moonshot is not None and self.met(self.moonshot):
            return "ok, moonshot"
        return "ok" if self.met(self.wanted) else "miss"

    def bound(self):
        return f"{'≥' if self.at_least else '≤'} {self.wanted:g}"


# The ratios that targets are about: in words, and whether they should be large.
RATIOS = {
    "over_mujoco": ("MuJoCo / Lithe", True),
    "rest_over_mujoco": ("MuJoCo / Lithe in the last fifth", True),
    "in_id": ("in inverse dynamics", False),
    "in_fd": ("in forward dynamics", False),
    "in_rests": ("motion / rest", False),
    "max_in_means": ("max / mean", False),
    "max_ms": ("longest step, ms", False),
    "growth": ("growth, the exponent", False),
    "unsolved_percent": ("unsolved, %", False),
    "in_steps_alone": ("step / alone", False),
    "together_in_alone": ("step and VJP / alone", False),
}


def quotient(a, b):
    return None if a is None or not b else a / b


def dynamics_ratios(results):
    """{name: {ratio: value}} of the humanoid's dynamics."""
    minima = microseconds(read_runs(results))
    times = {row.kernel: minima.get(f"humanoid/{row.kernel}") for row in DYNAMICS}
    return {
        row.title: {
            "over_mujoco": quotient(minima.get(f"mujoco/{row.kernel}"), times[row.kernel]),
            "in_id": quotient(times[row.kernel], times["id_with_kinematics"]),
            "in_fd": quotient(times[row.kernel], times["fd_with_kinematics"]),
        }
        for row in DYNAMICS
    }


def collision_ratios(results):
    minima = microseconds(read_runs(results))
    return {
        row.title: {"over_mujoco": quotient(minima.get(rival_of(row.kernel)), minima.get(row.kernel))} for row in COLLISION
    }


def step_ratios(results):
    minima = microseconds(read_runs(results))
    return {
        row.title: {"over_mujoco": quotient(minima.get(f"mujoco/{row.kernel}"), minima.get(f"step/{row.kernel}"))}
        for row in STEP
    }


def motion_ratios(results, section="motion"):
    return {
        name: {
            "over_mujoco": quotient(run.get("mujoco_mean"), run["mean"]),
            "in_rests": quotient(run["mean"], run["rest"]),
            "max_in_means": quotient(run["max"], run["mean"]),
        }
        for name, run in measured(single_runs(results, section)).items()
    }


def force_ratios(results):
    return motion_ratios(results, "forces")


def island_ratios(results):
    runs = single_runs(results, "islands")
    ratios = {
        name: {
            "over_mujoco": quotient(run.get("mujoco_mean"), run["mean"]),
            "rest_over_mujoco": quotient(run.get("mujoco_rest"), run["rest"]),
            "max_ms": run["max"] / 1e3,
            "unsolved_percent": 100 * unsolved_share(run),
        }
        for name, run in measured(runs).items()
    }
    for family, sizes in families(runs).items():
        (n, first), (more, last) = sizes[0], sizes[-1]
        ratios[family] = {"growth": math.log(last["rest"] / first["rest"]) / math.log(more / n)}
    return ratios


def batch_ratios(results):
    return {
        name: {
            "in_steps_alone": quotient(run["step"], run["alone_step"]),
            "together_in_alone": quotient(*together_and_alone(run)),
        }
        for name, run in measured(single_runs(results, "batch")).items()
    }


MEASURED = {
    "dynamics": {"dynamics": dynamics_ratios},
    "collision": {"collision": collision_ratios},
    "step": {"step": step_ratios, "motion": motion_ratios, "forces": force_ratios, "islands": island_ratios, "batch": batch_ratios},
}


def read_targets(name):
    """What bench/targets.json has for a section, or for the gradients."""
    return json.loads(TARGETS.read_text(encoding="utf-8"))[name]


def against_targets(results):
    """All targets of what was measured. Those of "*" are for every member of their section."""
    for section, ratios_of in MEASURED[program(results)].items():
        ratios = ratios_of(results)
        for name, wanted_ratios in read_targets(section).items():
            for member in ratios if name == "*" else [name]:
                for ratio, bounds in wanted_ratios.items():
                    words, at_least = RATIOS[ratio]
                    value = ratios.get(member, {}).get(ratio)
                    if name == "*" and value is None:
                        continue  # MuJoCo was not there, or the ratio is none of this member's
                    moonshot = bounds[1] if len(bounds) > 1 else None
                    yield Target(f"{member.replace('_', ' ')}: {words}", value, bounds[0], moonshot, at_least)


def target_table(results):
    cells = [
        [
            target.title,
            "" if target.value is None else f"{target.value:.3g}",
            target.bound(),
            f"{target.moonshot or ''}",
            target.verdict(),
        ]
        for target in against_targets(results)
    ]
    return table(["targets", "", "wanted", "moonshot", ""], cells)


def misses(results):
    """What is worse than wanted, or was not measured at all."""
    for target in against_targets(results):
        if target.value is None:
            yield f"{target.title} was not measured"
        elif not target.met(target.wanted):
            yield f"{target.title} is {target.value:.3g}, wanted {target.bound()}"


def replace_tables(page, name, text):
    path = Path(page)
    old = path.read_text(encoding="utf-8")
    marked = re.compile(rf"(?<=<!-- bench {name} -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
    # Tables may be missing so far: nothing between the lines matches twice.
    if old.count(f"<!-- bench {name} -->\n") != 1 or not marked.search(old):
        sys.exit(f"bench_table: error: {page}: needs one line <!-- bench {name} --> and one <!-- /bench --> after it")
    path.write_text(marked.sub(lambda _: text + "\n", old, count=1), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Prints what the benchmarks measured as tables.")
    parser.add_argument("results", help="JSON file written by one of the programs with --benchmark_out=FILE")
    parser.add_argument("--targets", action="store_true", help="compare with bench/targets.json")
    parser.add_argument("--check", action="store_true", help="fail if a wanted target is missed")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose tables to replace")
    arguments = parser.parse_args()

    try:
        results = read_results(arguments.results)
        sections = TABLES[program(results)](results)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"bench_table: error: {arguments.results}: {error}")

    texts = {name: "\n\n".join("\n".join(lines) for lines in tables) for name, tables in sections.items()}
    print("\n\n".join(texts.values()))
    if arguments.into:
        for name, text in texts.items():
            replace_tables(arguments.into, name, text)
    if arguments.targets:
        print("\n" + "\n".join(target_table(results)))
    if arguments.check:
        missed = list(misses(results))
        for miss in missed:
            print(f"bench_table: error: {miss}", file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
