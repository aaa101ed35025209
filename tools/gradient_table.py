#!/usr/bin/env python3
"""Prints what `lithe bench --json` measured as tables.

    tools/gradient_table.py [--check] [--into <page.md>] <results.json>

Times are minima. With --check, a missed target fails. With --into, the tables also replace what the page has
between its lines <!-- bench gradients --> and <!-- /bench -->.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import NamedTuple

from bench_table import growth_over_range, replace_tables, table


class Target(NamedTuple):
    """At most so many u and forward steps for all Jacobians and for a VJP; differences at least so many times slower."""

    jacobians_u: float = math.inf
    jacobians_forward: float = math.inf
    vjp_u: float = math.inf
    vjp_forward: float = math.inf
    over_central: float = 0


TARGETS = {
    "humanoid": Target(3.5, 1.5, 1.5, 0.7, 132),
    "half_cheetah": Target(jacobians_forward=1.5, vjp_forward=0.7, over_central=36),
    "jump_worm": Target(jacobians_forward=1.5, vjp_forward=0.7, over_central=20),
    "catapult": Target(jacobians_forward=1.5, vjp_forward=0.7, over_central=20),
    "boxes:32": Target(over_central=100),
}
BLOCKS = {
    "qnext_q": "∂q⁺/∂q",
    "qnext_v": "∂q⁺/∂v",
    "qnext_tau": "∂q⁺/∂τ",
    "vnext_q": "∂v⁺/∂q",
    "vnext_v": "∂v⁺/∂v",
    "vnext_tau": "∂v⁺/∂τ",
}


def missed_targets(scene):
    target = TARGETS.get(scene["scene"])
    if target is None:
        return []
    unit, forward, jacobians, vjp = (scene[f"{key}_us"] for key in ("unit", "forward", "jacobians", "vjp"))
    bounds = [
        ("all Jacobians", jacobians / unit, target.jacobians_u, "u"),
        ("all Jacobians", jacobians / forward, target.jacobians_forward, "forward steps"),
        ("VJP", vjp / unit, target.vjp_u, "u"),
        ("VJP", vjp / forward, target.vjp_forward, "forward steps"),
    ]
    found = [
        f"{what}: {value:.2f} {unit_name}, wanted {bound:g}"
        for what, value, bound, unit_name in bounds
        if value > bound
    ]
    over = scene["central_us"] / jacobians
    if over < target.over_central:
        found.append(f"over central differences: {over:.0f}×, wanted {target.over_central:g}×")
    return found


def main_table(scenes):
    header = ["scene", "DoFs", "contacts", "rank", "step, µs", "all, µs", "u", "steps", "VJP, µs", "u", "steps"]
    header += ["JVP, µs", "central / all", "Ridders / all", ""]
    rows = []
    for s in scenes:
        unit, forward, jacobians, vjp = (s[f"{key}_us"] for key in ("unit", "forward", "jacobians", "vjp"))
        verdict = ""
        if s["scene"] in TARGETS:
            verdict = "miss" if missed_targets(s) else "ok"
        rows.append(
            [
                s["scene"],
                *(str(s[key]) for key in ("nv", "contacts", "rank")),
                f"{forward:.3g}",
                *(f"{jacobians:.3g}", f"{jacobians / unit:.2f}", f"{jacobians / forward:.2f}"),
                *(f"{vjp:.3g}", f"{vjp / unit:.2f}", f"{vjp / forward:.2f}"),
                f"{s['jvp_us']:.3g}",
                *(f"{s['central_us'] / jacobians:.0f}×", f"{s['ridders_us'] / jacobians:.0f}×"),
                verdict,
            ]
        )
    return table(header, rows)


def block_table(scenes):
    """Each Jacobian alone, of the scenes with targets."""
    chosen = [s for s in scenes if s["scene"] in TARGETS]
    rows = [[s["scene"], *(f"{s['blocks'][key]:.3g}" for key in BLOCKS), f"{s['jacobians_us']:.3g}"] for s in chosen]
    return table(["each alone, µs", *BLOCKS.values(), "all"], rows)


def boxes_table(scenes):
    """How the times grow with the number of boxes that lie on the ground side by side."""
    boxes = {int(s["scene"].removeprefix("boxes:")): s for s in scenes if s["scene"].startswith("boxes:")}
    counts = sorted(boxes)
    rows = []
    for title, key in (("all Jacobians", "jacobians_us"), ("VJP", "vjp_us")):
        times = [boxes[n][key] for n in counts]
        per_box = [f"{time / n:.3g}" for time, n in zip(times, counts)]
        rows.append([title, *per_box, growth_over_range(counts, times)])
    return table(["boxes on the ground, µs per box", *map(str, counts), "growth"], rows)


def tables_of(scenes):
    tables = [main_table(scenes)]
    if any(s["scene"] in TARGETS for s in scenes):
        tables.append(block_table(scenes))
    if any(s["scene"].startswith("boxes:") for s in scenes):
        tables.append(boxes_table(scenes))
    return tables


def main():
    parser = argparse.ArgumentParser(description="Prints what lithe bench measured as tables.")
    parser.add_argument("results", help="JSON file written by lithe bench --json")
    parser.add_argument("--check", action="store_true", help="fail if a wanted target is missed")
    parser.add_argument("--into", metavar="PAGE", help="a Markdown page whose tables to replace")
    arguments = parser.parse_args()
    try:
        scenes = json.loads(Path(arguments.results).read_text(encoding="utf-8"))["scenes"]
        text = "\n\n".join("\n".join(lines) for lines in tables_of(scenes))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"gradient_table: error: {arguments.results}: {error}")
    print(text)
    if arguments.into:
        replace_tables(arguments.into, "gradients", text)
    if arguments.check:
        missed = [f"{s['scene']}: {miss}" for s in scenes for miss in missed_targets(s)]
        missed += [f"{name} was not measured" for name in TARGETS if name not in {s["scene"] for s in scenes}]
        for miss in missed:
            print(f"gradient_table: error: {miss}", file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
