import json
import os
import pty
import signal
import subprocess
import time

import pytest
from interrupting import interrupted_after, read_terminal
from recording import read_recording

LITHE = os.environ.get("LITHE_CLI", "build/lithe")


def lithe(*arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def simulate(*arguments):
    """The report of a simulation that must go well, and must keep stderr clean."""
    result = lithe("simulate", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def scene_names():
    return [line.split()[0] for line in lithe("scenes").stdout.splitlines()]


def test_every_listed_scene_runs():
    names = scene_names()
    assert "humanoid" in names
    for name in names:
        report = simulate(name, "--steps", 20)
        assert report["steps"] == 20, name
        assert report["lcps"]["unsolved"] == 0, name
        assert not report["diverged"], name


def test_the_report_has_the_figures_of_the_scene():
    report = simulate("humanoid", "--steps", 10, "--dt", 0.002)
    assert (report["dofs"], report["bodies"], report["time_step"]) == (33, 28, 0.002)
    assert report["simulated_seconds"] == pytest.approx(0.02)
    assert report["contacts"]["max"] >= 12
    assert report["rows"]["max"] >= 36
    assert 0 < report["step_microseconds"]["mean"] <= report["step_microseconds"]["max"]
    lcps = report["lcps"]
    answered = ["guess", "followed", "active_set", "path", "other", "unsolved"]
    assert sum(lcps[f"{stage}_percent"] for stage in answered) == pytest.approx(100)
    assert report["energy"]["end"] < report["energy"]["start"]


def test_the_text_says_the_same_to_people():
    result = lithe("simulate", "humanoid", "--steps", 10)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("humanoid: 28 bodies, 33 DoFs, 10 steps of 1 ms\n")
    for title in ["simulated", "step", "contacts", "rows", "LCPs", "energy"]:
        assert f"\n  {title} " in result.stdout


def test_cold_steps_use_no_guess():
    assert simulate("stack:3", "--steps", 50, "--cold")["lcps"]["guess_percent"] == 0
    assert simulate("stack:3", "--steps", 50)["lcps"]["guess_percent"] > 50


def test_no_steps_are_allowed():
    report = simulate("pendulum", "--steps", 0)
    assert report["steps"] == 0
    assert report["energy"]["start"] == report["energy"]["end"]


def test_quiet_says_nothing():
    result = lithe("simulate", "pendulum", "--steps", 5, "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_an_unknown_scene_brings_suggestions():
    result = lithe("simulate", "humanoit")
    assert result.returncode == 1
    assert result.stderr.startswith("lithe: error: ")
    assert "'humanoid'" in result.stderr


@pytest.mark.parametrize("name", ["robot.urdf", "cheetah.xml", "world.sdf", "models/atlas"])
def test_a_file_that_is_not_there_is_refused(name):
    result = lithe("simulate", name)
    assert result.returncode == 1
    assert result.stderr == f"{name}: error: {name} does not exist\n"


@pytest.mark.parametrize(
    "option, value",
    [
        ("--steps", "-1"),
        ("--steps", "many"),
        ("--steps", "99999999999999999999"),
        ("--dt", "0"),
        ("--dt", "-0.001"),
        ("--dt", "nan"),
        ("--dt", "inf"),
        ("--controls", "some"),
        ("--seed", "-1"),
    ],
)
def test_bad_values_are_bad_usage(option, value):
    result = lithe("simulate", "pendulum", option, value)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"lithe: error: {option}")


def test_a_file_that_cannot_be_written_is_noticed_before_simulating(tmp_path):
    result = lithe("simulate", "humanoid", "--steps", 10**9, "--out", tmp_path / "none" / "file")
    assert result.returncode == 1
    assert "No such file or directory" in result.stderr


def test_a_full_disk_is_an_error():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    result = lithe("simulate", "pendulum", "--out", "/dev/full")
    assert result.returncode == 1
    assert "No space left on device" in result.stderr


def test_the_recording_is_as_documented(tmp_path):
    report = simulate("humanoid", "--steps", 30, "--out", tmp_path / "motion")
    header, frames = read_recording(tmp_path / "motion")
    assert report["recording"]["frames"] == len(frames) == 31
    assert report["recording"]["bytes"] == (tmp_path / "motion").stat().st_size
    assert (header["title"], header["nv"], header["time_step"]) == ("humanoid", 33, 0.001)
    assert header["bodies"][0] == "world"
    for number, frame in enumerate(frames):
        assert frame.time == pytest.approx(number * 0.001)
    assert len(frames[0].contacts) == 12
    assert frames[-1].contacts == []


def test_a_keyframe_may_be_named(tmp_path):
    file = tmp_path / "slider.xml"
    file.write_text(
        '<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide"/><geom size="0.1" contype="0" conaffinity="0"/></body>'
        '</worldbody><keyframe><key name="low" qpos="1"/><key name="home" qpos="2"/></keyframe></mujoco>'
    )

    def start(*options):
        result = lithe("simulate", file, "--steps", 1, "--out", tmp_path / "motion", *options)
        assert result.returncode == 0, result.stderr
        return read_recording(tmp_path / "motion")[1][0].q[0], result.stderr

    assert start() == (2, f'{file}: note: starts in keyframe "home"\n')
    assert start("--keyframe", "low") == (1, "")
    assert start("--keyframe", "qpos0") == (0, "")
    result = lithe("simulate", file, "--keyframe", "high")
    assert result.returncode == 1
    assert "there is no keyframe 'high'; 'MuJoCo Model' has 'low', 'home'" in result.stderr


def test_recorded_impulses_carry_the_weight(tmp_path):
    simulate("boxes:1", "--steps", 100, "--out", tmp_path / "motion")
    header, frames = read_recording(tmp_path / "motion")
    shapes = [name for name, _ in header["shapes"]]
    for frame in frames[50:-1]:
        up = sum(c.impulse[2] * (-1 if shapes[c.a] == "ground" else 1) for c in frame.contacts)
        assert up == pytest.approx(9.81 * 0.001, rel=1e-3)  # 1 kg
        assert all(abs(abs(c.normal[2]) - 1) < 1e-9 for c in frame.contacts)


def test_random_controls_depend_on_the_seed_alone(tmp_path):
    def motion(name, *options):
        simulate("humanoid", "--steps", 20, "--out", tmp_path / name, *options)
        return (tmp_path / name).read_bytes()

    first = motion("a", "--controls", "random", "--seed", 5)
    assert first == motion("b", "--controls", "random", "--seed", 5)
    assert first != motion("c", "--controls", "random", "--seed", 6)
    assert first != motion("d")


def wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise TimeoutError


def larger_than(file, size):
    return lambda: file.exists() and file.stat().st_size > size


def test_interrupting_stops_reports_and_leaves_a_readable_recording(tmp_path):
    file = tmp_path / "motion"
    command = [LITHE, "simulate", "humanoid", "--steps", str(10**9), "--out", str(file), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(larger_than(file, 200_000))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")
    report = json.loads(stdout)
    assert report["interrupted"] and 0 < report["steps"] < 10**9
    _, frames = read_recording(file)
    assert len(frames) == report["steps"] + 1


def test_who_is_started_to_ignore_ctrl_c_ignores_it(tmp_path):
    file = tmp_path / "motion"
    command = [LITHE, "simulate", "humanoid", "--steps", str(10**9), "--out", str(file), "--json"]
    ignoring = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # as nohup, and a shell's &
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=ignoring) as process:
        wait_for(larger_than(file, 50_000))
        process.send_signal(signal.SIGINT)
        wait_for(larger_than(file, 500_000))
        process.send_signal(signal.SIGTERM)
        stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and json.loads(stdout)["interrupted"]


def test_a_terminal_sees_a_bar_that_goes_away():
    _, _, shown = interrupted_after([LITHE, "simulate", "pendulum", "--steps", str(10**9)], b"of 1000000000")
    assert shown.startswith(b"\rpendulum ")
    assert b"%" in shown
    assert shown.endswith(b"\r\x1b[K")


@pytest.mark.parametrize("variables, options", [({}, ["--quiet"]), ({"TERM": "dumb"}, [])])
def test_quiet_and_dumb_terminals_see_no_bar(tmp_path, variables, options):
    file = tmp_path / "motion"
    command = [LITHE, "simulate", "pendulum", "--steps", str(10**9), "--out", str(file), *options]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, **variables}) as process:
        os.close(theirs)
        wait_for(larger_than(file, 200_000))  # the first of them drew the bar, if there is one
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert read_terminal(ours) == b""
    os.close(ours)


MOTOR = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0" range="-60 60"/><geom type="sphere" size="0.1" pos="0 0 -0.5"/></body></worldbody>
<actuator><position joint="hinge" kp="50" kv="5"/></actuator></mujoco>"""


def test_random_targets_move_what_motors_hold(tmp_path):
    model = tmp_path / "servo.xml"
    model.write_text(MOTOR)

    def energies(*arguments):
        report = simulate(model, "--steps", 200, *arguments)
        return report["energy"]

    assert energies() != energies("--controls", "targets", "--seed", 3)
    assert energies("--controls", "targets", "--seed", 3) == energies("--controls", "targets", "--seed", 3)


def test_random_targets_need_motors():
    result = lithe("simulate", "pendulum", "--steps", 10, "--controls", "targets")
    assert result.returncode != 0
    assert "pendulum has no motors" in result.stderr
