"""Name the case of a loop in the traceback of whatever fails in it."""

from contextlib import contextmanager


@contextmanager
def case(**values):
    try:
        yield
    except BaseException as error:
        named = (f"{name}={_described(value)}" for name, value in values.items())
        error.add_note(f"case: {', '.join(named)}")
        raise


def _described(value):
    """The line of a lambda, which has no other name; the repr of the rest."""
    if getattr(value, "__name__", "") == "<lambda>":
        return f"lambda of line {value.__code__.co_firstlineno}"
    return repr(value)
