"""tools/setup.sh: what it says about node and Chromium. Packages are neither installed nor asked for here: a stand-in for dpkg-query
knows all of them, and the virtual environments of the folder that the script is copied to are current, or it would make them, with
what the network has."""

import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

kRoot = pathlib.Path(__file__).parents[2]
kAllInstalled = """#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != '-W' ]; do shift; done
shift 2
for package in "$@"; do echo "installed $package"; done
"""


class Setup:
    def __init__(self, folder: pathlib.Path):
        self.root = folder / "lithe"
        (self.root / "tools").mkdir(parents=True)
        shutil.copy(kRoot / "tools/setup.sh", self.root / "tools")
        self.venv(".venv", "requirements-dev.txt")
        self.venv(".venv-python", "requirements-python.txt")
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "calls"
        self.program("dpkg-query", kAllInstalled)
        self.program("apt-get", f'#!/bin/sh\necho "$@" >>{self.log}\n')
        self.program("sudo", '#!/bin/sh\nexec "$@"\n')
        self.program("npm", "#!/bin/sh\n")
        self.node(20)

    def venv(self, name: str, requirements: str) -> None:
        """One that is current, as its stamp says."""
        shutil.copy(kRoot / requirements, self.root)
        python = self.root / name / "bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)
        content = f"{self.root}\n".encode() + (self.root / requirements).read_bytes()
        (self.root / name / "setup.stamp").write_text(f"{hashlib.sha256(content).hexdigest()}  -\n")

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def node(self, version: int) -> None:
        self.program("node", f'#!/bin/sh\n[ "$1" = --version ] && echo v{version}.1.0 || echo {version}\n')

    def run(self, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PATH": f"{self.bin}:/usr/bin:/bin"} | variables
        return subprocess.run([self.root / "tools/setup.sh", *args], env=environment, capture_output=True, text=True)

    def installed(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def setup(tmp_path: pathlib.Path) -> Setup:
    return Setup(tmp_path)


def test_nothing_is_done_when_all_is_there(setup: Setup) -> None:
    result = setup.run("build", "viewer", "test", "python")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert setup.run("--dry-run", "build", "test").stdout == "setup: nothing is missing\n"


def test_node_of_any_origin_will_do(setup: Setup) -> None:
    for version in (18, 20, 24):
        setup.node(version)
        assert setup.run("viewer").returncode == 0
    assert setup.installed() == ""


def test_without_a_node_that_is_new_enough_one_is_brought_along(setup: Setup) -> None:
    setup.node(16)
    result = setup.run("--dry-run", "viewer")
    assert "missing or outdated: .venv-node" in result.stdout
    setup.node(20)
    assert ".venv-node" not in setup.run("--dry-run", "viewer").stdout


def test_a_chromium_that_is_named_must_be_there(setup: Setup, tmp_path: pathlib.Path) -> None:
    result = setup.run("browser", CHROMIUM=str(tmp_path / "none"))
    assert result.returncode == 1
    assert "CHROMIUM" in result.stderr
    setup.program("chromium", "#!/bin/sh\n")
    assert setup.run("browser", CHROMIUM=str(setup.bin / "chromium")).returncode == 0
    assert setup.installed() == ""


def test_each_part_installs_its_own_packages_and_no_others(setup: Setup) -> None:
    setup.program("dpkg-query", "#!/bin/sh\nexit 1\n")  # nothing is installed
    heavy = {"clang": "check", "chromium": "browser", "python3-torch": "python", "libgtest-dev": "test", "libeigen3-dev": "build"}
    parts = ["build", "viewer", "test", "wheel", "python", "package", "check", "bench"]
    for package, owner in heavy.items():
        for part in parts:
            words = setup.run("--dry-run", part).stdout.split()
            assert (package in words) == (part == owner), (package, part)


def test_help_lists_every_part(setup: Setup) -> None:
    text = setup.run("--help").stdout
    for part in ("build", "viewer", "test", "browser", "wheel", "python", "package", "check", "bench", "compare", "--dry-run"):
        assert f"  {part} " in text or f"[{part}]" in text
    assert setup.run("paint").returncode == 1
    assert setup.run().returncode == 1
