"""Problems that several tests solve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
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
