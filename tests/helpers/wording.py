"""Other words for what is promised: a version of shoal whose sentences somebody has improved."""

import contextlib

from planted.plant import Bug, planted

REWORDED = [
    ("shoal.privacy._guarantee_text", "given to the mechanism", "passed to the mechanism"),
    ("shoal.mechanisms.laplace", "reason=REDRAWN", 'reason="redrawn at half of epsilon"'),
]


@contextlib.contextmanager
def reworded():
    """Run a ``with`` block in which guarantees say the same in other words."""
    with contextlib.ExitStack() as stack:
        for module, before, after in REWORDED:
            bug = Bug("other words", module, before, after, red=None, subject=None)
            stack.enter_context(planted(bug))
        yield
