"""What the tests inherit from whoever starts them, and shall not depend on."""

import os
import signal

# A shell that starts something in the background, and nohup, let it ignore Ctrl-C: then Python does not raise KeyboardInterrupt. With
# Python's own handler, what the tests start has the default again, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Where the viewer's page is looked for: tests that want another than the package's say so.
os.environ.pop("LITHE_VIEWER", None)

# Nothing is left behind in the home of who runs them, and nothing found there.
os.environ["LITHE_CACHE"] = "off"
