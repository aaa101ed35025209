#!/usr/bin/env python3
"""Tries out every robot of a folder and prints a table of what works, with the reason for every shortfall.

    tools/robots.py [options] FOLDER|FILE...
    tools/robots.py --download FOLDER          # first fetches the PyPI package example-robot-data into FOLDER

Robots are the URDF, SDF and MJCF files that stand for themselves: not those that others include, not xacro, not meshes. Each is read,
left alone, brought to rest, moved and has its gradients compared by `lithe doctor --json`. A robot works if

  - it loads,
  - 500 steps of random motion, the preparation of the first included, take a second of processor time or less,
  - no step of a quiet start drops targets,
  - of 10 sampled steps 8 or more have derivatives that differences confirm to 1e-5, and none has others,
  - and comparing them takes less than 20 s.

The exit code is 0; with --require N it is 1 if fewer than N robots work. 2: bad usage, or there is no robot.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SAMPLES_NEEDED = 8
MOST_SECONDS_OF_STEPS = 1.0
MOST_SECONDS_OF_GRADIENTS = 20.0
PACKAGE = "example-robot-data"
ENDINGS = (".urdf", ".sdf", ".world", ".xml", ".mjcf")
# What a whole robot of the format has; a file without is a part that others include.
PARTS_OF_A_ROBOT = {"robot": {"link"}, "sdf": {"model", "world"}, "mujoco": {"worldbody"}}


class Broken(Exception):
    """A file that is no XML up to where it matters."""


def outline(path):
    """The root element's name, the names of its children, all names, and the files that it includes (MJCF), as they are written."""
    children, names, included, depth, root = set(), set(), set(), 0, None
    try:
        for event, element in ElementTree.iterparse(path, events=("start", "end")):
            if event == "end":
                depth -= 1
                element.clear()
                continue
            depth += 1
            names.add(element.tag)
            if depth == 1:
                root = element.tag
            elif depth == 2:
                children.add(element.tag)
            if element.tag == "include" and element.get("file"):
                included.add(element.get("file"))
    except (ElementTree.ParseError, OSError, ValueError) as error:
        if root is None:
            raise Broken(str(error)) from error
    return root, children, names, included


def robot_files(places, pattern="*"):
    """All robots in folders whose names match, and files that were named, in order and once each."""
    named, candidates, included = [], [], set()
    for place in map(Path, places):
        if place.is_file():
            named.append(place)
            continue
        if not place.is_dir():
            raise FileNotFoundError(f"{place} does not exist")
        for path in sorted(p for p in place.rglob("*") if p.suffix.lower() in ENDINGS and p.match(pattern) and p.is_file()):
            try:
                root, children, names, includes = outline(path)
            except Broken:
                if path.suffix.lower() in (".urdf", ".sdf"):
                    candidates.append(path)  # `lithe doctor` says what is wrong with it
                continue
            included |= {(path.parent / name).resolve() for name in includes}
            whole = path.suffix.lower() == ".urdf" or bool(children & PARTS_OF_A_ROBOT.get(root, set()))
            if root == "mujoco":  # parts of scenes are MJCF, too: what cannot move is none of its own
                whole = bool(includes) or (whole and not names.isdisjoint({"joint", "freejoint"}))
            if whole:
                candidates.append(path)
    found = named + [path for path in candidates if path.resolve() not in included]
    return list(dict.fromkeys(found))


