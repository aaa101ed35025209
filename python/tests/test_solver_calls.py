"""What happens around a solve: threads, progress, exceptions, Ctrl-C, receding horizons."""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lithe

from problems import pendulum, rail, same_motion, swing_up

PATIENCE = 60  # s, for what must happen in the end on whatever machine


# Threads.


@pytest.mark.parametrize("solver", ["ddp", "multiple_shooting", "stochastic_search"])
def test_threads_change_no_bit(solver: str) -> None:
    options: dict[str, Any] = {"max_iterations": 8}
    if solver == "multiple_shooting":
        options["shot"] = 25
    solve = getattr(lithe, solver)
    for problem in (swing_up(), swing_up(lambda point: np.sin(point.q - math.pi), None, lambda point: point.u)):
        same_motion(solve(problem, threads=1, **options), solve(problem, threads=3, **options))


def test_solves_in_several_python_threads_are_independent() -> None:
    problem = swing_up(lambda point: point.q - math.pi)
    alone = lithe.ddp(problem)
    solutions: list[lithe.Solution] = []
    threads = [threading.Thread(target=lambda: solutions.append(lithe.ddp(problem))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(solutions) == 4
    for solution in solutions:
        same_motion(alone, solution)


def test_other_threads_run_during_a_solve() -> None:
    problem = swing_up()
    problem.lower, problem.upper = [-2], [2]
    started, counted = threading.Event(), [0]

    def count() -> None:
        started.wait()
        while counted[0] < 10:
            counted[0] += 1
            time.sleep(0)  # lets others run

    def until_counted(line: lithe.Progress) -> bool:
        started.set()
        return counted[0] < 10

    # A thread that does not give Python's lock up keeps it for this long.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=count)
        thread.start()
        solution = lithe.stochastic_search(
            problem, method="mppi", max_iterations=10**9, max_seconds=PATIENCE, progress=until_counted
        )
        started.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert solution.reason == "interrupted"


# Progress, interruption, exceptions.


def test_progress_sees_every_iteration() -> None:
    lines: list[lithe.Progress] = []
    solution = lithe.ddp(swing_up(), progress=lines.append)
    assert [line.iteration for line in lines] == list(range(solution.iterations + 1))
    assert [line.cost for line in lines] == [line.cost for line in solution.history]
    assert solution.reason == "converged" and solution.reason is lithe.StopReason.converged
    assert f"{solution.reason}" == str(solution.reason) == "converged"
    assert "iteration 0" in repr(lines[0])


@pytest.mark.parametrize("solver", ["ddp", "single_shooting", "multiple_shooting", "stochastic_search", "hybrid"])
def test_progress_stops_a_solver_and_the_best_is_returned(solver: str) -> None:
    problem = swing_up()
    solution = getattr(lithe, solver)(problem, progress=lambda line: line.iteration < 3)
    assert solution.reason == "interrupted"
    assert solution.iterations == 3
    assert solution.cost <= solution.history[0].cost
    assert "::" not in solution.message


class Mine(Exception):
    pass


@pytest.mark.parametrize("solver", ["ddp", "single_shooting", "multiple_shooting", "stochastic_search", "hybrid"])
@pytest.mark.parametrize("threads", [1, 3])
def test_exceptions_reach_the_caller_as_they_are(solver: str, threads: int) -> None:
    error = Mine("from a callback")

    def stop(line: lithe.Progress) -> None:
        raise error

    solve = getattr(lithe, solver)
    with pytest.raises(Mine) as caught:
        solve(swing_up(), progress=stop, threads=threads)
    assert caught.value is error

    calls = [0]

    def residual(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        calls[0] += 1
        if calls[0] > 300:
            raise error
        return point.u

    with pytest.raises(Mine) as caught:
        solve(swing_up(effort=residual), threads=threads)
    assert caught.value is error


def test_ctrl_c_stops_a_solver_and_the_best_is_returned() -> None:
    better = threading.Event()

    def press() -> None:
        better.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def progress(line: lithe.Progress) -> None:
        if line.iteration > 0 and line.best_cost < first[0]:
            better.set()
        first.append(line.cost)

    first: list[float] = []
    user = threading.Thread(target=press)
    user.start()
    solution = lithe.stochastic_search(
        swing_up(), method="mppi", max_iterations=10**9, max_seconds=PATIENCE, progress=progress
    )
    better.set()
    user.join()
    assert solution.reason == "interrupted" and "Ctrl-C" in solution.message
    assert solution.cost < solution.history[0].cost


def test_ctrl_c_inside_of_a_callback_is_the_same() -> None:
    calls = [0]

    def residual(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        calls[0] += 1
        if calls[0] == 1000:
            signal.raise_signal(signal.SIGINT)
        return point.u

    solution = lithe.ddp(swing_up(effort=residual))
    assert solution.reason == "interrupted" and calls[0] > 1000
    assert solution.cost <= solution.history[0].cost

    def progress(line: lithe.Progress) -> None:
        if line.iteration == 2:
            signal.raise_signal(signal.SIGINT)

    solution = lithe.ddp(swing_up(), progress=progress)
    assert solution.reason == "interrupted" and solution.iterations == 2


def test_ctrl_c_outside_of_a_solver_is_raised() -> None:
    def residual(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        signal.raise_signal(signal.SIGINT)
        return point.u

    with pytest.raises(KeyboardInterrupt):
        swing_up(effort=residual).evaluate()
    with pytest.raises(KeyboardInterrupt):
        lithe.check_residual(pendulum(), residual, controls=1)


# Receding horizon.


def test_receding_horizon_balances() -> None:
    problem = rail(20)
    controller = lithe.RecedingHorizon(problem, max_iterations=3, first_iterations=10)
    q, v = problem.q, problem.v
    for _ in range(100):
        u = controller.update(q, v)
        assert u.shape == (1,)
        assert controller.solution.reason == "converged", controller.solution.message
        record = lithe.step(problem.model, q, v, u, options=problem.options)
        q, v = record.q.copy(), record.v.copy()
    assert controller.updates == 100 and "100 updates" in repr(controller)
    assert abs(q[0]) < 0.01 and abs(v[0]) < 0.01
    assert controller.solution.cost < 0.01
    np.testing.assert_array_equal(controller.solution.u[0], u)
    with pytest.raises(ValueError, match=r"q: expected shape \(1,\)"):
        controller.update([0, 0], v)


def test_receding_horizon_calls_python_and_raises_ctrl_c() -> None:
    problem = rail(20)
    problem.costs[0] = lithe.Cost(lambda point: point.q)
    expected = lithe.RecedingHorizon(rail(20)).update([1.0], [0.5])
    controller = lithe.RecedingHorizon(problem)
    del problem
    gc.collect()
    np.testing.assert_allclose(controller.update([1.0], [0.5]), expected, atol=1e-8)
    interrupted = lithe.RecedingHorizon(rail(20), progress=lambda line: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        interrupted.update([1.0], [0.5])
    # It has planned all the same, and can go on.
    assert interrupted.updates == 1
