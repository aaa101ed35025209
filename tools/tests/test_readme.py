import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_shows_the_example_that_the_install_test_compiles():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```cpp\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    example = (ROOT / "examples" / "readme_example.cpp").read_text(encoding="utf-8")
    assert example in blocks


def test_the_page_of_benchmarks_shows_what_was_last_kept():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    kept = re.findall(r"`(bench/results/[^`]*\.json)`", page)
    assert {Path(results).stem for results in kept} == {"dynamics", "collision", "step", "gradients"}
    for results in kept:
        tool = "gradient_table.py" if Path(results).stem == "gradients" else "bench_table.py"
        command = [sys.executable, ROOT / "tools" / tool, ROOT / results]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert f"<!-- bench {Path(results).stem} -->\n{printed}<!-- /bench -->" in page


def test_the_page_on_optimising_shows_its_example_and_what_was_measured():
    page = (ROOT / "docs" / "optimize.md").read_text(encoding="utf-8")
    assert f"```cpp\n{(ROOT / 'examples' / 'swing_up.cpp').read_text(encoding='utf-8')}```" in page
    (results,) = re.findall(r"`(bench/results/[^`]*\.json)`", page)
    tool = [sys.executable, ROOT / "tools" / "optimize_table.py", ROOT / results]
    assert subprocess.run(tool, capture_output=True, text=True, check=True).stdout.strip() in page
