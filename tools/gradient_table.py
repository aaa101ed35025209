#!/usr/bin/env python3
"""Prints what `lithe bench --json` measured as tables.

    tools/gradient_table.py [--targets] [--check] [--into <page.md>] <results.json>

Times are minima. With --into, the tables also replace what the page has between its lines <!-- bench gradients --> and
<!-- /bench -->. With --targets, a table follows that compares the results with bench/targets.json; with --check, a missed
target fails.
"""

import argparse
import json
import sys
from pathlib import Path

from bench_table import growth_over_range, read_targets, replace_tables, table

# The scenes whose Jacobians are also shown each alone.
SHOWN_BY_BLOCK = ["humanoid", "half_cheetah", "jump_worm", "catapult", "boxes:32"]
BLOCKS = {
    "qnext_q": "∂q⁺/∂q",
    "qnext_v": "∂q⁺/∂v",
    "qnext_tau": "∂q⁺/∂τ",
    "vnext_q": "∂v⁺/∂q",
    "vnext_v": "∂v⁺/∂v",
    "vnext_tau": "∂v⁺/∂τ",
}


def measured(scene):
    """What targets are about: {name in bench/targets.json: (in words, value, unit)}."""
    forward, jacobians, vjp = (scene[f"{key}_us"] for key in ("forward", "jacobians", "vjp"))
    return {
        "jacobians_forward": ("all Jacobians", jacobians / forward, " forward steps"),
        "vjp_forward": ("VJP", vjp / forward, " forward steps"),
        "over_central": ("over central differences", scene["central_us"] / jacobians, "×"),
    }


def is_met(name, value, bound):
    return value >= bound if name == "over_central" else value <= bound


def missed_targets(scene, targets):
    values = measured(scene)
    for name, bound in targets.get(scene["scene"], {}).items():
        what, value, unit = values[name]
        if not is_met(name, value, bound):
            shown = f"{value:.0f}×, wanted {bound:g}×" if unit == "×" else f"{value:.2f}{unit}, wanted {bound:g}"
            yield f"{what}: {shown}"


def target_table(scenes, targets):
    rows = []
    for scene in scenes:
        values = measured(scene)
        for name, bound in targets.get(scene["scene"], {}).items():
            what, value, unit = values[name]
            shown = f"{value:.0f}{unit}" if unit == "×" else f"{value:.2f}{unit}"
            verdict = "ok" if is_met(name, value, bound) else "miss"
            rows.append([f"{scene['scene']}: {what}", shown, f"{bound:g}", verdict])
    return table(["targets", "", "wanted", ""], rows)


def main_table(scenes):
    header = ["scene", "DoFs", "contacts", "rank", "step, µs", "all, µs", "steps", "VJP, µs", "steps"]
    header += ["JVP, µs", "central / all", "Ridders / all"]
    rows = []
    for s in scenes:
        forward, jacobians, vjp = (s[f"{key}_us"] for key in ("forward", "jacobians", "vjp"))
        rows.append(
            [
                s["scene"],
                *(str(s[key]) for key in ("nv", "contacts", "rank")),
                f"{forward:.3g}",
                *(f"{jacobians:.3g}", f"{jacobians / forward:.2f}"),
                *(f"{vjp:.3g}", f"{vjp / forward:.2f}"),
                f"{s['jvp_us']:.3g}",
                *(f"{s['central_us'] / jacobians:.0f}×", f"{s['ridders_us'] / jacobians:.0f}×"),
            ]
        )
    return table(header, rows)


def block_table(scenes):
    """Each Jacobian alone."""
    chosen = [s for s in scenes if s["scene"] in SHOWN_BY_BLOCK]
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
    if any(s["scene"] in SHOWN_BY_BLOCK for s in scenes):
        tables.append(block_table(scenes))
    if any(s["scene"].startswith("boxes:") for s in scenes):
        tables.append(boxes_table(scenes))
    return tables


def main():
    parser = argparse.ArgumentParser(description="Prints what lithe bench measured as tables.")
    parser.add_argument("results", help="JSON file written by lithe bench --json")
    parser.add_argument("--targets", action="store_true", help="compare with bench/targets.json")
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
    targets = read_targets("gradients")
    if arguments.targets:
        print("\n" + "\n".join(target_table(scenes, targets)))
    if arguments.check:
        missed = [f"{s['scene']}: {miss}" for s in scenes for miss in missed_targets(s, targets)]
        missed += [f"{name} was not measured" for name in targets if name not in {s["scene"] for s in scenes}]
        for miss in missed:
            print(f"gradient_table: error: {miss}", file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
