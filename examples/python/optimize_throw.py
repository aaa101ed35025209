"""A catapult learns to throw: a box falls onto an arm of three joints, which shall throw it to x = z = 2.2 m.

The arm's torques are optimised through the contact by multiple shooting. The target is a constraint, effort the cost.
"""

import math

import numpy as np
from numpy.typing import NDArray

import lithe

TARGET = 2.2  # m, both ways
STEPS = 500  # of 1 ms


def throw_problem() -> lithe.Problem:
    """At the target at the end, with little effort. Each torque holds for 20 steps."""
    scene = lithe.scene("catapult")
    problem = lithe.Problem(scene.model, scene.q, scene.v, STEPS, hold=20, options=scene.time_step)
    problem.actuate_joints()  # three controls, within ± 1000 N·m
    problem.add_cost(lithe.residuals.controls(np.zeros(problem.controls)), weight=1e-6)
    for joint in ("projectile.x", "projectile.z"):
        problem.add_constraint(lithe.residuals.joint_position(problem.model, joint, TARGET))
    return problem


def first_hit(line: lithe.Progress) -> bool:
    """Goes on until some throw hits."""
    return not math.isfinite(line.best_cost)


def main() -> None:
    problem = throw_problem()
    for guess in range(10):
        # Constant torques that throw the box somewhere: without contact nothing tells how to hit it.
        torques = np.array([-200.0 - guess, -100.0 - 2 * guess, -50.0 + guess])
        # Two shots, and the cut comes late: a cut while box and arm touch leaves derivatives that hold nowhere else.
        solution = lithe.multiple_shooting(
            problem, torques, shot=260, gauss_newton=False, max_iterations=300, progress=first_hit
        )
        if solution.feasible:
            break

    before = lithe.rollout(problem.model, problem.q, problem.v, tau_of(problem, torques), options=problem.options)
    for what, q in (("before", before.q), ("after", solution.q)):
        miss = math.hypot(q[-1, 0] - TARGET, q[-1, 1] - TARGET)
        print(f"{what:6}: the box ends at x = {q[-1, 0]:.3f} m, z = {q[-1, 1]:.3f} m, {miss:.3f} m from the target")
    print(f"{solution.iterations} iterations, largest torque {np.abs(solution.u).max():.0f} N·m")


def tau_of(problem: lithe.Problem, torques: NDArray[np.float64]) -> NDArray[np.float64]:
    """Constant controls as generalised forces of every step (steps, nv)."""
    tau = np.zeros((problem.steps, problem.model.nv))
    tau[:, problem.actuated] = torques
    return tau


if __name__ == "__main__":
    main()
