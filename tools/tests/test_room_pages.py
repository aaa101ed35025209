"""Every room has a page, which names what it holds and nothing else."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import SEEN, is_public, place_of  # noqa: E402

PAGES = [ROOT / "lithe" / "README.md", *(ROOT / "lithe" / room / "README.md" for room in sorted(SEEN))]


def headers_of(room):
    headers = [path.relative_to(ROOT).as_posix() for path in (ROOT / "lithe" / room).rglob("*.h")]
    return sorted(header for header in headers if place_of(header)[0] == room)


@pytest.mark.parametrize("room", sorted(SEEN))
def test_a_page_names_every_public_header(room):
    text = (ROOT / "lithe" / room / "README.md").read_text(encoding="utf-8")
    public = [header for header in headers_of(room) if is_public(header)]
    assert [header for header in public if Path(header).name not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.relative_to(ROOT).as_posix())
def test_what_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    names = {name for name in re.findall(r"`([\w/]+\.(?:h|cpp))`", text)}
    assert names or page.parent.name == "lithe"
    files = {path.as_posix() for top in ("lithe", "tests") for path in (ROOT / top).rglob("*") if path.suffix in {".h", ".cpp"}}
    assert sorted(name for name in names if not any(file.endswith(f"/{name}") for file in files)) == []
