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
        ("lithe/optimize/a.h", "lithe/rollout/a.h"),
        ("lithe/scenes/a.cpp", "lithe/io/urdf.h"),
        ("lithe/optimize/a.cpp", "lithe/scenes/s.h"),
        ("lithe/viz/live/internal/a.h", "lithe/viz/document/b.h"),
        ("lithe/lcp/direct/a.h", "lithe/lcp/modes/b.h"),
        ("lithe/scenes/robots/a.h", "lithe/scenes/scene.h"),
        ("lithe/step/a.cpp", "lithe/step/internal/b.h"),
        ("tests/core/a.cpp", "lithe/lithe.h"),
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
        ("lithe/step/a.cpp", "lithe/rollout/b.h", "rollout is not below step"),
        ("lithe/scenes/a.cpp", "lithe/optimize/o.h", "optimize is not below scenes"),
        ("lithe/viz/document/a.cpp", "lithe/viz/live/l.h", "viz/live is not below viz/document"),
        ("lithe/step/a.h", "lithe/step/internal/b.h", "lithe/step/internal/b.h is not public"),
        ("lithe/scenes/robots/a.h", "lithe/linalg/b.h", "lithe/linalg/b.h is not public"),
        ("lithe/lithe.h", "lithe/contact/c.h", "lithe/contact/c.h is not public"),
        ("lithe/core/a.cpp", "lithe/lithe.h", "lithe/lithe.h is in no known room"),
        ("lithe/lcp/modes/a.cpp", "lithe/lcp/direct/b.h", "direct is not below modes"),
        ("lithe/lcp/attic/a.cpp", "lithe/lcp/direct/b.h", "the folder lcp/attic has no place in the order of folders"),
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


def circle(root, names):
    """A tree whose files include one another in turn: the headers do nothing, the sources do."""
    folder = root / "lithe" / "step" / "gradients"
    folder.mkdir(parents=True)
    for name, other in zip(names, names[1:] + names[:1]):
        (folder / f"{name}.h").write_text("#pragma once\n", encoding="utf-8")
        (folder / f"{name}.cpp").write_text(f'#include "lithe/step/gradients/{other}.h"\n', encoding="utf-8")
    return root


def test_a_circle_of_files_is_named_whole(tmp_path):
    result = run(circle(tmp_path, ["a", "b", "c"]))
    assert result.returncode == 1
    assert "in a circle: lithe/step/gradients/a, lithe/step/gradients/b, lithe/step/gradients/c" in result.stderr


def test_a_chain_of_files_is_no_circle(tmp_path):
    root = circle(tmp_path, ["a", "b", "c"])
    (root / "lithe/step/gradients/c.cpp").write_text("", encoding="utf-8")
    assert run(root).returncode == 0


def test_a_known_circle_that_is_gone_must_leave_the_list(tmp_path):
    """One of the list's files alone, as if somebody had taken the circle apart."""
    result = run(tree(tmp_path, "lithe/contact/constraint_forms.h", ""))
    assert result.returncode == 1
    assert "this circle is no more" in result.stderr


def test_the_known_circles_are_of_files_that_exist():
    sys.path.insert(0, str(ROOT / "tools"))
    from check_layers import KNOWN_CYCLES

    assert [unit for circle in KNOWN_CYCLES for unit in circle if not (ROOT / f"{unit}.h").exists()] == []
