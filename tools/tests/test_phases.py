"""tools/phases.sh, on which check.sh and hostile_environments.sh are built: what is run, remembered, skipped and reported."""

import pathlib
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).parents[1]
SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=work
state=build-work
source tools/phases.sh
phase easy "does little"
run_easy() { echo easy >>calls; }
phase hard-one "may fail"
run_hard_one() {
  echo hard >>calls
  [[ ! -f wrong ]]
  echo "and more" >>calls
}
phase elsewhere "cannot be done here"
run_elsewhere() { skip "the moon is too far away"; }
run_phases "$@"
"""


class Tree:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        (folder / "tools").mkdir()
        (folder / "tools/phases.sh").write_text((TOOLS / "phases.sh").read_text())
        self.script = folder / "tools/work.sh"
        self.script.write_text(SCRIPT)
        self.script.chmod(0o755)
        (folder / ".gitignore").write_text("/build-work/\n/calls\n/wrong\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "all")

    def git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self.folder, check=True)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.script, *args], capture_output=True, text=True)

    def calls(self) -> list[str]:
        """What has been done since the last question."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> Tree:
    return Tree(tmp_path)


def test_all_are_run_and_reported(tree: Tree) -> None:
    result = tree.run()
    assert result.returncode == 0, result.stderr
    assert tree.calls() == ["easy", "hard", "and more"]
    assert "work: easy: does little" in result.stdout
    assert "skipped: the moon is too far away" in result.stdout
    assert result.stdout.count("passed in") == 4  # at once, and at the end


def test_what_passed_is_not_repeated_unless_it_is_asked_for(tree: Tree) -> None:
    tree.run()
    tree.calls()
    result = tree.run()
    assert result.returncode == 0 and tree.calls() == []
    assert "passed before" in result.stdout
    tree.run("--again", "easy")
    assert tree.calls() == ["easy"]


def test_any_change_makes_it_run_again(tree: Tree) -> None:
    tree.run("easy")
    tree.calls()
    for name in ("new.txt", ".gitignore"):
        with open(tree.folder / name, "a") as file:
            file.write("# more\n")
        tree.run("easy")
        assert tree.calls() == ["easy"], name
    tree.run("easy")
    assert tree.calls() == []


def test_a_failure_stops_its_phase_alone_and_is_tried_again(tree: Tree) -> None:
    (tree.folder / "wrong").touch()
    result = tree.run()
    assert result.returncode == 1
    assert tree.calls() == ["easy", "hard"]  # a command that fails ends the phase
    assert "FAILED" in result.stdout and "build-work/hard-one.log" in result.stdout
    assert "skipped: the moon" in result.stdout  # the others are run all the same
    (tree.folder / "wrong").unlink()
    assert tree.run().returncode == 0
    assert tree.calls() == ["hard", "and more"]


def test_some_can_be_chosen_and_all_be_listed(tree: Tree) -> None:
    tree.run("hard-one")
    assert tree.calls() == ["hard", "and more"]
    listed = tree.run("--list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["easy", "hard-one", "elsewhere"]
    assert tree.calls() == []
    for wrong in ("harder", "--fast"):
        result = tree.run(wrong)
        assert result.returncode == 1 and wrong in result.stderr and tree.calls() == []


def test_check_and_environments_list_what_they_do() -> None:
    for script, names in {
        "check.sh": ["sanitizers", "random", "fuzzers", "environments"],
        "hostile_environments.sh": ["signals", "c-locale", "turkish", "dumb-terminal", "no-input", "umlaut", "user", "no-home",
                                    "one-core", "no-network", "x86-64-v2", "x86-64-v3"],
    }.items():  # fmt: skip
        listed = subprocess.run([TOOLS / script, "--list"], capture_output=True, text=True, check=True).stdout
        assert set(names) <= {line.split()[0] for line in listed.splitlines()}
