"""Steps: results, records and what a person sees of them."""

import numpy as np
import pytest

import lithe


def test_a_pendulum_swings_with_its_period():
    scene = lithe.scene("pendulum")
    q, v = np.array(scene.q), np.array(scene.v)
    q[:] = 0.01
    options = lithe.StepOptions(1e-4)
    crossings = []
    for k in range(40000):
        record = lithe.step(scene.model, q, v, options=options)
        if q[0] > 0 >= record.q[0] and v[0] < 0:
            crossings.append((k + q[0] / (q[0] - record.q[0])) * 1e-4)
        q, v = np.array(record.q), np.array(record.v)
    assert len(crossings) >= 2
    # The period of a small swing from the linearised equation: 2π/√(−da/dq).
    stiffness = -lithe.step_jacobians(scene.model, lithe.step(scene.model, [0.0], [0.0], options=options)).dvnext_dq[0, 0]
    period = 2 * np.pi / np.sqrt(stiffness / 1e-4)
    assert np.diff(crossings) == pytest.approx(period, rel=1e-3)


def test_a_box_at_rest_is_carried():
    scene = lithe.scene("stack:1")
    model, weight = scene.model, 9.81 * scene.model.total_mass
    record = None
    q, v = scene.q, scene.v
    for _ in range(300):
        record = lithe.step(model, q, v, options=scene.time_step, guess=record)
        q, v = record.q, record.v
    force = sum(c.impulse for c in record.contacts) / scene.time_step
    names = model.shape_names
    carried = sum(c.impulse * (1 if names[c.shape_a] != "ground" else -1) for c in record.contacts) / scene.time_step
    assert abs(carried[2]) == pytest.approx(weight, rel=1e-6)
    assert np.linalg.norm(force) == pytest.approx(weight, rel=1e-6)
    assert record.status.solved and record.status.contacts == len(record.contacts) > 0
    assert np.abs(record.v).max() < 1e-9


def test_a_record_can_be_used_again():
    scene = lithe.scene("half_cheetah")
    record = lithe.step(scene.model, scene.q, scene.v)
    first = record.q
    before = np.array(first)
    again = lithe.step(scene.model, scene.q, scene.v + 1, record=record)
    assert again is record
    assert not np.array_equal(first, before), "the view shows the new step"
    fresh = lithe.step(scene.model, scene.q, scene.v + 1)
    assert np.array_equal(fresh.q, record.q) and np.array_equal(fresh.f, record.f)


def test_arrays_of_a_record_are_read_only_and_keep_it_alive():
    scene = lithe.scene("half_cheetah")
    q = lithe.step(scene.model, scene.q, scene.v).q
    copy = np.array(q)
    for _ in range(20):
        lithe.step(scene.model, scene.q, scene.v + 3)
    assert np.array_equal(q, copy)
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1


def test_a_guess_changes_no_result():
    scene = lithe.scene("humanoid")
    first = lithe.step(scene.model, scene.q, scene.v, options=scene.time_step)
    cold = lithe.step(scene.model, first.q, first.v, options=scene.time_step)
    warm = lithe.step(scene.model, first.q, first.v, options=scene.time_step, guess=first)
    by_warm_start = lithe.step(scene.model, first.q, first.v, options=scene.time_step, guess=first.warm_start)
    assert np.allclose(cold.v, warm.v, rtol=0, atol=1e-9)
    assert np.array_equal(warm.v, by_warm_start.v)


def test_wrenches_push_bodies():
    scene = lithe.scene("drone")
    model = scene.model
    body = model.body_names[1]
    lift = [0, 0, 0, 0, 0, 2 * 9.81 * model.total_mass]
    still = lithe.step(model, scene.q, scene.v, options=1e-3)
    lifted = lithe.step(model, scene.q, scene.v, options=1e-3, wrenches={body: lift})
    assert np.abs(still.v).max() < 1e-9
    assert lifted.v.max() == pytest.approx(9.81e-3, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"options": "fast"}, TypeError, "options: expected a StepOptions or a time step"),
        ({"options": -1.0}, ValueError, "time step is -1 s"),
        ({"wrenches": [1]}, TypeError, "wrenches: expected a dict"),
        ({"wrenches": {"nobody": np.zeros(6)}}, ValueError, "nobody"),
        ({"wrenches": {"torso": np.zeros(5)}}, ValueError, r"expected shape \(6,\)"),
        ({"targets": [1.0]}, ValueError, r"targets: expected shape \(0,\), got \(1,\)"),
        ({"tau": [1.0]}, ValueError, r"tau: expected shape \(9,\), got \(1,\)"),
        ({"guess": 3}, TypeError, "guess: expected a StepRecord or a WarmStart"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, text):
    scene = lithe.scene("half_cheetah")
    with pytest.raises(error, match=text):
        lithe.step(scene.model, scene.q, scene.v, **arguments)


def test_help_says_how_to_use_it():
    text = lithe.step.__doc__
    for word in ("q (nq,)", "tau (nv,)", "seconds", "record.contacts"):
        assert word in text
