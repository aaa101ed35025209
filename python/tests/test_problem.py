"""Problems and plans as objects, and what is wrong with bad ones."""

from __future__ import annotations

import gc
import math
import pickle
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lithe

from problems import rail, swing_up


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
