"""Residuals: those of the library and those written in Python."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lithe

from problems import pendulum, rail, swing_up


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
