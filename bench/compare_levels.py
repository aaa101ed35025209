#!/usr/bin/env python3
"""What code for a level of processors costs beside code for this very processor: steps of the wheel's library against those of a native build.

    bench/compare_levels.py [--native build-native/lithe] [--wheel PROGRAM] [--rounds 5] [SCENE ...]

`cmake -B build-native -D CMAKE_BUILD_TYPE=Release && cmake --build build-native --target lithe_cli` makes the one program, `make wheel &&
tools/wheel.sh test` the environment that holds the other. The programs take turns, so that the load of the
machine meets all of them; of each the best round counts.
"""

import argparse
import json
import os
import subprocess

LEVELS = {"x86-64-v4": "avx512f avx2 avx fma sse2", "x86-64-v3": "avx2 avx fma sse2", "x86-64-v2": "sse2"}  # and their vectors
WHAT = {"forward_us": "step", "jacobians_us": "all Jacobians", "vjp_us": "VJP"}


def measure(program, scenes, level=None):
    """Scene → its numbers, in µs."""
    environment = dict(os.environ)
    if level is not None:
        environment["LITHE_LEVEL"] = level
    report = subprocess.run([program, "bench", *scenes, "--json"], capture_output=True, text=True, check=True, env=environment)
    report = json.loads(report.stdout)
    vectors = report["machine"]["vector_instructions"]
    if level is not None and vectors != LEVELS[level]:
        raise SystemExit(f"compare_levels: error: {program} was asked for {level}, but uses {vectors}")
    return {result["scene"]: result for result in report["scenes"]}


def main():
    parser = argparse.ArgumentParser(description="Steps of the wheel's library against those of a build for this processor.")
    parser.add_argument("scenes", nargs="*", default=["humanoid", "half_cheetah"])
    parser.add_argument("--native", default="build-native/lithe", help="a program that was compiled with -march=native")
    parser.add_argument("--wheel", default="build-wheel/venv/bin/lithe")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    best = {}
    for _ in range(arguments.rounds):
        for level in [None, *LEVELS]:
            program = arguments.native if level is None else arguments.wheel
            for scene, numbers in measure(program, arguments.scenes, level).items():
                for what in WHAT:
                    key = scene, what, level
                    best[key] = min(best.get(key, float("inf")), numbers[what])

    print(f"{'':<28}{'native, µs':>12}" + "".join(f"{level + ', ×':>14}" for level in LEVELS))
    for scene in arguments.scenes:
        for what, title in WHAT.items():
            native = best[scene, what, None]
            ratios = "".join(f"{best[scene, what, level] / native:>14.3f}" for level in LEVELS)
            print(f"{scene + ' ' + title:<28}{native:>12.2f}{ratios}")


if __name__ == "__main__":
    main()
