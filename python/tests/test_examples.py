"""The scripts of examples/python run, and the documentation shows them and what they print.

A tutorial explains the one script that it links to. Its ```python blocks are pieces of that script, its ```text block
is all that the script prints. docs/python.md is a program of its own: its ```python blocks run one after the other, and
print the ```text block that follows each.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
TUTORIALS = ROOT / "docs" / "tutorials"
QUICKSTART = ROOT / "docs" / "python.md"

if not EXAMPLES.is_dir():
    pytest.skip(f"{EXAMPLES} is missing: the examples come with the sources only", allow_module_level=True)

SCRIPTS = sorted(EXAMPLES.glob("*.py"))
PAGES = sorted(page for page in TUTORIALS.glob("*.md") if page.name != "README.md")
SECONDS = 300  # for one script: far more than any takes, on whatever machine

# Numbers that the same program prints differently the next time, or on another processor: they are not compared.
BY_THE_CLOCK = r"in [0-9.]+ s$"
BY_ROUNDING = r"largest error [0-9.e+-]+"
CHANGING = {"train_policy.py": [BY_THE_CLOCK], "differentiate_step.py": [BY_ROUNDING]}


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in found]


def script_of(page: Path) -> Path:
    """The script that a tutorial links to."""
    linked: set[str] = set(re.findall(r"\]\(\.\./\.\./examples/python/(\w+\.py)\)", page.read_text(encoding="utf-8")))
    assert len(linked) == 1, f"{page.name} links to {sorted(linked)}: a tutorial explains one script"
    return EXAMPLES / linked.pop()


def missing_imports(source: str) -> list[str]:
    """What a program imports of the packages that lithe itself can do without, and is not installed."""
    wanted = re.findall(r"^import (torch|gymnasium)\b", source, re.MULTILINE)
    return [name for name in wanted if importlib.util.find_spec(name) is None]


def run(path: Path) -> str:
    """What a program prints. It runs in a folder of its own, where it finds nothing but the installed package."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-X", "utf8", str(path)],
            cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS,
        )  # fmt: skip
    assert done.returncode == 0, f"{path.name} exited with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@functools.cache
def output_of(script: Path) -> str:
    """What a script prints; it runs once."""
    missing = missing_imports(script.read_text(encoding="utf-8"))
    if missing:
        pytest.skip(f"{script.name} needs {', '.join(missing)}, which is not installed")
    return run(script)


def masked(text: str, changing: list[str]) -> list[str]:
    """Lines, with # for the numbers in what matches one of the patterns."""
    for pattern in changing:
        text = re.sub(pattern, lambda match: re.sub(r"\d[\d.e+-]*", "#", match[0]), text, flags=re.MULTILINE)
    return text.splitlines()


def named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_a_script_runs_and_says_what_it_did(script: Path) -> None:
    assert output_of(script).strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_a_script_has_one_tutorial(script: Path) -> None:
    assert len([page for page in PAGES if script_of(page) == script]) == 1


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_tutorial_shows_pieces_of_its_script(page: Path) -> None:
    script = script_of(page).read_text(encoding="utf-8")
    robots = [file.read_text(encoding="utf-8") for file in EXAMPLES.glob("*.urdf")]
    pieces = [block for block in blocks_of(page) if block.language == "python"]
    assert pieces, f"{page.name} shows no code"
    for block in pieces:
        assert block.text in script, f"{page.name}:{block.line}: this is not in {script_of(page).name}"
    for block in blocks_of(page):
        if block.language == "xml":
            assert any(block.text in robot for robot in robots), f"{page.name}:{block.line}: no robot file has this"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_tutorial_shows_what_its_script_prints(page: Path) -> None:
    shown = [block.text for block in blocks_of(page) if block.language == "text"]
    assert len(shown) == 1, f"{page.name} has {len(shown)} text blocks: one, of all that is printed, is expected"
    script = script_of(page)
    changing = CHANGING.get(script.name, [])
    assert masked(shown[0], changing) == masked(output_of(script), changing)


@pytest.mark.parametrize("name", CHANGING)
def test_a_mask_hides_numbers_that_are_there(name: str) -> None:
    printed = output_of(EXAMPLES / name)
    for pattern in CHANGING[name]:
        assert len(re.findall(pattern, printed, re.MULTILINE)) == 1, f"{name}: {pattern}"


def test_the_index_names_every_tutorial() -> None:
    index = (TUTORIALS / "README.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\]\((\w+\.md)\)", index))) == [page.name for page in PAGES]


@pytest.mark.parametrize("page", [*PAGES, TUTORIALS / "README.md", QUICKSTART], ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert local
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_quickstart_prints_what_it_shows(tmp_path: Path) -> None:
    """Where torch or gymnasium is missing, the blocks that import it are left out, and the test says so in the end."""
    between = "<the next block>"
    shown = [block for block in blocks_of(QUICKSTART) if block.language in ("python", "text")]
    code: list[Block] = []
    expected: list[str] = []
    missing: list[str] = []
    for k, block in enumerate(shown):
        if block.language == "text":
            assert k > 0 and shown[k - 1].language == "python", f"{QUICKSTART.name}:{block.line}: output of no code"
        elif missing_imports(block.text):
            missing += missing_imports(block.text)
        else:
            code.append(block)
            follows = shown[k + 1] if k + 1 < len(shown) else None
            expected.append(follows.text if follows and follows.language == "text" else "")
    assert len(code) + len(missing) > 5
    program = tmp_path / "quickstart.py"
    program.write_text(f"print({between!r})\n".join(block.text for block in code), encoding="utf-8")
    printed = run(program).split(between + "\n")
    assert len(printed) == len(code)
    for block, is_printed, is_shown in zip(code, printed, expected, strict=True):
        assert is_printed == is_shown, f"{QUICKSTART.name}:{block.line} prints something else"
    if missing:
        pytest.skip(f"all other blocks were run; not installed: {', '.join(missing)}")
