"""What attacks find and what audits saw: shares found and accused, the worst pair, the claim."""

import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._numbers import non_negative, readable
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, Rows, around, panel, table
from shoal.plotting._data import text
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import (
    CENTER,
    COLORS,
    DASHES,
    GRAY,
    RED,
    SQUARE,
    line_glyph,
    looks,
    palette_look,
)

__all__ = ["ceiling", "draw_audit", "draw_rates", "draw_roc"]

LEAST = 1e-3  # of the logarithmic panel
BELOW = LEAST / 10  # where a rate of zero lies
TRIED = 200  # points of the curve of what is ruled out
SIDE = 300  # pixels
FRAME: dict[str, Any] = {"width": SIDE - 30, "height": SIDE - 60}  # of an audit
GUESSING = "guessing"

BINS = 40
MAX_BARS = 10  # of the search; the rest showed less
FIRST, SECOND = COLORS["reports"], COLORS["central"]


def draw_roc(
    curves: Mapping[str, Any],
    *,
    epsilon: float | None = None,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw ROC curves of attacks, with linear and logarithmic axes, and what a guarantee rules out.

    Parameters
    ----------
    curves : mapping of str to (fpr, tpr), or to an object with ``fpr`` and ``tpr``
        False and true positive rates of each attack by name, such as :class:`shoal.audit.Roc`
        objects.
    epsilon : float, default=None
        Epsilon of a pure guarantee: the area above ``min(e^eps fpr, 1 - e^-eps (1 - fpr))``, which
        it rules out, is gray.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a curve is not two lists of rates of the same length, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> curve = [0.0, 0.1, 1.0], [0.0, 0.4, 1.0]
    >>> draw_roc({"yeom": curve}, epsilon=1.0)
    Picture(panels=2, records=False)
    """
    canvas = Canvas(path, title=title)
    if not isinstance(curves, Mapping) or not curves:
        kind = type(curves).__name__
        raise ParameterError(f"curves must be a dict of at least one curve, got {kind}")
    rates = _Rates(canvas)
    if epsilon is not None:
        promised = non_negative("epsilon", epsilon)
        # Beyond float64 nothing is ruled out that could be seen.
        ratio = math.exp(min(promised, 700.0))
        rates.rule_out(ratio, f"ruled out by ε = {readable(promised)}")
    for index, (name, look) in enumerate(looks(curves).items()):
        fpr, tpr = _shares(name, curves[name])
        rates.add(text(name), fpr, tpr, color=look.color, dash=DASHES[index % len(DASHES)])
    return rates.finish("All attackers", "Those who must be sure")


def draw_rates(rows: Sequence[Any], *, path: str | os.PathLike[str] | None = None) -> Picture:
    """Draw the rates of attacks on a private method and on the same method without privacy.

    Parameters
    ----------
    rows : sequence
        Each has ``result``, ``control`` and ``ceiling``; the first two have ``attack``, ``roc``,
        ``tpr`` and ``fpr``, as the attacks of :mod:`shoal.audit` return them.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart, with linear and logarithmic axes.

    Raises
    ------
    ParameterError
        If the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> roc = SimpleNamespace(fpr=[0.0, 0.1, 1.0], tpr=[0.0, 0.4, 1.0])
    >>> attack = SimpleNamespace(attack="yeom", roc=roc, fpr=0.1, tpr=0.4)
    >>> draw_rates([SimpleNamespace(result=attack, control=attack, ceiling=0.5)])
    Picture(panels=2, records=False)
    """
    rates = _Rates(Canvas(path))
    ceilings = [row.ceiling for row in rows if row.ceiling is not None]
    if ceilings:
        # The largest advantage c of a pure promise is (e^epsilon - 1)/(e^epsilon + 1).
        ratio = (1 + ceilings[0]) / (1 - ceilings[0]) if ceilings[0] < 1 else np.inf
        rates.rule_out(ratio, "ruled out for the release")
    # Colors from dark to light, each with a dash of its own, so that a gray print tells them apart.
    for index, row in enumerate(rows):
        look: dict[str, Any] = {
            "color": palette_look(index).color,
            "dash": DASHES[index % len(DASHES)],
        }
        name = row.result.attack
        rates.add(name, row.result.roc.fpr, row.result.roc.tpr, **look)
        control = f"{name}, without privacy"
        rates.add(control, row.control.roc.fpr, row.control.roc.tpr, faint=True, **look)
        rates.dot(name, row.result.fpr, row.result.tpr)
    return rates.finish(
        "Dots: where the attacker decides", "The same, for attackers who must be sure"
    )


def ceiling(fpr: Floats, ratio: float) -> Floats:
    """Return the largest share of members found, for shares of others accused.

    Parameters
    ----------
    fpr : ndarray
        Shares of others accused, > 0.
    ratio : float
        e^epsilon of a pure promise; may be infinite.

    Returns
    -------
    share : ndarray
        min(1, e^epsilon fpr, 1 - e^-epsilon (1 - fpr)).

    Examples
    --------
    >>> ceiling(np.array([0.1, 0.5]), 2.0).tolist()
    [0.2, 0.75]
    """
    return np.minimum(np.minimum(1.0, ratio * fpr), 1 - (1 - fpr) / ratio)


class _Rates:
    """The same curves in two panels, plain and with logarithmic axes, over the line of guessing."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._key = Key()
        self._areas: Rows = []
        self._curves: list[tuple[Rows, dict[str, Any]]] = []
        self._dots: Rows = []

    def rule_out(self, ratio: float, name: str) -> None:
        """Shade the area that no attack on a release with such a promise can reach."""
        self._key.add(name, "#d9d9d9", SQUARE)
        fpr = np.geomspace(BELOW, 1.0, TRIED)
        self._areas = table(name=name, x=fpr, y=ceiling(fpr, ratio), y2=1.0)

    def add(
        self,
        name: str,
        fpr: npt.ArrayLike,
        tpr: npt.ArrayLike,
        *,
        color: str,
        dash: Sequence[float],
        faint: bool = False,
    ) -> None:
        """Add a curve."""
        shown = _faint(color) if faint else color
        self._key.add(name, shown, line_glyph(dash))
        # A logarithmic axis cannot show a rate of zero.
        x, y = (np.maximum(np.asarray(rates, dtype=np.float64), BELOW) for rates in (fpr, tpr))
        rows = table(name=name, x=x, y=y, order=list(range(len(x))))
        width = 1.3 if faint else 2.2
        # Steps, not lines between cuts: rates in between can only be had by tossing a coin.
        mark = {"interpolate": "step-after", "strokeDash": list(dash), "strokeWidth": width}
        self._curves.append((rows, mark))

    def dot(self, name: str, fpr: float, tpr: float) -> None:
        """Mark where an attacker decides."""
        self._dots += table(name=name, x=max(fpr, BELOW), y=max(tpr, BELOW))

    def finish(self, plain: str, sure: str) -> Picture:
        """Return the picture with the titles of its panels."""
        self._key.add(GUESSING, GRAY, line_glyph())
        panels = [self._panel(plain, log=False), self._panel(sure, log=True)]
        return self._canvas.finish(panels, columns=2, key=self._key, square=True)

    def _panel(self, title: str, *, log: bool) -> Any:
        ends = (LEAST if log else 0.0, 1.0)
        x, y = (
            Axis(name, ends, log=log, ticks=[0.001, 0.01, 0.1, 1.0] if log else None)
            for name in ("share of others accused", "share of members found")
        )
        layer = partial(self._canvas.layer, x=x, y=y, key=self._key, clip=True)
        told = {"name": " ", "x": "others accused", "y": "members found"}
        guess = table(name=GUESSING, x=[BELOW, 1.0], y=[BELOW, 1.0])
        layers = [layer(self._areas, "area", opacity=1)] if self._areas else []
        layers.append(layer(guess, "line", strokeWidth=1.1))
        layers += [layer(rows, "line", told=told, **mark) for rows, mark in self._curves]
        layers.append(layer(self._dots, "circle", told=told, size=80, opacity=1))
        layers.append(self._canvas.legend(self._key))
        return panel(*layers, width=SIDE, height=SIDE, title=title)


def _faint(color: str) -> str:
    """Return a color halfway to white."""
    parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)


