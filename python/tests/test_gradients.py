"""Derivatives of steps: finite differences have the last word."""

import pickle

import numpy as np
import pytest

import lithe

SCENES = ["cartpole", "half_cheetah", "jump_worm", "catapult", "humanoid", "stack:2", "gripper", "four_bar"]


def settled(name, steps=30):
    """A state with contacts, a little off rest."""
    scene = lithe.scene(name)
    rng = np.random.default_rng(7)
    q, v, record = scene.q, scene.v + 1e-2 * rng.normal(size=scene.model.nv), None
    for _ in range(steps):
        record = lithe.step(scene.model, q, v, options=scene.time_step, targets=scene.motor_targets, guess=record)
        q, v = np.array(record.q), np.array(record.v)
    tau = 0.1 * rng.normal(size=scene.model.nv)
    return scene, lithe.step(
        scene.model, q, v, tau, options=scene.time_step, targets=scene.motor_targets, guess=record
    )


@pytest.mark.parametrize("name", SCENES)
def test_jacobians_agree_with_differences(name):
    scene, record = settled(name)
    exact = lithe.GradientOptions.exact()
    J = lithe.step_jacobians(scene.model, record, options=exact)
    D = lithe.step_differences(scene.model, record, ridders=True)
    if J.report.one_sided:
        pytest.fail(f"{name}: tied where it should not be; choose another state")
    for block in ("dqnext_dq", "dqnext_dv", "dqnext_dtau", "dvnext_dq", "dvnext_dv", "dvnext_dtau"):
        analytic, numeric = getattr(J, block), getattr(D, block)
        assert analytic.shape == (scene.model.nv, scene.model.nv)
        assert np.abs(analytic - numeric).max() <= 1e-6 * max(1e-2, np.abs(numeric).max()), block


@pytest.mark.parametrize("name", SCENES)
def test_products_agree_with_jacobians(name):
    scene, record = settled(name)
    model, nv = scene.model, scene.model.nv
    names = ["gravity/z", "time_step"] + [n for n in model.parameter_names() if n.endswith("/mass")][:1]
    J = lithe.step_jacobians(model, record, impulses=True, parameters=names)
    rng = np.random.default_rng(3)
    lq, lv, lf = rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=len(record.f))
    vjp = lithe.step_vjp(model, record, lq, lv, lf, parameters=names)
    scale = 1 + max(np.abs(b).max() for b in (J.dvnext_dq, J.df_dq, J.df_dp, J.dvnext_dp) if b.size)
    assert np.abs(vjp.q - (J.dqnext_dq.T @ lq + J.dvnext_dq.T @ lv + J.df_dq.T @ lf)).max() < 1e-9 * scale
    assert np.abs(vjp.tau - (J.dqnext_dtau.T @ lq + J.dvnext_dtau.T @ lv + J.df_dtau.T @ lf)).max() < 1e-9 * scale
    assert np.abs(vjp.parameters - (J.dqnext_dp.T @ lq + J.dvnext_dp.T @ lv + J.df_dp.T @ lf)).max() < 1e-8 * scale
    x, y, z, p = rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=len(names))
    jvp = lithe.step_jvp(model, record, x, y, z, parameters=names, by_parameters=p)
    expected = J.dvnext_dq @ x + J.dvnext_dv @ y + J.dvnext_dtau @ z + J.dvnext_dp @ p
    assert np.abs(jvp.v - expected).max() < 1e-8 * scale
    assert jvp.f.shape == record.f.shape


def test_the_same_parameters_by_object_and_by_names():
    scene, record = settled("half_cheetah")
    parameters = lithe.StepParameters(scene.model, ["gravity/z"])
    assert len(parameters) == 1 and parameters.names == ["gravity/z"]
    a = lithe.step_vjp(scene.model, record, v=np.ones(9), parameters=parameters)
    b = lithe.step_vjp(scene.model, record, v=np.ones(9), parameters=["gravity/z"])
    assert np.array_equal(a.parameters, b.parameters)
    with pytest.raises(TypeError, match="list of names"):
        lithe.step_vjp(scene.model, record, v=np.ones(9), parameters="gravity/z")
    with pytest.raises(ValueError, match="gravity"):
        lithe.step_vjp(scene.model, record, v=np.ones(9), parameters=["gravity/w"])


