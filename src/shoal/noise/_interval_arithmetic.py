"""Exact decisions about draws that double precision could not decide.

Every sampler here is an integer-valued function of uniform reals. Doubles decide all draws but a
few in a million: those whose result lies within the error bound of a boundary. For these the
function is evaluated again in interval arithmetic, on the words already drawn followed by as many
further random bits as it takes, until both ends agree. The result therefore has exactly the
distribution of the real-valued function: see proofs/noise.md.
"""

import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from shoal.noise.source import RandomSource

__all__ = ["Undecided", "exact", "floor_of", "is_positive", "log_of", "settle"]

Result = TypeVar("Result")

# Interval evaluation loses a few bits; this many more than the words hold are always enough.
GUARD_BITS = 32


_contexts = threading.local()  # mpmath's own interval context is shared by all threads


class Undecided(Exception):  # noqa: N818 - a signal between evaluate and settle, not an error
    """The bits drawn so far do not decide the result."""


def settle(
    evaluate: Callable[[Any, list[Any]], Result],
    prefixes: Sequence[int],
    bits: int,
    source: RandomSource,
) -> Result:
    """Evaluate a function of uniform reals whose first bits are known."""
    known = list(prefixes)
    if not hasattr(_contexts, "interval"):
        # Loading it takes a tenth of a second, and most devices never get here.
        from mpmath.ctx_iv import MPIntervalContext  # noqa: PLC0415

        _contexts.interval = MPIntervalContext()
    context = _contexts.interval
    while True:
        context.prec = bits + GUARD_BITS
        unit = context.ldexp(context.mpf(1), -bits)
        try:
            return evaluate(context, [context.mpf([k, k + 1]) * unit for k in known])
        except Undecided:
            pass
        known = [(k << 64) | int(w) for k, w in zip(known, source.words(len(known)), strict=True)]
        bits += 64


def floor_of(interval: Any) -> int:
    """Round an interval down to the integer that both ends agree on."""
    from mpmath.libmp import to_int  # noqa: PLC0415

    low, high = interval._mpi_
    floor = int(to_int(low, "f"))
    if floor != int(to_int(high, "f")):
        raise Undecided
    return floor


def is_positive(interval: Any) -> bool:
    """Return the sign that both ends of an interval agree on."""
    from mpmath.libmp import mpf_sign  # noqa: PLC0415

    low, high = interval._mpi_
    if mpf_sign(low) * mpf_sign(high) <= 0:
        raise Undecided
    return bool(mpf_sign(low) > 0)


def log_of(context: Any, interval: Any) -> Any:
    """Return the logarithm of an interval, which needs more bits where it touches zero."""
    is_positive(interval)
    return context.log(interval)


def exact(context: Any, value: Fraction) -> Any:
    """Enclose a rational number in an interval."""
    return context.mpf(value.numerator) / context.mpf(value.denominator)
