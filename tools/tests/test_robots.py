"""tools/robots.py: which files are robots, when one works, and what is said where it does not."""

import json
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import robots  # noqa: E402

ROBOT = '<robot name="r"><link name="l"/></robot>'
GOOD = {
    "loads": True,
    "dofs": 7,
    "mass": 12.5,
    "load_seconds": 0.05,
    "findings": [],
    "stands": {"verdict": "yes", "text": "at rest", "quiet_targets_dropped": 0, "targets_dropped_at_first": 0},
    "moves": {"verdict": "yes", "text": "500 steps", "steps": 500, "processor_seconds": 0.02},
    "gradients": {"verdict": "yes", "text": "10 of 10", "samples": 10, "within_tolerance": 10, "seconds": 0.4},
}


def changed(**parts):
    """The report of a good robot with some of it changed."""
    report = json.loads(json.dumps(GOOD))
    for name, change in parts.items():
        if isinstance(change, dict):
            report[name].update(change)
        else:
            report[name] = change
    return report


def stand_in(folder, answers):
    """A program that answers as `lithe doctor` would, by the file's name; without an answer it fails."""
    (folder / "answers.json").write_text(json.dumps(answers))
    script, program = folder / "lithe.py", folder / "lithe"
    script.write_text(
        f"""
import json, pathlib, sys
answers = json.loads(pathlib.Path({str(folder / "answers.json")!r}).read_text())
assert sys.argv[1] == "doctor" and sys.argv[3:] == ["--json"], sys.argv
name = pathlib.Path(sys.argv[2]).name
if name not in answers:
    sys.exit("lithe: error: out of order")
print(json.dumps(answers[name]))
"""
    )
    # The shell calls Python, because a first line "#!" with a space in the interpreter's path does not work.
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def folder(tmp_path):
    """Two robots, and the answers of a program about them."""
    models = tmp_path / "models"
    models.mkdir()
    for name in ("good.urdf", "bad.urdf"):
        (models / name).write_text(ROBOT)
    return models


def test_robots_are_found_and_parts_of_robots_are_not(tmp_path):
    files = {
        "arm.urdf": ROBOT,
        "empty.urdf": "<robot/>",
        "broken.urdf": "<robot",
        "deep/world.sdf": '<sdf version="1.7"><world name="w"/></sdf>',
        "deep/scene.xml": '<mujoco><include file="part.xml"/></mujoco>',
        "deep/part.xml": "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
        "deep/alone.xml": "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>",
        "deep/table.xml": "<mujoco><worldbody><geom/></worldbody></mujoco>",
        "deep/defaults.xml": "<mujoco><default/></mujoco>",
        "package.xml": "<package><name>p</name></package>",
        "notes.xml": "no XML at all",
        "arm.urdf.xacro": ROBOT,
        "mesh.stl": "solid",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = [path.relative_to(tmp_path).as_posix() for path in robots.robot_files([tmp_path])]
    assert sorted(found) == ["arm.urdf", "broken.urdf", "deep/alone.xml", "deep/scene.xml", "deep/world.sdf", "empty.urdf"]
    assert [path.name for path in robots.robot_files([tmp_path], "*.sdf")] == ["world.sdf"]


def test_a_named_file_is_taken_as_it_is(tmp_path):
    part = tmp_path / "part.xml"
    part.write_text("<mujoco/>")
    assert robots.robot_files([part, part]) == [part]
    with pytest.raises(FileNotFoundError, match="none does not exist"):
        robots.robot_files([tmp_path / "none"])


@pytest.mark.parametrize(
    "report, reason",
    [
        (changed(loads=False, findings=[{"check": "load", "text": "r.urdf:3: error: no"}]), "does not load: r.urdf:3: error: no"),
        (changed(stands={"quiet_targets_dropped": 3, "text": "left alone"}), "stands: left alone"),
        (changed(stands={"targets_dropped_at_first": 1}), "stands: at rest"),
        (changed(stands={"verdict": "no", "text": "explodes"}), "stands: explodes"),
        (changed(moves={"verdict": "no", "text": "too slow"}), "moves: too slow"),
        (changed(moves={"processor_seconds": 1.2}), "moves: 500 steps"),
        (changed(gradients={"verdict": "no", "text": "7 of 10"}), "gradients: 7 of 10"),
        (changed(gradients={"within_tolerance": 7}), "gradients: 10 of 10"),
        (changed(gradients={"verdict": "not tried", "text": ""}), "gradients: not tried"),
        (changed(gradients={"seconds": 21.0}), "gradients: comparing them took 21.0 s"),
        ({"failed": "not done after 120 s"}, "not done after 120 s"),
    ],
)
def test_every_criterion_counts(report, reason):
    assert robots.shortfalls(report) == [reason]
    assert robots.row("r", report)[-1] == "no"


def test_eight_of_ten_are_enough():
    assert robots.shortfalls(changed(gradients={"within_tolerance": 8})) == []
    assert robots.row("r", GOOD) == ["r", "7", "12.5", "50", "20", "0", "10/10", "0.4", "yes"]


def test_the_table_ends_with_reasons_and_the_total(folder, tmp_path, capsys):
    program = stand_in(tmp_path, {"good.urdf": GOOD})
    out = tmp_path / "out.json"
    assert robots.main([str(folder), "--lithe", str(program), "--jobs", "2", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0].split()[0] == "robot" and lines[1].split() == ["bad.urdf", "no"]
    assert lines[2].split() == ["good.urdf", "7", "12.5", "50", "20", "0", "10/10", "0.4", "yes"]
    assert "  bad.urdf\n    exit code 1: lithe: error: out of order\n" in printed
    assert lines[-1] == "1 of 2 work"
    written = json.loads(out.read_text())
    assert written["working"] == 1
    assert [each["robot"] for each in written["robots"]] == ["bad.urdf", "good.urdf"]
    assert written["robots"][0]["shortfalls"] and not written["robots"][1]["shortfalls"]


def test_so_many_can_be_required(folder, tmp_path, capsys):
    program = stand_in(tmp_path, {"good.urdf": GOOD})
    assert robots.main([str(folder), "--lithe", str(program), "--require", "1"]) == 0
    assert robots.main([str(folder), "--lithe", str(program), "--require", "2"]) == 1
    capsys.readouterr()


def test_bad_usage_is_told(tmp_path, capsys):
    assert robots.main([str(tmp_path / "none")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert robots.main([str(tmp_path)]) == 2
    assert "no robot in" in capsys.readouterr().err
    for arguments in ([], [str(tmp_path), "--jobs", "0"]):
        with pytest.raises(SystemExit) as stop:
            robots.main(arguments)
        assert stop.value.code == 2
        capsys.readouterr()


def test_a_program_that_is_not_there_is_told(folder, tmp_path, capsys):
    assert robots.main([str(folder), "--lithe", str(tmp_path / "none")]) == 0
    assert "cannot run" in capsys.readouterr().out


def test_nothing_is_downloaded_into_the_repository(capsys):
    assert robots.main(["--download", str(ROOT / "out" / "robots")]) == 2
    assert "inside the repository" in capsys.readouterr().err
