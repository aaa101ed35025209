"""Robot files: what load() reads, what it refuses, and what the writers give back."""

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import lithe

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual name="skin"><geometry><box size="1 2 3"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material></visual>
    <collision name="hull"><geometry><sphere radius="0.25"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5"/>
  </joint>
</robot>
"""
CARD = """<mujoco model="card">
  <option timestep="0.004"/>
  <worldbody>
    <body name="cart"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="box" type="box" size="0.1 0.2 0.3" mass="1"/>
      <body name="pole"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.2" mass="0.5"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="slide" gear="3" ctrlrange="-1 1"/>
    <position name="servo" joint="hinge" kp="10"/>
  </actuator>
  <keyframe><key name="up" time="0.5" qpos="0.25 3" qvel="1 2" ctrl="0 0.75"/></keyframe>
</mujoco>
"""
SDF = """<sdf version="1.9"><model name="brick"><link name="body">
  <inertial><mass>3</mass></inertial></link></model></sdf>
"""
TRIANGLES = """v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


def mesh_robot(uri):
    return f"""<robot name="r"><link name="base"/><link name="a">
      <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <visual><geometry><mesh filename="{uri}" scale="2 2 2"/></geometry></visual>
      <collision><geometry><mesh filename="{uri}"/></geometry></collision>
    </link><joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint></robot>"""


def models_folder():
    folder = Path(os.environ.get("LITHE_MODELS", "").split(":")[0] or Path(__file__).resolve().parents[3] / "shared" / "models")
    if not folder.is_dir():
        pytest.skip(f"robot files that are not part of Lithe: {folder} is not there (LITHE_MODELS names another)")
    return folder


