"""What makes robot files work at once: who touches whom, simplified hulls, keyframes, and numbers of MuJoCo."""

import math
import pickle

import numpy as np
import pytest

import lithe

# The outer two of three boxes overlap in every pose.
COMPACT = """<robot name="compact">
  {links}
  <joint name="ab" type="continuous"><parent link="a"/><child link="b"/></joint>
  <joint name="bc" type="continuous"><parent link="b"/><child link="c"/></joint>
</robot>
""".format(
    links="\n  ".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        '</inertial><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
        for name in "abc"
    )
)

SLIDER = """<mujoco model="slider"><worldbody><body>
  <joint name="rail" type="slide" ref="0.5" range="-1 3" limited="true"/><geom size="0.1"/></body></worldbody>
  <actuator><motor name="push" joint="rail" gear="4" ctrlrange="-2 2" ctrllimited="true"/></actuator>
  <keyframe><key name="low" qpos="0.25" qvel="1"/><key name="home" qpos="2.5"/></keyframe></mujoco>"""


def sphere_obj(folder, rings=40):
    lines, count = [], 2 * rings
    for i in range(1, rings):
        for k in range(count):
            up, around = math.pi * i / rings, 2 * math.pi * k / count
            x, y, z = math.sin(up) * math.cos(around), math.sin(up) * math.sin(around), math.cos(up)
            lines.append(f"v {0.1 * x!r} {0.1 * y!r} {0.1 * z!r}")
    for i in range(rings - 2):
        for k in range(count):
            corners = (i * count + k, i * count + (k + 1) % count, (i + 1) * count + (k + 1) % count, (i + 1) * count + k)
            lines.append("f " + " ".join(str(c + 1) for c in corners))
    (folder / "ball.obj").write_text("\n".join(lines) + "\n")
    path = folder / "ball.urdf"
    path.write_text(
        '<robot name="ball"><link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial><collision><geometry><mesh filename="ball.obj"/></geometry></collision></link></robot>'
    )
    return path


def test_pairs_that_overlap_by_design_do_not_touch():
    loaded = lithe.load_text(COMPACT, "compact.urdf")
    (pair,) = loaded.excepted_pairs
    assert (pair.a, pair.b, pair.reason, pair.share) == ("a", "c", "often", 1)
    assert pickle.loads(pickle.dumps(loaded)).excepted_pairs[0].b == "c"
    assert lithe.load_text(COMPACT, "compact.urdf", self_collision="all").excepted_pairs == []
    with pytest.raises(ValueError, match="auto_strict"):
        lithe.load_text(COMPACT, "compact.urdf", self_collision="some")


def test_hulls_are_simplified_within_their_tolerance(tmp_path):
    path = sphere_obj(tmp_path)
    (hull,) = lithe.load(path).hulls
    assert hull.points == hull.exact_vertices == 39 * 80
    assert hull.kept_vertices <= 512
    assert 0 < hull.error <= hull.tolerance <= 1e-3
    (exact,) = lithe.load(path, hull_tolerance=(0, 0), cache=False).hulls
    assert exact.kept_vertices == exact.exact_vertices and exact.error <= 1e-9
    (coarse,) = lithe.load(path, hull_tolerance=(1e-2, 5e-2)).hulls
    assert coarse.kept_vertices < hull.kept_vertices
    with pytest.raises(ValueError):
        lithe.load(path, hull_tolerance=(-1, 0.1))


def test_a_model_starts_in_a_keyframe():
    assert lithe.load_text(SLIDER, "slider.xml").start.startswith('keyframe "home"')
    low = lithe.load_text(SLIDER, "slider.xml", keyframe="low")
    assert low.q == pytest.approx([-0.25]) and low.v == pytest.approx([1])
    assert lithe.load_text(SLIDER, "slider.xml", keyframe="qpos0").q == pytest.approx([0])
    with pytest.raises(ValueError, match="'low', 'home'"):
        lithe.load_text(SLIDER, "slider.xml", keyframe="hihg")


def test_a_world_starts_in_a_keyframe(tmp_path):
    path = tmp_path / "slider.xml"
    path.write_text(SLIDER)
    assert lithe.World(path).q == pytest.approx([2.0])
    assert lithe.World(path, keyframe="low").q == pytest.approx([-0.25])
    assert lithe.World(path, keyframe="qpos0").q == pytest.approx([0])
    assert lithe.World(lithe.load(path), keyframe="low").q == pytest.approx([-0.25])


def test_numbers_of_mujoco_and_back():
    loaded = lithe.load_text(SLIDER, "slider.xml")
    bridge = lithe.MujocoBridge(loaded)
    assert (bridge.nq, bridge.nv, bridge.nu) == (1, 1, 1)
    q = bridge.q_from_qpos([1.5])
    assert q == pytest.approx([1.0])
    assert bridge.qpos_from_q(q) == pytest.approx([1.5])
    tau, targets = bridge.actuation([3.0])  # cut to 2, times the gear
    assert tau == pytest.approx([8.0]) and np.size(targets) == 0
    assert bridge.ctrl_from(tau, targets) == pytest.approx([2.0])
    with pytest.raises(ValueError):
        lithe.MujocoBridge(lithe.load_text(COMPACT, "compact.urdf"))
