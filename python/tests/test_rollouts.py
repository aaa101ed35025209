"""Rollouts and batches: the same bits as one step at a time, and gradients that differences confirm."""

import os
import signal
import threading

import numpy as np
import pytest

import lithe


def start(name="half_cheetah", seed=5):
    scene = lithe.scene(name)
    rng = np.random.default_rng(seed)
    return scene, scene.q, scene.v + 0.1 * rng.normal(size=scene.model.nv), rng


def test_a_rollout_is_its_steps():
    scene, q, v, rng = start()
    tau = rng.normal(size=(25, 9))
    rollout = lithe.rollout(scene.model, q, v, tau, options=scene.time_step)
    assert rollout.q.shape == (26, 9) and len(rollout) == 25 and rollout.diverged_at == -1
    record = None
    for t in range(25):
        assert np.array_equal(rollout.q[t], q) and np.array_equal(rollout.v[t], v)
        record = lithe.step(scene.model, q, v, tau[t], options=scene.time_step, guess=record)
        q, v = np.array(record.q), np.array(record.v)
    assert np.array_equal(rollout.q[-1], q)
    assert len(rollout.status) == 25


@pytest.mark.parametrize("tape", ["checkpoints", "records"])
def test_gradients_of_rollouts_agree_with_differences(tape):
    scene, q, v, rng = start("jump_worm")
    model, nv, T = scene.model, scene.model.nv, 12
    tau = rng.normal(size=(T, nv))
    weights = rng.normal(size=(T + 1, nv))
    names = ["gravity/z"]

    def loss(q0, v0, forces, g=None):
        m = model
        if g is not None:
            m = model.copy()
            m["gravity/z"] = g
        r = lithe.rollout(m, q0, v0, forces, options=1e-3)
        return float((weights * r.v).sum())

    rollout = lithe.rollout(
        model, q, v, tau, options=1e-3, tape=tape, parameters=names, gradient=lithe.GradientOptions.exact()
    )
    gradient = lithe.rollout_vjp(model, rollout, v=weights)
    assert gradient.report.steps == T and gradient.report.is_exact
    h = 1e-6
    for k in range(nv):
        d = np.zeros(nv)
        d[k] = h
        numeric = (loss(q, v + d, tau) - loss(q, v - d, tau)) / (2 * h)
        assert gradient.v[k] == pytest.approx(numeric, rel=1e-5, abs=1e-6)
        forces = np.zeros((T, nv))
        forces[3, k] = h
        numeric = (loss(q, v, tau + forces) - loss(q, v, tau - forces)) / (2 * h)
        assert gradient.tau[3, k] == pytest.approx(numeric, rel=1e-4, abs=1e-7)
    numeric = (loss(q, v, tau, -9.81 + h) - loss(q, v, tau, -9.81 - h)) / (2 * h)
    assert gradient.parameters[0] == pytest.approx(numeric, rel=1e-4, abs=1e-7)


def test_without_a_tape_there_is_no_gradient():
    scene, q, v, _ = start()
    rollout = lithe.rollout(scene.model, q, v, steps=3, tape="none")
    with pytest.raises(ValueError, match="tape|Tape"):
        lithe.rollout_vjp(scene.model, rollout, v=np.ones((4, 9)))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_batch_has_the_bits_of_single_steps(threads):
    scene, q, v, rng = start()
    model, B = scene.model, 7
    Q, V, U = np.tile(q, (B, 1)), v + 0.3 * rng.normal(size=(B, 9)), rng.normal(size=(B, 9))
    loss = rng.normal(size=(B, 9))
    batch = lithe.StepBatch(model, B, threads=threads)
    batch.step(Q, V, U, options=scene.time_step)
    gradient = batch.vjp(v=loss)
    blocks = batch.jacobians()
    tangent = batch.jvp(v=loss)
    for i in range(B):
        record = lithe.step(model, Q[i], V[i], U[i], options=scene.time_step)
        assert np.array_equal(batch.q[i], record.q) and np.array_equal(batch.v[i], record.v)
        assert np.array_equal(gradient.q[i], lithe.step_vjp(model, record, v=loss[i]).q)
        assert np.array_equal(blocks.dvnext_dq[i], lithe.step_jacobians(model, record).dvnext_dq)
        assert np.array_equal(tangent.v[i], lithe.step_jvp(model, record, v=loss[i]).v)
        assert batch.contacts[i] == record.status.contacts == batch.status(i).contacts
    assert len(batch) == B and gradient.reports[0].mode == "exact"


