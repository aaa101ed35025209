"""README.md and the pages that show examples and measurements agree with what they show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def printed(tool, results):
    command = [sys.executable, ROOT / "tools" / tool, ROOT / results]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_readme_is_short():
    assert len(README.encode()) <= 9000


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_an_example_of_the_readme_has_eight_lines(language):
    (code,) = blocks(language)
    assert len([line for line in code.splitlines() if line]) == 8


def test_the_readme_shows_the_example_that_the_install_test_compiles():
    """Its headers and the statements of main(), however the lines are broken."""

    def words(text):
        return " ".join(text.split())

    example = words((ROOT / "examples" / "readme_example.cpp").read_text(encoding="utf-8"))
    (code,) = blocks("cpp")
    headers, statements = code.split("\n\n")
    assert words(headers) in example
    assert f"using namespace lithe; {words(statements)} }}" in example


def test_the_readme_shows_the_numbers_of_the_kept_results():
    (folder,) = re.findall(r"`(bench/results/[^`/]*)`", README)
    assert printed("readme_numbers.py", folder) in README


def test_six_numbers_are_in_the_readme():
    (table,) = re.findall(r"<!-- bench numbers -->\n(.*?)<!-- /bench -->", README, re.DOTALL)
    header, rule, *rows = table.splitlines()
    assert len(rows) == 6


SECTIONS = ["step", "motion", "forces", "islands", "batch"]


def test_the_page_of_benchmarks_shows_what_was_last_kept():
    kept = re.findall(r"`(bench/results/[^`]*\.json)`", BENCHMARKS)
    assert {Path(results).stem for results in kept} == {"dynamics", "collision", "step", "gradients"}
    for results in kept:
        name = Path(results).stem
        tool = "gradient_table.py" if name == "gradients" else "bench_table.py"
        # Of the steps there are several sections, one after the other.
        sections = SECTIONS if name == "step" else [name]
        shown = [re.search(rf"<!-- bench {section} -->\n(.*?)<!-- /bench -->", BENCHMARKS, re.DOTALL)[1] for section in sections]
        assert printed(tool, results) == "\n".join(section for section in shown if section)  # what was kept need not have all


def test_targets_are_on_no_page():
    for page in (README, BENCHMARKS):
        assert "moonshot" not in page


def test_the_page_on_optimising_shows_its_example_and_what_was_measured():
    page = (ROOT / "docs" / "optimize.md").read_text(encoding="utf-8")
    assert f"```cpp\n{(ROOT / 'examples' / 'swing_up.cpp').read_text(encoding='utf-8')}```" in page
    (results,) = re.findall(r"`(bench/results/[^`]*\.json)`", page)
    assert printed("optimize_table.py", results).strip() in page


def test_the_overview_shows_its_example():
    page = (ROOT / "docs" / "overview.md").read_text(encoding="utf-8")
    assert f"```cpp\n{(ROOT / 'examples' / 'pendulum.cpp').read_text(encoding='utf-8')}```" in page
