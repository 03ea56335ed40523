"""Receiver operating characteristics: what attacks find against whom they accuse wrongly."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal._numbers import non_negative, readable
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._layout import words
from shoal.plotting._rate_panels import on_panel, rate_panels, ruled_out
from shoal.plotting.chart import Chart
from shoal.plotting.marks import Line, Mark
from shoal.plotting.save import check_path, save
from shoal.plotting.style import looks

__all__ = ["draw_roc"]


def draw_roc(
    path: Path,
    curves: Mapping[str, Any],
    *,
    epsilon: float | None = None,
    title: str | None = None,
) -> Path:
    """Draw curves of attacks, plain and with logarithmic axes, and what a promise rules out.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    curves : mapping of str to (fpr, tpr), or to an object with ``fpr`` and ``tpr``
        Shares of others accused and of members found, by name; as
        :class:`shoal.audit.Roc` holds them.
    epsilon : float, default=None
        Of a pure promise: the area above ``min(e^eps fpr, 1 - e^-eps (1 - fpr))`` is gray.
    title : str, default=None
        Of the whole figure.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If a curve is not two lists of shares of one length, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> curve = [0.0, 0.1, 1.0], [0.0, 0.4, 1.0]
    >>> draw_roc(Path(mkdtemp()) / "roc.svg", {"yeom": curve}, epsilon=1.0).name
    'roc.svg'
    """
    check_path(path)
    if not isinstance(curves, Mapping) or not curves:
        kind = type(curves).__name__
        raise ParameterError(f"curves must be a dict of at least one curve, got {kind}")
    marks: list[Mark] = []
    if epsilon is not None:
        promised = non_negative("epsilon", epsilon)
        # Beyond float64 nothing is ruled out that could be seen.
        ratio = math.exp(min(promised, 700.0))
        marks.append(ruled_out(ratio, name=f"ruled out by ε = {readable(promised)}"))
    for (name, curve), look in zip(curves.items(), looks(curves).values(), strict=True):
        fpr, tpr = _shares(name, curve)
        # Steps, not lines between cuts: rates in between can only be had by tossing a coin.
        marks.append(
            Line(
                x=on_panel(fpr),
                y=on_panel(tpr),
                name=words(name),
                color=look.color,
                dash=look.dash,
                width=2.0,
                step=True,
            )
        )
    panels = rate_panels(marks, titles=("All attackers", "Those who must be sure"))
    heading = words(title) if title is not None else ""
    return save(Chart(panels=panels, columns=2, width=11.0, height=5.2, title=heading), path)


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