def test_gradcheck_reports_every_block():
    scene, record = settled("half_cheetah")
    result = lithe.gradcheck(
        scene.model, record.q_before, record.v_before, record.tau, options=scene.time_step, parameters=["gravity/z"]
    )
    assert result.max_error < 1e-6 and result.vjp_error < 1e-10 and result.jvp_error < 1e-10
    assert {"dqnext_dq", "dvnext_dtau", "df_dq"} <= set(result.errors)
    assert "largest error" in repr(result)


def test_a_drone_at_rest_is_a_saddle_that_aware_gradients_leave():
    scene = lithe.scene("drone")
    record = lithe.step(scene.model, scene.q, scene.v, options=scene.time_step)
    loss = -np.ones(scene.model.nv)
    plain = lithe.step_vjp(scene.model, record, v=loss)
    aware = lithe.step_vjp(scene.model, record, v=loss, options=lithe.GradientOptions(complementarity_aware=True))
    assert np.abs(plain.tau).max() < 1e-12
    assert np.abs(aware.tau).max() > 1e-6
    assert aware.report.mode == "complementarity_aware" and aware.report.relabelled_rows > 0
    assert plain.report.mode == "exact"


def test_options_can_be_pickled():
    options = lithe.GradientOptions(bounce=lithe.Bounce.paper, complementarity_aware=True)
    again = pickle.loads(pickle.dumps(options))
    assert again.bounce == lithe.Bounce.paper and again.complementarity_aware
    assert repr(again) == repr(options)


def test_a_record_of_another_model_is_refused():
    record = lithe.step(lithe.scene("cartpole").model, [0, 0], [0, 0])
    with pytest.raises(ValueError, match="record: of a step with nq=2"):
        lithe.step_jacobians(lithe.scene("half_cheetah").model, record)


def test_gradients_by_motor_targets_and_wrenches():
    """A wrench acts as the forces that it causes; a target is the parameter of its name."""
    scene, record = settled("four_bar")
    model = scene.model
    by_v = np.linspace(-1, 1, model.nv)
    plain = lithe.step_vjp(model, record, v=by_v)
    assert plain.motor_targets.shape == (0,) and plain.wrenches.shape == (0, 6)
    targets = [name for name in lithe.step_parameter_names(model) if name.endswith("/target")]
    assert targets
    vjp = lithe.step_vjp(model, record, v=by_v, parameters=[*targets, "time_step"], motor_targets=True, wrenches=True)
    assert vjp.parameters.shape == (len(targets) + 1,)
    assert np.array_equal(vjp.motor_targets, vjp.parameters[: len(targets)])
    assert np.abs(vjp.motor_targets).max() > 0
    assert vjp.wrenches.shape == (len(model.bodies), 6)
    assert np.all(vjp.wrenches[0] == 0)

    start = lithe.step(model, scene.q, scene.v, options=scene.time_step, targets=scene.motor_targets)
    of_start = lithe.step_vjp(model, start, v=by_v, wrenches=True)
    for body in range(1, len(model.bodies)):
        jacobian = lithe.body_jacobian(model, scene.q, body)
        assert np.allclose(of_start.wrenches[body], jacobian @ of_start.tau, rtol=1e-12, atol=1e-15)


def test_options_that_cannot_be_honoured_are_refused():
    scene, record = settled("stack:2")
    aware = lithe.GradientOptions(complementarity_aware=True)
    with pytest.raises(ValueError, match="loss"):
        lithe.step_jacobians(scene.model, record, options=aware)
    with pytest.raises(ValueError, match="loss"):
        lithe.step_jvp(scene.model, record, v=np.ones(scene.model.nv), options=aware)
    # Who knows the loss is not refused.
    assert lithe.step_vjp(scene.model, record, v=np.ones(scene.model.nv), options=aware).report.mode in {
        "exact",
        "complementarity_aware",
    }
