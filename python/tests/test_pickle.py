"""Pickling and copying: what comes back has the same bits and steps to the same bits."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lithe
from lithe.world import World


def same(a, b):
    """Whether two packed states are equal down to the last bit."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return type(a) is type(b) and a == b


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def motion(model, q, v, options, targets, steps=20):
    """All the states of some steps, as bytes."""
    record, states = None, b""
    for _ in range(steps):
        record = lithe.step(model, q, v, options=options, targets=targets, guess=record)
        q, v = record.q, record.v
        states += q.tobytes() + v.tobytes() + record.f.tobytes()
    return states


def everything():
    """A model with every kind of part, and with numbers that are not round."""
    third = 1 / 3
    inertia = lithe.SpatialInertia.from_centre(third, [0.1, third, 0.2], np.diag([0.1, 0.2, 0.25]))
    turned = lithe.Pose(R=[[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]], p=[third, 0, 1])
    hull = np.random.default_rng(1).normal(size=(12, 3))
    builder = lithe.ModelBuilder().set_gravity([0.1, 0.2, -third])
    builder.add_body("world", lithe.Body("root", inertia), lithe.free_joint("free"))
    builder.add_body(
        "root",
        lithe.Body("a", inertia, turned),
        lithe.revolute("ja", [1, 2, 3], turned, lower=-third, upper=1, stiffness=2, rest=0.1, damping=third),
    )
    builder.add_body("root", lithe.Body("b", inertia), lithe.prismatic("jb", [0, 1, 0], armature=0.1, dry_friction=0.2))
    screw = lithe.screw("jc", [0, 0, 1], 0.05, effort_limit=3, velocity_limit=4)
    builder.add_body("a", lithe.Body("c", inertia), screw)
    ball = lithe.ball("jd", stiffness=1.5)
    ball.rest_orientation = [0.1, 0.2, 0.3, 0.9]
    builder.add_body("b", lithe.Body("d", inertia), ball)
    builder.add_body("d", lithe.Body("e"))
    for k, geometry in enumerate(
        [
            lithe.Sphere(third),
            lithe.Capsule(0.1, third),
            lithe.Box([0.1, third, 0.2]),
            lithe.Cylinder(0.1, 0.2),
            lithe.ConvexMesh(hull),
        ]
    ):
        material = lithe.Material(0.1 * k, 0.05 * k)
        builder.add_shape("abcde"[k], lithe.Shape(f"s{k}", geometry, turned, material=material, margin=0.01 * k))
    builder.add_shape("world", lithe.Shape("floor", lithe.Plane(), filter=lithe.CollisionFilter(6, 7)))
    builder.add_frame("c", lithe.Frame("tip", turned))
    builder.add_motor("ja", lithe.position_servo("servo", 5, 10, 1)).add_motor("jb", lithe.velocity_motor("motor"))
    builder.add_loop("c", "d", lithe.LoopClosure("loop", "weld", turned, [0, third, 0]))
    builder.add_mimic("jc", "ja", lithe.Mimic("mimic", third, -0.1))
    builder.set_collision("a", "c", False).set_collision("root", "a", True)
    return builder.build()


@pytest.mark.parametrize("name", lithe.scene_names())
def test_a_pickled_scene_steps_with_the_same_bits(name):
    scene = lithe.scene(name)
    back = again(scene)
    assert same(back.__getstate__(), scene.__getstate__())
    assert (back.time_step, back.model.parameter_names()) == (scene.time_step, scene.model.parameter_names())
    steps = [motion(s.model, s.q, s.v, s.time_step, s.motor_targets) for s in [scene, back]]
    assert steps[0] == steps[1]


def test_a_model_with_every_kind_of_part_comes_back_whole():
    model = everything()
    for back in [again(model), copy.copy(model), copy.deepcopy(model), model.copy(), lithe.ModelBuilder(model).build()]:
        assert back is not model
        assert same(back.__getstate__(), model.__getstate__())
        names = model.parameter_names()
        assert back.parameters(names).tobytes() == model.parameters(names).tobytes()
        assert back.pair_exceptions == model.pair_exceptions
    q, v = lithe.random_configuration(model, 3), np.linspace(-1, 1, model.nv)
    assert motion(model, q, v, 1e-3, [0.1, 0.2], 5) == motion(again(model), q, v, 1e-3, [0.1, 0.2], 5)


def test_changed_numbers_are_kept():
    model = lithe.scene("half_cheetah").model
    names = [name for name in model.parameter_names() if name.endswith(("/mass", "/friction", "/damping"))]
    model.set_parameters(names, model.parameters(names) * 1.1)
    model.gravity = [0, 0, -1.625]
    back = again(model)
    assert back.parameters(names).tobytes() == model.parameters(names).tobytes()
    np.testing.assert_array_equal(back.gravity, [0, 0, -1.625])


def test_copies_share_nothing():
    model = lithe.scene("pendulum").model
    name = next(name for name in model.parameter_names() if name.endswith("/mass"))
    mass = model[name]
    for other in [again(model), copy.copy(model), copy.deepcopy(model)]:
        other[name] = 2 * mass
        assert model[name] == mass
    scene = lithe.scene("pendulum")
    for other in [again(scene), copy.copy(scene), copy.deepcopy(scene)]:
        other.model[name] = 2 * mass
        other.q = other.q + 1
        assert scene.model[name] == mass and scene.q[0] != other.q[0]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_that_knows_new_style_classes_works(protocol):
    model = everything()
    assert same(pickle.loads(pickle.dumps(model, protocol)).__getstate__(), model.__getstate__())


