import json
import os
import subprocess

import pytest
from compact_robot import COMPACT

LITHE = os.environ.get("LITHE_CLI", "build/lithe")

GOOD_ARM = """<robot name="arm">
  <link name="world"/>
  <link name="upper">
    <inertial><mass value="2"/><origin xyz="0 0 0.25"/>
      <inertia ixx="0.045" iyy="0.045" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.06" length="0.5"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="world"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
  </joint>
</robot>
"""


def doctor(path, *arguments):
    return subprocess.run([LITHE, "doctor", str(path), *map(str, arguments)], capture_output=True, text=True, timeout=60)


def findings(path, *arguments):
    """(check, severity) of all findings, and the exit code."""
    result = doctor(path, "--json", *arguments)
    report = json.loads(result.stdout)
    return [(f["check"], f["severity"]) for f in report["findings"]], result.returncode, report


@pytest.fixture
def robot(tmp_path):
    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_healthy_robot_has_nothing_to_complain_about(robot):
    path = robot(GOOD_ARM)
    result = doctor(path)
    assert result.returncode == 0
    assert "1 DoFs, 2 kg" in result.stdout
    assert "nothing to complain about" in result.stdout
    assert findings(path)[:2] == ([], 0)


def test_the_summary_comes_first(robot):
    lines = doctor(robot(GOOD_ARM)).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [[title, "yes"] for title in ("loads", "stands", "moves", "gradients")]
    assert lines[5] == ""
    assert "at rest after " in lines[2] and "500 steps in " in lines[3]
    assert "10 of 10 samples compared, 10 within 1e-05" in lines[4]


def test_the_summary_is_in_the_json_too(robot):
    report = findings(robot(GOOD_ARM))[2]
    assert [report[title]["verdict"] for title in ("stands", "moves", "gradients")] == ["yes"] * 3
    assert (report["stands"]["quiet_steps"], report["stands"]["quiet_targets_dropped"], report["stands"]["at_rest"]) == (100, 0, True)
    assert report["moves"]["steps"] == 500 and report["moves"]["seconds"] > 0
    assert (report["gradients"]["samples"], report["gradients"]["compared"]) == (10, 10)
    assert report["gradients"]["max_relative_error"] <= 1e-5


def test_quick_only_reads(robot):
    path = robot(GOOD_ARM)
    report = findings(path, "--quick")[2]
    assert report["loads"] and not {"stands", "moves", "gradients"} & set(report)
    lines = doctor(path, "--quick").stdout.splitlines()
    assert [line.split(maxsplit=1)[1].strip() for line in lines[2:5]] == ["not tried"] * 3


# A box on a slide whose upper limit holds it inside the ground.
JAMMED = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="box"><joint name="slide" type="slide" axis="0 0 1" limited="true" range="-0.1 0"/>
    <geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody></mujoco>
