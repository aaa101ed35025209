import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "gradient_table.py"
BLOCKS = {key: 1.0 for key in ("qnext_q", "qnext_v", "qnext_tau", "vnext_q", "vnext_v", "vnext_tau")}
GOOD = dict(forward_us=10.0, jacobians_us=10.0, vjp_us=4.0, jvp_us=5.0, central_us=2000.0)
GOOD |= dict(ridders_us=6000.0, nv=33, contacts=12, rank=14, blocks=BLOCKS)
NAMES = ["humanoid", "half_cheetah", "jump_worm", "catapult", "boxes:1", "boxes:32"]


def results(tmp_path, **changes):
    scenes = [GOOD | {"scene": name} | changes.get(name, {}) for name in NAMES]
    path = tmp_path / "gradients.json"
    path.write_text(json.dumps({"scenes": scenes}))
    return path


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)


def test_the_table_has_a_row_per_scene_with_its_ratios(tmp_path):
    lines = run(results(tmp_path)).stdout.splitlines()
    cells = [cell.strip() for cell in next(line for line in lines if line.startswith("| humanoid")).split("|")[1:-1]]
    assert cells == ["humanoid", "33", "12", "14", "10", "10", "1.00", "4", "0.40", "5", "200×", "600×"]


def test_boxes_show_how_the_time_grows(tmp_path):
    printed = run(results(tmp_path, **{"boxes:32": {"jacobians_us": 320.0}})).stdout
    row = next(line for line in printed.splitlines() if line.startswith("| all Jacobians"))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["10", "10", "n^1.00"]


def test_check_passes_when_all_targets_are_met(tmp_path):
    assert run("--check", results(tmp_path)).returncode == 0


def test_check_names_what_missed_its_target(tmp_path):
    path = results(tmp_path, humanoid={"vjp_us": 8.0, "central_us": 1000.0})
    result = run("--check", path)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "gradient_table: error: humanoid: VJP: 0.80 forward steps, wanted 0.7",
        "gradient_table: error: humanoid: over central differences: 100×, wanted 132×",
    ]


def test_targets_are_shown_on_request_only(tmp_path):
    path = results(tmp_path, humanoid={"vjp_us": 8.0})
    assert "wanted" not in run(path).stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in run("--targets", path).stdout.splitlines()]
    assert ["humanoid: VJP", "0.80 forward steps", "0.7", "miss"] in rows
    assert ["humanoid: over central differences", "200×", "132", "ok"] in rows


def test_check_fails_when_a_scene_was_not_measured(tmp_path):
    path = tmp_path / "gradients.json"
    path.write_text(json.dumps({"scenes": [GOOD | {"scene": "humanoid"}]}))
    assert "catapult was not measured" in run("--check", path).stderr


def test_a_file_that_is_no_result_is_refused(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    result = run(path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"gradient_table: error: {path}: ")


def test_tables_replace_those_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench gradients -->\nold\n<!-- /bench -->\nafter\n")
    result = run("--into", page, results(tmp_path))
    assert page.read_text() == f"before\n<!-- bench gradients -->\n{result.stdout}<!-- /bench -->\nafter\n"
