"""tools/fast_tests.sh with stand-ins for what is built."""

import os
import pathlib
import shutil
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).parents[1]
ROOM = '#!/bin/sh\necho "$0 $LITHE_TEST_SCALE $GTEST_FILTER" >>"$CALLS"\n'
PYTHON = '#!/bin/sh\necho "python $*" >>"$CALLS"\n'


class Tree:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder / "a folder"
        self.log = folder / "calls"
        self.program("tools/fast_tests.sh", (TOOLS / "fast_tests.sh").read_text())
        self.program("build/lithe", ROOM)
        self.program("build/tests/test_core", ROOM)
        self.program("build/tests/test_io", ROOM)
        (self.folder / "build/tests/test_io[1]_include.cmake").touch()
        self.program(".venv/bin/python", PYTHON)

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHON", "LITHE_TEST_SCALE")}
        command = [self.folder / "tools/fast_tests.sh", *args]
        return subprocess.run(command, env={**environment, "CALLS": str(self.log)}, capture_output=True, text=True)

    def calls(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> Tree:
    return Tree(tmp_path)


def test_all_that_is_built_is_tested_with_few_cases(tree: Tree) -> None:
    result = tree.run()
    assert result.returncode == 0, result.stdout + result.stderr
    calls = tree.calls()
    assert "tests/test_core small -" in calls and "tests/test_io small -" in calls
    assert "tests/cli" in calls and "tools/tests" in calls
    assert "the Python package is not installed" in result.stdout


def test_a_failure_is_shown_and_the_others_are_run_all_the_same(tree: Tree) -> None:
    tree.program("build/tests/test_core", "#!/bin/sh\necho it went wrong\nexit 1\n")
    result = tree.run()
    assert result.returncode == 1
    assert "it went wrong" in result.stdout and "test_core FAILED" in result.stdout
    assert "failed: C++" in result.stderr
    assert "tests/test_io small" in tree.calls() and "tests/cli" in tree.calls()


def test_another_build_can_be_tested(tree: Tree) -> None:
    shutil.move(tree.folder / "build", tree.folder / "other build")
    assert "there are no tests in" in tree.run().stderr
    assert tree.run("--without-python", "other build").returncode == 0
    assert "other build/tests/test_core" in tree.calls()
