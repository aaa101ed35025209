"""Configurations and their tangent space."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

import lithe

FloatArray = npt.NDArray[np.float64]

SCENES = [name for name in lithe.scene_names() if lithe.scene(name).model.nv <= 40]
WITH_BALLS = [name for name in SCENES if lithe.scene(name).model.ball_joints]

SETTINGS = hypothesis.settings(max_examples=30, deadline=None, derandomize=True)
SEEDS = st.integers(min_value=0, max_value=2**64 - 1)


def same_place(model: lithe.Model, q1: FloatArray, q0: FloatArray, tolerance: float) -> bool:
    """A quaternion and its negative are the same rotation."""
    return bool(np.abs(lithe.difference(model, q1, q0)).max() <= tolerance)


def by_central_difference(f: Callable[[FloatArray], FloatArray], nv: int, step: float = 1e-6) -> FloatArray:
    """∂f(δ)/∂δ at 0: one column per entry of δ."""
    return np.stack([(f(step * e) - f(-step * e)) / (2 * step) for e in np.eye(nv)], axis=-1)


def test_the_neutral_configuration_is_zeros_and_unit_quaternions() -> None:
    model = lithe.scene("rolling_sphere").model
    assert lithe.neutral_configuration(model).tolist() == [0, 0, 0, 0, 0, 0, 1]


@SETTINGS
@hypothesis.given(seed=SEEDS, scene=st.sampled_from(SCENES), reach=st.floats(0, 1))
def test_difference_inverts_retract(seed: int, scene: str, reach: float) -> None:
    model = lithe.scene(scene).model
    q = lithe.random_configuration(model, seed)
    delta = reach * np.random.default_rng(seed).uniform(-1.8, 1.8, model.nv)  # no ball beyond half a turn
    moved = lithe.retract(model, q, delta)
    np.testing.assert_allclose(lithe.difference(model, moved, q), delta, atol=1e-13)


@SETTINGS
@hypothesis.given(seed=SEEDS, scene=st.sampled_from(SCENES))
def test_retract_inverts_difference(seed: int, scene: str) -> None:
    model = lithe.scene(scene).model
    q0, q1 = lithe.random_configuration(model, seed, 2)
    delta = lithe.difference(model, q1, q0)
    assert same_place(model, lithe.retract(model, q0, delta), q1, 1e-12)
    for _, at in model.ball_joints:
        assert np.linalg.norm(delta[at : at + 3]) <= np.pi + 1e-12


def test_a_turn_of_a_ball_is_in_its_own_axes() -> None:
    model = lithe.scene("rolling_sphere").model
    q = lithe.retract(model, lithe.neutral_configuration(model), [0, 0, 0, np.pi / 2, 0, 0])
    # After a quarter turn about x, the body's z axis is the world's −y axis.
    turned = lithe.retract(model, q, [0, 0, 0, 0, 0, 0.1])
    pose = lithe.body_pose(model, turned, "ball")
    np.testing.assert_allclose(pose.R[:, 2], [0, -1, 0], atol=1e-15)


@pytest.mark.parametrize("scene", SCENES)
def test_interpolation_goes_from_one_to_the_other_at_a_constant_pace(scene: str) -> None:
    model = lithe.scene(scene).model
    q0, q1 = lithe.random_configuration(model, 7, 2)
    path = lithe.interpolate(model, q0, q1, np.linspace(0, 1, 11))
    assert path.shape == (11, model.nq)
    assert same_place(model, path[0], q0, 1e-13)
    assert same_place(model, path[-1], q1, 1e-12)
    steps = lithe.difference(model, path[1:], path[:-1])
    np.testing.assert_allclose(steps, np.tile(lithe.difference(model, q1, q0) / 10, (10, 1)), atol=1e-12)
    np.testing.assert_array_equal(lithe.interpolate(model, q0, q1, 0.3), lithe.interpolate(model, q0, q1, [0.3])[0])


@pytest.mark.parametrize("scene", WITH_BALLS)
def test_derivatives_equal_central_differences(scene: str) -> None:
    model = lithe.scene(scene).model
    q0, q1 = lithe.random_configuration(model, 3, 2)
    delta = np.random.default_rng(3).uniform(-1.5, 1.5, model.nv)
    moved = lithe.retract(model, q0, delta)
    difference = lithe.difference(model, q1, q0)
    by_q = by_central_difference(
        lambda e: lithe.difference(model, lithe.retract(model, lithe.retract(model, q0, e), delta), moved), model.nv
    )
    by_delta = by_central_difference(
        lambda e: lithe.difference(model, lithe.retract(model, q0, delta + e), moved), model.nv
    )
    by_q1 = by_central_difference(lambda e: lithe.difference(model, lithe.retract(model, q1, e), q0), model.nv)
    by_q0 = by_central_difference(lambda e: lithe.difference(model, q1, lithe.retract(model, q0, e)), model.nv)
    np.testing.assert_allclose(lithe.retract_derivative_q(model, delta), by_q, atol=1e-8)
    np.testing.assert_allclose(lithe.retract_derivative_delta(model, delta), by_delta, atol=1e-8)
    np.testing.assert_allclose(lithe.difference_derivative_q1(model, difference), by_q1, atol=1e-7)
    np.testing.assert_allclose(lithe.difference_derivative_q0(model, difference), by_q0, atol=1e-7)


def test_normalized_scales_quaternions_only() -> None:
    model = lithe.scene("gripper").model
    q = lithe.random_configuration(model, 1)
    scaled = q.copy()
    at = model.ball_joints[0][0]
    scaled[at : at + 4] *= 3
    np.testing.assert_allclose(lithe.normalized(model, scaled), q, rtol=1e-15)


def test_random_configurations_respect_limits_and_seeds() -> None:
    model = lithe.scene("half_cheetah").model
    many = lithe.random_configuration(model, 5, size=200)
    assert many.shape == (200, model.nq)
    np.testing.assert_array_equal(many[0], lithe.random_configuration(model, 5))
    limited = 0
    for joint in model.joint_names:
        lower, upper = model[f"joint/{joint}/lower"], model[f"joint/{joint}/upper"]
        values = many[:, model.q_index(joint)]
        assert lower <= values.min() and values.max() <= upper
        if np.isfinite(upper - lower):
            limited += 1
            assert values.max() - values.min() > 0.9 * (upper - lower)
    assert limited >= 6
    assert lithe.random_configuration(model, 5, size=0).shape == (0, model.nq)


def test_a_generator_gives_new_configurations_each_time() -> None:
    model = lithe.scene("half_cheetah").model
    generator = np.random.default_rng(2)
    first, second = (lithe.random_configuration(model, generator) for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, lithe.random_configuration(model, np.random.default_rng(2)))


def test_rows_are_done_one_by_one() -> None:
    model = lithe.scene("humanoid").model
    q = lithe.random_configuration(model, 4, 6).reshape(2, 3, model.nq)
    delta = np.random.default_rng(4).uniform(-1, 1, (2, 3, model.nv))
    moved = lithe.retract(model, q, delta)
    assert moved.shape == q.shape
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(moved[i], lithe.retract(model, q[i], delta[i]))
        np.testing.assert_array_equal(lithe.difference(model, moved, q)[i], lithe.difference(model, moved[i], q[i]))
    # A single vector goes with every row.
    one_q, one_delta = q[0, 0], delta[0, 0]
    np.testing.assert_array_equal(lithe.retract(model, one_q, delta)[1, 2], lithe.retract(model, one_q, delta[1, 2]))
    np.testing.assert_array_equal(lithe.retract(model, q, one_delta)[1, 2], lithe.retract(model, q[1, 2], one_delta))


def test_anything_that_numpy_takes_is_an_array() -> None:
    model = lithe.scene("cartpole").model
    expected = [1.5, -1.0]
    for q in ([1, -2], (1, -2), np.array([1, -2]), np.array([1, -2], np.float32), np.array([1, 0, -2, 0.0])[::2]):
        assert lithe.retract(model, q, [0.5, 1]).tolist() == expected
    both = np.array([[1, 9], [-2, 9]], dtype=float)  # columns are not contiguous
    assert lithe.retract(model, both[:, 0], [0.5, 1]).tolist() == expected
    assert lithe.retract(model, both.T, [0.5, 1])[0].tolist() == expected


def test_results_own_their_memory() -> None:
    model = lithe.scene("cartpole").model
    first = lithe.neutral_configuration(model)
    first += 1
    assert lithe.neutral_configuration(model).tolist() == [0, 0]


BALL = lithe.scene("rolling_sphere").model
NEUTRAL = lithe.neutral_configuration(BALL)
NAN = np.full(7, np.nan)
ZERO = np.zeros(7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lithe.retract(BALL, NEUTRAL[:6], np.zeros(6)), ["q", "(7,)", "(6,)"]),
        (lambda: lithe.retract(BALL, NEUTRAL, np.zeros(7)), ["delta", "(6,)", "(7,)"]),
        (lambda: lithe.retract(BALL, NAN, np.zeros(6)), ["q[0]", "nan"]),
        (lambda: lithe.retract(BALL, NEUTRAL, NAN[:6]), ["delta[0]", "nan"]),
        (lambda: lithe.retract(BALL, 1.0, np.zeros(6)), ["q", "()"]),
        (lambda: lithe.retract(BALL, [NEUTRAL] * 2, np.zeros((3, 6))), ["q", "(2,)", "delta", "(3,)"]),
        (lambda: lithe.retract(BALL, NEUTRAL, [np.zeros(6), NAN[:6]]), ["delta[1][0]", "nan"]),
        (lambda: lithe.difference(BALL, NEUTRAL, NAN), ["q0", "nan"]),
        (lambda: lithe.difference(BALL, NAN, NEUTRAL), ["q1", "nan"]),
        (lambda: lithe.difference(BALL, NEUTRAL, ZERO), ["q0", "quaternion", "ball.ball"]),
        (lambda: lithe.difference(BALL, [[NEUTRAL, ZERO]], NEUTRAL), ["q1[0, 1]", "quaternion"]),
        (lambda: lithe.interpolate(BALL, NEUTRAL, NEUTRAL[:3], 0.5), ["q1", "(7,)", "(3,)"]),
        (lambda: lithe.interpolate(BALL, NEUTRAL, NEUTRAL, np.nan), ["t ", "nan"]),
        (lambda: lithe.normalized(BALL, ZERO), ["q", "quaternion"]),
        (lambda: lithe.check_configuration(BALL, ZERO), ["q", "quaternion"]),
        (lambda: lithe.retract_derivative_q(BALL, NAN[:6]), ["delta[0]", "nan"]),
        (lambda: lithe.difference_derivative_q0(BALL, np.zeros(7)), ["difference", "(6,)", "(7,)"]),
        (lambda: lithe.random_configuration(BALL, -1), ["seed", "-1"]),
        (lambda: lithe.random_configuration(BALL, 1, -2), ["size", "-2"]),
        (lambda: lithe.retract(BALL, ["a"] * 7, np.zeros(6)), ["q", "numbers"]),
        (lambda: lithe.retract(BALL, NEUTRAL * 1j, np.zeros(6)), ["q", "complex"]),
    ],
)
def test_mistakes_are_value_errors_that_name_the_argument(call: Callable[[], object], words: list[str]) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_seed_that_is_no_number_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="seed"):
        lithe.random_configuration(BALL, "x")  # type: ignore[arg-type]
