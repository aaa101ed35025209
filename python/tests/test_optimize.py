"""Solvers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lithe

from problems import rail, riccati, swing_up


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
    assert solution.seconds.total > 0 and solution.seconds.rollout > 0
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
