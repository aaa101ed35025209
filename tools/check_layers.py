#!/usr/bin/env python3
"""Fails when an include goes against the order of the rooms, or when files include one another in a circle.

    core < simd < {spatial, linalg} < {lcp, model} < {dynamics, collision} < io < contact < step < rollout < scenes < optimize
         < {recording, plot} < viz/document < viz/live < apps, python

A room may include itself and the rooms strictly below it; rooms on one level do not see one another. The folders of a room have an order,
too (FOLDERS), and see the room's own headers.

Headers in a room's own folder are public: they are installed, and include public headers only. What a folder inside a room holds is the
library's own, but for PUBLIC_FOLDERS; so is all of an INTERNAL room.

A header and its source are one file here. Files of the library and the programs that depend on one another in a circle are an error, but
for KNOWN_CYCLES, which only get fewer.

    tools/check_layers.py [root of the tree]
"""

import re
import sys
from pathlib import Path

LEVELS = [
    {"core"},
    {"simd"},
    {"spatial", "linalg"},
    {"lcp", "model"},
    {"dynamics", "collision"},
    {"io"},
    {"contact"},
    {"step"},
    {"rollout"},
    {"scenes"},
    {"optimize"},
    {"recording", "plot"},
    {"viz/document"},
    {"viz/live"},
]

# The folders of rooms, lowest first.
FOLDERS = {
    "lcp": ["modes", "sweeps", "pivoting", "block", "direct"],
    "collision": ["hull", "distance", "simplify", "manifold", "curved", "broad", "pairs"],
    "io": ["xml", "mesh", "internal", "srdf", "urdf", "sdf", "mjcf"],
    "step": ["internal", "gradients"],
    "scenes": ["solids", "paper", "robots"],
    "optimize": ["numerics", "residuals", "solvers"],
}
INTERNAL = {"linalg", "contact"}
PUBLIC_FOLDERS = {("scenes", folder) for folder in FOLDERS["scenes"]}

# What includes one another in a circle still: part 13 takes these apart.
KNOWN_CYCLES = [
    ["lithe/contact/constraint_forms", "lithe/contact/constraint_pushes"],
    [
        "lithe/contact/constraint_rows",
        "lithe/contact/contact_problem",
        "lithe/contact/delassus",
        "lithe/contact/dof_forms",
        "lithe/contact/tree_forms",
    ],
    [
        "lithe/step/gradients/bounce",
        "lithe/step/gradients/complementarity",
        "lithe/step/gradients/jacobian_assembler",
        "lithe/step/gradients/mode_jvp",
        "lithe/step/gradients/mode_vjp",
        "lithe/step/gradients/step_jacobians_workspace",
        "lithe/step/step_jacobians",
        "lithe/step/step_jvp",
        "lithe/step/step_vjp",
    ],
    [
        "lithe/step/gradients/column_writer",
        "lithe/step/gradients/parameter_columns",
        "lithe/step/gradients/parameter_geometry",
        "lithe/step/gradients/parameter_motion",
        "lithe/step/gradients/parameter_rows",
    ],
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
    return seen


SEEN = rooms_seen_by_each()


def place_of(path):
    """Room and folder inside it ("" for its own) of "lithe/<room>/...", or (None, "") if the path names no known room."""
    for room in SEEN:
        if path.startswith(f"lithe/{room}/"):
            return room, path.removeprefix(f"lithe/{room}/").rpartition("/")[0]
    return None, ""


def is_public(header):
    """Whether "lithe/<room>/..." is installed, for users to include."""
    room, folder = place_of(header)
    return room is not None and room not in INTERNAL and (not folder or (room, folder) in PUBLIC_FOLDERS)


def complaint(file, bracket, header):
    """What is wrong with `#include header` in file (a path from the root), or None."""
    in_library = file.startswith("lithe/")
    if not header.startswith("lithe/"):
        # A path relative to the file would escape this check.
        if in_library and bracket == '"':
            return f'write "{header}" as "lithe/<room>/..." (ours) or with <> (others\')'
        return None

    target, target_folder = place_of(header)
    if target is None:
        return None if header == "lithe/lithe.h" and not in_library else f"{header} is in no known room"
    if not in_library:
        return None
    if file == "lithe/lithe.h":
        return None if is_public(header) else f"{header} is not public"

    room, folder = place_of(file)
    if room is None:
        return f"{file} is in no known room"
    if target not in SEEN[room]:
        return f"{room} may not include {header}: {target} is not below {room}"
    if file.endswith(".h") and is_public(file) and not is_public(header):
        return f"{header} is not public, and a public header includes public headers only"
    if target == room and folder and target_folder and folder != target_folder:
        order = FOLDERS.get(room, [])
        for each in (folder, target_folder):
            if each not in order:
                return f"the folder {room}/{each} has no place in the order of folders (tools/check_layers.py)"
        if order.index(target_folder) > order.index(folder):
            return f"{room}/{folder} may not include {header}: {target_folder} is not below {folder}"
    return None


def circles(graph):
    """Groups of nodes that reach one another, each sorted, of {node: nodes it points at} (Tarjan 1972)."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(graph):
        if start in number:
            continue
        work = [(start, iter(sorted(graph[start])))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, ahead = work[-1]
            for other in ahead:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found)


def check(root):
    """All complaints about the tree, as `file:line: error: ...`."""
    complaints, graph = [], {}
    for folder in ["lithe", *PROGRAMS]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            file = path.relative_to(root).as_posix()
            unit = file.rpartition(".")[0]
            if folder in {"lithe", "apps"}:
                graph.setdefault(unit, set())
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if include := INCLUDE.match(line):
                    if text := complaint(file, *include.groups()):
                        complaints.append(f"{file}:{number}: error: {text}")
                    header = include[2]
                    if header.endswith(".h") and unit in graph and header.removesuffix(".h") != unit:
                        graph[unit].add(header.removesuffix(".h"))
    graph = {unit: {other for other in others if other in graph} for unit, others in graph.items()}
    found = circles(graph)
    for circle in found:
        if circle not in KNOWN_CYCLES:
            complaints.append(f"{circle[0]}: error: these include one another in a circle: {', '.join(circle)}")
    for circle in KNOWN_CYCLES:
        if circle not in found and any((root / f"{unit}.h").exists() for unit in circle):
            complaints.append(f"tools/check_layers.py: error: this circle is no more, take it off the list: {', '.join(circle)}")
    return complaints


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    complaints = check(root)
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
