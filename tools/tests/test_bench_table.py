import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "bench_table.py"

sys.path.insert(0, str(SCRIPT.parent))
import bench_table  # noqa: E402

# All targets met, no moonshot.
TIMES = {
    "humanoid/id_with_kinematics": 1.0,
    "mujoco/id_with_kinematics": 2.0,
    "humanoid/mass_matrix_and_factor_with_kinematics": 1.5,
    "mujoco/mass_matrix_and_factor_with_kinematics": 4.0,
    "humanoid/fd_with_kinematics": 2.0,
    "mujoco/fd_with_kinematics": 5.0,
    "humanoid/id_derivatives": 2.4,
    "humanoid/fd_derivatives": 6.0,
    "humanoid/kinematics": 0.4,
    "mujoco/kinematics": 0.5,
    "chain_8/kinematics": 0.8,
    "chain_16/kinematics": 1.6,
    "chain_32/kinematics": 6.4,
}


def results(tmp_path, times, counters={}, single={}):
    """A file as Google Benchmark writes it, with the counters of some. Means are there to be ignored. `single` are those measured once."""
    runs = [
        {"name": name, "run_name": f"{name}/iterations:1/repeats:1/manual_time", "run_type": "iteration", **content}
        for name, content in single.items()
    ]
    for name, time in times.items():
        for statistic, factor in (("mean", 3.0), ("min", 1.0)):
            runs.append({
                "name": f"{name}_{statistic}",
                "run_name": name,
                "run_type": "aggregate",
                "aggregate_name": statistic,
                "real_time": time * factor,
                "cpu_time": time * factor,
                "time_unit": "us",
                **counters.get(name, {}),
            })
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"context": {}, "benchmarks": runs}), encoding="utf-8")
    return path


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


def humanoid(path):
    return run(path).stdout.split("\n\n")[0]


def chains(path):
    return run(path).stdout.split("\n\n")[1]


def targets(output):
    """The table that --targets adds."""
    return output[output.index("| targets ") :]