def _shares(name: str, curve: Any) -> tuple[Floats, Floats]:
    given = (curve.fpr, curve.tpr) if hasattr(curve, "fpr") and hasattr(curve, "tpr") else curve
    try:
        fpr, tpr = (np.asarray(shares, dtype=np.float64) for shares in given)
    except (TypeError, ValueError):
        raise ParameterError(
            f"curves must be pairs (fpr, tpr) of numbers, got a {type(curve).__name__} for {name!r}"
        ) from None
    if fpr.ndim != 1 or fpr.shape != tpr.shape or not len(fpr):
        raise ParameterError(
            f"curves must have as many fpr as tpr, got shapes {fpr.shape} and {tpr.shape} "
            f"for {name!r}"
        )
    if not all(((shares >= 0) & (shares <= 1)).all() for shares in (fpr, tpr)):
        raise ParameterError(f"curves must hold shares from 0 to 1, got others for {name!r}")
    return fpr, tpr


def draw_audit(
    *,
    points: Mapping[str, Floats],
    sides: tuple[str, str],
    evidence: Any,
    searched: Mapping[str, float],
    measured: float,
    claimed: float | None,
    unit: str = "",
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw the result of an audit: the worst pair of made-up tables, and measured against claimed.

    Parameters
    ----------
    points : mapping of str to ndarray of shape (n, d)
        Two sets of made-up points by name; the second is the one that matters.
    sides : tuple of str
        Names of the two sides of the evidence.
    evidence : object or None
        The event that tells the tables apart, with ``score``, ``relation``, ``threshold``,
        ``first`` and ``second``.
    searched : mapping of str to float
        Estimates of epsilon on all pairs that were tried.
    measured : float
        Measured lower bound on epsilon.
    claimed : float or None
        Epsilon of the guarantee.
    unit : str, default=""
        Unit that a metric epsilon is per.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> draw_audit(
    ...     points={"records": np.zeros((3, 2)), "the added record": np.ones((1, 2))},
    ...     sides=("without it", "with it"),
    ...     evidence=None,
    ...     searched={"corner": 0.3},
    ...     measured=0.2,
    ...     claimed=1.0,
    ... )
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path)
    panels = (
        _pair(canvas, points),
        _event(canvas, evidence, sides),
        _bounds(canvas, searched, measured, claimed, unit),
    )
    return canvas.finish(panels, columns=3, margin=115)


