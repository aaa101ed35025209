"""Programs that somebody watches and interrupts."""

import os
import pty
import re
import signal
import subprocess


def read_terminal(terminal):
    """What comes next, or nothing when no program writes to it any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's way to say that the other end is closed
        return b""


def interrupted_after(command, sign):
    """Runs a command with a terminal as stderr and presses Ctrl-C once `sign`, a regular expression, is seen there.

    Returns the exit code, stdout and all that the terminal has shown.
    """
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        while not re.search(sign, shown) and (more := read_terminal(ours)):
            shown += more
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    while more := read_terminal(ours):
        shown += more
    os.close(ours)
    assert re.search(sign, shown), shown
    return process.returncode, stdout, shown
