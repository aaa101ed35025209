"""The wheel as its users meet it: installed into an environment of its own, on a system that has none of its libraries.

tools/wheel.sh makes the environment and names it and the wheel in LITHE_WHEEL_VENV and LITHE_WHEEL. The system's copies of the libraries
inside cannot be loaded here: empty files of their names come first on the loader's path, and an empty file is an error to the loader.
"""

import json
import os
import platform
import re
import subprocess
import textwrap
import zipfile
from pathlib import Path

import pytest

VENV = Path(os.environ["LITHE_WHEEL_VENV"])
WHEEL = Path(os.environ["LITHE_WHEEL"])
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]


def names():
    return zipfile.ZipFile(WHEEL).namelist()


def libraries_inside():
    """The names under which the system would know them: libfmt-1a2b3c4d.so.9.1.0 → libfmt.so.9."""
    found = [Path(name).name for name in names() if name.startswith("lithe.libs/")]
    return [re.sub(r"-[0-9a-f]{8}(?=\.)", "", name) for name in found]


@pytest.fixture(scope="session")
def blocked(tmp_path_factory):
    """A folder for LD_LIBRARY_PATH in which nothing can be loaded."""
    folder = tmp_path_factory.mktemp("blocked")
    for name in libraries_inside():
        stem, version = name.split(".so")
        parts = version.split(".")  # "", "9", "1", "0"
        for count in range(1, len(parts) + 1):
            (folder / (stem + ".so" + ".".join(parts[:count]))).touch()
    return folder


def environment(blocked, **variables):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LITHE_", "PYTHON"))}
    return kept | {"LD_LIBRARY_PATH": str(blocked), "PATH": f"{VENV / 'bin'}:/usr/bin:/bin"} | variables


def run(blocked, folder, *command, **variables):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=folder, env=environment(blocked, **variables), timeout=300
    )


