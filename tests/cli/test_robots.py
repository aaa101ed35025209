"""Robots as users bring them, by tools/robots.py: some of our own and, where they are at hand, all of example-robot-data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LITHE = os.environ.get("LITHE_CLI", "build/lithe")
ROBOTS = os.environ.get("LITHE_ROBOTS", "")

INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'


def link(name, mass, inertia, shape, centre="0 0 0"):
    return (
        f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>{INERTIA.format(inertia)}</inertial>'
        f'<collision><origin xyz="{centre}"/><geometry>{shape}</geometry></collision></link>'
    )


def hinge(name, parent, child, place, limits='lower="-1" upper="1" effort="40" velocity="10"'):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{place}"/>'
        f'<axis xyz="0 1 0"/><limit {limits}/></joint>'
    )


def quadruped():
    text = link("trunk", 10, 0.1, '<box size="0.5 0.3 0.1"/>')
    for k, (x, y) in enumerate([(0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2)]):
        text += link(f"leg{k}", 1, 0.005, '<capsule radius="0.03" length="0.3"/>', "0 0 -0.15")
        text += hinge(f"hip{k}", "trunk", f"leg{k}", f"{x} {y} 0")
    return f'<robot name="quadruped">{text}</robot>'


def finger():
    """Grams, with motors far too strong for it, and a start exactly at a limit."""
    limits = 'lower="0" upper="1.5" effort="1000" velocity="100"'
    text = '<link name="world"/>' + link("near", 0.01, 1e-6, '<box size="0.01 0.01 0.03"/>', "0 0 0.02")
    text += hinge("knuckle", "world", "near", "0 0 0.1", limits)
    text += link("far", 0.005, 3e-7, '<sphere radius="0.005"/>', "0 0 0.02") + hinge("middle", "near", "far", "0 0 0.04", limits)
    return f'<robot name="finger">{text}</robot>'


def excavator():
    text = link("truck", 20000, 20000, '<box size="4 3 1"/>') + link("boom", 3000, 4000, '<box size="4 0.4 0.4"/>', "2 0 0")
    text += hinge("lift", "truck", "boom", "2.5 0 0.5", 'lower="-0.3" upper="1" effort="1e6" velocity="1"')
    return f'<robot name="excavator">{text}</robot>'


CARTPOLE = """<mujoco><worldbody><body name="cart"><joint name="slide" type="slide" axis="1 0 0" limited="true" range="-1 1"/>
  <geom type="box" size="0.1 0.1 0.1" mass="1"/><body name="pole" pos="0 0 0.2"><joint name="hinge" type="hinge" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03" mass="0.2"/></body></body></worldbody>
  <actuator><position joint="slide" kp="100" kv="20"/></actuator></mujoco>"""


def robots(*arguments, timeout=600):
    command = [sys.executable, ROOT / "tools" / "robots.py", "--lithe", LITHE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def test_robots_of_all_sizes_work(tmp_path):
    for name, text in {
        "quadruped.urdf": quadruped(),
        "finger.urdf": finger(),
        "excavator.urdf": excavator(),
        "cartpole.xml": CARTPOLE,
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "wrong.urdf").write_text("<robot><link/></robot>")
    out = tmp_path / "out.json"
    result = robots(tmp_path, "--json", out)
    found = json.loads(out.read_text())
    assert found["working"] == 4, result.stdout
    (wrong,) = [each for each in found["robots"] if each["shortfalls"]]
    assert wrong["robot"] == "wrong.urdf" and wrong["shortfalls"][0].startswith("does not load: wrong.urdf:1: error: ")
    assert result.returncode == 0 and result.stdout.endswith("\n4 of 5 work\n")


@pytest.mark.skipif(not ROBOTS, reason="LITHE_ROBOTS names no folder; tools/robots.py --download FOLDER fetches example-robot-data")
def test_example_robot_data_works():
    result = robots(ROBOTS, "--match", "*.urdf", "--require", 65, timeout=7200)
    assert result.returncode == 0, result.stdout