"""


def test_what_a_robot_cannot_do_is_a_warning(robot):
    path = robot(JAMMED, "jammed.xml")
    found, code, report = findings(path)
    assert ("stands", "warning") in found and ("gradients", "warning") in found and code == 0
    assert (report["stands"]["verdict"], report["gradients"]["verdict"]) == ("no", "no")
    assert report["stands"]["quiet_targets_dropped"] == 100
    assert report["gradients"]["max_relative_error"] is None
    assert "contact of world and box" in report["stands"]["text"]
    assert doctor(path, "--strict").returncode == 1


def test_findings_that_are_alike_are_folded(robot):
    link = '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j{0}" type="continuous"><parent link="world"/><child link="l{0}"/></joint>'
    links = "".join(link.format(i) + joint.format(i) for i in range(6))
    path = robot(f'<robot name="many"><link name="world"/>{links}</robot>')
    text = doctor(path, "--quick").stdout
    assert text.count("has the identity as its inertia") == 3
    assert "… and 3 more like these (--all shows them)" in text
    assert doctor(path, "--quick", "--all").stdout.count("has the identity as its inertia") == 6
    assert len(findings(path, "--quick")[0]) == 6


def test_a_file_that_does_not_load_says_where_and_fails(robot):
    path = robot(GOOD_ARM.replace('value="2"', 'value="-2"'))
    result = doctor(path)
    assert result.returncode == 1
    assert f"{path}: cannot be loaded\n" in result.stdout
    assert "  robot.urdf:4: error: " in result.stdout
    found, code, report = findings(path)
    assert found == [("load", "error")] and code == 1 and not report["loads"]


def test_files_are_named_from_the_folder_of_the_model(robot, tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "robots").mkdir()
    corners = [(x, y, z) for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1)]
    triangles = [(1, 3, 2), (2, 3, 4), (5, 6, 7), (6, 8, 7)]  # two sides of a cube, open
    lines = ["v %g %g %g" % corner for corner in corners] + ["f %d %d %d" % triangle for triangle in triangles]
    (tmp_path / "meshes" / "open.obj").write_text("\n".join(lines) + "\n")
    (tmp_path / "package.xml").write_text("<package/>")
    mesh = '<mesh filename="../meshes/open.obj"/>'
    path = robot(GOOD_ARM.replace('<cylinder radius="0.06" length="0.5"/>', mesh).replace("<link name=\"upper\">", '<link name="upper"><sensor/>'), "robots/robot.urdf")
    text = doctor(path, "--quick").stdout
    assert str(tmp_path) not in text.split("\n", 1)[1]
    assert "ignored         robot.urdf:" in text
    assert " ../meshes/open.obj " in text


def test_a_missing_file_is_an_error(tmp_path):
    result = doctor(tmp_path / "none.urdf")
    assert result.returncode == 1
    assert "does not exist" in result.stdout


@pytest.mark.parametrize(
    "change, check, severity",
    [
        (('ixx="0.045"', 'ixx="0.001"'), "inertia", "error"),  # against the triangle inequality
        (('ixx="0.045" iyy="0.045" izz="0.004"', 'ixx="1" iyy="1" izz="1"'), "inertia", "warning"),  # forgotten
        (('ixx="0.045" iyy="0.045" izz="0.004"', 'ixx="45" iyy="45" izz="4"'), "inertia", "warning"),  # g·mm²?
        (('value="2"', 'value="2e-8"'), "mass", "warning"),
        (('lower="-2" upper="2"', 'lower="-120" upper="120"'), "limits", "warning"),  # degrees
        (('lower="-2" upper="2"', 'lower="1" upper="2"'), "limits", "note"),
        (('effort="50"', 'effort="0"'), "limits", "note"),
        (('radius="0.06" length="0.5"', 'radius="60" length="500"'), "units", "warning"),
        (("<collision>", "<sensor/><collision>"), "ignored", "warning"),
    ],
)
def test_what_is_suspicious_is_found(robot, change, check, severity):
    found, code, _ = findings(robot(GOOD_ARM.replace(*change)))
    assert (check, severity) in found
    assert code == (1 if severity == "error" else 0)


def test_strict_fails_on_warnings(robot):
    path = robot(GOOD_ARM.replace("<collision>", "<sensor/><collision>"))
    assert doctor(path).returncode == 0
    assert doctor(path, "--strict").returncode == 1


def test_shapes_that_overlap_at_the_start_are_found(robot):
    second = """
  <link name="lump">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="world"/><child link="lump"/><limit lower="-1" upper="1" effort="5" velocity="1"/>
  </joint>
