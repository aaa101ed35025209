#!/usr/bin/env python3
"""How large the files of each room are, and how much of them are comments.

    tools/house_figures.py [--check] [root of the tree]

`--check` fails where a file has more lines than LONGEST, or a room has fewer comments than LEAST_COMMENTS. A line counts as a comment if
there is one on it, beside code or alone; empty lines do not count at all.
"""

import statistics
import sys
from pathlib import Path

from check_layers import SEEN, place_of

LONGEST = 450  # lines
LEAST_COMMENTS = 0.15

# Longer still: part 13 rebuilds these.
LONGER = {
    "lithe/contact/mode_response.cpp",
    "lithe/step/gradients/bounce.cpp",
}


def measure(path):
    """Lines in all, lines that are not empty, and those of them with a comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    written = [line for line in lines if line.strip()]
    return len(lines), len(written), sum("//" in line for line in written)


def figures(root):
    """Room → {file: measure}."""
    rooms = {room: {} for room in SEEN}
    for path in sorted((root / "lithe").rglob("*")):
        file = path.relative_to(root).as_posix()
        room, _ = place_of(file)
        if room is not None and path.suffix in {".h", ".cpp"}:
            rooms[room][file] = measure(path)
    return {room: files for room, files in rooms.items() if files}


def share_of_comments(files):
    return sum(comments for _, _, comments in files.values()) / sum(written for _, written, _ in files.values())


def complaints(rooms):
    found = []
    for room, files in rooms.items():
        for file, (lines, _, _) in files.items():
            if lines > LONGEST and file not in LONGER:
                found.append(f"{file}: error: {lines} lines; a file has at most {LONGEST}")
            if lines <= LONGEST and file in LONGER:
                found.append(f"tools/house_figures.py: error: {file} is no longer too long, take it off the list")
        if share_of_comments(files) < LEAST_COMMENTS:
            found.append(f"lithe/{room}: error: {share_of_comments(files):.1%} of its lines have comments; at least {LEAST_COMMENTS:.0%} should")
    return found


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    rooms = figures(root)
    print(f"{'room':14}{'files':>7}{'lines':>8}{'median':>8}{'longest':>9}{'comments':>10}")
    for room, files in rooms.items():
        lines = [measured[0] for measured in files.values()]
        print(f"{room:14}{len(files):7}{sum(lines):8}{statistics.median(lines):8.0f}{max(lines):9}{share_of_comments(files):10.1%}")
    if "--check" not in sys.argv:
        return 0
    found = complaints(rooms)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
