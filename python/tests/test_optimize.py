"""Problems, residuals and solvers."""

from __future__ import annotations

import gc
import math
import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lithe

STEP = 0.05
MASS = 2.0


def rail(steps: int = 40) -> lithe.Problem:
    """A mass on a rail that shall come to rest at zero: linear and quadratic."""
    body = lithe.Body("mass", lithe.SpatialInertia.box(MASS, [0.1, 0.1, 0.1]))
    model = lithe.ModelBuilder().add_body("world", body, lithe.prismatic("x", [1, 0, 0])).build()
    problem = lithe.Problem(model, [1.0], [0.5], steps, options=STEP)
    problem.actuate_joints()
    problem.add_cost(lithe.residuals.joint_position(model, "x"))
    problem.add_cost(lithe.residuals.joint_velocity(model, "x"), weight=0.1)
    problem.add_cost(lithe.residuals.controls([0.0]), weight=0.02)
    problem.add_cost(lithe.residuals.configuration([0.0]), times="final", weight=10)
    problem.add_cost(lithe.residuals.velocity([0.0]), times="final", weight=10)
    return problem


def riccati(steps: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The best controls of rail() (T, 1) and the gains (T, 1, 2), by the textbook's recursion."""
    A = np.array([[1, STEP], [0, 1]])
    B = np.array([[STEP**2 / MASS], [STEP / MASS]])
    P, Q, R = 10 * np.eye(2), np.diag([1, 0.1]), np.array([[0.02]])
    gains = np.zeros((steps, 1, 2))
    for t in reversed(range(steps)):
        gains[t] = -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A + B @ gains[t])
    x, controls = np.array([1.0, 0.5]), np.zeros((steps, 1))
    for t in range(steps):
        controls[t] = gains[t] @ x
        x = A @ x + B @ controls[t]
    return controls, gains


def pendulum() -> lithe.Model:
    """Too weak to lift itself: 2 N·m, where 4.9 are needed."""
    hinge = lithe.revolute("hinge", [0, 1, 0], effort_limit=2)
    body = lithe.Body("bob", lithe.SpatialInertia.point(1, [0, 0, -0.5]))
    tip = lithe.Frame("tip", [0, 0, -0.5])
    return lithe.ModelBuilder().add_body("world", body, hinge).add_frame("bob", tip).build()


def swing_up(position: Any = None, velocity: Any = None, effort: Any = None, steps: int = 200) -> lithe.Problem:
    """That swings up; its residuals are the library's unless they are given."""
    model = pendulum()
    problem = lithe.Problem(model, [0], [0], steps, options=0.01)
    problem.actuate_joints()
    problem.add_cost(position or lithe.residuals.joint_position(model, "hinge", math.pi), times="final", weight=10)
    problem.add_cost(velocity or lithe.residuals.joint_velocity(model, "hinge"), times="final")
    problem.add_cost(effort or lithe.residuals.controls([0.0]), weight=1e-3)
    return problem


def same_motion(a: lithe.Solution, b: lithe.Solution) -> None:
    np.testing.assert_array_equal(a.u, b.u)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)
    assert a.cost == b.cost
    assert [line.cost for line in a.history] == [line.cost for line in b.history]


# Solvers.


def test_ddp_solves_a_linear_quadratic_problem_in_one_iteration() -> None:
    solution = lithe.ddp(rail(), gains=True)
    controls, gains = riccati()
    assert solution.reason == "converged"
    assert solution.iterations == 1
    np.testing.assert_allclose(solution.u, controls, rtol=0, atol=1e-10 * np.abs(controls).max())
    assert solution.gains is not None
    np.testing.assert_allclose(solution.gains, gains, rtol=0, atol=1e-9 * np.abs(gains).max())


def test_a_solution_is_the_motion_that_its_forces_lead_to() -> None:
    problem = swing_up(steps=300)
    solution = lithe.ddp(problem)
    assert solution.u.shape == (300, 1) and solution.q.shape == (301, 1) and solution.tau.shape == (300, 1)
    again = lithe.rollout(problem.model, problem.q, problem.v, solution.tau, options=problem.options)
    np.testing.assert_array_equal(solution.q, again.q)
    np.testing.assert_array_equal(solution.v, again.v)
    assert len(solution.status) == 300 and all(status.solved for status in solution.status)
    cost, violation = problem.evaluate(solution)
    assert cost == pytest.approx(solution.cost, rel=1e-12) and violation == 0
    assert solution.history[0].cost == pytest.approx(problem.evaluate()[0], rel=1e-12)
    assert solution.history[-1].cost < 0.1 * solution.history[0].cost
    assert 0 < solution.seconds.total < 60 and solution.seconds.rollout > 0
    assert abs(solution.q[-1, 0] - math.pi) < 0.02
    assert np.abs(solution.u).max() <= 2


