"""Which of a wheel's libraries is used: they differ in the processors that they run on.

The dynamic loader picks by itself (glibc-hwcaps). $LITHE_LEVEL names another, for comparisons: x86-64-v2, x86-64-v3 or x86-64-v4.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

LEVELS = Path(__file__).with_name("lib") / "glibc-hwcaps"


def library() -> Path | None:
    """That of the level that $LITHE_LEVEL names; None if it names none."""
    level = os.environ.get("LITHE_LEVEL", "")
    if not level:
        return None
    known = sorted(path.name for path in LEVELS.iterdir()) if LEVELS.is_dir() else []
    if level not in known:
        has = f"this package has {', '.join(known)}" if known else "this package was built for one processor"
        raise ImportError(f"LITHE_LEVEL is {level!r}, but {has}; unset it")
    (found,) = (LEVELS / level).glob("liblithe.so.*")
    return found


def _load() -> None:
    chosen = library()
    if chosen is not None:  # a library that is there already is what the module is linked with
        ctypes.CDLL(str(chosen))
    elif LEVELS.is_dir():
        _check_processor()


def _check_processor() -> None:
    """An old processor shall be named, instead of a library that was not found."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if "flags" in flags and not all(f" {flag}" in flags for flag in ("sse4_2", "ssse3", "popcnt")):
        raise ImportError("this processor is older than x86-64-v2 (2009), which Lithe's wheels are built for; build from source: pip install .")


_load()
