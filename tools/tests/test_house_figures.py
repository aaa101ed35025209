"""Files that are too long and rooms without comments are found, and the list of exceptions stays true."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from house_figures import LONGER, LONGEST  # noqa: E402


def run(root, *arguments):
    command = [sys.executable, ROOT / "tools" / "house_figures.py", *arguments, root]
    return subprocess.run(command, capture_output=True, text=True)


def tree(root, lines, file="lithe/core/a.cpp"):
    path = root / file
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def test_the_real_tree_passes():
    result = run(ROOT, "--check")
    assert (result.returncode, result.stderr) == (0, "")
    assert "core" in result.stdout


def test_exceptions_are_of_files_that_exist():
    assert [file for file in LONGER if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("length, passes", [(LONGEST, True), (LONGEST + 1, False)])
def test_a_file_has_so_many_lines_at_most(tmp_path, length, passes):
    result = run(tree(tmp_path, ["int x;  // why"] * length), "--check")
    assert (result.returncode == 0) == passes
    assert passes or f"lithe/core/a.cpp: error: {length} lines" in result.stderr


@pytest.mark.parametrize("comments, passes", [(15, True), (14, False)])
def test_a_room_has_so_many_comments_at_least(tmp_path, comments, passes):
    lines = ["int x;  // why"] * comments + ["int x;"] * (100 - comments) + [""] * 50
    result = run(tree(tmp_path, lines), "--check")
    assert (result.returncode == 0) == passes
    assert passes or "lithe/core: error: 14.0% of its lines have comments" in result.stderr


def test_an_exception_that_is_needed_no_more_must_leave_the_list(tmp_path):
    result = run(tree(tmp_path, ["int x;  // why"], sorted(LONGER)[0]), "--check")
    assert "is no longer too long, take it off the list" in result.stderr
