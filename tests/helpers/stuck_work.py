"""Work of another process that never comes to its next step."""

import signal


def wait_forever(*_arguments):
    """Do nothing until the process is killed."""
    while True:
        signal.pause()