def test_controls_are_held() -> None:
    problem = swing_up()
    problem.hold, problem.options = 7, 0.01
    assert problem.knots == 29
    solution = lithe.ddp(problem)
    assert solution.u.shape == (29, 1)
    np.testing.assert_array_equal(solution.tau, np.repeat(solution.u, 7, axis=0)[:200])


@pytest.mark.parametrize("method", ["lbfgs", "adam", "descent"])
def test_single_shooting_leads_down(method: str) -> None:
    rate = {"lbfgs": 1e-2, "adam": 0.1, "descent": 0.5}[method]
    solution = lithe.single_shooting(rail(), method=method, rate=rate, max_iterations=400)
    controls, _ = riccati()
    best = lithe.ddp(rail()).cost
    assert solution.cost == pytest.approx(best, rel=1e-2 if method != "lbfgs" else 1e-6)
    if method == "lbfgs":
        np.testing.assert_allclose(solution.u, controls, atol=1e-2)


@pytest.mark.parametrize("gauss_newton", [True, False])
def test_multiple_shooting_meets_constraints(gauss_newton: bool) -> None:
    problem = rail()
    problem.add_constraint(lithe.residuals.joint_position(problem.model, "x", -0.3), times=20)
    slow = lithe.residuals.velocity_bound(problem.model, "x", "lower", -1.7)
    problem.add_constraint(slow, kind="not_positive", times="all")
    solution = lithe.multiple_shooting(problem, shot=10, gauss_newton=gauss_newton)
    assert solution.reason == "converged" and solution.feasible, solution.message
    assert solution.q[20, 0] == pytest.approx(-0.3, abs=1e-5)
    assert solution.v.min() >= -1.7 - 1e-5
    # The bound matters: without it the mass would be faster.
    problem.constraints.pop()
    assert lithe.multiple_shooting(problem, shot=10).v.min() < -1.75


def test_stochastic_search_and_hybrid_come_close() -> None:
    problem = rail(20)
    problem.lower, problem.upper = [-20], [20]
    best = lithe.ddp(problem).cost
    by_search = lithe.stochastic_search(problem, max_iterations=150, samples=64, seed=3)
    assert best < by_search.cost < 1.1 * best
    other_seed = lithe.stochastic_search(problem, max_iterations=150, samples=64, seed=4)
    assert by_search.cost != other_seed.cost
    by_paths = lithe.stochastic_search(problem, method="mppi", max_iterations=30)
    assert by_paths.reason == "iteration_limit" and by_paths.cost < by_paths.history[0].cost
    by_both = lithe.hybrid(problem, rounds=2, search_iterations=3, gradient_iterations=50)
    assert by_both.cost == pytest.approx(best, rel=1e-5)


def test_starts_and_parameters_may_be_free() -> None:
    # What can be seen of a thrown ball with a known drag tells its mass and its speed.
    truth_mass, truth_speed = 0.7, 3.0
    body = lithe.Body("ball", lithe.SpatialInertia.sphere(truth_mass, 0.1))
    joint = lithe.prismatic("x", [1, 0, 0], damping=0.5)
    model = lithe.ModelBuilder().add_body("world", body, joint).build()
    seen = lithe.rollout(model, [0], [truth_speed], steps=50, options=0.02)
    model["body/ball/mass"] = 1.0
    problem = lithe.Problem(model, [0], [1.0], 50, options=0.02)
    problem.add_free_start("x", 5, velocity=True)
    problem.add_free_parameter("body/ball/mass", 0.1, 5)
    for t in range(5, 51, 5):
        problem.add_cost(lithe.residuals.joint_position(model, "x", seen.q[t, 0]), times=t)
    assert problem.free_start == [(0, True, 5.0)]
    assert problem.free_parameters == [("body/ball/mass", 0.1, 5.0)]
    solution = lithe.single_shooting(problem, max_iterations=500, tolerance=1e-12)
    assert solution.plan.start is not None and solution.plan.parameters is not None
    assert solution.plan.start[0] == pytest.approx(truth_speed - 1, rel=1e-3)
    assert solution.plan.parameters[0] == pytest.approx(truth_mass, rel=1e-3)
    # The model of the problem is as it was.
    assert problem.model["body/ball/mass"] == 1.0
    with pytest.raises(lithe.Error, match="free"):
        lithe.ddp(problem)


