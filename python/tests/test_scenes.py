"""Scenes: models with a state to start from, and the tasks that some of them set."""

import numpy as np
import pytest

import lithe


@pytest.mark.parametrize("name", lithe.scene_names())
def test_every_scene_is_complete(name):
    scene = lithe.scene(name)
    model = scene.model
    assert (scene.q.shape, scene.v.shape) == ((model.nq,), (model.nv,))
    assert scene.motor_targets.shape == (len(model.motors),)
    assert scene.time_step > 0 and lithe.scene_description(name)
    lithe.check_configuration(model, scene.q)
    assert lithe.step(model, scene.q, scene.v, options=scene.time_step).status.solved
    assert f"nq={model.nq}" in repr(scene)


def pendulum():
    rod = lithe.Body("rod", lithe.SpatialInertia.point(1, [0, 0, -1]))
    builder = lithe.ModelBuilder().add_body("world", rod, lithe.revolute("hinge", [0, 1, 0]))
    return builder.add_motor("hinge", lithe.position_servo("servo"))


def test_a_scene_of_ones_own():
    model = pendulum().build()
    scene = lithe.Scene(model, [0.5], [1.0], time_step=0.01, motor_targets=[0.25])
    assert (scene.q[0], scene.v[0], scene.time_step, scene.motor_targets[0]) == (0.5, 1, 0.01, 0.25)
    rest = lithe.Scene(model)
    assert (rest.q[0], rest.v[0], rest.motor_targets[0], rest.task) == (0, 0, 0, None)
    scene.set_initial("hinge", 0.75, 2)
    scene.set_target("servo", 3)
    assert (scene.q[0], scene.v[0], scene.motor_targets[0]) == (0.75, 2, 3)
    scene.q, scene.v, scene.motor_targets, scene.time_step = [1], [2], [3], 0.5
    assert (scene.q[0], scene.v[0], scene.motor_targets[0], scene.time_step) == (1, 2, 3, 0.5)
    assert lithe.at_rest(pendulum()).q[0] == 0


def test_a_scene_has_a_model_of_its_own():
    model = pendulum().build()
    scene = lithe.Scene(model)
    scene.model["body/rod/mass"] = 5
    assert model["body/rod/mass"] == 1


def test_what_does_not_fit_a_scene_is_refused():
    scene = lithe.Scene(pendulum().build())
    for name, value in [("q", [1, 2]), ("q", [np.nan]), ("v", []), ("v", [np.inf]), ("motor_targets", [1, 2])]:
        with pytest.raises(ValueError, match=name):
            setattr(scene, name, value)
    for use in [lambda: scene.set_initial("knee", 1), lambda: scene.set_target("motor", 1)]:
        with pytest.raises(lithe.Error, match="hinge|servo"):
            use()
    assert (scene.q[0], scene.v[0]) == (0, 0)


@pytest.mark.parametrize("name", [name for name in lithe.scene_names() if lithe.scene(name).task])
def test_the_loss_of_a_task_has_the_derivatives_that_it_says(name):
    scene = lithe.scene(name)
    task, model = scene.task, scene.model
    assert task.steps > 0 and task.terms and task.description in repr(task)
    rng = np.random.default_rng(4)
    q, v = scene.q + 0.1 * rng.normal(size=model.nq), rng.normal(size=model.nv)
    q = lithe.normalized(model, q)
    loss = lithe.task_loss(task, model, q, v)
    assert float(loss) == loss.value
    h = 1e-6
    for k in range(model.nv):
        e = np.eye(model.nv)[k] * h
        by_q = [lithe.task_loss(task, model, lithe.retract(model, q, s * e), v).value for s in (1, -1)]
        by_v = [lithe.task_loss(task, model, q, v + s * e).value for s in (1, -1)]
        assert loss.by_q[k] == pytest.approx((by_q[0] - by_q[1]) / (2 * h), rel=1e-5, abs=1e-5)
        assert loss.by_v[k] == pytest.approx((by_v[0] - by_v[1]) / (2 * h), rel=1e-5, abs=1e-5)


def test_a_task_of_ones_own():
    scene = lithe.Scene(pendulum().build())
    speed = lithe.TaskTerm("hinge", "velocity", target=1, form="signed_square")
    scene.task = lithe.Task([lithe.TaskTerm("hinge", target=2, weight=3), speed], 100, description="swing")
    loss = lithe.task_loss(scene.task, scene.model, [1.0], [3.0])
    assert (loss.value, loss.by_q[0], loss.by_v[0]) == (3 + 4, -6, 4)
    assert [term.of for term in scene.task.terms] == ["position", "velocity"]
    assert (scene.task.steps, scene.task.terms[1].form) == (100, lithe.TaskForm.signed_square)
    scene.task = None
    assert scene.task is None
    with pytest.raises(ValueError, match="of: expected one of 'position', 'velocity', got 'speed'"):
        lithe.TaskTerm("hinge", "speed")
    with pytest.raises(lithe.Error, match="hinge"):
        lithe.task_loss(lithe.Task([lithe.TaskTerm("hing")], 1), scene.model, [0], [0])
