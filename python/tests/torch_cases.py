"""Steps to differentiate: scenes with contact, friction, limits, motors and parameters."""

import numpy as np
import pytest

import lithe

torch = pytest.importorskip("torch", reason="torch is not installed")

import lithe.torch as lt  # noqa: E402


EXACT = lithe.GradientOptions.exact()


def numbers(x, dtype=torch.float64, grad=True):
    return torch.tensor(np.asarray(x), dtype=dtype).requires_grad_(grad)


def noise(shape, scale, seed):
    return scale * np.random.default_rng(seed).standard_normal(shape)


class Case:
    """A state of a scene in which something happens, and the parameters that matter there."""

    def __init__(self, scene, *, steps=0, move=None, params=()):
        built = lithe.scene(scene)
        self.model, self.options = built.model, lithe.StepOptions(built.time_step)
        self.targets = built.motor_targets if len(self.model.motor_names) else None
        q, v = np.array(built.q), np.array(built.v)
        for _ in range(steps):
            record = lithe.step(self.model, q, v, options=self.options, targets=self.targets)
            q, v = np.array(record.q), np.array(record.v)
        if move:
            move(self.model, q, v)
        self.q, self.v, self.tau = q, v, noise(len(v), 0.1, seed=2)
        self.params = {name: self.model[name] for name in params}

    def take(self):
        return lithe.step(self.model, self.q, self.v, self.tau, options=self.options, targets=self.targets)

    def step(self, **more):
        """A function of tensors q, v, tau and one per parameter."""
        more = {"options": self.options, "targets": self.targets, "gradient": EXACT, **more}
        return lambda q, v, tau, *values: lt.step(self.model, q, v, tau, dict(zip(self.params, values)), **more)

    def rollout(self, **more):
        return lambda q, v, tau, *values: lt.rollout(
            self.model, q, v, tau, dict(zip(self.params, values)), options=self.options, gradient=EXACT, **more
        )

    def inputs(self, *batch, spread=0.0):
        """Tensors with gradients; with a batch, every item is a little different."""
        q, v, tau = (np.broadcast_to(x, (*batch, len(x))) for x in (self.q, self.v, self.tau))
        v, tau = v + noise(v.shape, spread, seed=3), tau + noise(tau.shape, spread, seed=4)
        return (numbers(q), numbers(v), numbers(tau), *(numbers(value) for value in self.params.values()))


def press(model, q, v, joint):
    """Into the ground by 0.1 … 0.4 mm: a gap of zero is where the derivative has a kink."""
    z = model.q_index(joint)
    for _ in range(4000):
        gaps = [contact.gap for contact in lithe.step(model, q, v).contacts]
        if gaps and min(gaps) < -1e-4:
            return
        q[z] -= 2e-4
    raise AssertionError("the ground was not found")


def tilt(model, q, v):
    """On a corner, by a quaternion that is neither the identity nor of length one."""
    q[3:7] = [0.26, -0.39, 0.78, 1.17]
    q[2] += 0.5
    v[:] = [0.3, -0.2, -0.1, 0.5, -0.4, 0.3]
    press(model, q, v, "cube.z")


def stand(model, q, v):
    press(model, q, v, "root.z")
    v[:] += [0.2, -0.1, 0.1, 0.3, -0.2, 0.1, -0.3, 0.2, 0.4]


def at_its_limits(model, q, v):
    """A foot beyond its limit and turning further, a shin against it."""
    q[model.q_index("b_foot")], v[model.v_index("b_foot")] = 0.7852, 30.0
    q[model.q_index("f_shin")], v[model.v_index("f_shin")] = -1.2002, -30.0


def against_the_stop(model, q, v):
    q[0], v[0] = 10.0001, 0.5


CASES = {
    "smooth": lambda: Case("double_pendulum", params=["joint/hinge_2/z", "gravity/x", "gravity/z"]),
    "sliding": lambda: Case("sliding_cube", steps=3, params=["shape/cube/friction", "body/cube/mass"]),
    "on a corner": lambda: Case("sliding_cube", move=tilt, params=["shape/cube/half_x", "shape/ground/friction"]),
    "rolling": lambda: Case("rolling_sphere", steps=20, params=["shape/ball/radius"]),
    "sticking": lambda: Case("incline", steps=5, params=["gravity/z"]),
    "robot on the ground": lambda: Case(
        "half_cheetah",
        steps=150,
        move=stand,
        params=["shape/b_foot/friction", "body/torso/mass", "joint/f_foot/stiffness"],
    ),
    "robot at its limits": lambda: Case("half_cheetah", move=at_its_limits, params=["joint/b_foot/upper"]),
    "cart at its stop": lambda: Case("cartpole", move=against_the_stop, params=["joint/cart/upper"]),
    "motor and loop": lambda: Case("four_bar", steps=20, params=["loop/pin/ax"]),
}


IN_CONTACT = {"sliding", "on a corner", "rolling", "sticking", "robot on the ground"}