def test_worlds_of_a_batch_may_have_numbers_of_their_own():
    scene, q, v, rng = start()
    model, B = scene.model, 4
    names = ["gravity/z", next(n for n in model.parameter_names() if n.endswith("/friction")), "time_step"]
    values = np.column_stack([-9.81 + rng.normal(size=B), 0.3 + 0.1 * rng.random(B), 1e-3 * (1 + rng.random(B))])
    batch = lithe.StepBatch(model, B)
    for shift in (0.0, 0.01):  # a second time: other numbers, the same worlds
        batch.step(np.tile(q, (B, 1)), np.tile(v, (B, 1)), parameters=names, values=values + shift * values)
        gradient = batch.vjp(v=np.ones((B, 9)))
        for i in range(B):
            own = model.copy()
            own.set_parameters(names[:2], (values + shift * values)[i, :2])
            record = lithe.step(own, q, v, options=(values + shift * values)[i, 2])
            assert np.array_equal(batch.v[i], record.v)
            single = lithe.step_vjp(own, record, v=np.ones(9), parameters=names)
            assert np.array_equal(gradient.parameters[i], single.parameters)


def test_a_refused_number_leaves_no_world_with_the_wrong_ones():
    scene, q, v, _ = start()
    model, names = scene.model, ["gravity/z", next(n for n in scene.model.parameter_names() if n.endswith("/friction"))]
    batch = lithe.StepBatch(model, 3)
    good = np.array([[-9.0, 0.5], [-9.5, 0.5], [-10.0, 0.5]])
    batch.step(q, v, parameters=names, values=good)
    bad = good + [-1.0, 0.0]
    bad[1, 1] = -1  # no friction is below zero
    with pytest.raises(ValueError, match="world 1: .*friction"):
        batch.step(q, v, parameters=names, values=bad)
    later = bad.copy()
    later[1, 1] = 0.5  # world 2 is asked for what it was refused with
    batch.step(q, v, parameters=names, values=later)
    for i in range(3):
        own = model.copy()
        own.set_parameters(names, later[i])
        assert np.array_equal(batch.v[i], lithe.step(own, q, v).v)


