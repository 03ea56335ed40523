"""The plain mechanism of the thesis, "nd-Laplace" in its figures: as published, no guarantee.

Two columns follow the right law (planar Laplace), in doubles, which give the record away in their
low bits (Mironov 2012). Three columns and more do not follow it at all: see
:mod:`shoal.papers.kd_laplace.noise`.
"""

from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.papers.kd_laplace._as_published import AsPublished, Source
from shoal.papers.kd_laplace.noise import nd_noise

__all__ = ["NdLaplace"]

DOUBLES = "planar Laplace noise in doubles, whose low bits tell records apart"
SPHERE = (
    "with three columns the polar angle is uniform, which is not uniform on the sphere: the "
    "density is unbounded at the poles"
)
ANGLES = (
    "with four columns and more a unit vector is used as angles: the first coordinate of the noise "
    "is always positive"
)


class NdLaplace(AsPublished):
    """Perturb records with the noise of the thesis: as published, no guarantee.

    Parameters
    ----------
    epsilon : float, default=1.0
        The published epsilon, per unit of distance.
    source : {"thesis", "code"}, default="thesis"
        Whose angles for three columns; the figures come from the code.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    guarantee_ : Guarantee
        Of notion ``"none"``.

    See Also
    --------
    shoal.mechanisms.Laplace : The right law in any number of columns, on a public lattice.

    Examples
    --------
    >>> import numpy as np
    >>> method = NdLaplace(epsilon=2.0, random_state=0).fit(np.zeros((1000, 4)))
    >>> bool(method.transform(np.zeros((1000, 4)))[:, 0].min() > 0)
    True
    >>> print(method.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    no privacy guarantee: as published, no guarantee: with four columns and more a unit vector is
    used as angles: the first coordinate of the noise is always positive
    """

    def __init__(
        self, epsilon: float = 1.0, *, source: Source = "thesis", random_state: Any = None
    ) -> None:
        self.epsilon = epsilon
        self.source = source
        self.random_state = random_state

    def _check(self, columns: int) -> None:
        super()._check(columns)
        require_columns(columns)

    def _flaw(self, columns: int | None) -> str:
        return noise_flaw(columns)

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        noise = nd_noise(
            *records.shape, epsilon=self.epsilon, source=self.source, generator=generator
        )
        reports: Floats = records + noise.vectors
        return reports


def require_columns(columns: int) -> None:
    """Refuse a table of one column, which the published methods do not know.

    Parameters
    ----------
    columns : int
        Number of columns.
    """
    if columns < 2:
        raise DataError(f"X must have at least 2 columns for a published method, got {columns}")


def noise_flaw(columns: int | None) -> str:
    """Name the flaw of the noise for so many columns.

    Parameters
    ----------
    columns : int or None
        Number of columns; None where it is not known yet.

    Returns
    -------
    flaw : str
        One clause.
    """
    if columns is None:
        return f"{DOUBLES}; {SPHERE}; {ANGLES}"
    return {2: DOUBLES, 3: SPHERE}.get(columns, ANGLES)