def test_initial_plans_come_in_several_forms() -> None:
    problem = rail()
    controls, _ = riccati()
    for initial in (controls, controls.tolist(), lithe.Plan(controls), lithe.ddp(problem)):
        assert lithe.ddp(problem, initial).iterations == 0
    constant = lithe.ddp(problem, [0.5], max_iterations=0)
    np.testing.assert_array_equal(constant.u, np.full((40, 1), 0.5))
    # A guess of the states that the controls do not lead to: DDP closes the gaps.
    guess = lithe.Plan(np.zeros((40, 1)), q=np.sin(0.3 * np.arange(41))[:, None], v=np.full((41, 1), 0.3))
    closed = lithe.ddp(problem, guess)
    assert closed.history[0].infeasibility > 0.1 and closed.history[1].infeasibility == 0
    np.testing.assert_allclose(closed.u, controls, atol=1e-9)
    for wrong in (np.zeros((39, 1)), np.zeros(2), lithe.Plan(np.zeros((40, 2)))):
        with pytest.raises(ValueError, match="initial: expected"):
            lithe.ddp(problem, wrong)


def test_multiple_shooting_throws_through_contact() -> None:
    scene = lithe.scene("catapult")
    problem = lithe.Problem(scene.model, scene.q, scene.v, 500, hold=20, options=scene.time_step)
    problem.actuate_joints()
    problem.add_cost(lithe.residuals.controls(np.zeros(3)), weight=1e-6)
    for joint in ("projectile.x", "projectile.z"):
        problem.add_constraint(lithe.residuals.joint_position(scene.model, joint, 2.2))
    solution = lithe.multiple_shooting(
        problem,
        [-200, -100, -50],
        shot=260,
        gauss_newton=False,
        max_iterations=300,
        progress=lambda line: not math.isfinite(line.best_cost),
    )
    assert solution.feasible, solution.message
    np.testing.assert_allclose(solution.q[-1, :2], 2.2, atol=1e-5)
    assert max(status.contacts for status in solution.status) > 0


# Residuals of Python.


def test_a_python_residual_gives_the_motion_of_the_librarys() -> None:
    def position(point: lithe.ResidualPoint) -> float:
        return float(point.q[0]) - math.pi

    def velocity(point: lithe.ResidualPoint) -> tuple[NDArray[np.float64], dict[str, Any]]:
        return point.v, {"by_v": np.eye(1)}

    by_library = lithe.ddp(swing_up())
    by_python = lithe.ddp(swing_up(position, velocity, lambda point: point.u))
    assert by_python.iterations == by_library.iterations
    assert by_python.cost == pytest.approx(by_library.cost, rel=1e-8)
    np.testing.assert_allclose(by_python.u, by_library.u, atol=1e-6)
    np.testing.assert_allclose(by_python.q, by_library.q, atol=1e-6)


def test_python_constraints_hold() -> None:
    problem = rail()
    problem.add_constraint(lambda point: point.q + 0.3, times=20)
    problem.add_constraint(lambda point: -1.7 - point.v, kind="not_positive", times="all")
    expected = rail()
    expected.add_constraint(lithe.residuals.joint_position(expected.model, "x", -0.3), times=20)
    slow = lithe.residuals.velocity_bound(expected.model, "x", "lower", -1.7)
    expected.add_constraint(slow, kind="not_positive", times="all")
    for solve in (lithe.ddp, lithe.multiple_shooting):
        by_python, by_library = solve(problem), solve(expected)
        assert by_python.feasible, by_python.message
        assert by_python.cost == pytest.approx(by_library.cost, rel=1e-6)


def test_check_residual_passes_differences_and_true_derivatives() -> None:
    model = pendulum()

    def energy(point: lithe.ResidualPoint) -> tuple[float, dict[str, Any]]:
        q, v = point.q[0], point.v[0]
        return 0.125 * v * v - 4.905 * (math.cos(q) + 1), {"by_q": [[4.905 * math.sin(q)]], "by_v": [0.25 * v]}

    assert lithe.check_residual(model, energy)
    assert lithe.check_residual(model, lambda point: energy(point)[0])
    both = lithe.residuals.custom(lambda p: np.array([p.u[0] * p.q[0], p.u[0] - p.u_before[0] ** 2]), 2, name="both")
    assert lithe.check_residual(model, both, controls=1)
    assert "both" in repr(both) and both.name == "residual 'both'"