def test_a_urdf_becomes_a_model(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    for path in [file, str(file)]:
        loaded = lithe.load(path)
        assert (loaded.name, loaded.model.nq, loaded.model.nv) == ("arm", 1, 1)
        assert loaded.files == [str(file)]
        assert loaded.warnings == []
        assert loaded.model.body_names == ["world", "base", "upper"]
        joint = loaded.model.joints[0]
        assert (joint.lower, joint.upper, joint.effort_limit, joint.damping) == (-1, 2, 30, 0.5)
        np.testing.assert_array_equal(loaded.q, [0])
        np.testing.assert_array_equal(loaded.v, [0])
        visual = loaded.visuals[0]
        assert (visual.name, visual.body) == ("skin", "upper")
        assert visual.geometry == lithe.Box([0.5, 1, 1.5])
        np.testing.assert_array_equal(visual.color, [1, 0, 0, 0.5])
        np.testing.assert_array_equal(visual.placement.p, [0, 0, 0])
        assert loaded.model.shapes[0].geometry == lithe.Sphere(0.25)
    assert lithe.load(file, visuals=False).visuals == []


def test_a_mjcf_has_actuators_and_keyframes():
    loaded = lithe.load_text(CARD, "card.xml")
    assert (loaded.name, loaded.time_step) == ("card", 0.004)
    push, servo = loaded.actuators
    assert (push.name, push.joint, push.kind) == ("push", "slide", "effort")
    assert (push.gear, push.lower, push.upper) == (3, -1, 1)
    assert (servo.kind, loaded.model.motor_names) == ("position", ["servo"])
    (key,) = loaded.keyframes
    assert (key.name, key.time) == ("up", 0.5)
    np.testing.assert_array_equal(key.q, [0.25, 3])
    np.testing.assert_array_equal(key.v, [1, 2])
    np.testing.assert_array_equal(key.motor_targets, [0.75])
    assert "card" in repr(loaded) and "nq=2" in repr(loaded) and "up" in repr(key) and "push" in repr(push)


def test_what_was_loaded_can_be_stepped():
    loaded = lithe.load_text(CARD)
    record = lithe.step(loaded.model, loaded.q, loaded.v, options=loaded.time_step, targets=loaded.motor_targets)
    assert record.status.solved
    np.testing.assert_allclose(record.q, [0, 0], atol=1e-12)


def test_one_format_each(tmp_path):
    texts = {"urdf": ARM, "mjcf": CARD, "sdf": SDF}
    for kind, text in texts.items():
        (tmp_path / kind).write_text(text)
    for loader in texts:
        for kind in texts:
            load_one = getattr(lithe, f"load_{loader}")
            if kind == loader:
                assert load_one(tmp_path / kind).model.total_mass > 0
            else:
                with pytest.raises(lithe.LoadError, match=f"this is {kind.upper()}, not {loader.upper()}"):
                    load_one(tmp_path / kind)


def test_an_error_says_where(tmp_path):
    file = tmp_path / "bad.urdf"
    file.write_text('<robot name="r">\n  <link name="a"/>\n  <link name="a"/>\n</robot>')
    with pytest.raises(lithe.LoadError) as caught:
        lithe.load(file)
    error = caught.value
    assert isinstance(error, lithe.Error) and isinstance(error, ValueError)
    assert (error.file, error.line) == (str(file), 3)
    assert str(error).startswith(f"{file}:3: error: ") and str(error).endswith(error.text)
    assert error.text and "error:" not in error.text


@pytest.mark.parametrize("text", ["", "not xml", "<robot", "<html/>", "<robot/>", "\0", "<robot name='r'/>"])
def test_what_is_no_robot_is_a_load_error(text):
    with pytest.raises(lithe.LoadError):
        lithe.load_text(text)


def test_a_file_that_is_not_there_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        lithe.load(tmp_path / "nothing.urdf")
    assert isinstance(caught.value, lithe.MissingFile) and isinstance(caught.value, lithe.LoadError)
    assert caught.value.file == str(tmp_path / "nothing.urdf")
    with pytest.raises(lithe.LoadError):
        lithe.load(tmp_path)  # a folder
    for wrong in [3, None, b"bytes.urdf", ["a.urdf"]]:
        with pytest.raises((TypeError, lithe.LoadError)):
            lithe.load(wrong)


def test_warnings_are_readable_and_strict_makes_them_errors(tmp_path):
    file = tmp_path / "odd.urdf"
    file.write_text(ARM.replace('<link name="base"/>', '<link name="base"/>\n  <banana/><banana/>'))
    (warning,) = lithe.load(file).warnings
    assert warning.startswith(f"{file}:3: warning: ") and "banana" in warning and "1 more" in warning
    with pytest.raises(lithe.LoadError, match="banana") as caught:
        lithe.load(file, strict=True)
    assert caught.value.line == 3


def test_base_says_how_the_root_is_held():
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    text = ARM.replace('<link name="base"/>', f'<link name="base"><inertial>{inertia}</inertial></link>')
    assert lithe.load_text(text).model.nv == 7
    assert lithe.load_text(text, base="fixed").model.nv == 1
    assert lithe.load_text(text, base=lithe.LoadBase.fixed).model.nv == 1
    assert lithe.load_text(ARM).model.nv == 1
    for wrong in ["welded", 1]:
        with pytest.raises(ValueError, match="base: expected one of 'automatic', 'fixed', 'floating'"):
            lithe.load_text(ARM, base=wrong)


def test_packages_roots_and_anywhere_say_where_files_come_from(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere" / "part.obj").write_text(TRIANGLES)
    robot = tmp_path / "home" / "robot.urdf"

    robot.write_text(mesh_robot("package://parts/part.obj"))
    loaded = lithe.load(robot, packages={"parts": tmp_path / "elsewhere"})
    mesh = loaded.visuals[0].geometry
    assert mesh.file == str(tmp_path / "elsewhere" / "part.obj")
    assert mesh.vertices.max() == 2 and mesh.mesh.vertices.max() == 1 and mesh.mesh.triangles.shape == (4, 3)
    assert mesh.mesh.triangles.dtype == np.int32
    assert loaded.collision_meshes[0].file == mesh.file
    np.testing.assert_array_equal(loaded.model.shapes[0].geometry.points, mesh.mesh.vertices)

    robot.write_text(mesh_robot("../elsewhere/part.obj"))
    with pytest.raises(lithe.LoadError, match="elsewhere"):
        lithe.load(robot)
    assert len(lithe.load(robot, roots=[tmp_path / "elsewhere"]).visuals) == 1
    assert len(lithe.load(robot, anywhere=True).visuals) == 1


def test_convex_pieces_replace_the_hull(tmp_path):
    for name in ["whole.obj", "one.obj", "two.obj"]:
        (tmp_path / name).write_text(TRIANGLES)
    (tmp_path / "robot.urdf").write_text(mesh_robot("whole.obj"))
    pieces = {"whole.obj": ["one.obj", "two.obj"]}
    assert len(lithe.load(tmp_path / "robot.urdf").model.shapes) == 1
    assert len(lithe.load(tmp_path / "robot.urdf", convex_pieces=pieces).model.shapes) == 2


def test_limits_bound_what_a_file_may_cost():
    with pytest.raises(lithe.LoadError, match="elements"):
        lithe.load_text(ARM, limits=lithe.LoadLimits(elements=3))
    with pytest.raises(lithe.LoadError):
        lithe.load_text(ARM, limits=lithe.LoadLimits(bodies=1))
    assert lithe.LoadLimits.untrusted().total_bytes < lithe.LoadLimits().total_bytes
    assert lithe.load_text(ARM, limits=lithe.LoadLimits.untrusted()).model.nv == 1
    limits = lithe.LoadLimits()
    limits.elements = 7
    assert limits.elements == 7 and "elements=7" in repr(limits)


def test_parse_mesh_reads_bytes():
    mesh = lithe.parse_mesh(TRIANGLES.encode(), "part.obj")
    assert mesh.vertices.shape == (4, 3) and mesh.triangles.tolist()[0] == [0, 2, 1]
    assert "4 vertices" in repr(mesh)
    with pytest.raises(lithe.LoadError, match=r"part\.obj:1"):
        lithe.parse_mesh(b"v 0 0\n", "part.obj")
    with pytest.raises(lithe.LoadError):
        lithe.parse_mesh(TRIANGLES.encode(), "part.xyz")


def test_a_model_that_was_loaded_outlives_what_loaded_it():
    model = lithe.load_text(ARM).model
    assert model.joint_names == ["shoulder"]
    model["joint/shoulder/damping"] = 2
    assert model["joint/shoulder/damping"] == 2


def test_the_builder_of_a_loaded_model_can_be_added_to():
    loaded = lithe.load_text(ARM)
    two = lithe.ModelBuilder().add(loaded.builder, "left/").add(loaded.builder, "right/", placement=[0, 1, 0]).build()
    assert two.joint_names == ["left/shoulder", "right/shoulder"]
    assert loaded.builder.build().joint_names == ["shoulder"]


def same_dynamics(a, b, tolerance=1e-12):
    """Whether two models have the same mass matrix and bias forces at the same random states."""
    rng = np.random.default_rng(5)
    for seed in range(3):
        q = lithe.random_configuration(a, seed)
        v = rng.normal(size=a.nv)
        np.testing.assert_allclose(lithe.mass_matrix(b, q), lithe.mass_matrix(a, q), atol=tolerance, rtol=tolerance)
        np.testing.assert_allclose(
            lithe.rnea(b, q, v, np.zeros(a.nv)), lithe.rnea(a, q, v, np.zeros(a.nv)), atol=tolerance, rtol=tolerance
        )


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "cartpole", "half_cheetah", "humanoid", "boxes"])
def test_a_written_urdf_reads_back_as_the_same_robot(name, tmp_path):
    model = lithe.scene(name).model
    model.gravity = [0, 0, -9.81]
    written = lithe.write_urdf(model, name=name)
    assert str(written) == written.xml and f'name="{name}"' in written.xml and "UrdfFile" in repr(written)
    for mesh, text in written.meshes.items():
        (tmp_path / mesh).parent.mkdir(exist_ok=True)
        (tmp_path / mesh).write_text(text)
    back = lithe.load_text(written.xml, tmp_path / "robot.urdf").model
    assert back.joint_names == model.joint_names
    for old, new in zip(model.joints, back.joints, strict=True):
        assert (old.type, old.lower, old.upper) == (new.type, new.lower, new.upper)
    same_dynamics(armature_free(model), armature_free(back))