def row(output, title):
    """The cells of the one row that starts with `title`."""
    (line,) = [line for line in output.splitlines() if line.startswith(f"| {title} ")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_times_are_minima_beside_mujocos(tmp_path):
    output = humanoid(results(tmp_path, TIMES))
    assert row(output, "ID, with kinematics") == ["1", "2", "2.00×"]
    assert row(output, "∂ID by q, v") == ["2.4", "", ""]


@pytest.mark.parametrize("time, verdict", [(3.0, "ok, moonshot"), (2.0, "ok"), (1.99, "miss")])
def test_targets_are_exact(tmp_path, time, verdict):
    output = run("--targets", results(tmp_path, TIMES | {"mujoco/id_with_kinematics": time})).stdout
    assert row(targets(output), "ID, with kinematics: MuJoCo / Lithe")[1:] == ["≥ 2", "3", verdict]


@pytest.mark.parametrize("time, verdict", [(1.6, "ok, moonshot"), (2.4, "ok"), (2.41, "miss")])
def test_targets_may_be_multiples_of_our_own_times(tmp_path, time, verdict):
    output = run("--targets", results(tmp_path, TIMES | {"humanoid/id_derivatives": time})).stdout
    assert row(targets(output), "∂ID by q, v: in inverse dynamics")[1:] == ["≤ 2.4", "1.6", verdict]


def test_targets_are_shown_on_request_only_and_go_into_no_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- bench dynamics -->\nold\n<!-- /bench -->\n")
    path = results(tmp_path, TIMES)
    tables = run(path).stdout
    assert "wanted" not in tables
    assert run("--targets", "--into", page, path).stdout.startswith(tables)
    assert page.read_text() == f"<!-- bench dynamics -->\n{tables}<!-- /bench -->\n"


def test_a_target_that_was_not_measured_is_shown_as_such(tmp_path):
    times = {name: time for name, time in TIMES.items() if name != "humanoid/id_derivatives"}
    output = targets(run("--targets", results(tmp_path, times)).stdout)
    assert row(output, "∂ID by q, v: in inverse dynamics") == ["", "≤ 2.4", "1.6", "not measured"]


@pytest.mark.parametrize("name, rows", [("dynamics", "DYNAMICS"), ("collision", "COLLISION"), ("step", "STEP")])
def test_every_target_belongs_to_a_row(name, rows):
    assert set(bench_table.read_targets(name)) <= {row.title for row in getattr(bench_table, rows)}


@pytest.mark.parametrize("section", ["dynamics", "collision", "step", "motion", "forces", "islands", "batch"])
def test_every_target_is_a_known_ratio(section):
    for ratios in bench_table.read_targets(section).values():
        assert ratios and set(ratios) <= set(bench_table.RATIOS)


def test_other_time_units_are_converted(tmp_path):
    path = results(tmp_path, TIMES)
    path.write_text(path.read_text().replace('"us"', '"ns"'))
    assert row(humanoid(path), "kinematics") == ["0.0004", "0.0005", "1.25×"]


def test_chains_show_times_and_their_growth_at_the_end(tmp_path):
    assert row(chains(results(tmp_path, TIMES)), "kinematics") == ["0.8", "1.6", "6.4", "n^2.00"]


def test_tables_replace_those_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench dynamics -->\nold\n<!-- /bench -->\nafter\n")
    result = run("--into", page, results(tmp_path, TIMES))
    assert result.returncode == 0
    assert page.read_text() == f"before\n<!-- bench dynamics -->\n{result.stdout}<!-- /bench -->\nafter\n"


def test_a_page_without_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no marks\n")
    result = run("--into", page, results(tmp_path, TIMES))
    assert result.returncode == 1
    assert "<!-- bench dynamics -->" in result.stderr
    assert page.read_text() == "no marks\n"


def test_check_passes_when_all_targets_are_met(tmp_path):
    assert run("--check", results(tmp_path, TIMES)).returncode == 0


def test_check_names_what_missed_its_target(tmp_path):
    path = results(tmp_path, TIMES | {"mujoco/fd_with_kinematics": 2.0})
    result = run("--check", path)
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: FD, with kinematics: MuJoCo / Lithe is 1, wanted ≥ 2\n"
    assert run(path).returncode == 0


def test_check_fails_when_a_target_was_not_measured(tmp_path):
    times = {name: time for name, time in TIMES.items() if name != "humanoid/id_derivatives"}
    result = run("--check", results(tmp_path, times))
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: ∂ID by q, v: in inverse dynamics was not measured\n"


def test_results_without_any_measurement_are_refused(tmp_path):
    result = run(results(tmp_path, {}))
    assert result.returncode == 1
    assert "nothing was measured" in result.stderr


def test_a_file_that_is_no_result_is_refused(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    result = run(path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"bench_table: error: {path}: ")


COLLISION_TIMES = {
    "pair/sphere_box/touching": 0.04,
    "pair/sphere_box/separated": 0.02,
    "pair/sphere_box/distance": 0.03,
    "rest/box_on_plane": 0.05,
    "atlas/detect": 2.0,
    "mujoco/atlas": 12.0,
    "boxes_100/detect": 3.0,
    "boxes_1000/detect": 60.0,
    "mujoco/boxes_100": 5.0,
    "mujoco/boxes_1000": 50.0,
}


def test_collision_shows_pairs_in_nanoseconds_and_growth_over_the_range(tmp_path):
    output = run(results(tmp_path, COLLISION_TIMES)).stdout
    assert row(output, "sphere–box") == ["40", "20", "30"]
    assert row(output, "box on plane") == ["50"]
    assert row(output, "Atlas over a box: all contacts") == ["2", "12", "6.00×"]
    assert row(output, "all contacts") == ["3", "60", "n^1.30"]
    assert row(output, "MuJoCo") == ["5", "50", "n^1.00"]


def test_collision_without_the_robot_misses_its_target(tmp_path):
    times = {name: time for name, time in COLLISION_TIMES.items() if not name.startswith("atlas/")}
    result = run("--check", results(tmp_path, times))
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: Atlas over a box: all contacts: MuJoCo / Lithe was not measured\n"


def test_collision_has_its_own_place_in_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- bench dynamics -->\nold\n<!-- /bench -->\n<!-- bench collision -->\nold\n<!-- /bench -->\n")
    result = run("--into", page, results(tmp_path, COLLISION_TIMES))
    assert result.returncode == 0
    assert page.read_text() == (
        f"<!-- bench dynamics -->\nold\n<!-- /bench -->\n<!-- bench collision -->\n{result.stdout}<!-- /bench -->\n"
    )


STEP_TIMES = {
    "step/humanoid": 10.0,
    "mujoco/humanoid": 55.0,
    "step/half_cheetah": 4.0,
    "step/boxes_10": 5.0,
    "step/boxes_1000": 500.0,
    "stage/without_contacts": 4.0,
    "stage/detection": 1.0,
    "stage/lcp": 3.0,
}
STEP_COUNTERS = {"step/humanoid": {"contacts": 12.0}, "mujoco/humanoid": {"contacts": 6.0}}


def test_steps_stand_beside_mujocos_where_it_was_there(tmp_path):
    output = run(results(tmp_path, STEP_TIMES, STEP_COUNTERS)).stdout
    humanoid = row(output, "humanoid, standing on two mesh feet")
    assert humanoid == ["12", "10", "6", "55", "5.50×"]
    cheetah = row(output, "half cheetah, on its feet")
    assert cheetah == ["", "4", "", "", ""]
    assert row(output, "solving the LCP") == ["3.00", "30 %"]
    assert row(output, "the rest: rows, matrix, impulses") == ["2.00", "20 %"]


def test_boxes_show_the_time_of_one_and_growth_over_the_range(tmp_path):
    assert row(run(results(tmp_path, STEP_TIMES)).stdout, "one step") == ["0.5", "0.5", "n^1.00"]


def test_steps_have_their_own_place_in_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- bench step -->\nold\n<!-- /bench -->\n")
    result = run("--into", page, results(tmp_path, STEP_TIMES))
    assert result.returncode == 0
    assert page.read_text() == f"<!-- bench step -->\n{result.stdout}<!-- /bench -->\n"


def motion(**changes):
    """What bench_step writes about a model in motion: all targets met, no moonshot."""
    times = {"mean": 10.0, "95": 15.0, "99.9": 50.0, "max": 80.0, "first": 300.0, "early_max": 90.0, "rest": 8.0, "rest_max": 9.0}
    run = times | {f"mujoco_{key}": 2 * time for key, time in times.items()}
    run |= {"nv": 29.0, "rows": 51.0, "restarts": 0.0, "left_out": 0.0, "islands": 1.0, "unsolved": 0.0, "steps": 9000.0}
    return run | {"guessed": 0.25, "rest_guessed": 0.99, "rest_rows": 70.0} | changes


def without_mujoco(run):
    return {key: value for key, value in run.items() if not key.startswith("mujoco")}


REFUSED = {"error_occurred": True, "error_message": "MuJoCo refuses the model: no such plugin\nline 0"}


def test_motion_stands_beside_mujoco_and_beside_rest(tmp_path):
    single = {"motion/robot": motion(), "motion/alone": without_mujoco(motion()), "motion/strange": REFUSED, "motion/deaf": motion(left_out=3.0)}
    output = run(results(tmp_path, {}, single=single)).stdout
    first, in_motion, at_rest, notes = output.strip().split("\n\n")
    cells = row(first, "robot")
    assert cells[:5] == ["29", "51", "20", "30", "160"]
    assert cells[5:10] == ["10", "15", "50", "80", "300"]
    assert cells[10:] == ["2.00×", "16", "8", "1.25×", "8.00×"]
    assert row(first, "alone")[2:5] == ["", "", ""]
    assert row(in_motion, "robot") == ["51", "1", "0.25", "0", "0"]
    assert row(at_rest, "robot") == ["70", "0.99", "0"]
    assert notes.splitlines() == [
        "- strange: MuJoCo refuses the model: no such plugin line 0",
        "- deaf: 3 of its actuators are left out in both engines",
    ]


@pytest.mark.parametrize(
    "changes, missed",
    [
        ({}, None),
        ({"mean": 16.1}, "robot: motion / rest is 2.01, wanted ≤ 2"),
        ({"mujoco_mean": 14.9}, "robot: MuJoCo / Lithe is 1.49, wanted ≥ 1.5"),
        ({"max": 101.0}, "robot: max / mean is 10.1, wanted ≤ 10"),
    ],
)
def test_motion_has_targets_for_every_model(tmp_path, changes, missed):
    changes = changes | ({"mujoco_mean": 100.0} if "mean" in changes else {})
    errors = run("--check", results(tmp_path, {}, single={"motion/robot": motion(**changes)})).stderr
    assert [line for line in errors.splitlines() if "robot" in line] == ([f"bench_table: error: {missed}"] if missed else [])


def island(n, rest, **changes):
    return motion(n=float(n), rest=rest, **changes)


def test_islands_show_how_steps_grow_with_their_number(tmp_path):
    single = {"islands/stack_100": island(100, 800.0, unsolved=0.5), "islands/stack_20": island(20, 32.0), "islands/wall_25": island(25, 40.0)}
    times, growth = run(results(tmp_path, {}, single=single)).stdout.strip().split("\n\n")
    assert [line.split("|")[1].strip() for line in times.splitlines()[2:]] == ["stack 20", "stack 100", "wall 25"]
    assert row(times, "stack 100")[7] == "50 %"
    assert row(growth, "stack, 20 to 100")[3] == "n^2.00"
    errors = run("--check", results(tmp_path, {}, single=single)).stderr
    assert "stack: growth, the exponent is 2, wanted ≤ 1.2" in errors
    assert "pile 200: unsolved, % was not measured" in errors


def test_batches_stand_beside_a_world_alone(tmp_path):
    times = {"step": 30.0, "step_wall": 16.0, "vjp": 9.0, "vjp_wall": 5.0, "kilobytes": 180.0}
    alone = {"alone_step": 15.0, "alone_vjp": 6.0}
    batch = {"worlds": 2048.0, "threads": 2.0, **times, **alone, "mujoco_step": 40.0}
    output = run(results(tmp_path, {}, single={"batch/humanoid_2048x2": batch})).stdout
    assert row(output, "humanoid") == ["2048", "2", "30", "2.00×", "9", "1.50×", "1.86×", "21", "180", "40"]


def test_of_a_batch_the_step_and_its_vjp_count_together(tmp_path):
    alone = {"alone_step": 10.0, "alone_vjp": 5.0}
    batch = {"worlds": 2048.0, "threads": 1.0, "step": 10.5, "step_wall": 10.5, "vjp": 9.0, "vjp_wall": 9.0, "kilobytes": 11.0, **alone}
    errors = run("--check", results(tmp_path, {}, single={"batch/humanoid_2048x1": batch})).stderr
    assert [line for line in errors.splitlines() if "humanoid 2048x1" in line] == [
        "bench_table: error: humanoid 2048x1: step and VJP / alone is 1.3, wanted ≤ 1.15"
    ]


def test_sections_that_were_measured_go_to_their_places_and_others_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- bench {name} -->\nold\n<!-- /bench -->\n" for name in ("step", "motion", "islands")))
    path = results(tmp_path, STEP_TIMES, single={"motion/robot": motion()})
    assert run("--into", page, path).returncode == 0
    step, in_motion, islands = page.read_text().split("<!-- /bench -->\n")[:3]
    assert "humanoid, standing" in step and "| robot " in in_motion and islands.endswith("old\n")
