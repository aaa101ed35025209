import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "optimize_table.py"


def results(tmp_path):
    def run(threads, ms, derivatives):
        shares = {"rollout": 0.7 - derivatives, "derivatives": derivatives, "solve": 0.3}
        return {"name": f"ddp_humanoid/{threads}/real_time", "ms_per_iteration": ms, **shares}

    path = tmp_path / "optimize.json"
    path.write_text(json.dumps({"benchmarks": [run(1, 80.0, 0.2), run(2, 50.0, 0.16)]}))
    return path


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)


def test_a_row_has_the_split_and_what_a_second_thread_brings(tmp_path):
    row = run(results(tmp_path)).stdout.splitlines()[-1]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[1:] == ["80", "50 %", "20 %", "30 %", "1.60×"]


def test_the_table_goes_into_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench optimize -->\nold\n<!-- /bench -->\nafter\n")
    assert run("--into", page, results(tmp_path)).returncode == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "humanoid" in text and "old" not in text


def test_results_without_both_thread_counts_are_an_error(tmp_path):
    path = results(tmp_path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps({"benchmarks": data["benchmarks"][:1]}))
    outcome = run(path)
    assert outcome.returncode == 1 and "error" in outcome.stderr
