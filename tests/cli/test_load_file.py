"""What the commands that read a robot file have in common: the limits, and what they say about the file."""

import os
import subprocess

import pytest

LITHE = os.environ.get("LITHE_CLI", "build/lithe")

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
ROBOT = f"""<robot name="r">
  <link name="base"/>
  <link name="trunk">{INERTIAL}<visual/></link>
  <link name="leg">{INERTIAL}</link>
  <link name="finger"/>
  <joint name="f" type="fixed"><parent link="base"/><child link="trunk"/></joint>
  <joint name="j" type="continuous"><parent link="trunk"/><child link="leg"/><safety_controller k_velocity="1"/></joint>
  <joint name="k" type="continuous"><parent link="leg"/><child link="finger"/></joint>
</robot>
"""


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    return path


def simulate(path, *arguments):
    return subprocess.run([LITHE, "simulate", str(path), "--steps", "2", *arguments], capture_output=True, text=True, timeout=60)


def test_what_matters_is_told_and_the_rest_is_one_line(robot):
    result = simulate(robot)
    assert result.returncode == 0
    told = result.stderr.splitlines()
    assert len(told) == 3
    assert "joint 'k' moves no mass and is locked at 0" in told[0]
    assert "floats by the 1 kg" in told[1] and "--fixed-base" in told[1]
    assert told[2] == (
        f"{robot}: note: 2 more things in the file are not used, and change neither motion nor contact: "
        f"lithe doctor {robot} lists them"
    )
    assert "floats by" not in simulate(robot, "--fixed-base").stderr


def test_strict_refuses_what_was_assumed(robot):
    result = simulate(robot, "--strict")
    assert result.returncode == 1 and ": error: " in result.stderr


def test_limits_are_set_by_name(robot):
    result = simulate(robot, "--limit", "bodies=3")
    assert result.returncode == 1
    assert "there are 4 links; 3 are allowed" in result.stderr and "--limit bodies=" in result.stderr
    assert simulate(robot, "--limit", "bodies=4", "--limit", "elements=30").returncode == 0
    assert simulate(robot, "--untrusted").returncode == 0
    assert simulate(robot, "--untrusted", "--limit", "elements=5").returncode == 1


@pytest.mark.parametrize(
    "limit, says",
    [
        ("vertices=1", "there are xml_bytes, mesh_bytes, total_bytes, elements,"),
        ("bodies=99999999999", "bodies is 99999999999, but can be 536870911 at most"),
        ("bodies", "must be NAME=VALUE"),
        ("bodies=", "must be NAME=VALUE"),
        ("bodies=-1", "must be NAME=VALUE"),
        ("bodies=1e3", "must be NAME=VALUE"),
    ],
)
def test_a_wrong_limit_is_refused(robot, limit, says):
    result = simulate(robot, "--limit", limit)
    assert result.returncode == 1
    assert result.stderr.startswith(f"lithe: error: --limit {limit}: ") and says in result.stderr


def test_strangers_files_are_bounded(robot):
    robot.write_text(ROBOT.replace("</robot>", "<!-- -->" * 150_000 + "</robot>"))
    assert simulate(robot).returncode == 0
    result = simulate(robot, "--untrusted")
    assert result.returncode == 1
    assert "150022 XML elements" in result.stderr and "100000 are allowed" in result.stderr