def test_check_residual_finds_wrong_derivatives() -> None:
    model = pendulum()
    wrong = lithe.check_residual(model, lambda point: (point.v**2, {"by_v": 1.9 * point.v}))
    assert not wrong and not wrong.passed
    assert "by_v(0, 0)" in wrong.worst and "by_v(0, 0)" in repr(wrong)
    assert 0.01 < wrong.largest_error < 1
    # None says that a derivative is zero, which it is not.
    assert not lithe.check_residual(model, lambda point: (point.v, {"by_v": None}))
    # So does a depends_on that leaves something out.
    assert not lithe.check_residual(model, lithe.residuals.custom(lambda point: point.q * point.v, depends_on=["q"]))


def test_differences_are_in_the_tangent_of_balls() -> None:
    model = lithe.scene("tumbling_body").model
    assert model.nq == model.nv + 1
    names = [name for name in model.body_names if name != "world"]

    def upright(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        pose = point.body_pose(names[0])
        return np.concatenate([pose.R[2], pose.p, point.body_velocity(names[0])])

    check = lithe.check_residual(model, upright)
    assert check, check
    target = lithe.neutral_configuration(model)
    assert lithe.check_residual(model, lambda point: lithe.difference(model, point.q, target) ** 2)
    # The same numbers as the library's.
    rng = np.random.default_rng(4)
    q = lithe.random_configuration(model, 7)
    v = rng.standard_normal(model.nv)
    value, by = lithe.residuals.custom(lambda point: lithe.difference(model, point.q, target)).evaluate(model, q, v)
    expected, expected_by = lithe.residuals.configuration(target).evaluate(model, q, v)
    np.testing.assert_allclose(value, expected, atol=1e-14)
    np.testing.assert_allclose(by["by_q"], expected_by["by_q"], atol=1e-9)
    assert "by_v" not in by


def test_residuals_are_made_of_others() -> None:
    model = pendulum()
    tip = lithe.residuals.frame_position(model, "tip", [0.1, 0, 0.2])
    assert tip.size(model) == 3

    def distance(point: lithe.ResidualPoint) -> float:
        return float(np.sum(tip(point) ** 2))

    assert lithe.check_residual(model, distance)
    value, by = lithe.residuals.custom(distance).evaluate(model, [0.4], [0])
    place, by_tip = tip.evaluate(model, [0.4], [0])
    assert value[0] == pytest.approx(place @ place)
    np.testing.assert_allclose(by["by_q"], 2 * place[None] @ by_tip["by_q"], atol=1e-9)
    # Frames of the point are those of the model.
    poses = lithe.residuals.custom(lambda point: point.frame_pose("tip").p - [0.1, 0, 0.2])
    np.testing.assert_allclose(poses.evaluate(model, [0.4], [0])[0], place, atol=1e-15)
    speeds = lithe.residuals.custom(lambda point: point.frame_velocity("tip"))
    expected = lithe.residuals.frame_velocity(model, "tip").evaluate(model, [0.4], [0.3])[0]
    np.testing.assert_allclose(speeds.evaluate(model, [0.4], [0.3])[0], expected)


def test_residuals_look_at_contact_forces() -> None:
    scene = lithe.scene("boxes")
    options = lithe.StepOptions(scene.time_step)
    record = lithe.step(scene.model, scene.q, scene.v, options=options)
    for _ in range(100):
        record = lithe.step(scene.model, record.q, record.v, options=options)
    assert record.status.contacts > 0
    body = next(name for name in scene.model.body_names if name != "world")
    force = lithe.residuals.contact_force(scene.model, body)
    library = force.evaluate(scene.model, record.q_before, record.v_before, record=record)
    made = lithe.residuals.custom(lambda point: 2 * force(point)).evaluate(
        scene.model, record.q_before, record.v_before, record=record
    )
    np.testing.assert_allclose(made[0], 2 * library[0])
    np.testing.assert_allclose(made[1]["by_f"], 2 * library[1]["by_f"], rtol=1e-6, atol=1e-6)
    rows = lithe.residuals.custom(lambda point: point.f.sum()).evaluate(
        scene.model, record.q_before, record.v_before, record=record
    )
    assert rows[0][0] == pytest.approx(record.f.sum())
    np.testing.assert_allclose(rows[1]["by_f"], np.ones((1, record.status.rows)), atol=1e-9)


def test_a_python_contact_force_gives_the_motion_of_the_librarys() -> None:
    def landing(soft: Callable[[lithe.Residual], Any]) -> lithe.Solution:
        scene = lithe.scene("jump_worm")
        problem = lithe.Problem(scene.model, scene.q, scene.v, 60, hold=10, options=scene.time_step)
        problem.actuate_joints()
        m = problem.controls
        root = next(name for name in scene.model.joint_names if name.endswith(".z"))
        problem.add_cost(lithe.residuals.joint_position(scene.model, root, 1.0), times="final")
        body = scene.model.body_names[-1]
        problem.add_cost(soft(lithe.residuals.contact_force(scene.model, body)), weight=1e-6)
        problem.add_cost(lithe.residuals.controls(np.zeros(m)), weight=1e-7)
        return lithe.ddp(problem, max_iterations=3)

    by_library = landing(lambda force: force)
    by_python = landing(lambda force: lambda point: force(point))
    assert by_library.cost < by_library.history[0].cost
    assert by_python.cost == pytest.approx(by_library.cost, rel=1e-6)


def test_residuals_see_free_parameters() -> None:
    problem = rail()
    problem.add_free_parameter("body/mass/mass", 0.5, 5)
    problem.costs.clear()
    problem.add_cost(lambda point: point.parameters["body/mass/mass"] - 1.25, times="final")
    problem.add_cost(lambda point: point.model["body/mass/mass"] - 1.25, times=0)
    problem.add_cost(lithe.residuals.controls([0.0]))
    solution = lithe.single_shooting(problem)
    assert solution.plan.parameters is not None
    assert solution.plan.parameters[0] == pytest.approx(1.25, abs=1e-4)
    # At a bound only one side can be tried.
    problem.costs.clear()
    problem.add_cost(lambda point: point.parameters["body/mass/mass"], norm="linear", times="final")
    assert lithe.single_shooting(problem).plan.parameters == pytest.approx(np.array([0.5]))


def test_a_residual_says_what_it_wants() -> None:
    asked: list[tuple[int, bool]] = []

    def residual(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        asked.append((point.t, point.wants_derivatives))
        return point.q

    problem = rail(5)
    problem.add_cost(residual, times=(2, -2))
    lithe.ddp(problem, max_iterations=1)
    assert {t for t, _ in asked} == {2, 3, 4}
    assert {wants for _, wants in asked} == {True, False}


def test_points_are_over_after_their_call_and_arrays_stay() -> None:
    kept: list[Any] = []

    def residual(point: lithe.ResidualPoint) -> NDArray[np.float64]:
        kept.extend([point, point.q])
        return point.q

    lithe.residuals.custom(residual).evaluate(pendulum(), [0.5], [0])
    point, q = kept[:2]
    gc.collect()
    assert q[0] == 0.5
    with pytest.raises(lithe.Error, match="over"):
        point.q
    with pytest.raises(lithe.Error, match="over"):
        point.body_pose("bob")


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
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    lithe.stochastic_search(problem, method="mppi", max_iterations=10**6, max_seconds=0.3)
    after = counted[0]
    done.set()
    thread.join()
    assert after - before >= 10


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
    problem = swing_up()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    solution = lithe.stochastic_search(problem, method="mppi", max_iterations=10**6, max_seconds=20)
    timer.join()
    assert solution.reason == "interrupted" and "Ctrl-C" in solution.message
    assert 0.1 < solution.seconds.total < 10
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


# Problems and plans as objects.


def test_costs_and_constraints_are_lists() -> None:
    problem = rail()
    assert len(problem.costs) == 5 and problem.constraints == []
    cost = problem.costs[2]
    assert cost.weight == 0.02 and cost.times == (0, -2) and cost.norm == "square" and cost.scales is None
    cheap = lithe.ddp(problem).cost
    cost.weight, cost.norm, cost.times = 2.0, "smooth_size", (3, 5)
    assert cost.norm is lithe.Norm.smooth_size and cost.times == (3, 5)
    cost.norm, cost.times = "square", "running"
    assert lithe.ddp(problem).cost > cheap
    other = problem.copy()
    del other.costs[2:]
    assert len(problem.costs) == 5 and len(other.costs) == 2
    assert "5 costs" in repr(problem) and "x" in repr(problem.costs[0])
    assert problem.add_constraint(lambda point: point.q, times="all").times == (0, -1)


def test_norms_are_what_they_say() -> None:
    for norm, value in (("square", 3 * 0.25), ("signed_square", -3 * 0.25), ("linear", -3 * 0.5)):
        problem = rail()
        problem.costs[:] = [lithe.Cost(lambda point: -0.5, norm=norm, times="final", weight=3)]
        assert problem.evaluate()[0] == pytest.approx(value)
    problem.costs[:] = [lithe.Cost(lambda point: [1, 2], norm="smooth_size", times=-1, scales=[1, 10], width=0.5)]
    expected = (math.sqrt(1.25) - 0.5) + 10 * (math.sqrt(4.25) - 0.5)
    assert problem.evaluate()[0] == pytest.approx(expected)


def test_actuation_and_bounds() -> None:
    problem = swing_up()
    assert problem.actuated == [0] and problem.controls == 1
    assert problem.lower is not None and problem.upper is not None
    assert (problem.lower[0], problem.upper[0]) == (-2, 2)
    with pytest.raises(ValueError, match="read-only"):
        problem.lower[0] = -1
    problem.lower = [-1]
    assert problem.lower == [-1]
    problem.upper = None
    assert problem.upper is None
    with pytest.raises(ValueError, match=r"lower: expected shape \(1,\)"):
        problem.lower = [1, 2]
    cartpole = lithe.scene("cartpole")
    problem = lithe.Problem(cartpole.model, cartpole.q, None, 10)
    problem.actuate_joints(["pole"])
    assert problem.actuated == [cartpole.model.v_index("pole")]
    problem.actuated = [0, 1]
    assert problem.controls == 2 and problem.lower is None
    with pytest.raises(lithe.Error, match="wheel"):
        problem.actuate_joints(["wheel"])


def test_plans_are_pickled_and_shifted() -> None:
    plan = lithe.Plan(np.arange(10.0).reshape(5, 2), start=[1.0], q=np.ones((6, 1)), v=np.zeros((6, 1)))
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again.u, plan.u)
    np.testing.assert_array_equal(again.start, [1.0])
    assert again.q is not None and plan.q is not None
    np.testing.assert_array_equal(again.q, plan.q)
    assert again.parameters is None
    with pytest.raises(ValueError, match="read-only"):
        plan.u[0, 0] = 1
    problem = rail(5)
    left = lithe.Plan(np.arange(5.0)[:, None]).shifted(problem, 2)
    np.testing.assert_array_equal(left.u[:, 0], [2, 3, 4, 4, 4])


def test_arrays_outlive_what_they_came_from() -> None:
    solution = lithe.ddp(rail())
    u, plan = solution.u, solution.plan
    expected = u.copy()
    q = plan.u
    del solution, plan
    gc.collect()
    np.testing.assert_array_equal(u, expected)
    np.testing.assert_array_equal(q, expected)


def test_cycles_through_functions_are_collected() -> None:
    class Task:
        def __init__(self) -> None:
            self.problem = rail()
            self.problem.add_cost(self.residual)
            self.problem.add_constraint(lithe.residuals.custom(self.residual))
            self.controller = lithe.RecedingHorizon(self.problem)

        def residual(self, point: lithe.ResidualPoint) -> NDArray[np.float64]:
            return point.q

    task = Task()
    seen = weakref.ref(task)
    del task
    gc.collect()
    assert seen() is None


# Misuse.


def broken(change: Callable[[lithe.Problem], Any]) -> lithe.Problem:
    problem = rail()
    change(problem)
    return problem


def crossed_bounds(problem: lithe.Problem) -> None:
    problem.lower, problem.upper = [3], [1]


def set_to(name: str, value: Any) -> Callable[[lithe.Problem], Any]:
    return lambda problem: setattr(problem, name, value)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (set_to("steps", 0), lithe.Error, "Problem.steps is 0"),
        (set_to("hold", 0), lithe.Error, "Problem.hold is 0"),
        (set_to("actuated", [3]), lithe.Error, r"Problem.actuated\[0\] is 3"),
        (set_to("actuated", []), lithe.Error, "add_free_start"),
        (crossed_bounds, lithe.Error, "lower bound 3 is above"),
        (lambda p: p.costs.clear(), lithe.Error, "no cost and no constraint"),
        (lambda p: p.add_cost(lithe.residuals.controls([0.0]), times="final"), lithe.Error, "times='running'"),
        (lambda p: p.add_cost(lambda point: point.u, times="final"), lithe.Error, "times='running'"),
        (lambda p: p.add_cost(lambda point: sum(point.f), times="final"), lithe.Error, "no impulses at t = 40"),
        (lambda p: p.add_cost(lambda point: sum(point.f), times="all"), lithe.Error, "times='running'"),
        (lambda p: p.add_cost(lithe.residuals.velocity([0.0, 1.0])), lithe.Error, "velocity"),
        (lambda p: p.add_cost(lambda point: point.q, scales=[1, 2]), lithe.Error, "2 scales for 1 numbers"),
        (lambda p: p.add_cost(lambda point: point.q, times=(50, 60)), lithe.Error, "counts at no time"),
        (lambda p: p.add_cost(lambda point: point.q, weight=math.nan), lithe.Error, "not finite"),
        (lambda p: p.add_free_parameter("body/mass/colour", 0, 1), lithe.Error, "body/mass/colour"),
        (lambda p: p.costs.append("cost"), TypeError, "Problem.costs: expected a list of Cost"),
        (lambda p: p.add_cost(lambda point: "far"), ValueError, "what residual '<lambda>' returns"),
        (lambda p: p.add_cost(lambda point: np.eye(2)), ValueError, r"got an array \(2, 2\)"),
        (lambda p: p.add_cost(lambda point: [0.0] * (1 + point.t)), ValueError, "has 1 numbers, but returned 2"),
        (lambda p: p.add_cost(lambda point: (point.q, {"by_x": 1})), ValueError, "got 'by_x'"),
        (lambda p: p.add_cost(lambda point: (point.q, {"by_q": np.eye(2)})), ValueError, r"by_q of .* \(1, 1\)"),
        (lambda p: p.add_cost(lambda point: point.q if point.t < 3 else point.u_before), lithe.Error, "depends_on"),
    ],
)
def test_bad_problems_are_errors_that_say_why(change: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lithe.ddp(broken(change))


def test_wrong_arguments_are_named() -> None:
    problem = rail()
    model = problem.model
    with pytest.raises(ValueError, match="norm: expected one of 'square'.*'cube'"):
        problem.add_cost(lithe.residuals.controls([0]), norm="cube")
    with pytest.raises(ValueError, match="times: expected 'running'"):
        problem.add_cost(lithe.residuals.controls([0]), times="sometimes")
    with pytest.raises(ValueError, match="kind: expected one of 'zero'"):
        problem.add_constraint(lithe.residuals.controls([0]), kind="small")
    with pytest.raises(TypeError, match="residual: expected a Residual or a function"):
        problem.add_cost(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="method: expected one of 'lbfgs'"):
        lithe.single_shooting(problem, method="newton")
    with pytest.raises(ValueError, match="side: expected 'lower' or 'upper', got 'left'"):
        lithe.residuals.position_bound(model, "x", "left", 1)
    with pytest.raises(ValueError, match="depends_on: expected some of 'q'"):
        lithe.residuals.custom(lambda point: 0.0, depends_on=["w"])
    with pytest.raises(lithe.Error, match="'y'"):
        lithe.residuals.joint_position(model, "y")
    with pytest.raises(ValueError, match=r"target: expected shape \(3,\)"):
        lithe.residuals.centre_of_mass_position([0, 0])
    with pytest.raises(ValueError, match=r"q: expected shape \(1,\), got \(2,\)"):
        lithe.Problem(model, [0, 0], [0], 10)
    with pytest.raises(ValueError, match="steps: expected at least 1"):
        lithe.Problem(model, [0], [0], 0)
    with pytest.raises(lithe.Error, match="shot is 15"):
        problem.hold = 10
        lithe.multiple_shooting(problem, shot=15)
    with pytest.raises(TypeError):
        lithe.ddp(problem, iterations=3)  # type: ignore[call-arg]
    with pytest.raises(lithe.Error, match="controls=…"):
        lithe.check_residual(model, lithe.residuals.controls([0.0]))
    with pytest.raises(lithe.Error, match="ball"):
        body = lithe.scene("tumbling_body")
        joint = next(name for name in body.model.joint_names if "ball" in name)
        lithe.Problem(body.model, body.q, body.v, 10).add_free_start(joint, 1)
