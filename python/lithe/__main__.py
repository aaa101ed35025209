"""The command line: `lithe`, or `python -m lithe`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from lithe import _level


def main() -> NoReturn:
    """Becomes the program that the package brings along, with the same arguments."""
    program = Path(__file__).parent / "bin" / "lithe"
    if not program.is_file():
        sys.exit(f"lithe: error: {program} is not there: this package was installed without the command line")
    environment = dict(os.environ)
    library = _level.library()
    if library is not None:  # the program's own search path comes before LD_LIBRARY_PATH
        environment["LD_PRELOAD"] = " ".join(filter(None, [str(library), environment.get("LD_PRELOAD")]))
    os.execve(program, ["lithe", *sys.argv[1:]], environment)


if __name__ == "__main__":
    main()
