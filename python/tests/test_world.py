"""World: a model in motion, with its time, warm start and motor targets."""

import math

import numpy as np
import pytest

import lithe
from lithe.world import Trajectory, World

ARM = """<robot name="arm"><link name="base"/><link name="upper">
  <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  </robot>"""


@pytest.mark.parametrize("name", lithe.scene_names())
def test_a_world_steps_like_step_with_warm_starts(name):
    scene = lithe.scene(name)
    targets = scene.motor_targets if len(scene.model.motors) else None
    world = World(scene)
    q, v, record = scene.q, scene.v, None
    for k in range(10):
        record = lithe.step(scene.model, q, v, options=scene.time_step, targets=targets, guess=record)
        q, v = record.q, record.v
        result = world.step()
        assert result is world.record
        assert world.q.tobytes() == q.tobytes() and world.v.tobytes() == v.tobytes()
        assert world.time == pytest.approx((k + 1) * scene.time_step)
    assert world.status.contacts == record.status.contacts == len(world.contacts)


def test_several_steps_at_once_are_the_same_steps():
    one, many = World("half_cheetah"), World("half_cheetah")
    tau = np.linspace(-1, 1, 9)
    for _ in range(7):
        one.step(tau)
    record = many.step(tau, steps=7)
    assert one.q.tobytes() == many.q.tobytes() == record.q.tobytes()
    assert one.time == many.time


