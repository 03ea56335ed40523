"""Numbers, words and strokes as Plotly wants them."""

import html
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.plotting._plotly.sizes import POINT
from shoal.plotting.chart import Axis
from shoal.plotting.marks import Dash, Mark

__all__ = ["clear", "dashes", "log_marks", "markup", "number", "numbers", "places", "told"]

DIGITS = 6  # of a number: more than a screen can show, and half the length
WIDE = 1.6  # decades, from which powers of ten are marks enough


def markup(words: str) -> str:
    """Write words so that Plotly finds no tags in them."""
    return html.escape(words, quote=False).replace("\n", "<br>")


def numbers(values: Iterable[float] | Floats) -> list[float | int | None]:
    """Return plain numbers of so many digits; what is not finite is None."""
    return [number(float(value)) for value in np.asarray(values, dtype=np.float64).ravel()]


def number(value: float) -> float | int | None:
    """Return a plain number; None if it is not finite."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def told(mark: Mark, notes: tuple[str, ...], *axes: Axis | None) -> dict[str, Any]:
    """Say what is pointed at: its name, its place, and a note of its own."""
    name = markup(mark.says or mark.name)
    lines = [f"<b>{name}</b>"] if name else []
    if notes:
        lines.append("%{text}")
    lines += places(*axes)
    found: dict[str, Any] = {"hovertemplate": "<br>".join(lines) + "<extra></extra>"}
    if notes:
        found["text"] = [markup(note) for note in notes]
    return found


def places(*axes: Axis | None) -> list[str]:
    """Say where on each axis, unless its places have names."""
    return [
        f"{markup(axis.label.replace(chr(10), ' ') or letter)}: %{{{letter}:.4~g}}"
        for letter, axis in zip("xyz", axes, strict=False)
        if axis is not None and not axis.named
    ]


def dashes(dash: Dash, width: float) -> str:
    """Return strokes and gaps in pixels, for a line of so many points."""
    if not dash:
        return "solid"
    return ",".join(f"{max(length * width * POINT, 1.0):.3g}px" for length in dash)


def clear(color: str, alpha: float) -> str:
    """Let a color be seen through."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def log_marks(between: list[float]) -> list[float]:
    """Mark powers of ten between two exponents, and steps between them where there are few.

    Plotly's own marks between powers are single digits, which nobody can read.
    """
    low, high = sorted(between)
    digits = (1.0,) if high - low >= WIDE else (1.0, 2.0, 5.0)
    every = [
        digit * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for digit in digits
    ]
    return [mark for mark in every if low <= math.log10(mark) <= high]
