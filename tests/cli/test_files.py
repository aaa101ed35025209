"""A robot file where the name of a scene is asked for."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

LITHE = str(Path(os.environ.get("LITHE_CLI", "build/lithe")).resolve())
PATIENCE = 60  # s

# A box that floats, with an arm.
ROBOT = """<robot name="crane">
<link name="base"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.6 0.6 0.2"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0 0 0.3"/><mass value="0.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.3"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision></link>
<joint name="hip" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><origin xyz="0 0 0.1"/>
<limit lower="-1.5" upper="1.5" effort="20" velocity="10"/></joint></robot>"""

HOPPER = """<mujoco model="hopper"><worldbody><body name="trunk" pos="0 0 1"><freejoint name="root"/>
<geom type="sphere" size="0.1" mass="1"/></body></worldbody>
<keyframe><key name="home" qpos="0 0 3 1 0 0 0"/><key name="low" qpos="0 0 0.5 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "crane.urdf").write_text(ROBOT)
    (tmp_path / "hopper.xml").write_text(HOPPER)
    return tmp_path


def lithe(folder, *arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder)


def report(folder, *arguments):
    result = lithe(folder, *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def error(folder, *arguments, code=1):
    result = lithe(folder, *arguments)
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    return result.stderr


def test_it_stands_on_a_ground(folder):
    found = report(folder, "simulate", "crane.urdf", "--steps", 200)
    assert found["contacts"]["max"] == 4 and not found["diverged"]
    assert report(folder, "simulate", "crane.urdf", "--steps", 20, "--no-ground")["contacts"]["max"] == 0
    assert report(folder, "simulate", "crane.urdf", "--steps", 20, "--ground", "no")["contacts"]["max"] == 0
    # Half a centimetre below its lowest point: reached after 32 ms.
    assert report(folder, "simulate", "crane.urdf", "--steps", 20, "--ground", "-0.105")["contacts"]["max"] == 0
    assert report(folder, "simulate", "crane.urdf", "--steps", 50, "--ground", "-0.105")["contacts"]["max"] == 4


def test_what_is_bolted_down_has_a_ground_if_asked_for(folder):
    def touches(*options):
        # From 0.3 m above, the arm reaches below the base's lowest point once it hangs.
        arguments = ["crane.urdf", "--fixed-base", "--steps", 50, *options]
        return report(folder, "simulate", *arguments)["contacts"]["max"]

    assert touches() == touches("--ground", "yes") == 0
    assert touches("--ground", "0.29") > 0  # within the arm


def test_a_keyframe_is_named(folder):
    for name in ["home", "low"]:
        found = report(folder, "simulate", "hopper.xml", "--steps", 20, "--keyframe", name)
        assert found["contacts"]["max"] == 1
    # Without a ground, it starts 3 m up.
    energy = report(folder, "simulate", "hopper.xml", "--steps", 1, "--keyframe", "home", "--ground", "no")["energy"]
    assert energy["start"] == pytest.approx(9.81 * 3)
    text = error(folder, "simulate", "hopper.xml", "--keyframe", "hom")
    assert "there is no keyframe 'hom'; 'hopper' has 'home', 'low'" in text
    assert "'crane' has none" in error(folder, "simulate", "crane.urdf", "--keyframe", "home")
    assert "only files have keyframes" in error(folder, "simulate", "cartpole", "--keyframe", "home")


def test_a_ground_that_makes_no_sense_is_refused(folder):
    assert "'maybe' is none of auto, yes, no" in error(folder, "simulate", "crane.urdf", "--ground", "maybe", code=2)
    assert "excludes" in error(folder, "simulate", "crane.urdf", "--ground", "yes", "--no-ground", code=2)
    assert "'humanoid' is a scene" in error(folder, "simulate", "humanoid", "--ground", "yes")


@pytest.mark.parametrize("task", ["hold", "reach arm 0 0 0.3", "rise 0.01"])
def test_any_robot_can_be_set_a_task(folder, task):
    arguments = ["optimize", "crane.urdf", "--task", task, "--steps", 60, "--hold", 5, "--iterations", 20]
    found = report(folder, *arguments)
    assert (found["scene"], found["steps"]) == ("crane.urdf", 60)
    assert found["cost"] <= found["cost_before"]
    joints = {term["joint"] for term in found["terms"]}
    assert joints == ({"root.z"} if task.startswith("rise") else {"hip", "root.x", "root.y", "root.z"})
    bodies = {point["body"] for point in found["points"]}
    assert bodies == {"hold": {"base"}, "reach arm 0 0 0.3": {"arm"}, "rise 0.01": set()}[task]


def test_the_arm_is_held_up_and_reaches_out(folder):
    def bolted(*arguments):
        return report(folder, "optimize", "crane.urdf", "--fixed-base", "--hold", 10, "--effort", 1e-5, *arguments)

    hip = next(term for term in bolted("--task", "hold")["terms"] if term["of"] == "position")
    assert hip["joint"] == "hip" and abs(hip["value"]) < 0.01
    hand = """<link name="hand"/><joint name="wrist" type="fixed"><parent link="arm"/><child link="hand"/>
    <origin xyz="0 0 0.5"/></joint></robot>"""
    (folder / "crane.urdf").write_text(ROBOT.replace("</robot>", hand))
    (point,) = bolted("--task", "reach hand 0.25 0 0.533")["points"]  # half a metre from the hip, by 30°
    assert point["place"]["x"] == pytest.approx(0.25, abs=0.02)
    assert point["cost"] < 1e-3


def test_the_text_says_the_same_to_people(folder):
    text = lithe(folder, "optimize", "crane.urdf", "--fixed-base", "--task", "hold", "--steps", 20).stdout
    assert text.startswith("crane.urdf: stay as it starts, 20 steps of 1 ms\n") and "\n  at the end  hip" in text
    text = lithe(folder, "optimize", "crane.urdf", "--task", "reach arm 0 0 1", "--steps", 20).stdout
    assert re.search(r"at the end +arm  at \(.*\) m  wanted \(0, 0, 1\)  cost ", text)


def test_without_a_task_the_choices_are_named(folder):
    text = error(folder, "optimize", "crane.urdf")
    assert "'crane.urdf' has no task" in text and "--task" in text and "cartpole" in text
    text = error(folder, "optimize", "crane.urdf", "--task", "dance")
    assert "there is no task 'dance'" in text and "'hold'" in text and "'reach NAME X Y Z'" in text
    text = error(folder, "optimize", "crane.urdf", "--task", "reach arn 0 0 0")
    assert "there is no body or frame named 'arn' (did you mean 'arm'" in text
    text = error(folder, "optimize", "crane.urdf", "--fixed-base", "--task", "rise 1")
    assert "'rise' is for what can fall" in text


def test_other_commands_take_files_too(folder):
    found = report(folder, "bench", "crane.urdf", "--rounds", 2)
    assert [scene["scene"] for scene in found["scenes"]] == ["crane.urdf"]
    result = lithe(folder, "simulate", "crane.urdf", "--steps", 20, "--out", "motion.lithe")
    assert (result.returncode, result.stderr) == (0, "")
    result = lithe(folder, "export", "motion.lithe", "--json", "motion.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert "crane" in (folder / "motion.json").read_text()


def test_the_page_of_a_build_is_found_from_any_folder(folder):
    """The link beside the program leads to the page of the source tree; here a program of one's own has one, too."""
    link = Path(LITHE).with_name("viewer.html")
    assert link.is_symlink() and Path(os.readlink(link)).parts[-3:] == ("viewer", "dist", "viewer.html")
    build, elsewhere = folder / "build", folder / "elsewhere"
    build.mkdir()
    elsewhere.mkdir()
    program = shutil.copy(LITHE, build / "lithe")
    page = folder / "page.html"
    page.write_text('<body><script type="application/json" id="lithe-show">null</script></body>')
    (build / "viewer.html").symlink_to(page)
    command = [program, "view", "../crane.urdf", "--ground", "yes", "--paused"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=elsewhere) as process:
        try:
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
            assert ready
            assert process.stdout.readline().decode().strip() == "../crane.urdf"
            assert re.match(r"http://127\.0\.0\.1:\d+/\?token=", process.stdout.readline().decode().strip())
            process.stdout.readline()  # by then it handles interrupts
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=PATIENCE)
            assert (process.returncode, complaints.decode()) == (0, "")
        finally:
            process.kill()
