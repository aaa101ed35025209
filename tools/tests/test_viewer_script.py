"""tools/viewer.sh with a stand-in for npm: what it does when, and when it does nothing."""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

kTools = pathlib.Path(__file__).parents[1]
kSources = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "src/main.ts"]
kNpm = """#!/bin/sh
echo "$@" >>"$CALLS"
[ -z "$FAIL" ] || exit 1
case "$*" in
  ci*) mkdir -p node_modules ;;
  *build*) mkdir -p dist && echo page >dist/viewer.html ;;
esac
"""


class Viewer:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.calls_file = folder / "calls"
        (folder / "tools").mkdir()
        shutil.copy(kTools / "viewer.sh", folder / "tools")
        for name in kSources:
            file = folder / "viewer" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        self.program("npm", kNpm)
        self.program("node", "#!/bin/sh\necho v18.0.0\n")

    def program(self, name: str, text: str) -> None:
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def run(self, *args: str, fail: bool = False) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "CALLS": str(self.calls_file),
            "FAIL": "1" if fail else "",
        }
        result = subprocess.run([self.folder / "tools/viewer.sh", *args], env=environment, capture_output=True, text=True)
        if result.returncode == 0:
            self.let_time_pass()
        return result

    def let_time_pass(self) -> None:
        """Makes the page minutes old, and its sources older: clocks of file systems are coarse."""
        page = self.folder / "viewer/dist/viewer.html"
        for path in (self.folder / "viewer").rglob("*"):
            age = 100 if path == page else 200
            os.utime(path, (time.time() - age,) * 2)

    def calls(self) -> list[str]:
        """The first words of npm's arguments since the last question."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return [next(word for word in line.split() if word in ("ci", "build", "test", "test:browser", "test:mock")) for line in lines]

    def touch(self, name: str, text: str) -> None:
        (self.folder / "viewer" / name).write_text(text)


@pytest.fixture
def viewer(tmp_path: pathlib.Path) -> Viewer:
    return Viewer(tmp_path)


def test_builds_once(viewer: Viewer) -> None:
    assert viewer.run("build").returncode == 0
    assert viewer.calls() == ["ci", "build"]
    second = viewer.run("build")
    assert viewer.calls() == []
    assert "current" in second.stdout


@pytest.mark.parametrize("name", ["src/main.ts", "src/new.ts", "index.html", "vite.config.ts"])
def test_builds_when_a_source_changed(viewer: Viewer, name: str) -> None:
    viewer.run("build")
    viewer.calls()
    viewer.touch(name, "new")
    viewer.run("build")
    assert viewer.calls() == ["build"]


def test_builds_when_a_source_was_removed(viewer: Viewer) -> None:
    viewer.touch("src/old.ts", "old")
    viewer.run("build")
    viewer.calls()
    (viewer.folder / "viewer/src/old.ts").unlink()
    viewer.run("build")
    assert viewer.calls() == ["build"]


def test_installs_when_the_lock_or_node_changed(viewer: Viewer) -> None:
    viewer.run("build")
    viewer.calls()
    viewer.touch("package-lock.json", "other versions")
    viewer.run("build")
    assert viewer.calls() == ["ci", "build"]
    viewer.program("node", "#!/bin/sh\necho v20.0.0\n")
    viewer.run("build")
    assert viewer.calls() == ["ci"]


def test_what_failed_is_done_again(viewer: Viewer) -> None:
    assert viewer.run("build", fail=True).returncode != 0
    assert viewer.calls() == ["ci"]
    assert viewer.run("build").returncode == 0
    assert viewer.calls() == ["ci", "build"]
    viewer.touch("src/main.ts", "wrong")
    assert viewer.run("build", fail=True).returncode != 0
    viewer.calls()
    assert viewer.run("build").returncode == 0
    assert viewer.calls() == ["build"]


def test_tests_code_and_page(viewer: Viewer) -> None:
    viewer.run("build")
    viewer.calls()
    assert viewer.run("test").returncode == 0
    assert viewer.calls() == ["test", "test:browser"]
    assert viewer.run("mock").returncode == 0
    assert viewer.calls() == ["test:mock"]


def test_bad_usage_fails(viewer: Viewer) -> None:
    assert viewer.run("paint").returncode == 2