def test_forces_on_bodies_and_their_gradient():
    scene, q, v, rng = start("jump_worm")
    model = scene.model
    nb, nv = len(model.body_names), model.nv
    # Down on the ground first.
    record = None
    for _ in range(400):
        record = lithe.step(model, q, v, options=1e-3, guess=record)
        q, v = np.array(record.q), np.array(record.v)
    batch = lithe.StepBatch(model, 1)
    tau = 0.1 * rng.normal(size=nv)
    weights = rng.normal(size=(1, nb))

    def total(forces):
        other = lithe.StepBatch(model, 1)
        other.step(q[None], v[None], forces[None], options=1e-3)
        return float((weights * other.body_forces).sum())

    batch.step(q[None], v[None], tau[None], options=1e-3)
    assert batch.body_forces.shape == (1, nb) and batch.body_forces.max() > 1
    gradient = batch.vjp(body_forces=weights, options=lithe.GradientOptions.exact())
    h = 1e-5
    for k in range(nv):
        d = np.zeros(nv)
        d[k] = h
        numeric = (total(tau + d) - total(tau - d)) / (2 * h)
        assert gradient.tau[0, k] == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_batches_of_rollouts():
    scene, q, v, rng = start()
    model, B, T = scene.model, 3, 10
    Q, V, U = np.tile(q, (B, 1)), v + 0.1 * rng.normal(size=(B, 9)), rng.normal(size=(B, T, 9))
    names = ["gravity/z"]
    values = np.array([[-9.0], [-9.81], [-10.0]])
    loss = rng.normal(size=(B, T + 1, 9))
    batch = lithe.rollout_batch(model, Q, V, U, options=2e-3, parameters=names, values=values, threads=2)
    gradient = batch.vjp(v=loss)
    assert batch.q.shape == (B, T + 1, 9) and gradient.tau.shape == (B, T, 9)
    for i in range(B):
        own = model.copy()
        own["gravity/z"] = values[i, 0]
        single = lithe.rollout(own, Q[i], V[i], U[i], options=2e-3, parameters=names)
        assert np.array_equal(batch.v[i], single.v)
        expected = lithe.rollout_vjp(own, single, v=loss[i])
        assert np.array_equal(gradient.tau[i], expected.tau)
        assert np.array_equal(gradient.parameters[i], expected.parameters)


def test_a_batch_in_one_call():
    scene, q, v, rng = start()
    tau = rng.normal(size=(3, 9))
    worlds = lithe.batch.step(scene.model, q, v, tau, options=scene.time_step)
    assert len(worlds) == 3
    for i in range(3):
        assert np.array_equal(worlds.v[i], lithe.step(scene.model, q, v, tau[i], options=scene.time_step).v)
    motions = lithe.batch.rollout(scene.model, np.tile(q, (2, 1)), np.tile(v, (2, 1)), steps=4)
    assert motions.q.shape == (2, 5, 9)
    with pytest.raises(ValueError, match=r"\(worlds, nq\)"):
        lithe.batch.step(scene.model, q, v)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda b: b.step(np.zeros((2, 9)), np.zeros((3, 9))), r"q: expected shape \(3, 9\), or \(9,\) for all, got \(2, 9\)"),
        (lambda b: b.step(np.full((3, 9), np.nan), np.zeros((3, 9))), "world 0: q"),
        (lambda b: b.vjp(v=np.zeros((3, 9))), "call step"),
        (lambda b: b.step(np.zeros(9), np.zeros(9), parameters=["gravity/z"], values=np.zeros((3, 2))), "values: expected shape"),
        (lambda b: lithe.StepBatch(lithe.scene("cartpole").model, 0), "give 1 or more"),
    ],
)
def test_bad_batches_say_what_is_wrong(call, text):
    with pytest.raises(ValueError, match=text):
        call(lithe.StepBatch(lithe.scene("half_cheetah").model, 3))


def test_many_threads_step_one_model():
    scene, q, v, _ = start()
    expected = np.array(lithe.rollout(scene.model, q, v, steps=50, options=1e-3).q)
    results = {}

    def work(i):
        results[i] = np.array(lithe.rollout(scene.model, q, v, steps=50, options=1e-3).q)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(np.array_equal(r, expected) for r in results.values())


def test_a_batch_works_on_in_a_forked_child():
    scene, q, v, _ = start()
    batch = lithe.StepBatch(scene.model, 4, threads=3)
    batch.step(q, v)
    expected = batch.v
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # rather than hang
        batch.step(q, v)
        os._exit(0 if np.array_equal(batch.v, expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    batch.step(q, v)
    assert np.array_equal(batch.v, expected)


def test_a_record_of_another_size_cannot_be_used_again():
    record = lithe.step(lithe.scene("cartpole").model, [0, 0], [0, 0])
    scene = lithe.scene("half_cheetah")
    with pytest.raises(ValueError, match="record: of a step with nq=2"):
        lithe.step(scene.model, scene.q, scene.v, record=record)