def test_sources_are_models_scenes_files_and_names(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    scene = lithe.scene("cartpole")
    assert World(scene).model is scene.model
    assert World(scene.model).options.time_step == 1e-3
    assert World(scene).options.time_step == World("cartpole").options.time_step == scene.time_step
    np.testing.assert_array_equal(World(scene.model).q, lithe.neutral_configuration(scene.model))
    for source in [lithe.load(file), file, str(file)]:
        assert World(source).model.joint_names == ["shoulder"]
    assert World("stack:3").model.nv == 18
    with pytest.raises(lithe.Error, match="cartpole"):
        World("cartpol")
    with pytest.raises(FileNotFoundError):
        World("nothing.urdf")
    for wrong in [3, None, ["cartpole"]]:
        with pytest.raises(TypeError, match="source"):
            World(wrong)


def test_options_are_step_options_or_a_time_step():
    world = World("pendulum", options=0.01)
    assert world.options.time_step == 0.01
    world.options = lithe.StepOptions(0.02, contacts=False)
    assert world.options.time_step == 0.02 and not world.options.contacts
    world.step()
    assert world.time == 0.02
    for wrong in [0, -1, math.nan]:
        with pytest.raises(ValueError, match="time step"):
            world.options = wrong


def test_states_that_are_set_are_checked_and_leave_the_world_as_it_was_when_refused():
    world = World("tumbling_body")
    before = (world.q.tobytes(), world.v.tobytes())
    nq, nv = world.model.nq, world.model.nv
    for name, value in [
        ("q", np.zeros(nq - 1)),
        ("q", np.zeros(nq)),  # a zero quaternion
        ("q", np.full(nq, np.nan)),
        ("q", np.zeros((1, nq))),
        ("q", ["a"] * nq),
        ("v", np.zeros(nv + 1)),
        ("v", np.full(nv, np.inf)),
        ("v", np.zeros(nv, complex)),
    ]:
        with pytest.raises(ValueError, match=name):
            setattr(world, name, value)
    with pytest.raises(ValueError, match="v: expected shape"):
        world.set_state(world.q + 0, [0])
    assert before == (world.q.tobytes(), world.v.tobytes())


def test_a_state_that_is_set_is_normalised_and_copied():
    world = World("tumbling_body")
    q = np.array(world.q)
    q[-4:] *= 2
    world.q = q
    q[:] = 7
    assert np.linalg.norm(world.q[-4:]) == pytest.approx(1)
    for array in [world.q, world.v]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_state_of_a_step_stays_when_the_world_goes_on():
    world = World("half_cheetah")
    record = world.step()
    q, kept = world.q, world.q.copy()
    world.step(steps=50)
    np.testing.assert_array_equal(q, kept)
    np.testing.assert_array_equal(record.q, kept)
    assert not np.array_equal(world.q, kept)


def test_reset_returns_to_the_start():
    world = World("half_cheetah")
    first = world.step(steps=20).q.copy()
    world.reset()
    assert (world.time, world.record, world.status, world.contacts) == (0, None, None, [])
    assert world.step(steps=20).q.tobytes() == first.tobytes()


def test_simulate_gives_the_whole_motion():
    world = World("cartpole")
    h = world.options.time_step
    motion = world.simulate(20 * h, lambda w: [math.sin(w.time), 0])
    assert isinstance(motion, Trajectory)
    assert (motion.times.shape, motion.q.shape, motion.v.shape, motion.tau.shape) == ((21,), (21, 2), (21, 2), (20, 2))
    np.testing.assert_allclose(motion.times, h * np.arange(21), atol=1e-12)
    np.testing.assert_allclose(motion.tau[:, 0], np.sin(motion.times[:-1]))
    assert motion.q[-1].tobytes() == world.q.tobytes()
    again = World("cartpole")
    for k in range(20):
        again.step(motion.tau[k])
        assert again.q.tobytes() == motion.q[k + 1].tobytes()


@pytest.mark.parametrize(("seconds", "steps"), [(0, 0), (0.001, 1), (0.0101, 2), (0.1, 10), (0.3, 30), (1.0, 100)])
def test_simulate_takes_as_many_steps_as_the_time_needs(seconds, steps):
    motion = World("pendulum", options=0.01).simulate(seconds)
    assert len(motion.times) == steps + 1
    assert motion.times[-1] >= seconds - 1e-12


def test_motor_targets_come_from_the_scene_and_can_be_changed():
    rod = lithe.Body("rod", lithe.SpatialInertia.point(1, [0, 0, -1]))
    model = (
        lithe.ModelBuilder()
        .set_gravity([0, 0, 0])
        .add_body("world", rod, lithe.revolute("hinge", [0, 1, 0]))
        .add_motor("hinge", lithe.velocity_motor("motor"))
        .build()
    )
    world = World(lithe.Scene(model, motor_targets=[2.0]))
    np.testing.assert_array_equal(world.targets, [2])
    world.step()
    assert world.v[0] == pytest.approx(2)
    world.step(targets=[3.0])
    assert world.v[0] == pytest.approx(3)
    world.step()
    assert world.v[0] == pytest.approx(2)
    world.targets = None  # off: it goes on by itself
    world.step(tau=[1.0])
    assert world.v[0] == pytest.approx(2 + world.options.time_step)
    world.reset()
    np.testing.assert_array_equal(world.targets, [2])
    with pytest.raises(ValueError, match=r"targets: expected shape \(1,\)"):
        world.targets = [1, 2]
    assert World(model).targets is None


def test_wrenches_push_bodies():
    model = lithe.ModelBuilder().add_body(
        "world", lithe.Body("ball", lithe.SpatialInertia.sphere(2, 0.1)), lithe.translational("t")
    )
    world = World(model.set_gravity([0, 0, 0]).build(), options=0.01)
    world.step(wrenches={"ball": [0, 0, 0, 4, 0, 0]})
    np.testing.assert_allclose(world.v, [0.02, 0, 0])
    with pytest.raises(lithe.Error, match="bal"):
        world.step(wrenches={"bal": np.zeros(6)})


def test_the_energy_of_a_swinging_pendulum_with_a_spring_is_nearly_kept():
    rod = lithe.Body("rod", lithe.SpatialInertia.box(1.5, [0.1, 0.1, 1]))
    arm = lithe.Body("arm", lithe.SpatialInertia.box(0.5, [0.1, 0.2, 0.5]))
    model = (
        lithe.ModelBuilder()
        .add_body("world", rod, lithe.revolute("hinge", [0, 1, 0], stiffness=3, rest=0.5))
        .add_body("rod", arm, lithe.ball("ball", [0, 0, -1], stiffness=2))
        .build()
    )
    world = World(model, options=1e-4)
    world.set_state([1, 0, 0, 0, 1], [0, 0.5, 1, 2])
    energy, parts = world.energy, []
    for _ in range(20):
        world.step(steps=100)
        assert world.energy == pytest.approx(energy, abs=2e-3)
        parts.append(world.kinetic_energy)
    assert max(parts) - min(parts) > 0.5


def test_potential_energy_is_gravitys_and_the_springs():
    rod = lithe.Body("rod", lithe.SpatialInertia.point(2, [0, 0, -1]))
    hinge = lithe.revolute("hinge", [0, 1, 0], stiffness=3, rest=0.25)
    world = World(lithe.ModelBuilder().add_body("world", rod, hinge).build())
    world.q = [1.0]
    assert world.potential_energy == pytest.approx(-2 * 9.81 * math.cos(1) + 3 * 0.75**2 / 2)


def test_time_can_be_set():
    world = World("pendulum")
    world.time = 5
    world.step()
    assert world.time == 5 + world.options.time_step
    with pytest.raises(ValueError, match="time is nan"):
        world.time = math.nan


@pytest.mark.parametrize("steps", [0, -1])
def test_a_step_is_at_least_one(steps):
    with pytest.raises(ValueError, match="steps"):
        World("pendulum").step(steps=steps)


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf])
def test_a_time_to_simulate_is_finite_and_not_negative(seconds):
    with pytest.raises(ValueError, match="seconds"):
        World("pendulum").simulate(seconds)


def test_an_error_of_a_controller_comes_through():
    def broken(world):
        raise KeyError("no idea")

    with pytest.raises(KeyError, match="no idea"):
        World("pendulum").simulate(0.1, broken)


def test_a_world_says_what_it_is():
    world = World("half_cheetah")
    world.step(steps=10)
    text = repr(world)
    assert "nq=9" in text and "0.02 s" in text and f"{len(world.contacts)} contacts" in text