def python(blocked, folder, text, **variables):
    result = run(blocked, folder, VENV / "bin/python", "-c", textwrap.dedent(text), **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout


def levels_of_this_processor():
    flags = set(Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    wanted = [{"sse4_2", "ssse3"}, {"avx2", "fma", "bmi2"}, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}]
    return [level for level, needs in zip(LEVELS, wanted) if needs <= flags]


def test_the_blocked_libraries_are_those_inside(blocked, tmp_path):
    assert any(name.startswith("libipopt") for name in libraries_inside())
    assert any(name.startswith("libfmt") for name in libraries_inside())
    # What is linked with the system's copy fails here, so the block works.
    library = next(name for name in sorted(os.listdir(blocked)) if name.startswith("libfmt.so."))
    result = run(blocked, tmp_path, VENV / "bin/python", "-c", f"import ctypes; ctypes.CDLL({library!r})")
    assert result.returncode != 0 and "file too short" in result.stderr


def test_it_is_for_this_glibc_and_small():
    glibc = platform.libc_ver()[1].replace(".", "_")
    assert f"manylinux_{glibc}_x86_64" in WHEEL.name
    assert WHEEL.stat().st_size <= 30e6


def test_it_holds_three_levels_the_command_line_the_viewer_and_licences():
    inside = names()
    for level in LEVELS:
        assert any(name.startswith(f"lithe/lib/glibc-hwcaps/{level}/liblithe.so.") for name in inside)
    assert "lithe/bin/lithe" in inside and "lithe/viewer.html" in inside
    licences = [name for name in inside if ".dist-info/licenses/" in name]
    for word in ("LICENSE", "ipopt", "mumps", "blas", "qhull", "tinyxml2", "fmt"):
        assert any(word in name for name in licences), word


def test_the_best_level_is_picked_and_another_on_request(blocked, tmp_path):
    say = "import lithe; print(lithe.build_info()['instruction_set'])"
    best = levels_of_this_processor()[-1]
    assert python(blocked, tmp_path, say).strip() == best
    for level in levels_of_this_processor():
        assert python(blocked, tmp_path, say, LITHE_LEVEL=level).strip() == level
        bench = run(blocked, tmp_path, VENV / "bin/lithe", "bench", "pendulum", "--rounds", "1", "--json", LITHE_LEVEL=level)
        assert bench.returncode == 0, bench.stderr
        vectors = json.loads(bench.stdout)["machine"]["vector_instructions"].split()
        assert ("avx2" in vectors, "avx512f" in vectors) == (level != "x86-64-v2", level == "x86-64-v4")
    result = run(blocked, tmp_path, VENV / "bin/python", "-c", say, LITHE_LEVEL="x86-64-v9")
    assert result.returncode != 0 and "x86-64-v2, x86-64-v3, x86-64-v4" in result.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_a_gradient_through_contact_and_ipopt_at_each_level(blocked, tmp_path, level):
    if level not in levels_of_this_processor():
        pytest.skip(f"this processor does not run {level}")
    printed = python(
        blocked,
        tmp_path,
        """
        import lithe, numpy as np
        scene = lithe.scene("half_cheetah")
        record = lithe.step(scene.model, scene.q, scene.v, options=scene.time_step)
        J = lithe.step_jacobians(scene.model, record)
        assert np.isfinite(J.dvnext_dq).all() and np.abs(J.dvnext_dq).max() > 0
        body = lithe.Body("mass", lithe.SpatialInertia.box(2.0, [0.1, 0.1, 0.1]))
        model = lithe.ModelBuilder().add_body("world", body, lithe.prismatic("x", [1, 0, 0])).build()
        problem = lithe.Problem(model, [1.0], [0.5], 40, options=0.05)
        problem.actuate_joints()
        problem.add_cost(lithe.residuals.controls([0.0]), weight=0.02)
        problem.add_cost(lithe.residuals.configuration([0.0]), times="final", weight=10)
        solution = lithe.multiple_shooting(problem)
        assert solution.reason == "converged", solution.message
        print("done")
        for line in open("/proc/self/maps"):
            if ".so" in line: print(line.split()[-1])
        """,
        LITHE_LEVEL=level,
    )
    assert "done" in printed
    loaded = {Path(line).name for line in printed.splitlines() if ".so" in line}
    assert any(name.startswith("libipopt-") for name in loaded), "IPOPT is the wheel's own"
    systems = set(libraries_inside())
    assert not [name for name in loaded if name in systems], "nothing of the system's copies is loaded"


def test_the_command_line(blocked, tmp_path):
    lithe = VENV / "bin" / "lithe"
    version = run(blocked, tmp_path, lithe, "--version")
    assert version.returncode == 0 and version.stdout.startswith("lithe "), version.stderr
    assert run(blocked, tmp_path, VENV / "bin/python", "-m", "lithe", "--version").stdout == version.stdout
    first = run(blocked, tmp_path, lithe)
    assert "  lithe demo " in first.stdout, first.stderr

    demo = run(blocked, tmp_path, lithe, "demo")
    assert demo.returncode == 0, demo.stderr
    page = (tmp_path / "out" / "demo.html").read_text(encoding="utf-8")
    assert len(page) > 500_000, "the viewer is in it"
    assert "  lithe view catapult " in demo.stdout

    missed = run(blocked, tmp_path, lithe, "simulate", "nothing.urdf")
    assert missed.returncode == 1 and "nothing.urdf" in missed.stderr


def test_multiple_shooting_on_the_command_line_is_ipopt(blocked, tmp_path):
    result = run(blocked, tmp_path, VENV / "bin/lithe", "optimize", "cartpole", "--method", "multiple", "--iterations", "5", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["iterations"] > 0


def test_view_serves_the_page(blocked, tmp_path):
    command = [str(VENV / "bin/lithe"), "view", "humanoid"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, env=environment(blocked)
    ) as server:
        try:
            address = next(word for line in server.stdout for word in line.split() if word.startswith("http://127.0.0.1"))
            text = python(blocked, tmp_path, f"import urllib.request; print(len(urllib.request.urlopen({address!r}).read()))")
            assert int(text) > 500_000
        finally:
            server.kill()
