"""Which numbers of a model explain motions that were measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lithe

NOISE = 0.01


def block(friction: float = 0.35) -> lithe.Model:
    """A block of 2 kg that slides over the ground along x."""
    half_size = np.array([0.1, 0.1, 0.05])
    return (
        lithe.ModelBuilder()
        .add_body(
            "world",
            lithe.Body("block", lithe.SpatialInertia.box(2.0, 2 * half_size)),
            [lithe.prismatic("x", [1, 0, 0]), lithe.prismatic("z", [0, 0, 1])],
        )
        .add_shape("block", lithe.Shape("block", lithe.Box(half_size), material=lithe.Material(friction)))
        .add_shape("world", lithe.Shape("ground", lithe.Plane(), material=lithe.Material(0.35)))
        .build()
    )


def arm(mass: float = 0.8, length: float = -0.5) -> lithe.Model:
    """Two links that hang from the world; the mass of the lower one is changed alone, not its other inertia."""

    def link(name: str, m: float) -> lithe.Body:
        middle = lithe.Pose.translation(0, 0, -0.25)
        return lithe.Body(name, lithe.SpatialInertia.box(m, [0.04, 0.04, 0.5]).moved(middle))

    model = (
        lithe.ModelBuilder()
        .add_body("world", link("upper", 1.2), lithe.revolute("shoulder", [0, 1, 0]))
        .add_body("upper", link("lower", 0.8), lithe.revolute("elbow", [0, 1, 0], [0, 0, length]))
        .build()
    )
    model["body/lower/mass"] = mass
    return model


def measured(model: lithe.Model, q: Any, tau: NDArray[np.float64], noise: float, seed: int) -> lithe.ObservedMotion:
    motion = lithe.rollout(model, q, np.zeros(model.nv), tau, options=0.005)
    random = np.random.default_rng(seed)
    return lithe.ObservedMotion(
        motion.q + noise * random.standard_normal(motion.q.shape),
        motion.v + noise * random.standard_normal(motion.v.shape),
        tau,
    )


def push(newton: float = 12.0) -> NDArray[np.float64]:
    tau = np.zeros((150, 2))
    tau[:60, 0] = newton
    return tau


def drive() -> NDArray[np.float64]:
    t = np.arange(300)
    return np.stack([3 * np.sin(0.03 * t), np.cos(0.05 * t)], axis=1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_friction_is_found_within_two_percent(seed: int) -> None:
    pushes = [push(newton) for newton in (12, 16, 20)]
    motions = [measured(block(), [0, 0.05], tau, NOISE, 10 * seed + k) for k, tau in enumerate(pushes)]
    model = block(0.8 * 0.35)
    found = lithe.identify(model, motions, {"shape/block/friction": (0.01, 2)}, options=0.005)
    assert found.reason == "converged", found.message
    assert found["shape/block/friction"] == pytest.approx(0.35, rel=0.02)
    assert 0 < found.deviation("shape/block/friction") < 0.02
    assert found.history[0].cost > found.cost
    # The model is as it was; the result can be written to it.
    assert model["shape/block/friction"] == pytest.approx(0.28)
    model.set_parameters(found.names, found.parameters)
    assert model["shape/block/friction"] == found.parameters[0]


def test_exact_motions_give_exact_numbers() -> None:
    motion = measured(arm(), [0, 0], drive(), 0, 1)
    bounds = {"body/lower/mass": (0.1, 5.0), "joint/elbow/z": (-2.0, -0.1)}
    found = lithe.identify(arm(0.65, -0.45), motion, bounds, options=0.005, free_starts=False)
    assert found.names == ["body/lower/mass", "joint/elbow/z"]
    np.testing.assert_allclose(found.parameters, [0.8, -0.5], rtol=1e-6)
    assert found.root_mean_square < 1e-6


def test_the_noise_that_is_left_is_the_noise() -> None:
    motion = measured(arm(), [0, 0], drive(), NOISE, 5)
    found = lithe.identify(arm(0.65), motion, {"body/lower/mass": (0.1, 5)}, options=0.005)
    assert found.root_mean_square == pytest.approx(NOISE, rel=0.1)
    assert abs(found["body/lower/mass"] - 0.8) < 5 * found.deviation("body/lower/mass")
    # In units of the noise.
    weights = np.full(2, NOISE**-2)
    weighed = lithe.identify(
        arm(0.65), motion, {"body/lower/mass": (0.1, 5)}, options=0.005, q_weights=weights, v_weights=weights
    )
    assert weighed.root_mean_square == pytest.approx(1, rel=0.1)
    np.testing.assert_allclose(weighed.parameters, found.parameters, rtol=1e-6)
    assert f"body/lower/mass = {found.parameters[0]:.5g} ± " in repr(found)


def test_what_the_motion_does_not_show_has_an_infinite_deviation() -> None:
    # Nothing pushes the block along x: it rests, and no friction acts.
    motion = measured(block(), [0, 0.05], np.zeros((20, 2)), 0, 1)
    found = lithe.identify(block(), motion, {"shape/block/friction": (0.01, 2)}, options=0.005)
    assert math.isinf(found.deviations[0])


def test_wrenches_and_segments() -> None:
    steps = 100
    model = arm()
    wrenches: list[dict[str, Any]] = [{"lower": [0, 0, 0, 3 * math.sin(0.1 * t), 0, 0]} for t in range(steps)]
    q, v = [np.zeros(2)], [np.zeros(2)]
    for wrench in wrenches:
        record = lithe.step(model, q[-1], v[-1], options=0.005, wrenches=wrench)
        q.append(record.q.copy())
        v.append(record.v.copy())
    motion = lithe.ObservedMotion(q, v, wrenches=wrenches)
    assert len(motion) == steps and repr(motion) == "<ObservedMotion: 100 steps>"
    for segment in (0, 30):
        found = lithe.identify(arm(0.65), motion, {"body/lower/mass": (0.1, 5)}, options=0.005, segment=segment)
        assert found["body/lower/mass"] == pytest.approx(0.8, rel=1e-5)


def test_threads_change_no_bit() -> None:
    motions = [measured(arm(), [0.1 * k, 0], drive(), NOISE, k) for k in range(4)]
    bounds = {"body/lower/mass": (0.1, 5.0)}
    found = [lithe.identify(arm(0.65), motions, bounds, options=0.005, threads=threads) for threads in (1, 3)]
    np.testing.assert_array_equal(found[0].parameters, found[1].parameters)
    assert found[0].cost == found[1].cost


def test_progress_stops() -> None:
    motion = measured(arm(), [0, 0], drive(), NOISE, 5)
    found = lithe.identify(
        arm(0.65), motion, {"body/lower/mass": (0.1, 5)}, options=0.005, progress=lambda line: line.iteration < 1
    )
    assert found.reason == "interrupted" and found.iterations == 1
    with pytest.raises(ZeroDivisionError):
        lithe.identify(arm(), motion, {"body/lower/mass": (0.1, 5)}, options=0.005, progress=lambda line: bool(1 / 0))


def test_wrong_arguments_are_named() -> None:
    motion = measured(block(), [0, 0.05], push(), 0, 1)
    bounds = {"shape/block/friction": (0.01, 2.0)}
    with pytest.raises(ValueError, match=r"v: expected shape \(3, any\)"):
        lithe.ObservedMotion(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"tau: expected shape \(2, any\)"):
        lithe.ObservedMotion(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="q: expected at least two states"):
        lithe.ObservedMotion(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"motions: expected q of shape \(3, 2\), got \(3, 4\)"):
        lithe.identify(block(), lithe.ObservedMotion(np.zeros((3, 4)), np.zeros((3, 2))), bounds)
    with pytest.raises(TypeError, match="motions: expected an ObservedMotion or a list"):
        lithe.identify(block(), [], bounds)
    with pytest.raises(TypeError, match="motions: expected an ObservedMotion or a list"):
        lithe.identify(block(), [motion, 3], bounds)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="parameters: expected a dict"):
        lithe.identify(block(), motion, ["shape/block/friction"])  # type: ignore[arg-type]
    with pytest.raises(lithe.Error, match="no parameter is to be identified; name some in parameters"):
        lithe.identify(block(), motion, {})
    with pytest.raises(lithe.Error, match="shape/block/frction"):
        lithe.identify(block(), motion, {"shape/block/frction": (0, 1)})
    with pytest.raises(lithe.Error, match="lower bound 2 is above"):
        lithe.identify(block(), motion, {"shape/block/friction": (2, 1)})
    with pytest.raises(ValueError, match=r"q_weights: expected shape \(2,\)"):
        lithe.identify(block(), motion, bounds, q_weights=[1])
    with pytest.raises(KeyError, match="mass"):
        lithe.identify(block(), motion, bounds, options=0.005, max_iterations=0)["mass"]
