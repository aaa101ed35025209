#!/usr/bin/env python3
"""Makes a wheel self-contained: auditwheel puts the libraries that it needs inside, and their licences come along.

    tools/repair_wheel.py WHEEL FOLDER

Runs in .venv-wheel, on Debian or Ubuntu (their packages know the licences). The shared library of Lithe is there several times under one
name, once for each level of processors (lib/glibc-hwcaps/<level>), which auditwheel does not know; so each has a name of its own while
auditwheel is at work.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LARGEST = 30e6  # bytes
HEADERS = ["libboost-dev", "libcli11-dev", "libeigen3-dev"]  # of which only compiled code is inside


def fail(text):
    sys.exit(f"wheel: error: {text}")


def run(*command, **options):
    """The command's output; if it fails, all that it said is shown."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def unpack(wheel, folder):
    run(sys.executable, "-m", "wheel", "unpack", wheel, "--dest", folder)
    (tree,) = folder.iterdir()
    return tree


def pack(tree, folder):
    folder.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def levels(tree):
    return sorted((tree / "lithe" / "lib" / "glibc-hwcaps").glob("*/liblithe*"))


def name_apart(tree):
    """liblithe.so.0.1 → liblithe-x86-64-v3.so.0.1."""
    for library in levels(tree):
        library.rename(library.with_name(library.name.replace("liblithe", f"liblithe-{library.parent.name}")))


def name_alike(tree):
    for library in levels(tree):
        library.rename(library.with_name(library.name.replace(f"liblithe-{library.parent.name}", "liblithe")))


def repair(wheel, folder):
    # The plain BLAS and LAPACK, whichever others are installed here: they are small, and IPOPT's matrices are too.
    plain = [f"/usr/lib/{platform.machine()}-linux-gnu/{name}" for name in ("blas", "lapack")]
    environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join(plain)}
    tag = "manylinux_" + platform.libc_ver()[1].replace(".", "_") + "_" + platform.machine()
    run(sys.executable, "-m", "auditwheel", "repair", "--plat", tag, "--exclude", "liblithe.so*", "-w", folder, wheel, env=environment)
    (repaired,) = folder.glob("*.whl")
    return repaired


def package_of(library):
    """The Debian package of a library that auditwheel has put into the wheel: libfmt-1a2b3c4d.so.9.1.0 → libfmt9."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library.name)
    owners = {line.split(":")[0] for line in run("dpkg-query", "--search", f"*/{name}").splitlines()}
    if len(owners) != 1:
        fail(f"{name} is in several packages ({', '.join(sorted(owners))}): whose licence is it?")
    return owners.pop()


def add_licences(tree):
    (metadata,) = tree.glob("*.dist-info")
    folder = metadata / "licenses"
    folder.mkdir(exist_ok=True)
    packages = sorted({package_of(library) for library in (tree / "lithe.libs").iterdir()})
    for package in [*packages, *HEADERS]:
        shutil.copy(Path("/usr/share/doc") / package / "copyright", folder / f"{package}.txt")
    return packages


def main():
    parser = argparse.ArgumentParser(description="Makes a wheel self-contained.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        tree = unpack(arguments.wheel, scratch / "raw")
        if not levels(tree):
            fail(f"{arguments.wheel} has no libraries in lithe/lib/glibc-hwcaps: build it with LITHE_LEVELS")
        name_apart(tree)
        apart = pack(tree, scratch / "apart")
        tree = unpack(repair(apart, scratch / "repaired"), scratch / "whole")
        name_alike(tree)
        packages = add_licences(tree)
        wheel = pack(tree, arguments.folder)

    size = wheel.stat().st_size
    print(f"wheel: built {wheel} ({size / 1e6:.1f} MB) with {', '.join(packages)} inside")
    if size > LARGEST:
        fail(f"it is larger than {LARGEST / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
