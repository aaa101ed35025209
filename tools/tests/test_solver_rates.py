import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

REPORT = {
    "rows": {"mean": 12.4, "max": 18},
    "lcps": {
        "count": 7,
        "guess_percent": 85.714,
        "active_set_percent": 14.286,
        "path_percent": 0,
        "targets_dropped": 2,
        "unpolished": 1,
        "unsolved": 0,
        "worst_residual": 3.2e-12,
    },
}


def run_with_a_stand_in(tmp_path, page):
    """Runs the tool with a stand-in for the command line that knows one answer."""
    stand_in = tmp_path / "lithe"
    stand_in.write_text(f"#!/bin/sh\ncat <<'EOF'\n{json.dumps(REPORT)}\nEOF\n")
    stand_in.chmod(0o755)
    command = [sys.executable, ROOT / "tools" / "solver_rates.py", "--lithe", str(stand_in), "--into", str(page)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_table_replaces_the_one_in_the_page_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- rates -->\nold\n<!-- /rates -->\nafter\n", encoding="utf-8")
    printed = run_with_a_stand_in(tmp_path, page)
    assert page.read_text(encoding="utf-8") == f"before\n<!-- rates -->\n{printed}<!-- /rates -->\nafter\n"


def test_a_row_shows_rates_and_residual(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("", encoding="utf-8")
    printed = run_with_a_stand_in(tmp_path, page)
    assert "| 12/18 | 7 | 85.71 | 14.29 | 0.00 | 2 | 1 | 0 | 3e-12 |" in printed


def test_a_column_appears_with_the_first_report_that_has_it():
    sys.path.insert(0, str(ROOT / "tools"))
    import solver_rates

    counted = REPORT | {"lcps": REPORT["lcps"] | {"events": 21}}
    assert "events" not in solver_rates.table([("a", 1, "rest", REPORT)])
    header, _, first, second = solver_rates.table([("a", 1, "rest", REPORT), ("b", 1, "move", counted)]).splitlines()
    place = header.split("|").index(" events ")
    assert [line.split("|")[place].strip() for line in (first, second)] == ["", "3.00"]


def test_the_documentation_shows_every_scene_of_the_table():
    page = (ROOT / "docs" / "lcp.md").read_text(encoding="utf-8")
    sys.path.insert(0, str(ROOT / "tools"))
    import solver_rates

    for scene, steps, what, _ in solver_rates.RUNS:
        assert f"| `{scene}` | {what} | {steps} |" in page
