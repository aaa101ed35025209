import json
import os
import pty
import signal
import subprocess
import time

import pytest
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
    answered = ["guess", "active_set", "path", "other", "unsolved"]
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
    start = time.monotonic()
    result = lithe("simulate", "humanoid", "--steps", 10**9, "--out", tmp_path / "none" / "file")
    assert result.returncode == 1
    assert "No such file or directory" in result.stderr
    assert time.monotonic() - start < 10


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
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise TimeoutError


def test_interrupting_stops_reports_and_leaves_a_readable_recording(tmp_path):
    file = tmp_path / "motion"
    command = [LITHE, "simulate", "humanoid", "--steps", str(10**9), "--out", str(file), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: file.exists() and file.stat().st_size > 200_000)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")
    report = json.loads(stdout)
    assert report["interrupted"] and 0 < report["steps"] < 10**9
    _, frames = read_recording(file)
    assert len(frames) == report["steps"] + 1


def shown_on_a_terminal(*options, until):
    """What a simulation that is interrupted after a while writes to stderr. `until` is asked about what came so far."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    command = [LITHE, "simulate", "pendulum", "--steps", str(10**9), *options]
    shown = b""

    def enough():
        nonlocal shown
        try:
            shown += os.read(ours, 4096)
        except BlockingIOError:
            pass
        return until(shown)

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        wait_for(enough)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    enough()
    os.close(ours)
    os.close(theirs)
    return shown.decode()


def test_a_terminal_sees_a_bar_that_goes_away():
    shown = shown_on_a_terminal(until=lambda text: b"of 1000000000" in text)
    assert shown.startswith("\rpendulum ")
    assert "%" in shown
    assert shown.endswith("\r\x1b[K")


def test_quiet_shows_no_bar():
    start = time.monotonic()
    assert shown_on_a_terminal("--quiet", until=lambda _: time.monotonic() - start > 1) == ""
