import json
import os
import subprocess

import pytest
from interrupting import interrupted_after

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
BLOCKS = [f"d{result}_d{by}" for result in ("qnext", "vnext") for by in ("q", "v", "tau", "parameters")]
SMALL = {"boxes": "boxes:2", "chain": "chain:4", "pile": "pile:3", "stack": "stack:2"}


def lithe(*arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def gradcheck(*arguments):
    """The report of a check that must go well, and must keep stderr clean."""
    result = lithe("gradcheck", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def scene_names():
    return [line.split()[0] for line in lithe("scenes").stdout.splitlines()]


def test_every_listed_scene_has_the_derivatives_that_differences_show():
    names = scene_names()
    assert "half_cheetah" in names
    for name in names:
        report = gradcheck(SMALL.get(name, name), "--samples", 3)
        assert report["samples"] == 3, name
        assert report["max_relative_error"] <= 1e-5, name


def test_the_report_has_its_figures():
    report = gradcheck("half_cheetah", "--samples", 20, "--seed", 3)
    assert (report["scene"], report["dofs"], report["seed"], report["samples"]) == ("half_cheetah", 9, 3, 20)
    assert 0 < report["compared"] <= 20
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
    assert result.stdout.startswith("half_cheetah: 10 bodies, 9 DoFs, 5 samples in ")
    for title in [*BLOCKS, "step_vjp", "step_jvp", "left out", "switched", "worst"]:
        assert f"\n  {title} " in result.stdout
    assert "lithe gradcheck half_cheetah --seed 1 --only " in result.stdout


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
    ],
)
def test_bad_values_are_bad_usage(option, value):
    result = lithe("gradcheck", "pendulum", option, value)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"lithe: error: {option}")


def test_interrupting_reports_what_there_is():
    command = [LITHE, "gradcheck", "humanoid", "--samples", str(10**9), "--json"]
    returncode, stdout, shown = interrupted_after(command, b"[0-9]+ of 1000000000")
    assert returncode == 130
    assert shown.endswith(b"\r\x1b[K")
    report = json.loads(stdout)
    assert report["interrupted"] and 0 < report["samples"] < 10**9
