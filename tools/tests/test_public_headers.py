"""lithe/lithe.h is all that is public, and what is public is what is installed."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import is_public  # noqa: E402


def public_headers():
    headers = [path.relative_to(ROOT).as_posix() for path in (ROOT / "lithe").rglob("*.h")]
    return sorted(header for header in headers if is_public(header))


def test_lithe_h_includes_every_public_header_once():
    text = (ROOT / "lithe" / "lithe.h").read_text(encoding="utf-8")
    assert sorted(re.findall(r'#include "([^"]+)"', text)) == public_headers()


def test_the_list_of_what_is_installed_names_every_public_header():
    listed = (ROOT / "tests" / "install" / "installed_headers.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(["lithe/lithe.h", *public_headers()])
