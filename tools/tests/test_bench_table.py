import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "bench_table.py"

sys.path.insert(0, str(SCRIPT.parent))
import bench_table  # noqa: E402

# All targets met when one unit takes 2 µs.
TIMES = {
    "unit/llt_33": 2.0,
    "humanoid/id_with_kinematics": 0.5,
    "humanoid/mass_matrix_and_factor_with_kinematics": 1.4,
    "humanoid/fd_with_kinematics": 1.5,
    "humanoid/id_derivatives": 2.0,
    "humanoid/fd_derivatives": 4.0,
    "humanoid/kinematics": 0.4,
    "chain_8/kinematics": 0.8,
    "chain_16/kinematics": 1.6,
    "chain_32/kinematics": 6.4,
}


def results(tmp_path, times, counters={}):
    """A file as Google Benchmark writes it, with the counters of some. Means are there to be ignored."""
    runs = []
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


def test_times_are_minima_and_multiples_of_the_unit(tmp_path):
    output = humanoid(results(tmp_path, TIMES))
    assert row(output, "1 u:")[:2] == ["2.00", "1.000"]
    assert row(output, "kinematics") == ["0.40", "0.200"]


@pytest.mark.parametrize("time, verdict", [(0.6, "ok, moonshot"), (1.0, "ok"), (1.01, "miss")])
def test_targets_are_exact(tmp_path, time, verdict):
    output = run("--targets", results(tmp_path, TIMES | {"humanoid/id_with_kinematics": time})).stdout
    assert row(targets(output), "ID, with kinematics")[1:] == ["0.5", "0.3", verdict]


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
    assert row(output, "∂ID by q, v") == ["", "1.2", "0.7", "not measured"]


@pytest.mark.parametrize("name", ["dynamics", "collision", "step"])
def test_every_target_belongs_to_a_row(name):
    _, rows = bench_table.MEASURED[name]
    assert set(bench_table.read_targets(name)) <= {row.kernel for row in rows}


def test_other_time_units_are_converted(tmp_path):
    path = results(tmp_path, TIMES)
    path.write_text(path.read_text().replace('"us"', '"ns"'))
    assert row(humanoid(path), "kinematics")[:2] == ["0.00", "0.200"]


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
    path = results(tmp_path, TIMES | {"humanoid/fd_with_kinematics": 2.0})
    result = run("--check", path)
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: FD, with kinematics takes 1.000 u, wanted 0.9 u\n"
    assert run(path).returncode == 0


def test_check_fails_when_a_target_was_not_measured(tmp_path):
    times = {name: time for name, time in TIMES.items() if name != "humanoid/id_derivatives"}
    result = run("--check", results(tmp_path, times))
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: ∂ID by q, v was not measured\n"


def test_results_without_the_unit_are_refused(tmp_path):
    result = run(results(tmp_path, {"humanoid/kinematics": 1.0}))
    assert result.returncode == 1
    assert "no minimum of unit/llt_33" in result.stderr


def test_a_file_that_is_no_result_is_refused(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    result = run(path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"bench_table: error: {path}: ")


COLLISION_TIMES = {
    "unit/llt_33": 2.0,
    "pair/sphere_box/touching": 0.04,
    "pair/sphere_box/separated": 0.02,
    "pair/sphere_box/distance": 0.03,
    "rest/box_on_plane": 0.05,
    "atlas/detect": 2.0,
    "boxes_100/detect": 3.0,
    "boxes_1000/detect": 60.0,
}


def test_collision_shows_pairs_in_nanoseconds_and_growth_over_the_range(tmp_path):
    output = run(results(tmp_path, COLLISION_TIMES)).stdout
    assert row(output, "sphere–box") == ["40", "20", "30"]
    assert row(output, "box on plane") == ["50"]
    assert row(output, "Atlas over a box: all contacts") == ["2.00", "1.000"]
    assert row(output, "all contacts") == ["3", "60", "n^1.30"]


def test_collision_without_the_robot_misses_its_target(tmp_path):
    times = {name: time for name, time in COLLISION_TIMES.items() if not name.startswith("atlas/")}
    result = run("--check", results(tmp_path, times))
    assert result.returncode == 1
    assert result.stderr == "bench_table: error: Atlas over a box: all contacts was not measured\n"


def test_collision_has_its_own_place_in_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- bench dynamics -->\nold\n<!-- /bench -->\n<!-- bench collision -->\nold\n<!-- /bench -->\n")
    result = run("--into", page, results(tmp_path, COLLISION_TIMES))
    assert result.returncode == 0
    assert page.read_text() == (
        f"<!-- bench dynamics -->\nold\n<!-- /bench -->\n<!-- bench collision -->\n{result.stdout}<!-- /bench -->\n"
    )


STEP_TIMES = {
    "unit/llt_33": 2.0,
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
    assert humanoid == ["12", "10", "5", "6", "55", "5.50×"]
    cheetah = row(output, "half cheetah, on its feet")
    assert cheetah == ["", "4", "2", "", "", ""]
    assert row(output, "solving the LCP") == ["3.00", "1.500"]
    assert row(output, "the rest: rows, matrix, impulses") == ["2.00", "1.000"]


def test_boxes_show_the_time_of_one_and_growth_over_the_range(tmp_path):
    assert row(run(results(tmp_path, STEP_TIMES)).stdout, "one step") == ["0.5", "0.5", "n^1.00"]


def test_steps_have_their_own_place_in_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- bench step -->\nold\n<!-- /bench -->\n")
    result = run("--into", page, results(tmp_path, STEP_TIMES))
    assert result.returncode == 0
    assert page.read_text() == f"<!-- bench step -->\n{result.stdout}<!-- /bench -->\n"
