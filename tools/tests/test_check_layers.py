import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(root):
    command = [sys.executable, ROOT / "tools" / "check_layers.py", root]
    return subprocess.run(command, capture_output=True, text=True)


def tree(root, file, line):
    """A tree with one source file, whose second line is `line`."""
    path = root / file
    path.parent.mkdir(parents=True)
    path.write_text(f"// M⁻¹\n{line}\n", encoding="utf-8")
    return root


def test_the_real_tree_passes():
    result = run(ROOT)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "file, header",
    [
        ("lithe/core/a.h", "lithe/core/b.h"),
        ("lithe/dynamics/rnea.cpp", "lithe/core/check.h"),
        ("lithe/model/a.h", "lithe/spatial/pose.h"),
        ("lithe/contact/a.h", "lithe/collision/a.h"),
        ("lithe/optimize/a.h", "lithe/batch/a.h"),
        ("lithe/scenes/a.cpp", "lithe/io/urdf.h"),
        ("apps/lithe/demo.cpp", "lithe/scenes/scenes.h"),
        ("tests/core/a.cpp", "lithe/scenes/scenes.h"),
        ("python/bind_step.cpp", "lithe/optimize/a.h"),
    ],
)
def test_includes_downwards_pass(tmp_path, file, header):
    result = run(tree(tmp_path, file, f'#include "{header}"'))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "file, header, message",
    [
        ("lithe/core/a.h", "lithe/model/m.h", "core may not include lithe/model/m.h: model is not below core"),
        ("lithe/spatial/a.h", "lithe/lcp/l.h", "lcp is not below spatial"),
        ("lithe/dynamics/a.h", "lithe/collision/c.h", "collision is not below dynamics"),
        ("lithe/step/a.cpp", "lithe/batch/b.h", "batch is not below step"),
        ("lithe/scenes/a.cpp", "lithe/step/s.h", "step is not below scenes"),
        ("lithe/optimize/a.cpp", "lithe/scenes/s.h", "scenes is for programs"),
        ("lithe/core/a.h", "lithe/cellar/c.h", "lithe/cellar/c.h is in no known room"),
        ("lithe/cellar/a.h", "lithe/core/c.h", "lithe/cellar/a.h is in no known room"),
        ("tests/core/a.cpp", "lithe/cellar/c.h", "lithe/cellar/c.h is in no known room"),
        ("lithe/model/a.cpp", "../dynamics/d.h", 'write "../dynamics/d.h" as "lithe/<room>/..."'),
    ],
)
def test_other_includes_fail_and_say_why(tmp_path, file, header, message):
    result = run(tree(tmp_path, file, f'#include "{header}"'))
    assert result.returncode == 1
    assert result.stderr.startswith(f"{file}:2: error: ")
    assert message in result.stderr


def test_spacing_and_angle_brackets_hide_nothing(tmp_path):
    assert run(tree(tmp_path, "lithe/core/a.h", "  #  include <lithe/step/s.h>  // why")).returncode == 1