def armature_free(model):
    """URDF has no place for armature."""
    copy = model.copy()
    for name in copy.joint_names:
        copy[f"joint/{name}/armature"] = 0
    return copy


@pytest.mark.parametrize("name", ["pendulum", "cartpole", "half_cheetah", "four_bar", "gripper", "boxes"])
def test_a_written_mjcf_reads_back_as_the_same_model(name):
    model = lithe.scene(name).model
    written = lithe.write_mjcf(model, name=name, time_step=0.003)
    back = lithe.load_text(written.xml, "back.xml")
    assert (back.time_step, back.model.joint_names) == (0.003, model.joint_names)
    assert (back.model.loop_names, len(back.model.motors)) == (model.loop_names, len(model.motors))
    assert str(written) == written.xml and "MjcfFile" in repr(written)
    same_dynamics(model, back.model)


def test_save_urdf_writes_the_meshes_beside_it(tmp_path):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    body = lithe.Body("a", lithe.SpatialInertia.sphere(1, 1))
    model = (
        lithe.ModelBuilder()
        .add_body("world", body, lithe.revolute("j", [0, 0, 1]))
        .add_shape("a", lithe.Shape("hull", lithe.ConvexMesh(points)))
        .add_motor("j", lithe.velocity_motor("m"))
        .build()
    )
    warnings = lithe.save_urdf(model, tmp_path / "robot.urdf", mesh_folder="shapes")
    assert any("motor" in warning for warning in warnings)
    assert [file.suffix for file in (tmp_path / "shapes").iterdir()] == [".obj"]
    back = lithe.load(tmp_path / "robot.urdf").model
    assert sorted(map(tuple, back.shapes[0].geometry.points)) == sorted(map(tuple, points))