def test_a_pickle_can_be_read_by_another_process():
    data = pickle.dumps(everything()).hex()
    program = f"import pickle, lithe; print(pickle.loads(bytes.fromhex('{data}')))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == repr(everything())


def test_step_options_keep_every_member():
    options = lithe.StepOptions(
        0.01,
        correction=0.3,
        max_correction_speed=0.5,
        loop_correction=0.7,
        max_loop_speed=3,
        restitution_threshold=0.05,
        integrator=lithe.Integrator.explicit_position,
        contacts=False,
        threads=3,
    )
    for back in [again(options), copy.copy(options), copy.deepcopy(options)]:
        for name in [
            "time_step",
            "correction",
            "max_correction_speed",
            "loop_correction",
            "max_loop_speed",
            "restitution_threshold",
            "integrator",
            "contacts",
            "threads",
        ]:
            assert getattr(back, name) == getattr(options, name), name


def test_parts_can_be_pickled_by_themselves():
    model = everything()
    for parts in ["bodies", "joints", "shapes", "frames", "motors", "loops", "mimics"]:
        for part in getattr(model, parts):
            for back in [again(part), copy.copy(part), copy.deepcopy(part)]:
                assert same(back.__getstate__(), part.__getstate__()) and repr(back) == repr(part)
    for geometry in [shape.geometry for shape in model.shapes]:
        assert again(geometry) == geometry
    for value in [lithe.JointType.ball, lithe.MotorTarget.position, lithe.LoopKind.weld, lithe.LoadBase.fixed]:
        assert again(value) is value


def test_what_was_loaded_is_kept_with_its_pictures():
    text = """<mujoco model="card"><option timestep="0.004"/><worldbody>
      <body name="cart"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="g" type="box" size="1 2 3" mass="1"/></body>
      </worldbody><actuator><motor name="push" joint="slide" gear="3"/></actuator>
      <keyframe><key name="up" qpos="0.25"/></keyframe><banana/></mujoco>"""
    loaded = lithe.load_text(text, "card.xml")
    assert loaded.visuals and loaded.actuators and loaded.keyframes and loaded.warnings
    for back in [again(loaded), copy.deepcopy(loaded)]:
        assert same(back.__getstate__(), loaded.__getstate__())
        assert (back.name, back.warnings, back.time_step) == (loaded.name, loaded.warnings, loaded.time_step)
        assert back.visuals[0].geometry == loaded.visuals[0].geometry
        assert repr(back.actuators) == repr(loaded.actuators) and repr(back.keyframes) == repr(loaded.keyframes)
        assert same(back.builder.build().__getstate__(), loaded.builder.build().__getstate__())


def test_meshes_are_kept(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    text = """<robot name="r"><link name="base"/><link name="a">
      <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <visual><geometry><mesh filename="part.obj" scale="1 2 3"/></geometry></visual>
      <collision><geometry><mesh filename="part.obj"/></geometry></collision>
      </link><joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint></robot>"""
    loaded = lithe.load_text(text, tmp_path / "robot.urdf")
    back = again(loaded)
    old, new = loaded.visuals[0].geometry, back.visuals[0].geometry
    np.testing.assert_array_equal(new.vertices, old.vertices)
    np.testing.assert_array_equal(new.mesh.triangles, old.mesh.triangles)
    assert (new.file, back.collision_meshes[0].file) == (old.file, old.file)


def test_a_scene_keeps_its_task():
    task = lithe.scene("cartpole").task
    back = again(lithe.scene("cartpole")).task
    assert same(back.__getstate__(), task.__getstate__()) and repr(back.terms) == repr(task.terms)


def test_a_pickled_world_goes_on_from_where_it_was():
    world = World("half_cheetah")
    world.step(steps=10)
    back = again(world)
    assert (back.time, back.record) == (world.time, None)
    assert back.q.tobytes() == world.q.tobytes() and back.v.tobytes() == world.v.tobytes()
    np.testing.assert_allclose(back.step().q, world.step().q, atol=1e-12)
    back.reset()
    world.reset()
    assert back.step().q.tobytes() == world.step().q.tobytes()


def test_records_and_warm_starts_say_that_they_cannot_be_pickled():
    scene = lithe.scene("pendulum")
    record = lithe.step(scene.model, scene.q, scene.v)
    for thing in [record, record.warm_start, lithe.ModelBuilder()]:
        with pytest.raises(TypeError, match=f"cannot pickle.*{type(thing).__name__}"):
            pickle.dumps(thing)


def test_a_pickle_of_another_version_is_refused():
    model = lithe.scene("pendulum").model
    state = model.__getstate__()
    blank = lithe.Model.__new__(lithe.Model)
    with pytest.raises(ValueError, match="another version"):
        blank.__setstate__((state[0] + 1, *state[1:]))
    with pytest.raises(ValueError, match="another version"):
        lithe.Model.__new__(lithe.Model).__setstate__(state[:-1])


def test_a_pickle_with_numbers_that_make_no_model_is_refused():
    model = lithe.scene("pendulum").model
    state = list(model.__getstate__())
    state[1] = np.array([0, 0, np.nan])
    with pytest.raises(lithe.Error, match="gravity"):
        lithe.Model.__new__(lithe.Model).__setstate__(tuple(state))
