"""A robot file, or what load() gives, wherever a scene's name can stand."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import lithe
from lithe import Scene, World

CUBE = """<robot name="cube"><link name="body">
<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual name="paint"><geometry><box size="0.2 0.4 0.6"/></geometry></visual>
<collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision></link>
<link name="flap"><inertial><origin xyz="0 0 0.2"/><mass value="0.1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="body"/><child link="flap"/><axis xyz="0 1 0"/><origin xyz="0 0 0.3"/>
<limit lower="-1" upper="1" effort="5" velocity="10"/></joint></robot>"""

HOPPER = """<mujoco model="hopper"><option timestep="0.002"/><worldbody>
<body name="trunk" pos="0 0 1"><freejoint name="root"/><geom type="sphere" size="0.1" mass="1"/>
<body name="leg"><joint name="knee" type="slide" axis="0 0 1" range="-1 1"/>
<geom type="sphere" size="0.05" pos="0 0 -0.5" mass="1"/></body></body></worldbody>
<actuator><position name="servo" joint="knee" kp="100"/></actuator>
<keyframe><key name="low" qpos="0 0 2 1 0 0 0 -0.25" qvel="0 0 0 0 0 0 0.5" ctrl="0.125"/>
<key name="high" qpos="0 0 3 1 0 0 0 0.25"/></keyframe></mujoco>"""


@pytest.fixture
def cube(tmp_path):
    (tmp_path / "cube.urdf").write_text(CUBE)
    return tmp_path / "cube.urdf"


@pytest.fixture
def hopper(tmp_path):
    (tmp_path / "hopper.xml").write_text(HOPPER)
    return tmp_path / "hopper.xml"


def height(world):
    """Of the ground, or None."""
    grounds = [shape for shape in world.model.shapes if shape.name == "ground"]
    return grounds[0].placement.p[2] if grounds else None


@pytest.mark.parametrize("open_it", [str, Path, lithe.load, Scene, lithe.scene, lambda f: Scene(lithe.load(f))])
def test_it_stands_on_a_ground(cube, open_it):
    world = World(open_it(cube))
    assert height(world) == pytest.approx(-0.3)
    world.step(steps=500)
    assert world.status.solved and len(world.contacts) == 4
    np.testing.assert_allclose(world.q[:3], 0, atol=1e-9)
    assert world.time == pytest.approx(0.5)
    assert [visual.name for visual in world._visuals] == ["paint"] and world._name == "cube"


def test_the_ground_that_is_asked_for(cube):
    loaded = lithe.load(cube)
    for source in [cube, loaded]:
        assert height(World(source, ground=False)) is None
        assert height(World(source, ground=True)) == pytest.approx(-0.3)
        assert height(World(source, ground=-2)) == height(Scene(source, ground=-2.0)) == -2
    assert height(World(cube, base="fixed")) is None
    assert height(World(cube, base="fixed", ground=True)) == pytest.approx(-0.3)
    for wrong in ["perhaps", [1]]:
        with pytest.raises(TypeError):
            World(cube, ground=wrong)
    with pytest.raises(lithe.Error, match="height is nan"):
        World(cube, ground=float("nan"))


def test_scenes_and_models_keep_theirs(cube):
    assert [shape.name for shape in World("humanoid", ground=True).model.shapes].count("ground") == 1
    scene, model = lithe.scene("tumbling_body"), lithe.load(cube).model
    for same in [None, False]:
        assert World(scene, ground=same).model is scene.model
        assert World(model, ground=same).model is model
    for source in [scene, "tumbling_body", model]:
        assert height(World(source)) is None
        assert height(World(source, ground=True)) is not None
        assert height(World(source, ground=0)) == 0
    assert height(World(scene)) is None  # it was a copy that got one


def test_a_model_has_its_motors_off_on_a_ground_too(hopper):
    assert World(lithe.load(hopper).model, ground=True).targets is None
    np.testing.assert_array_equal(World(hopper).targets, [0])


def test_a_keyframe_is_named(hopper, cube):
    loaded = lithe.load(hopper)
    for world in [World(hopper, keyframe="low"), World(loaded, keyframe="low"), World(Scene(loaded, keyframe="low"))]:
        knee = world.model.q_index("knee")
        assert world.q[knee] == -0.25
        assert world.v[world.model.v_index("knee")] == 0.5 and world.targets[0] == 0.125
        assert world.options.time_step == 0.002
        assert height(world) == pytest.approx(2 - 0.25 - 0.55)
        world.step(steps=3)
        world.reset()
        assert world.q[knee] == -0.25
    assert height(World(hopper, keyframe="high")) == pytest.approx(3 + 0.25 - 0.55)
    with pytest.raises(lithe.Error, match="no keyframe 'hihg'; 'hopper' has 'low', 'high'"):
        World(hopper, keyframe="hihg")
    with pytest.raises(lithe.Error, match="'cube' has none"):
        World(cube, keyframe="low")


def test_options_are_those_of_load(cube):
    assert World(cube, base="fixed").model.nv == 1
    assert World(cube, visuals=False)._visuals == []
    with pytest.raises(TypeError, match="load"):
        World(cube, bass="fixed")
    with pytest.raises(ValueError, match="base"):
        World(cube, base="loose")
    for source, what in [("humanoid", "'humanoid' is a scene"), (lithe.scene("pendulum"), "it is a Scene")]:
        with pytest.raises(TypeError, match=f"base: {what}, and only files are loaded with options"):
            World(source, base="fixed")
        with pytest.raises(ValueError, match=f"keyframe: {what}"):
            World(source, keyframe="home")
    with pytest.raises(TypeError, match="strict: it is loaded already"):
        World(lithe.load(cube), strict=True)


def test_warnings_are_kept(cube):
    assert World(cube).warnings == World("pendulum").warnings == []
    cube.write_text(CUBE.replace("<visual", '<colision/><visual'))
    (warning,) = World(cube).warnings
    assert "colision" in warning and Scene(cube).warnings == World(lithe.load(cube)).warnings == [warning]


def test_names_are_told_apart(cube, monkeypatch):
    assert lithe.names_file("robot.urdf") and lithe.names_file("models/robot") and not lithe.names_file("stack:3")
    monkeypatch.chdir(cube.parent)
    Path("robot").write_text(CUBE)
    assert lithe.names_file("robot") and not lithe.names_file("robo")
    assert World("robot").model.body_names == World("cube.urdf").model.body_names
    with pytest.raises(FileNotFoundError):
        lithe.scene("nothing.urdf")
    with pytest.raises(lithe.Error, match="cartpole"):
        lithe.scene("cartpol")
    for wrong in [3, None, ["cartpole"]]:
        with pytest.raises(TypeError, match="source: expected a Model, a Scene"):
            Scene(wrong)


def test_a_scene_of_a_file_can_be_copied_and_pickled(cube):
    scene = Scene(cube, task="hold")
    again = pickle.loads(pickle.dumps(scene))
    assert (again.name, len(again.visuals), again.warnings) == ("cube", 1, [])
    assert len(again.task.points) == 3 and len(again.task.terms) == 8
    np.testing.assert_array_equal(again.task.points[1].target, scene.task.points[1].target)
    assert height(World(again)) == pytest.approx(-0.3)
    assert Scene(scene).name == "cube"


def test_any_robot_can_be_set_a_task(cube):
    scene = Scene(cube)
    hold = lithe.hold_task(scene)
    assert lithe.task_loss(hold, scene.model, scene.q, scene.v).value == pytest.approx(0, abs=1e-20)
    reach = lithe.reach_task(scene, "flap", [0, 0, 1.3])
    assert lithe.task_loss(reach, scene.model, scene.q, scene.v).value == pytest.approx(1)
    assert Scene(cube, task="reach flap 0 0 1.3").task.points[0].body == "flap"
    rise = lithe.task_from(scene, "rise 0.5")
    assert rise.terms[0].joint == "root.z" and rise.terms[0].target == 0.5
    with pytest.raises(lithe.Error, match="there is no task 'dance'"):
        Scene(cube, task="dance")
    with pytest.raises(lithe.Error, match="flap"):
        lithe.reach_task(scene, "flab", [0, 0, 0])
    point = lithe.TaskPoint("flap", [1, 2, 3], point=[0, 0, 0.5], weight=2)
    mine = lithe.Task([], 10, points=[point])
    miss = np.array([0, 0, 0.3 + 0.5]) - [1, 2, 3]
    assert lithe.task_loss(mine, scene.model, scene.q, scene.v).value == pytest.approx(2 * miss @ miss)
    assert "flap" in repr(point) and "1 terms" in repr(mine)


def test_it_can_be_looked_at(cube, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<body><script type="application/json" id="lithe-show">null</script></body>')
    for source in [cube, lithe.load(cube), Scene(cube)]:
        with lithe.view(source, viewer=page) as view:
            assert height(view.world) == pytest.approx(-0.3)
    with lithe.view(cube, viewer=page, ground=False, base="fixed") as view:
        assert height(view.world) is None and view.world.model.nv == 1
    for given in [{"ground": True}, {"keyframe": "home"}, {"base": "fixed"}]:
        with pytest.raises(TypeError, match=f"{next(iter(given))}: the World is made already"):
            lithe.view(World(cube), viewer=page, **given)


def test_it_is_an_environment(cube, hopper):
    lg = pytest.importorskip("lithe.gym")
    env = lg.LitheEnv(cube)
    assert env.setup.names == ["hinge"] and env.action_space.high == 5
    assert (env.setup.hold, env.setup.horizon) == (10, 1000)  # 10 ms, 10 s
    observation, _ = env.reset(seed=1, options={"q": lithe.scene(cube).q, "v": np.zeros(7)})
    assert observation.shape == (8 + 7,)
    _, reward, terminated, truncated, info = env.step([0.0])
    assert -1e-3 < reward <= 0 and not terminated and not truncated and info["contacts"] == 4
    _, pushed, _, _, _ = env.step([5.0])
    assert pushed < reward  # the flap moves, and force costs
    reaching = lg.make(lithe.load(cube), task="reach flap 0.1 0 0.3", hold=5, noise=0.0)
    assert reaching.setup.horizon == 100
    reaching.reset(seed=1)
    assert reaching.step([0.0])[1] == pytest.approx(-0.01, abs=1e-4)
    own = lg.make(hopper, keyframe="high", ground=False, reward=lambda q, v, action: q[..., 2])
    assert own.setup.hold == 5 and own.setup.horizon == 0 and own.setup.targets is not None


def test_many_worlds_of_it_are_one_environment(cube):
    lg = pytest.importorskip("lithe.gym")
    envs = lg.make_vec(cube, 3)
    one = lg.make(cube)
    envs.reset(seed=4)
    one.reset(seed=5)
    actions = np.array([[1.0], [-2.0], [0.5]], dtype=np.float32)
    _, rewards, _, _, _ = envs.step(actions)
    assert rewards.shape == (3,) and rewards[1] == one.step(actions[1])[1]
    fixed = lg.make_vec(cube, 2, base="fixed", task="hold")
    assert fixed.setup.model.nv == 1


def test_it_can_be_differentiated_by_torch(cube, hopper):
    torch = pytest.importorskip("torch")
    lt = pytest.importorskip("lithe.torch")
    scene = lithe.scene(hopper, keyframe="low")
    q = torch.tensor(scene.q, requires_grad=True)
    v = torch.tensor(scene.v)
    said = lt.step(scene.model, q, v, options=scene.time_step, targets=scene.motor_targets)
    for subject in [scene, World(scene)]:
        for found, expected in zip(lt.step(subject, q, v), said):
            assert torch.equal(found, expected)
    tau = torch.zeros(4, scene.model.nv, dtype=torch.float64)
    targets = np.tile(scene.motor_targets, (4, 1))
    expected = lt.rollout(scene.model, q, v, tau, options=scene.time_step, targets=targets)[0]
    found = lt.rollout(scene, q, v, tau)[0]
    assert torch.equal(found, expected)
    found.sum().backward()
    assert torch.isfinite(q.grad).all()
    for wrong in [lithe.load(cube), str(cube)]:
        with pytest.raises(TypeError, match=r"model: expected a Model, a Scene or a World.*lithe\.scene\(\)"):
            lt.step(wrong, q, v)
