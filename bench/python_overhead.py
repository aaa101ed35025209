#!/usr/bin/env python3
"""What Python adds to a step, how batches use the cores, and how long the import takes. Prints a table, or JSON with --json.

    .venv-python/bin/python bench/python_overhead.py --cpp build/bench_python_rates [--json]

The times of C++ come from that program, in the same minute on the same machine.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

import lithe

WORLDS = 1024


def best(action, repeats=7):
    """The shortest of several runs, s."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def step_microseconds():
    scene = lithe.scene("half_cheetah")
    q, v, tau = np.array(scene.q), np.array(scene.v), np.zeros(scene.model.nv)
    options = lithe.StepOptions(scene.time_step)
    record = lithe.step(scene.model, q, v, tau, options=options)

    def loop(count=5000):
        for _ in range(count):
            lithe.step(scene.model, q, v, tau, options=options, guess=record, record=record)

    return best(loop) / 5000 * 1e6


def batch_microseconds():
    """Of a step and its VJP, per world, on all cores."""
    scene = lithe.scene("half_cheetah")
    rng = np.random.default_rng(1)
    q = np.tile(scene.q, (WORLDS, 1))
    v = scene.v + 0.1 * rng.normal(size=(WORLDS, scene.model.nv))
    tau = rng.normal(size=v.shape)
    by_v = rng.normal(size=v.shape)
    batch = lithe.StepBatch(scene.model, WORLDS)

    def once():
        batch.step(q, v, tau, options=scene.time_step, warm=True)
        batch.vjp(v=by_v)

    once()
    return best(once, 30) / WORLDS * 1e6


def import_milliseconds():
    """Of `import lithe` beyond Python's own start and NumPy's import, and with them."""
    programs = {"python": "pass", "numpy": "import numpy", "lithe": "import lithe"}
    return {name: best(lambda p=p: subprocess.run([sys.executable, "-c", p], check=True), 9) * 1e3 for name, p in programs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpp", required=True, help="the program build/bench_python_rates")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cpp = json.loads(subprocess.run([arguments.cpp], check=True, capture_output=True, text=True).stdout)
    cores = os.cpu_count()
    step, batch, imports = step_microseconds(), batch_microseconds(), import_milliseconds()
    result = {
        "step_cpp_us": cpp["step_us"],
        "step_python_us": step,
        "step_overhead_us": step - cpp["step_us"],
        "batch_cpp_one_core_us": cpp["step_vjp_us"],
        "batch_python_us": batch,
        "cores": cores,
        "batch_share_of_cpp_rate_times_cores": cpp["step_vjp_us"] / cores / batch,
        "import_ms": imports["lithe"] - imports["python"],
        "import_numpy_ms": imports["numpy"] - imports["python"],
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"a step of the half cheetah       C++ {cpp['step_us']:.2f} µs, Python {step:.2f} µs: {result['step_overhead_us']:.2f} µs more")
    print(
        f"step and VJP of {WORLDS} worlds     C++ {cpp['step_vjp_us']:.2f} µs each on one core, Python {batch:.2f} µs each on {cores}: "
        f"{100 * result['batch_share_of_cpp_rate_times_cores']:.0f} % of C++'s rate times the cores"
    )
    print(f"import lithe                     {result['import_ms']:.0f} ms, {result['import_numpy_ms']:.0f} ms of it NumPy's")


if __name__ == "__main__":
    main()