def doctor(lithe, path, seconds, arguments=()):
    """What `lithe doctor` says of a file, or {"failed": why} where it says nothing."""
    start = time.monotonic()
    try:
        result = subprocess.run(
            [lithe, "doctor", str(path), "--json", *arguments], capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {seconds:.0f} s"}
    except OSError as error:
        return {"failed": f"cannot run {lithe}: {error.strerror}"}
    try:
        report = json.loads(result.stdout)
    except json.JSONDecodeError:
        lines = result.stderr.strip().splitlines()
        return {"failed": f"exit code {result.returncode}{': ' + lines[-1] if lines else ''}"}
    report["wall_seconds"] = time.monotonic() - start
    return report


def shortfalls(report):
    """Why a robot does not work: a list of reasons, empty where it does."""
    if "failed" in report:
        return [report["failed"]]
    if not report["loads"]:
        return ["does not load: " + next((f["text"] for f in report["findings"] if f["check"] == "load"), "")]
    stands, moves, gradients = (report.get(part) for part in ("stands", "moves", "gradients"))
    if not (stands and moves and gradients):
        return ["was not tried out: " + next((f["text"] for f in report["findings"] if f["severity"] == "error"), "")]
    reasons = []
    dropped = stands["quiet_targets_dropped"] + stands["targets_dropped_at_first"]
    if dropped > 0 or stands["verdict"] != "yes":
        reasons.append("stands: " + (stands["text"] or stands["verdict"]))
    if moves["verdict"] != "yes" or moves["processor_seconds"] > MOST_SECONDS_OF_STEPS:
        reasons.append("moves: " + (moves["text"] or moves["verdict"]))
    if gradients["verdict"] != "yes" or gradients["within_tolerance"] < SAMPLES_NEEDED:
        reasons.append("gradients: " + (gradients["text"] or gradients["verdict"]))
    elif gradients["seconds"] >= MOST_SECONDS_OF_GRADIENTS:
        reasons.append(f"gradients: comparing them took {gradients['seconds']:.1f} s")
    return reasons


def row(name, report):
    """A line of the table, as strings."""
    if not report.get("loads"):
        return [name, "", "", "", "", "", "", "", "no"]
    stands, moves, gradients = (report.get(part, {}) for part in ("stands", "moves", "gradients"))
    tried = moves.get("verdict", "not tried") != "not tried"
    compared = gradients.get("verdict", "not tried") != "not tried"
    return [
        name,
        str(report["dofs"]),
        f"{report['mass']:.4g}",
        f"{1e3 * report['load_seconds']:.0f}",
        f"{1e3 * moves['processor_seconds']:.0f}" + ("" if moves["steps"] >= 500 else f" for {moves['steps']}") if tried else "",
        str(stands.get("quiet_targets_dropped", 0) + stands.get("targets_dropped_at_first", 0)) if stands else "",
        f"{gradients['within_tolerance']}/{gradients['samples']}" if compared else "",
        f"{gradients['seconds']:.1f}" if compared else "",
        "no" if shortfalls(report) else "yes",
    ]


TITLES = ["robot", "DoFs", "kg", "load ms", "500 steps ms", "dropped", "compared", "gradcheck s", "works"]


def table(rows):
    widths = [max(len(line[k]) for line in [TITLES, *rows]) for k in range(len(TITLES))]
    return "\n".join(
        "  ".join(cell.ljust(width) if k == 0 else cell.rjust(width) for k, (cell, width) in enumerate(zip(line, widths)))
        for line in [TITLES, *rows]
    )


def names_of(files):
    """Short names that tell the files apart: without the folder that all of them share."""
    if len(files) == 1:
        return [files[0].name]
    common = Path(os.path.commonpath([path.resolve().parent for path in files]))
    return [str(path.resolve().relative_to(common)) for path in files]


def download(folder):
    """Fetches the robots into a folder outside the repository, and returns where they are."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(folder).resolve()
    if folder == root or root in folder.parents:
        raise ValueError(f"{folder} is inside the repository: choose a folder outside")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    robots = next(iter(sorted(folder.rglob("example-robot-data/robots"))), None)
    if robots is None:
        raise FileNotFoundError(f"{PACKAGE} has no robots in {folder}")
    return robots


def default_program():
    root = Path(__file__).resolve().parents[1]
    return os.environ.get("LITHE_CLI", str(root / "build" / "lithe"))


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", metavar="FOLDER|FILE")
    parser.add_argument("--download", metavar="FOLDER", help=f"fetch {PACKAGE} by pip into FOLDER and try its robots")
    parser.add_argument("--match", metavar="PATTERN", default="*", help="of folders only the files that match, such as '*.urdf'")
    parser.add_argument("--json", metavar="OUT", help="write all that was found to this file")
    parser.add_argument("--jobs", type=int, default=1, help="robots at a time (times suffer where cores are shared); 1")
    parser.add_argument("--lithe", default=default_program(), help="the program; $LITHE_CLI or build/lithe")
    parser.add_argument("--seconds", type=float, default=120, help="a robot is given up after so long; 120")
    parser.add_argument("--require", type=int, metavar="N", help="fail if fewer than N robots work")
    options, rest = parser.parse_known_args(arguments)
    unknown = [each for each in rest if each.startswith("-")]
    if unknown:
        parser.error(f"unknown option {unknown[0]}")
    if not options.places and not options.download:
        parser.error("name a folder or a file, or --download FOLDER")
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    return options


def main(arguments=None):
    options = parsed(arguments)
    try:
        places = options.places + ([download(options.download)] if options.download else [])
        files = robot_files(places, options.match)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"robots.py: {error}", file=sys.stderr)
        return 2
    if not files:
        print(f"robots.py: no robot in {', '.join(map(str, places))}", file=sys.stderr)
        return 2
    names = names_of(files)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(doctor, options.lithe, path, options.seconds) for path in files]
        reports = []
        for done, job in enumerate(jobs, 1):
            reports.append(job.result())
            if sys.stderr.isatty():
                print(f"\r{done} of {len(files)}: {names[done - 1]}\x1b[K", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)

    print(table([row(name, report) for name, report in zip(names, reports)]))
    why = {name: shortfalls(report) for name, report in zip(names, reports)}
    if any(why.values()):
        print("\nWhat does not work:")
        for name, reasons in why.items():
            if reasons:
                print(f"  {name}")
                for reason in reasons:
                    print(f"    {reason}")
    working = sum(not reasons for reasons in why.values())
    print(f"\n{working} of {len(files)} work")
    if options.json:
        all_found = [{"robot": name, "shortfalls": why[name], **report} for name, report in zip(names, reports)]
        Path(options.json).write_text(json.dumps({"working": working, "robots": all_found}, indent=1) + "\n", encoding="utf-8")
    return 1 if options.require is not None and working < options.require else 0


if __name__ == "__main__":
    sys.exit(main())
