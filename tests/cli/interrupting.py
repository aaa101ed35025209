"""Programs that somebody watches and interrupts."""

import os
import pty
import signal
import subprocess


def interrupted_after(command, sign):
    """Runs a command with a terminal as stderr and presses Ctrl-C once `sign` is seen there.

    Returns the exit code, stdout and all that the terminal has shown.
    """
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        while sign not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    os.close(theirs)
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(ours)
    return process.returncode, stdout, shown
