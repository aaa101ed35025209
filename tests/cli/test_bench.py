import json
import os
import re
import subprocess

import pytest
from interrupting import interrupted_after

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
BLOCKS = ["qnext_q", "qnext_v", "qnext_tau", "vnext_q", "vnext_v", "vnext_tau"]
TIMES = ["forward", "jacobians", "vjp", "jvp", "central", "ridders"]


def lithe(*arguments):
    return subprocess.run([LITHE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def bench(*arguments):
    """The report of a quick benchmark that must go well, and must keep stderr clean."""
    result = lithe("bench", *arguments, "--rounds", 2, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def report():
    return bench("half_cheetah", "jump_worm", "catapult", "chain:5", "boxes:2", "drone")


@pytest.fixture(scope="module")
def scenes(report):
    return {scene["scene"]: scene for scene in report["scenes"]}


def test_scenes_are_reported_in_the_order_given(report):
    names = [scene["scene"] for scene in report["scenes"]]
    assert names == ["half_cheetah", "jump_worm", "catapult", "chain:5", "boxes:2", "drone"]
    assert report["rounds"] == 2
    assert not report["interrupted"]


# The paper's table says 9 DoFs and 2 contacts, 5 and 2, 5 and 2.
@pytest.mark.parametrize(
    "name, nv, contacts, rank",
    [
        ("half_cheetah", 9, 2, 4),  # in the plane each contact holds two directions
        ("jump_worm", 5, 2, 2),  # both ends of an edge say the same
        ("catapult", 5, 2, 2),
        ("chain:5", 5, 0, 0),
        ("boxes:2", 12, 8, 12),
        ("drone", 1, 1, 1),
    ],
)
def test_scenes_are_measured_in_contact(scenes, name, nv, contacts, rank):
    scene = scenes[name]
    assert (scene["nv"], scene["contacts"], scene["rank"]) == (nv, contacts, rank)
    assert scene["rows"] == (1 if name == "drone" else 3 * contacts)


def test_the_step_that_is_timed_is_warm(scenes):
    for scene in scenes.values():
        assert scene["guessed"] == scene["islands"], scene["scene"]


def test_everything_has_a_time(scenes):
    for scene in scenes.values():
        times = [scene[f"{name}_us"] for name in TIMES] + [scene["blocks"][name] for name in BLOCKS]
        assert all(0 < time < 1e6 for time in times), scene
        assert list(scene["blocks"]) == BLOCKS


def test_ratios_are_those_of_the_times(scenes):
    for scene in scenes.values():
        time = {name: scene[f"{name}_us"] for name in TIMES}
        assert scene["jacobians_per_forward"] == pytest.approx(time["jacobians"] / time["forward"])
        assert scene["vjp_per_forward"] == pytest.approx(time["vjp"] / time["forward"])
        assert scene["central_per_jacobians"] == pytest.approx(time["central"] / time["jacobians"])
        assert scene["ridders_per_jacobians"] == pytest.approx(time["ridders"] / time["jacobians"])


# Central differences take 6 nv steps, Ridders' method at least twice as many: no load of the machine makes them cheaper than one.
def test_differences_take_longer_than_a_step(scenes):
    for name in ("half_cheetah", "boxes:2"):
        assert min(scenes[name]["central_us"], scenes[name]["ridders_us"]) > scenes[name]["forward_us"], name


def test_the_machine_is_named(report):
    assert set(report["machine"]) == {"cpu", "compiler", "vector_instructions", "assertions"}
    assert re.match(r"(gcc|clang) \d+", report["machine"]["compiler"])


def test_steps_can_be_taken_first():
    contacts = [bench("catapult", "--after", steps)["scenes"][0]["contacts"] for steps in (0, 160, 170)]
    assert contacts == [0, 0, 2]


def test_the_tables_are_for_people():
    result = lithe("bench", "chain:5", "boxes:1", "--rounds", 2)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("One step and its derivatives, µs\n")
    lines = result.stdout.splitlines()
    titles = next(line.split() for line in lines if "forward" in line)
    assert titles == ["nv", "contacts", "rank", "forward", "all", "VJP", "JVP", "central", "Ridders"]
    assert "central/all" in result.stdout and "∂v⁺/∂q" in result.stdout
    rows = [line.split() for line in lines if line.startswith("  boxes:1 ")]
    assert [len(row) for row in rows] == [1 + len(titles), 1 + 4, 1 + len(BLOCKS)]
    assert rows[0][1:4] == ["6", "4", "6"]
    assert max(map(len, lines)) <= 120
    assert not any(line.endswith(" ") for line in lines)


def test_the_default_is_the_papers_table_and_how_cost_grows():
    text = " ".join(lithe("bench", "--help").stdout.split())
    paper = "humanoid,half_cheetah,jump_worm,catapult"
    growing = "chain:5,chain:9,chain:18,chain:32,boxes:1,boxes:2,boxes:4,boxes:8,boxes:16,boxes:32"
    assert f"{paper},{growing}" in text.replace(", ", ",")


def test_a_file_that_is_not_there_is_refused_in_one_line():
    result = lithe("bench", "--model", "robots/atlas.urdf")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "robots/atlas.urdf: error: robots/atlas.urdf does not exist\n"


def test_an_unknown_scene_is_refused_before_anything_is_timed():
    result = lithe("bench", "humanoid", "chian:5", "--rounds", 1000000)
    assert (result.returncode, result.stdout) == (1, "")
    assert "did you mean 'chain'" in result.stderr


@pytest.mark.parametrize("option", ["--rounds", "--after"])
@pytest.mark.parametrize("value", ["-1", "many", "99999999999999999999"])
def test_bad_values_are_bad_usage(option, value):
    result = lithe("bench", "drone", option, value)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"lithe: error: {option}")


def test_interrupting_keeps_what_is_finished_and_clears_the_bar():
    command = [LITHE, "bench", "drone", "--rounds", "1000000", "--json"]
    returncode, stdout, shown = interrupted_after(command, b"of 1000000")
    assert returncode == 130
    report = json.loads(stdout)
    assert report["interrupted"] and report["scenes"] == []
    assert shown.startswith(b"\rbench ")
    assert shown.endswith(b"\r\x1b[K")