def _pair(canvas: Canvas, points: Mapping[str, Floats]) -> Any:
    """Show the first two columns; a single column lies on a line."""

    def plane(points: Floats) -> Floats:
        return points[:, :2] if points.shape[1] > 1 else np.column_stack([points, 0 * points])

    both = {name: plane(some) for name, some in points.items()}
    every = np.vstack(list(both.values()))
    flat = all(some.shape[1] == 1 for some in points.values())
    x = Axis("column 1 (records' unit)", around(every[:, 0], 0.25))
    y = Axis("column 2 (records' unit)", around(every[:, 1], 0.25))
    if flat:
        y = Axis("", y.domain, labels=False, ticks=False)
    key = Key()
    for name, look in zip(both, ((FIRST, "circle"), (SECOND, CENTER)), strict=True):
        key.add(name, *look)
    told = {"name": " ", "x": "column 1", "y": "column 2"}
    layer = partial(canvas.layer, x=x, y=y, key=key, told=told, filled=True, opacity=0.9)
    layers = [
        layer(table(name=[name] * len(some), x=some[:, 0], y=some[:, 1]), "point", size=size)
        for (name, some), size in zip(both.items(), (70, 150), strict=True)
    ]
    return panel(*layers, **FRAME, title="The worst pair found")


def _event(canvas: Canvas, evidence: Any, sides: tuple[str, str]) -> Any:
    title = "The event that tells it apart"
    if evidence is None:
        words = table(words="no event tells the two apart")
        return panel(canvas.layer(words, "text", fontSize=12), **FRAME, title=title)
    # Single values far out would squeeze the rest into one bar.
    both = np.concatenate([evidence.first, evidence.second])
    finite = both[np.isfinite(both)]
    low, high = np.quantile(finite, [0.005, 0.995]) if finite.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    bars: Rows = []
    key = Key()
    for values, color, name in zip(
        (evidence.first, evidence.second), (FIRST, SECOND), sides, strict=True
    ):
        key.add(name, color, SQUARE)
        inside = np.clip(np.nan_to_num(values, neginf=low, posinf=high), edges[0], edges[-1])
        shares = np.histogram(inside, edges)[0] / len(inside)
        bars += table(name=name, x=edges[:-1], x2=edges[1:], y=shares, y2=0)
    key.add("cut", RED, line_glyph(DASHES[1]))
    x = Axis(evidence.score, around([*edges, evidence.threshold]))
    y = Axis("share of releases", around([row["y"] for row in bars], zero=True), grid=True)
    told = {"name": " ", "x": "from", "x2": "to", "y": "share"}
    layer = partial(canvas.layer, x=x, key=key)
    cut = table(name="cut", x=float(evidence.threshold))
    return panel(
        layer(bars, "rect", y=y, told=told, opacity=0.65),
        layer(cut, "rule", strokeDash=DASHES[1], strokeWidth=1.6),
        canvas.legend(key),
        **FRAME,
        title=title,
    )


def _bounds(
    canvas: Canvas, searched: Mapping[str, float], measured: float, claimed: float | None, unit: str
) -> Any:
    ranked = sorted(searched.items(), key=lambda item: -item[1])[:MAX_BARS]
    key = Key()
    estimate = key.add("estimate of the search", FIRST, SQUARE)
    bound = key.add("lower bound, worst pair", SECOND, SQUARE)
    rows = table(name=bound, pair="bound", x=measured)
    for name, value in ranked:
        rows += table(name=estimate, pair=textwrap.fill(name, 22), x=max(value, 0.0))
    ends = [row["x"] for row in rows]
    if claimed is not None:
        key.add("claim", RED, line_glyph())
        ends.append(float(claimed))
    x = Axis(f"epsilon{unit}", around(ends, zero=True), grid=True)
    axis = alt.Axis(
        title=None,
        labelExpr="split(datum.label, '\\n')",
        labelFontSize=10,
        labelOverlap=False,
        ticks=False,
    )
    y = alt.Y("pair:N", sort=[row["pair"] for row in rows], axis=axis)
    told = {"name": " ", "pair": "pair", "x": "epsilon"}
    layers = [canvas.layer(rows, "bar", x=x, y=y, key=key, told=told)]
    if claimed is not None:
        claim = table(name="claim", x=ends[-1])
        layers.append(canvas.layer(claim, "rule", x=x, key=key, strokeWidth=2))
    height = max(FRAME["height"], 36 * len(rows))
    title = "Measured beside claimed"
    return panel(*layers, canvas.legend(key), width=SIDE - 60, height=height, title=title)
