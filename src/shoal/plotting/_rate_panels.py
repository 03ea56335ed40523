"""Shares of members found against shares of others accused, and what a promise rules out."""

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.plotting.chart import Axis, Panel
from shoal.plotting.marks import Band, Line, Mark
from shoal.plotting.style import GREY

__all__ = ["ceiling", "on_panel", "rate_panels", "ruled_out"]


LEAST = 1e-3  # of the logarithmic panel
BELOW = LEAST / 10  # where a rate of zero lies
TRIED = 200  # places of the curve


def rate_panels(marks: list[Mark], *, titles: tuple[str, str]) -> tuple[Panel, Panel]:
    """Show the same curves plain and with logarithmic axes, over the line of guessing.

    Parameters
    ----------
    marks : list of Mark
        Curves.
    titles : tuple of str
        Of the panels.

    Returns
    -------
    panels : tuple of Panel
        Plain and logarithmic.
    """
    diagonal = np.array([BELOW, 1.0])
    guess = Line(x=diagonal, y=diagonal, color=GREY, width=1.0, name="guessing")
    x, y = "share of others accused", "share of members found"
    plain, sure = (
        Panel(
            marks=(*marks, guess),
            x=Axis(label=x, limits=ends, log=log),
            y=Axis(label=y, limits=ends, log=log),
            equal=True,
            title=title,
        )
        for title, ends, log in zip(titles, ((0.0, 1.0), (LEAST, 1.0)), (False, True), strict=True)
    )
    return plain, sure


def on_panel(rates: npt.ArrayLike) -> Floats:
    """Lift rates of zero, which a logarithmic axis cannot show."""
    return np.maximum(np.asarray(rates, dtype=np.float64), BELOW)


def ceiling(at: Floats, ratio: float) -> Floats:
    """Return the largest share of members found, for shares of others accused.

    Parameters
    ----------
    at : ndarray
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
    return np.minimum(np.minimum(1.0, ratio * at), 1 - (1 - at) / ratio)


def ruled_out(ratio: float, *, name: str) -> Band:
    """Return the area that no attack on a release with such a promise can reach."""
    at = np.geomspace(BELOW, 1.0, TRIED)
    one = np.ones_like(at)
    return Band(x=at, low=ceiling(at, ratio), high=one, color="#e5e5e5", alpha=1.0, name=name)
