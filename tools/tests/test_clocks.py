"""The table "Tests that use the clock" of CONTRIBUTING.md names all of them, and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLOCKS = {
    ".cpp": r"Stopwatch|cpu_seconds|steady_clock|system_clock|std::clock|sleep_for|rusage",
    ".py": r"\btime\.(sleep|monotonic|time|perf_counter)\b|--seconds|\balarm\(",
    ".mjs": r"performance\.now|Date\.now|waitForTimeout|setTimeout",
    ".ts": r"performance\.now|Date\.now",
}
# They say how long tests took, show a picture to a person, or play the other side.
NO_JUDGES = {"viewer/test/browser.mjs", "viewer/test/browser/harness.mjs", "viewer/test/screenshots.mjs", "viewer/test/live_mock.ts"}


def section():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split("\n### Tests that use the clock\n")[1].split("\n## ")[0]


def rows():
    """Tests by file."""
    found = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section(), re.M)
    return {file: re.findall(r"`(\w+)`", tests) for file, tests in found}


def users():
    """Files of tests that look at a clock."""
    for folder in ("tests", "python/tests", "viewer/test"):
        for path in sorted((ROOT / folder).rglob("*")):
            pattern = CLOCKS.get(path.suffix)
            if pattern and "node_modules" not in path.parts and re.search(pattern, path.read_text(encoding="utf-8")):
                yield path.relative_to(ROOT).as_posix()


def test_the_table_has_every_file_that_looks_at_a_clock():
    patient = set(re.findall(r"`([\w/.]+)`", section().split("Whoever else waits")[1]))
    assert set(rows()) | patient | NO_JUDGES == set(users())
    assert not set(rows()) & patient


def test_the_tests_that_it_names_are_there():
    for file, tests in rows().items():
        assert tests, file
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in tests:
            assert re.search(rf"\b{name}\b", text), f"{file}: {name}"