def test_visuals_are_written_too():
    loaded = lithe.load_text(ARM)
    xml = lithe.write_urdf(loaded.model, visuals=loaded.visuals).xml
    (visual,) = lithe.load_text(xml).visuals
    assert visual.geometry == loaded.visuals[0].geometry
    np.testing.assert_array_equal(visual.color, loaded.visuals[0].color)


def test_a_screw_has_no_place_in_a_urdf():
    body = lithe.Body("nut", lithe.SpatialInertia.sphere(1, 1))
    model = lithe.ModelBuilder().add_body("world", body, lithe.screw("thread", [0, 0, 1], 0.1)).build()
    with pytest.raises(lithe.Error, match="thread"):
        lithe.write_urdf(model)


def test_other_threads_run_while_a_file_is_read():
    links = "".join(f'<link name="l{k}"/>' for k in range(20_000))
    text = f'<robot name="r">{links}</robot>'
    started, done, laps = threading.Event(), threading.Event(), 0

    def work():
        started.set()
        for _ in range(100):  # on a busy machine, the other thread may miss some
            try:
                lithe.load_text(text)
            except lithe.Error:
                pass  # the links are not connected; reading them is what takes time
            if laps > 0:
                break
        done.set()

    # A thread that does not give the GIL up keeps it for this long.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        while not done.is_set():
            laps += 1
            time.sleep(1e-4)
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert laps > 0


def test_real_robots_load():
    folder = models_folder()
    atlas = lithe.load(folder / "atlas" / "atlas_v3_no_head.urdf")
    assert atlas.model.nv == 33 and abs(atlas.model.total_mass - 146.554) < 1e-9
    assert any("safety_controller" in warning for warning in atlas.warnings)
    meshes = [visual.geometry for visual in atlas.visuals if isinstance(visual.geometry, lithe.VisualMesh)]
    assert len(meshes) > 20 and all(len(mesh.vertices) > 0 for mesh in meshes)
    humanoid = lithe.load(folder / "mjcf" / "humanoid.xml")
    assert humanoid.model.nv == 27 and len(humanoid.actuators) == 21
    assert lithe.load(folder / "sdf" / "double_pendulum.world").model.nv == 2
