import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
LITHE = Path(os.environ.get("LITHE_CLI", ROOT / "build" / "lithe"))


def entries(chapter):
    """Text and picture of each entry of a chapter, by the name that the picture has for those who cannot see it."""
    text = PAGE.read_text().split(f"\n## {chapter}\n")[1].split("\n## ")[0]
    found = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)<br>(.*?) \|", text)
    return {name: (text, picture) for name, picture, text in found}


def listed_scenes():
    if not LITHE.exists():
        pytest.skip(f"{LITHE} is not there: `make build` makes it")
    lines = subprocess.run([LITHE, "scenes"], capture_output=True, text=True, check=True).stdout.strip().split("\n")
    return dict(line.split(maxsplit=1) for line in lines)


def webp_size(path):
    """Width and height in the header of a WebP picture with losses."""
    data = path.read_bytes()
    assert (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
    assert struct.unpack("<I", data[4:8])[0] == len(data) - 8
    if data[12:16] == b"VP8X":
        return tuple(int.from_bytes(data[i : i + 3], "little") + 1 for i in (24, 27))
    assert data[12:16] == b"VP8 "
    return struct.unpack("<HH", data[26:30])


def test_every_scene_has_an_entry_with_its_description():
    scenes, shown = listed_scenes(), entries("Scenes")
    advice = "run `make gallery`"
    assert list(shown) == list(scenes), advice
    for name, description in scenes.items():
        assert shown[name] == (f"**{name}**: {description}", f"gallery/{name}.webp"), advice


def test_every_experiment_has_an_entry():
    titles = re.findall(r"^## (.*)$", (ROOT / "docs" / "experiments.md").read_text(), re.M)
    assert len(titles) >= 7
    assert list(entries("Experiments")) == titles


def test_the_pictures_are_there_and_no_others():
    linked = [picture for chapter in ("Scenes", "Experiments") for _, picture in entries(chapter).values()]
    assert len(set(linked)) == len(linked)
    for picture in linked:
        assert (PAGE.parent / picture).is_file(), picture
    own = {PAGE.parent / picture for picture in linked if picture.startswith("gallery/")}
    assert set(PICTURES.iterdir()) == own


def test_the_pictures_are_of_one_size_and_small():
    pictures = sorted(PICTURES.iterdir())
    assert {webp_size(picture) for picture in pictures} == {(960, 600)}
    # A blank one takes some 2 kB.
    assert all(4_000 < picture.stat().st_size < 100_000 for picture in pictures)
    assert sum(picture.stat().st_size for picture in pictures) < 2_500_000
