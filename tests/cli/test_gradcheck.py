import json
import os
import subprocess

import pytest
from interrupting import interrupted_after

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
BLOCKS = [f"d{result}_d{by}" for result in ("qnext", "vnext") for by in ("q", "v", "tau", "parameters")]
SMALL = {"boxes": "boxes:2", "chain": "chain:4", "pile": "pile:3", "stack": "stack:2", "wall": "wall:3"}


def lithe(*arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def gradcheck(*arguments):
    """The report of a check that must go well, and must keep stderr clean; it may take its time."""
    result = lithe("gradcheck", *arguments, "--json", "--seconds", 1000)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def scene_names():
    return [line.split()[0] for line in lithe("scenes").stdout.splitlines()]


def test_every_listed_scene_has_the_derivatives_that_differences_show():
    names = scene_names()
    assert "half_cheetah" in names
    compared = 0
    for name in names:
        result = lithe("gradcheck", SMALL.get(name, name), "--samples", 3, "--seconds", 1000, "--json")
        report = json.loads(result.stdout)
        assert report["samples"] == 3, name
        assert result.returncode == (0 if report["compared"] == 3 else 3), name  # of three, two are less than 80 %
        assert report["max_relative_error"] <= 1e-5, name
        compared += report["compared"]
    assert compared >= 0.9 * 3 * len(names)


def test_the_report_has_its_figures():
    report = gradcheck("half_cheetah", "--samples", 20, "--seed", 3)
    assert (report["scene"], report["dofs"], report["seed"], report["samples"]) == ("half_cheetah", 9, 3, 20)
    assert 16 <= report["compared"] <= 20
    assert report["within_tolerance"] == report["compared"]
    assert (report["verdict"], report["reason"], report["out_of_time"]) == ("good", "", False)
    assert report["parameters"]["per_sample"] == 8 < report["parameters"]["all"]
    assert 0 <= report["switched"] <= report["compared"]
    assert 0 < report["median_relative_error"] <= report["max_relative_error"] <= 1e-5
    assert max(report["vjp_error"], report["jvp_error"]) <= 1e-12
    for block in BLOCKS:
        errors = report["blocks"][block]
        assert 0 <= errors["median_relative_error"] <= errors["max_relative_error"], block
    largest = max(errors["max_relative_error"] for errors in report["blocks"].values())
    assert report["max_relative_error"] == largest == report["blocks"][report["worst"]["block"]]["max_relative_error"]
    assert report["columns"]["all"] >= 20 * 3 * 9 * report["compared"] / 20
    assert set(report["switches"]) == {"constraints", "targets", "normals", "friction", "joints", "solver"}


def test_the_worst_case_can_be_looked_at_again():
    report = gradcheck("gripper", "--samples", 10, "--seed", 5)
    program, *arguments = report["worst"]["reproduce"].split()
    assert program == "lithe"
    again = json.loads(lithe(*arguments, "--json").stdout)
    assert again["samples"] == 1
    for figure in ["sample", "block", "row", "column", "analytic", "numeric"]:
        assert again["worst"][figure] == report["worst"][figure]


def test_samples_depend_on_the_seed_alone():
    def report(seed):
        result = gradcheck("rolling_sphere", "--samples", 5, "--seed", seed)
        return {key: value for key, value in result.items() if key not in ("wall_seconds", "seed", "worst")}

    assert report(1) == report(1)
    assert report(1) != report(2)


def test_the_text_says_the_same_to_people():
    result = lithe("gradcheck", "half_cheetah", "--samples", 5)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("half_cheetah: 10 bodies, 9 DoFs, 5 of 5 samples compared in ")
    for title in [*BLOCKS, "step_vjp", "step_jvp", "samples", "left out", "parameters", "switched", "worst"]:
        assert f"\n  {title} " in result.stdout
    assert "lithe gradcheck half_cheetah --seed 1 --only " in result.stdout
    assert "5 of 5 compared, 5 within 1e-05" in result.stdout
    assert "\n  parameters  8 of " in result.stdout and " per sample, drawn by the seed\n" in result.stdout


def test_parameters_can_be_left_out():
    blocks = gradcheck("pendulum", "--samples", 2, "--parameters", 0)["blocks"]
    assert "dvnext_dq" in blocks
    assert "dvnext_dparameters" not in blocks


def test_an_error_above_the_tolerance_fails_and_says_where():
    result = lithe("gradcheck", "double_pendulum", "--samples", 3, "--tolerance", 1e-15, "--json")
    assert result.returncode == 1
    report = json.loads(result.stdout)  # all the same
    assert report["max_relative_error"] > 1e-15
    assert result.stderr.startswith("lithe: error: a derivative is off by ")
    assert f"--only {report['worst']['sample']}" in result.stderr


# A box on a slide whose upper limit holds it inside the ground: nothing can push it out, whatever is tried.
JAMMED = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="box"><joint name="slide" type="slide" axis="0 0 1" limited="true" range="-0.1 0"/>
    <geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody></mujoco>
"""

# A ball that rolls on the ground with a joint on it whose limits leave no room.
CLOSED_LIMITS = """<robot name="pair">
  <link name="lower"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="lower"/><child link="upper"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0" effort="0" velocity="0"/></joint>
</robot>
"""

# An arm whose joints start exactly at a limit, with motors of a thousand newton metres on two hundred grams.
STRONG_ARM = """<robot name="arm">
  <link name="world"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0"/><mass value="0.2"/>
    <inertia ixx="1e-4" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.1 0 0"/><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="5e-4" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="2" effort="1000" velocity="10"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="0" effort="1000" velocity="10"/></joint>
</robot>
"""


def written(folder, text):
    path = folder / ("robot.xml" if "<mujoco>" in text else "robot.urdf")
    path.write_text(text)
    return path


def test_what_cannot_be_compared_has_an_exit_code_of_its_own(tmp_path):
    path = written(tmp_path, JAMMED)
    result = lithe("gradcheck", path, "--samples", 5, "--json")
    assert result.returncode == 3
    report = json.loads(result.stdout)
    assert (report["samples"], report["compared"], report["verdict"]) == (5, 0, "too_little_compared")
    assert report["max_relative_error"] is None and report["median_relative_error"] is None
    assert report["left_out"]["targets_dropped"] == 5
    assert set(report["left_out_samples"]) == {"0", "1", "2", "3", "4"}
    assert "targets dropped: contact of world and box, " in report["left_out_samples"]["0"]
    assert "0 of 5 samples were compared, less than 80 %: 5 with targets dropped" in result.stderr
    text = lithe("gradcheck", path, "--samples", 5)
    assert text.returncode == 3
    assert "0 of 5 compared, 0 within 1e-05" in text.stdout


@pytest.mark.parametrize("text", [CLOSED_LIMITS, STRONG_ARM], ids=["closed limits", "strong arm"])
def test_robots_are_sampled_in_states_that_they_can_be_in(tmp_path, text):
    result = lithe("gradcheck", written(tmp_path, text), "--samples", 10, "--seconds", 1000, "--json")
    assert result.returncode == 0, result.stderr  # where warnings about the file are, too
    report = json.loads(result.stdout)
    assert report["compared"] == report["within_tolerance"] == 10
    assert report["settling"]["quiet"] and report["settling"]["targets_dropped"] == 0


def test_motions_begin_at_rest_or_in_the_state_of_the_scene(tmp_path):
    arm = written(tmp_path, STRONG_ARM)
    assert "settling" in gradcheck(arm, "--samples", 2)
    assert "settling" in gradcheck("half_cheetah", "--samples", 2, "--from", "rest")
    assert "settling" not in gradcheck("half_cheetah", "--samples", 2)
    started = json.loads(lithe("gradcheck", arm, "--samples", 2, "--from", "start", "--json").stdout)
    assert "settling" not in started
    assert " --from start --seed " in started["worst"]["reproduce"] if "worst" in started else True


def test_time_only_decides_how_many_samples_there_are():
    def report(*arguments):
        result = lithe("gradcheck", "gripper", "--from", "rest", "--json", *arguments)
        figures = json.loads(result.stdout)
        return result.returncode, {k: v for k, v in figures.items() if k not in ("wall_seconds", "samples_wanted", "worst")}

    assert report("--samples", 3, "--seconds", 1000) == report("--samples", 3, "--seconds", 2000)
    code, nothing = report("--samples", 3, "--seconds", 1e-9)
    assert code == 3
    assert (nothing["samples"], nothing["compared"], nothing["out_of_time"]) == (0, 0, True)
    assert nothing["max_relative_error"] is None
    assert nothing["reason"].startswith("nothing was compared: 0 s were up after ")


def test_an_unknown_scene_brings_suggestions():
    result = lithe("gradcheck", "humanoit")
    assert result.returncode == 1
    assert "'humanoid'" in result.stderr


@pytest.mark.parametrize("name", ["robot.urdf", "cheetah.xml", "models/atlas"])
def test_a_file_that_is_not_there_is_refused(name):
    result = lithe("gradcheck", name)
    assert result.returncode == 1
    assert result.stderr == f"{name}: error: {name} does not exist\n"


@pytest.mark.parametrize(
    "option, value",
    [
        ("--samples", "0"),
        ("--samples", "many"),
        ("--seed", "-1"),
        ("--only", "-2"),
        ("--steps", "0"),
        ("--parameters", "-1"),
        ("--tolerance", "0"),
        ("--tolerance", "small"),
        ("--seconds", "0"),
        ("--seconds", "long"),
        ("--from", "bed"),
    ],
)
def test_bad_values_are_bad_usage(option, value):
    result = lithe("gradcheck", "pendulum", option, value)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"lithe: error: {option}")


def test_interrupting_reports_what_there_is():
    command = [LITHE, "gradcheck", "humanoid", "--samples", str(10**9), "--json"]
    returncode, stdout, shown = interrupted_after(command, b"[1-9][0-9]* of 1000000000")
    assert returncode == 130
    assert shown.endswith(b"\r\x1b[K")
    report = json.loads(stdout)
    assert report["interrupted"] and 0 < report["samples"] < 10**9
