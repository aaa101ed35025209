import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tools"))
import experiments_page  # noqa: E402

REPORT = """\
# Experiments

lithe 1.2.3, 2 thread(s), seed 1. `lithe experiments` makes this report.

## Drone: leaving a saddle point

It rests.

| to show | wanted | found | |
|---|---|---|---|
| it flies | 5 m | 4.9 m | reached |

![Drone: leaving a saddle point](drone.svg)

Motion: [drone.lithe](drone.lithe)

## Something new

| to show | wanted | found | |
|---|---|---|---|
| it works | yes | no | **missed** |
"""


def write_page(tmp_path, report=REPORT, figures=("drone.svg",)):
    """Runs the tool on a report with these figures beside it. Returns what it did and the page's path."""
    source = tmp_path / "out"
    source.mkdir(exist_ok=True)
    (source / "report.md").write_text(report, encoding="utf-8")
    for name in figures:
        (source / name).write_text(f"<svg>{name}</svg>")
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir(exist_ok=True)
    command = [sys.executable, ROOT / "tools" / "experiments_page.py", "--report", source / "report.md", "--page", page]
    return subprocess.run(command, capture_output=True, text=True), page


def test_the_page_has_the_introduction_and_every_chapter_of_the_report(tmp_path):
    done, page = write_page(tmp_path)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith(experiments_page.INTRODUCTION)
    assert text.count("\n# ") == 0  # one title, the introduction's
    assert "lithe 1.2.3, 2 thread(s), seed 1." in text
    for line in REPORT.splitlines():
        if line.startswith(("## ", "|", "It rests")):
            assert line in text.splitlines()
    about = experiments_page.ABOUT["Drone: leaving a saddle point"]
    assert f"## Drone: leaving a saddle point\n\n{about}\n\nIt rests.\n" in text


def test_a_missed_finding_stays_visible(tmp_path):
    _, page = write_page(tmp_path)
    assert "| it works | yes | no | **missed** |" in page.read_text(encoding="utf-8")


def test_figures_are_copied_beside_the_page_and_motions_are_not_linked(tmp_path):
    _, page = write_page(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "![Drone: leaving a saddle point](page/drone.svg)" in text
    assert (page.parent / "page" / "drone.svg").read_text() == "<svg>drone.svg</svg>"
    assert "drone.lithe" not in text


def test_figures_that_the_report_does_not_show_are_removed(tmp_path):
    folder = tmp_path / "docs" / "page"
    folder.mkdir(parents=True)
    (folder / "old.svg").write_text("<svg/>")
    write_page(tmp_path)
    assert [file.name for file in folder.iterdir()] == ["drone.svg"]


@pytest.mark.parametrize(
    ("report", "figures", "message"),
    [
        (REPORT.replace("seed 1.", "seed 1, the short version."), ("drone.svg",), "short run"),
        (REPORT, (), "lacks drone.svg"),
        ("# Experiments\n", (), "no chapter"),
    ],
)
def test_a_report_that_makes_no_page_is_refused_and_the_old_page_stays(tmp_path, report, figures, message):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("old")
    done, _ = write_page(tmp_path, report, figures)
    assert done.returncode != 0
    assert message in done.stderr
    assert page.read_text() == "old"


def test_a_missing_report_is_named():
    command = [sys.executable, ROOT / "tools" / "experiments_page.py", "--report", "no/such/report.md"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no/such/report.md" in done.stderr


def known_titles():
    source = (ROOT / "apps" / "experiments" / "experiment.cpp").read_text(encoding="utf-8")
    return re.findall(r'Experiment\{"[^"]*", "([^"]*)"', source)


def test_every_experiment_is_explained():
    assert known_titles()
    assert list(experiments_page.ABOUT) == known_titles()


def test_the_documentation_shows_every_experiment_and_has_its_figures():
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert page.startswith(experiments_page.INTRODUCTION)
    for title in known_titles():
        assert f"## {title}\n\n{experiments_page.ABOUT[title]}\n" in page
    shown = re.findall(r"\]\((experiments/[^)]*\.svg)\)", page)
    assert len(shown) >= len(known_titles())
    assert sorted(shown) == sorted(f"experiments/{file.name}" for file in (ROOT / "docs" / "experiments").iterdir())
