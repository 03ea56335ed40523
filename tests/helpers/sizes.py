"""Numbers of draws: all of them in `make test-full`, a fifth or less in `make test`.

A test of a distribution has the same false-alarm rate at every size; with fewer draws it sees
errors of a percent where it saw half a percent. A noise scale that is half of the right one is
seen at any of these sizes.
"""


class _Run:
    full = True  # pytest was not asked for `-m "not full"`; tests/conftest.py says when it was


def quick_run() -> None:
    """Make the numbers of this run the small ones, before tests are imported."""
    _Run.full = False


def draws(full: int, *, quick: int) -> int:
    """Return how many draws a statistical test of this run takes."""
    return full if _Run.full else quick
