"""What the tests of the command line inherit from whoever starts them, and shall not depend on."""

import os
import signal

# A shell that starts something in the background, and nohup, let it ignore Ctrl-C. With a handler of our own, what the tests start has
# the default again.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a terminal can do, and who looks for the viewer's page where. Tests that want something else than the default say so.
os.environ["TERM"] = "xterm"
for name in ("NO_COLOR", "COLUMNS", "LINES", "LITHE_VIEWER"):
    os.environ.pop(name, None)

# Nothing is left behind in the home of who runs them, and nothing found there.
os.environ["LITHE_CACHE"] = "off"
