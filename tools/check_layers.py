#!/usr/bin/env python3
"""Fails when an include goes against the order of the rooms.

    core < {spatial, lcp} < model < {dynamics, collision} < contact < step < batch < optimize < apps, python

A room may include itself and the rooms strictly below it; rooms on one level do not see one another.
`io` sits above dynamics and collision, `show` above io, `recording` above io and step, and `view` above all of them. `scenes` sits above
io, and only programs (apps, tests, ...) may include it.

    tools/check_layers.py [root of the tree]
"""

import re
import sys
from pathlib import Path

LEVELS = [
    {"core"},
    {"spatial", "lcp"},
    {"model"},
    {"dynamics", "collision"},
    {"contact"},
    {"step"},
    {"batch"},
    {"optimize"},
]

# What is built on the library may include all of it.
PROGRAMS = ["apps", "python", "tests", "bench", "fuzz", "examples"]

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def rooms_seen_by_each():
    """Room → the rooms whose headers it may include."""
    seen, below = {}, set()
    for level in LEVELS:
        for room in level:
            seen[room] = below | {room}
        below |= level
    seen["io"] = seen["model"] | {"dynamics", "collision", "io"}
    seen["scenes"] = seen["io"] | {"scenes"}
    seen["show"] = seen["io"] | {"show"}
    seen["recording"] = seen["step"] | {"io", "recording"}
    seen["view"] = seen["step"] | {"io", "recording", "show", "view"}
    return seen


SEEN = rooms_seen_by_each()


def room_of(path):
    """The room of "lithe/<room>/...", or None if the path names no known room."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[1] in SEEN else None


def complaint(file, bracket, header):
    """What is wrong with `#include header` in file (a path from the root), or None."""
    in_library = file.startswith("lithe/")
    if not header.startswith("lithe/"):
        # A path relative to the file would escape this check.
        if in_library and bracket == '"':
            return f'write "{header}" as "lithe/<room>/..." (ours) or with <> (others\')'
        return None

    target = room_of(header)
    if target is None:
        return f"{header} is in no known room"
    if not in_library:
        return None

    room = room_of(file)
    if room is None:
        return f"{file} is in no known room"
    if target in SEEN[room]:
        return None
    if target == "scenes":
        return f"{room} may not include {header}: scenes is for programs, not for the library"
    return f"{room} may not include {header}: {target} is not below {room}"


def check(root):
    """All complaints about the tree, as `file:line: error: ...`."""
    complaints = []
    for folder in ["lithe", *PROGRAMS]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            file = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if include := INCLUDE.match(line):
                    if text := complaint(file, *include.groups()):
                        complaints.append(f"{file}:{number}: error: {text}")
    return complaints


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    complaints = check(root)
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
