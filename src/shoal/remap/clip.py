"""The simplest remap: each report goes to the nearest point of the public box."""

from typing import Any

import numpy as np

from shoal._bounds import public_box
from shoal._typing import Floats
from shoal.remap._base import Remap

__all__ = ["Clip"]


class Clip(Remap):
    """Clip reports to the public box.

    It has no guarantee of its own and needs none: that of the reports stays as it is.

    Parameters
    ----------
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``; ``transform`` works without ``fit``.

    See Also
    --------
    GridRemap : To the points of a public grid.
    BayesRemap : To where the record is expected; much nearer where noise is large.

    Examples
    --------
    >>> from shoal.remap import Clip
    >>> Clip((0.0, 1.0)).fit_transform([[0.5, -3.0], [2.0, 0.25]]).tolist()
    [[0.5, 0.0], [1.0, 0.25]]
    """

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    def _check(self, columns: int) -> None:
        public_box(self.bounds, columns)

    def _move(self, reports: Floats) -> Floats:
        box = public_box(self.bounds, reports.shape[1])
        points: Floats = np.clip(reports, box.low, box.high)
        return points