</robot>"""
    path = robot(GOOD_ARM.replace("</robot>", second))
    found, code, report = findings(path, "--self-collision", "all")
    assert ("overlap", "warning") in found and code == 0
    assert any("upper" in f["text"] and "lump" in f["text"] for f in report["findings"])
    # Otherwise they do not touch, and that is said.
    found, code, report = findings(path)
    assert ("overlap", "warning") not in found and ("assumed", "warning") in found and code == 0
    assert any("upper" in f["text"] and "lump" in f["text"] for f in report["findings"])


def test_a_mesh_that_is_not_convex_is_noted(robot, tmp_path):
    # An L of two cubes: volume 2, hull 2.5.
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = [(x, y, z) for z in (0, 1) for x, y in corners]
    faces = [[6, 7, 8, 9], [6, 9, 10, 11], [3, 2, 1, 0], [5, 4, 3, 0]]
    faces += [[i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i] for i in range(6)]
    lines = ["v %g %g %g" % tuple(0.1 * x for x in v) for v in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in f) for f in faces]
    (tmp_path / "ell.obj").write_text("\n".join(lines) + "\n")
    found, code, report = findings(
        robot(GOOD_ARM.replace('<cylinder radius="0.06" length="0.5"/>', '<mesh filename="ell.obj"/>'))
    )
    assert ("not_convex", "note") in found and code == 0
    assert any("1.2 times" in f["text"] or "1.3 times" in f["text"] for f in report["findings"])


def test_files_can_be_simulated_and_checked(robot):
    path = robot(GOOD_ARM)
    run = subprocess.run([LITHE, "simulate", str(path), "--steps", "50", "--json"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["steps"] == 50
    check = subprocess.run(
        [LITHE, "gradcheck", str(path), "--samples", "5", "--json"], capture_output=True, text=True, timeout=60
    )
    assert check.returncode == 0, check.stderr
    assert json.loads(check.stdout)["samples"] == 5
    bench = subprocess.run(
        [LITHE, "bench", "--model", str(path), "--rounds", "1", "--json"], capture_output=True, text=True, timeout=60
    )
    assert bench.returncode == 0, bench.stderr
    assert json.loads(bench.stdout)["scenes"][0]["nv"] == 1


def test_pairs_that_do_not_touch_are_summed_up_and_listed(robot):
    path = robot(COMPACT)
    found, code, report = findings(path, "--floating-base", "--quick")
    assert found == [("self_collision", "note")] and code == 0
    assert report["findings"][0]["text"] == (
        "1 pair of links does not touch: 1 often; a and c (they touch in 100 % of poses)"
    )
    assert report["touching_pairs"] == []
    (pair,) = report["excepted_pairs"]
    assert (pair["a"], pair["b"], pair["reason"], pair["share"]) == ("a", "c", "often", 1)
    assert pair["depth"] == pytest.approx(0.2)


def test_self_collision_can_be_chosen(robot):
    path = robot(COMPACT)
    found, _, report = findings(path, "--floating-base", "--quick", "--self-collision", "all")
    assert found == [("overlap", "warning")]
    assert [(pair["a"], pair["b"]) for pair in report["touching_pairs"]] == [("a", "c")]
    assert findings(path, "--floating-base", "--quick", "--self-collision", "none")[0] == []
    result = doctor(path, "--self-collision", "some")
    assert result.returncode != 0 and "auto_strict" in result.stderr


def test_pairs_are_written_as_srdf_and_read_again(robot, tmp_path):
    path = robot(COMPACT)
    srdf = tmp_path / "pairs" / "out.srdf"
    srdf.parent.mkdir()
    assert doctor(path, "--write-srdf", srdf).returncode == 0
    assert 'link1="a" link2="c" reason="Always"' in srdf.read_text()
    _, _, report = findings(path, "--srdf", srdf, "--self-collision", "all")
    assert {(pair["a"], pair["b"], pair["reason"]) for pair in report["excepted_pairs"]} == {
        (a, b, "srdf") for a, b in ("ab", "ac", "bc")
    }
    assert doctor(path, "--srdf", tmp_path / "none.srdf").returncode == 1
    assert doctor(path, "--write-srdf", tmp_path / "no" / "folder.srdf").returncode == 1
