import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from interrupting import interrupted_after
from recording import read_recording

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
METHODS = ["ddp", "shooting", "adam", "descent", "multiple", "cem", "mppi", "hybrid"]
SVG = "{http://www.w3.org/2000/svg}"


def lithe(*arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def optimize(*arguments):
    """The report of an optimisation that must go well, and must keep stderr clean."""
    result = lithe("optimize", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def short_cartpole(method, *arguments):
    return optimize("cartpole", "--method", method, "--steps", 50, "--hold", 5, "--iterations", 10, *arguments)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_lowers_the_cost_and_reports_it(method):
    report = short_cartpole(method, "--threads", 2, "--seed", 3)
    assert (report["scene"], report["method"], report["threads"], report["seed"]) == ("cartpole", method, 2, 3)
    assert (report["steps"], report["hold"], report["time_step"]) == (50, 5, 0.01)
    assert report["cost"] < report["cost_before"]
    assert 0 < report["iterations"] <= 10
    assert report["infeasibility"] >= 0
    assert report["message"] != ""
    assert report["reason"] in ["converged", "saddle", "stalled", "infeasible", "iteration_limit"]
    seconds = report["seconds"]
    assert set(seconds) == {"rollout", "derivatives", "solve", "total"}
    assert all(0 <= part <= seconds["total"] for part in seconds.values())
    history = report["history"]
    assert history[0]["iteration"] == 0
    assert history[0]["cost"] == pytest.approx(report["cost_before"], rel=1e-9)
    assert [line["seconds"] for line in history] == sorted(line["seconds"] for line in history)


def test_the_papers_cartpole_stands_up():
    report = optimize("cartpole", "--method", "ddp", "--iterations", 100)
    assert report["cost"] < 1e-2
    assert [(term["joint"], term["of"]) for term in report["terms"]] == [
        ("cart", "position"),
        ("cart", "velocity"),
        ("pole", "position"),
        ("pole", "velocity"),
    ]
    for term in report["terms"]:
        assert abs(term["value"]) < 0.05
        assert term["cost"] == pytest.approx(term["weight"] * (term["value"] - term["target"]) ** 2)


def test_aware_gradients_lift_the_drone_off_its_saddle():
    held = optimize("drone", "--steps", 100)
    assert held["reason"] == "saddle" and held["cost"] == held["cost_before"]
    # In 0.1 s full thrust does not lead far, but it leads up.
    assert optimize("drone", "--steps", 100, "--aware")["cost"] < held["cost"]
    assert "--aware" in lithe("optimize", "drone", "--steps", 100).stdout


def test_the_start_is_chosen_where_there_is_no_motor():
    report = optimize("ball_and_wall", "--method", "shooting", "--iterations", 50)
    assert report["cost"] < 1e-2 * report["cost_before"]
    result = lithe("optimize", "ball_and_wall", "--method", "ddp")
    assert (result.returncode, result.stdout) == (1, "")
    assert "no motor" in result.stderr and "--method shooting" in result.stderr


def test_effort_costs_as_much_as_it_is_said_to():
    free = short_cartpole("shooting", "--effort", 0)
    assert free["cost"] == pytest.approx(sum(term["cost"] for term in free["terms"]))
    dear = short_cartpole("shooting", "--effort", 100)
    assert dear["cost"] > sum(term["cost"] for term in dear["terms"])


def test_the_text_says_the_same_to_people():
    result = lithe("optimize", "cartpole", "--steps", 50, "--iterations", 3, "--threads", 1)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("cartpole: be in the middle, upright and at rest, 50 steps of 10 ms\n")
    for title in ["method", "cost", "iterations", "time", "violation", "outcome", "at the end"]:
        assert f"\n  {title} " in result.stdout
    assert "ddp, 1 thread\n" in result.stdout and " → " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120
    assert not any(line.endswith(" ") for line in result.stdout.splitlines())


@pytest.mark.parametrize("method", ["ddp", "cem", "multiple"])
def test_threads_do_not_change_the_result(method):
    one, two = (short_cartpole(method, "--threads", threads) for threads in (1, 2))
    assert one["cost"] == two["cost"]
    assert one["terms"] == two["terms"]


def test_the_seed_changes_a_search():
    assert short_cartpole("cem", "--seed", 1)["cost"] != short_cartpole("cem", "--seed", 2)["cost"]


def test_time_is_limited():
    report = optimize("cartpole", "--method", "mppi", "--iterations", 10**9, "--seconds", 0.5)
    assert report["reason"] == "time_limit"
    assert report["seconds"]["total"] >= 0.5


def test_the_plot_shows_cost_forces_and_motion(tmp_path):
    file = tmp_path / "plot.svg"
    short_cartpole("ddp", "--plot", file)
    root = ElementTree.parse(file).getroot()
    assert root.tag == SVG + "svg"
    texts = ["".join(text.itertext()) for text in root.iter(SVG + "text")]
    for text in ["cartpole: ddp", "Cost", "Wall-clock time (s)", "Force (N)", "Position (m)", "Angle (rad)", "pole"]:
        assert text in texts
    # A window of its own for each panel, with a curve in it.
    panels = root.findall(SVG + "svg")
    assert len(panels) == 4
    assert all(panel.findall(SVG + "polyline") for panel in panels)


def test_the_recording_is_of_the_motion_found(tmp_path):
    report = optimize("catapult", "--steps", 200, "--iterations", 2, "--hold", 10, "--record", tmp_path / "motion")
    header, frames = read_recording(tmp_path / "motion")
    assert (header["title"], header["nv"], header["time_step"]) == ("catapult", 5, 0.001)
    assert len(frames) == 201
    assert frames[-1].time == pytest.approx(0.2)
    places = {name: place for place, (name, _, _) in enumerate(header["joints"])}
    for term in report["terms"]:
        assert frames[-1].q[places[term["joint"]]] == term["value"]
    assert any(frame.contacts for frame in frames)


def test_files_are_named_to_people(tmp_path):
    result = lithe("optimize", "drone", "--steps", 20, "--plot", tmp_path / "a.svg", "--record", tmp_path / "b")
    assert result.returncode == 0
    assert f"  plot        {tmp_path / 'a.svg'}\n" in result.stdout
    assert f"  recording   {tmp_path / 'b'}\n" in result.stdout


@pytest.mark.parametrize("option", ["--plot", "--record"])
def test_a_file_that_cannot_be_written_is_noticed_before_the_work(tmp_path, option):
    path = tmp_path / "none" / "file"
    result = lithe("optimize", "cartpole", "--method", "mppi", "--iterations", 10**9, option, path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "No such file or directory" in result.stderr


def test_an_error_leaves_an_older_plot_alone(tmp_path):
    old, new = tmp_path / "old.svg", tmp_path / "new.svg"
    old.write_text("something")
    for plot in (old, new):
        unwritable = tmp_path / "none" / "file"
        result = lithe("optimize", "cartpole", "--plot", plot, "--record", unwritable)
        assert result.returncode == 1
    assert old.read_text() == "something"
    assert not new.exists()


def test_a_full_disk_is_an_error_after_the_report():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    result = lithe("optimize", "drone", "--steps", 20, "--plot", "/dev/full")
    assert result.returncode == 1
    assert result.stdout.startswith("drone: ")
    assert "No space left on device" in result.stderr


def test_an_unknown_scene_brings_suggestions():
    result = lithe("optimize", "cartpol")
    assert (result.returncode, result.stdout) == (1, "")
    assert "'cartpole'" in result.stderr


def test_a_scene_without_a_task_names_those_with_one():
    result = lithe("optimize", "pendulum")
    assert (result.returncode, result.stdout) == (1, "")
    for name in ["cartpole", "double_cartpole", "drone", "catapult", "jump_worm", "ball_and_wall"]:
        assert name in result.stderr


@pytest.mark.parametrize(
    "option, value",
    [
        ("--method", "newton"),
        ("--iterations", "0"),
        ("--iterations", "-1"),
        ("--iterations", "many"),
        ("--iterations", "99999999999999999999"),
        ("--seconds", "0"),
        ("--seconds", "-1"),
        ("--seconds", "nan"),
        ("--seconds", "inf"),
        ("--threads", "0"),
        ("--threads", "-2"),
        ("--seed", "-1"),
        ("--hold", "0"),
        ("--effort", "-1"),
        ("--effort", "nan"),
        ("--steps", "0"),
        ("--steps", "-5"),
        ("--rate", "0"),
    ],
)
def test_bad_values_are_bad_usage(option, value):
    result = lithe("optimize", "cartpole", option, value)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"lithe: error: {option}")


def test_no_scene_is_bad_usage():
    assert lithe("optimize").returncode == 2


def test_interrupting_reports_the_best_and_clears_the_line(tmp_path):
    plot = tmp_path / "plot.svg"
    command = [LITHE, "optimize", "cartpole", "--method", "mppi", "--iterations", str(10**9), "--json", "--plot", plot]
    returncode, stdout, shown = interrupted_after(command, b"iteration 5")
    assert returncode == 130
    report = json.loads(stdout)
    assert report["reason"] == "interrupted"
    assert report["iterations"] >= 5
    assert report["cost"] == min(line["cost"] for line in report["history"]) < report["cost_before"]
    assert shown.startswith(b"\rcartpole mppi  iteration 0  cost ")
    assert shown.endswith(b"\r\x1b[K")
    ElementTree.parse(plot)


def test_the_example_prints_what_its_page_says():
    example = Path(LITHE).resolve().parent / "examples" / "swing_up"
    page = (Path(__file__).resolve().parents[2] / "docs" / "optimize.md").read_text(encoding="utf-8")
    lines = subprocess.run([example], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert f"`{line}`" in page
