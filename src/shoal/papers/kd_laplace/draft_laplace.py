"""The method of the two drafts: as published, no guarantee.

epsilon = level / radius with radius = sigma/2 and sigma the standard deviation of the RAW table;
then planar Laplace noise, drawn again while the report lies outside the box of the RAW table
(algorithms 1 and 2 of the drafts). Drawing again is claimed to be free. It is not: how often it
happens depends on the record, which costs up to another epsilon.
"""

from typing import Any, Literal

import numpy as np

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal._typing import Floats
from shoal.papers.kd_laplace._as_published import AsPublished
from shoal.papers.kd_laplace.nd_laplace import require_columns
from shoal.papers.kd_laplace.noise import nd_noise

__all__ = ["DraftLaplace"]

MAX_DRAWS = 1000  # the code gives up after so many and reports the last one

HALF_SIGMA: Literal["half-sigma"] = "half-sigma"


class DraftLaplace(AsPublished):
    """Perturb records as the drafts do: as published, no guarantee.

    Parameters
    ----------
    level : float, default=1.0
        The drafts' level l; epsilon = level / radius.
    radius : "half-sigma" or float, default="half-sigma"
        Half the standard deviation of the raw table, as published, or a number, to look at the
        truncation alone.
    truncate : bool, default=True
        Draw again while the report is outside the box, as published.
    bounds : tuple (low, high), default=None
        The box; None takes the smallest and largest values of the raw table, as published.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    epsilon_ : float
        What level / radius came to; with ``radius="half-sigma"`` a statistic of raw records.
    guarantee_ : Guarantee
        Of notion ``"none"``.

    See Also
    --------
    shoal.mechanisms.Laplace : With ``truncate="resample"`` it draws at half its epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> method = DraftLaplace(level=1.0, random_state=0).fit(X)
    >>> reports = method.transform(X)
    >>> bool((reports > X.min(axis=0)).all()), round(method.epsilon_, 1)
    (True, 4.7)
    """

    def __init__(
        self,
        level: float = 1.0,
        *,
        radius: Literal["half-sigma"] | float = HALF_SIGMA,
        truncate: bool = True,
        bounds: Any = None,
        random_state: Any = None,
    ) -> None:
        self.level = level
        self.radius = radius
        self.truncate = truncate
        self.bounds = bounds
        self.random_state = random_state

    @property
    def epsilon_(self) -> float:
        """The epsilon that level and radius give."""
        radius = self.radius
        if isinstance(radius, str):
            # Equation 4.1 for vectors: the root of the mean squared distance from the mean.
            radius = float(np.sqrt(self._raw.var(axis=0).sum())) / 2
        return self.level / radius if radius > 0 else np.inf

    def _check(self, columns: int) -> None:
        require_columns(columns)
        _numbers.positive("level", self.level)
        if self.radius != HALF_SIGMA:
            _numbers.positive("radius", self.radius)
        if self.bounds is not None:
            public_box(self.bounds, columns)

    def _flaw(self, columns: int | None) -> str:
        flaws = []
        if self.radius == HALF_SIGMA:
            flaws.append("radius = sigma/2 reads the raw table")
        if self.truncate:
            flaws.append("drawing again until inside the box costs up to twice epsilon")
        return "; ".join([*flaws, "the noise is in doubles"])

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        epsilon = self.epsilon_
        if np.isinf(epsilon):
            return records.copy()

        def draw(some: Floats) -> Floats:
            noise = nd_noise(*some.shape, epsilon=epsilon, source="thesis", generator=generator)
            noisy: Floats = some + noise.vectors
            return noisy

        reports = draw(records)
        if not self.truncate:
            return reports
        box = self._box(raw)
        for _ in range(MAX_DRAWS):
            outside = np.flatnonzero(((reports <= box.low) | (reports >= box.high)).any(axis=1))
            if not len(outside):
                break
            reports[outside] = draw(records[outside])
        return reports

    def _box(self, raw: Floats) -> Box:
        if self.bounds is not None:
            return public_box(self.bounds, raw.shape[1])
        return Box(raw.min(axis=0), raw.max(axis=0))
