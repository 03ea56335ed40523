"""What can be compared: every estimator and mechanism of both trust models, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.experiments.compare.equal_privacy import Notion, own_epsilon
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)

__all__ = ["CONTENDERS", "WAVE_CELLS", "WAVE_THRESHOLD", "Chosen", "Contender", "choose_contenders"]

BOX = (-1.0, 1.0)
WAVE_CELLS = {1: 128, 2: 64, 3: 32, 4: 16}  # cells a column of WaveCluster's public grid
MOST_WAVE_COLUMNS = max(WAVE_CELLS)
WAVE_THRESHOLD = 0.3
MOST_GRID_COLUMNS = 32

Kind = Literal["centres", "cells", "reports"]


@dataclass(frozen=True)
class Contender:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As ``--only`` takes it.
    notion : {"central", "local", "metric"}
        What its epsilon means.
    kind : {"centres", "cells", "reports"}
        What it gives away.
    make : callable
        The class.
    words : tuple of (str, value)
        Its parameters.
    fewest, most : int
        Numbers of columns that it is for.
    noise_aware : bool
        Whether its noise can be taken out of its reports again.
    """

    name: str
    notion: Notion
    kind: Kind
    make: Callable[..., Any]
    words: tuple[tuple[str, Any], ...] = ()
    fewest: int = 1
    most: int = 8192
    noise_aware: bool = False

    @property
    def model(self) -> str:
        """The trust model: "central" or "local"."""
        return "central" if self.notion == "central" else "local"

    def build(self, worst: float, columns: int, clusters: int, *, seed: int | None) -> Any:
        """Make the estimator or mechanism that promises a worst case, not fitted.

        Parameters
        ----------
        worst : float
            Worst-case epsilon.
        columns, clusters : int
            Sizes.
        seed : int or None
            Its ``random_state``.

        Returns
        -------
        method : estimator or mechanism
            On columns scaled to [-1, 1].
        """
        words = dict(self.words)
        if self.kind == "centres":
            words["n_clusters"] = clusters
        if self.kind == "cells":
            words |= {"grid": WAVE_CELLS[columns], "threshold": WAVE_THRESHOLD}
        epsilon = own_epsilon(self.notion, worst, columns)
        return self.make(epsilon=epsilon, bounds=BOX, random_state=seed, **words)

    def misfit(self, columns: int) -> str | None:
        """Say why it cannot run on so many columns; None where it can."""
        if self.fewest <= columns <= self.most:
            return None
        if self.fewest == self.most:
            return f"{self.name}: for {self.most} columns only, and these are {columns}"
        return (
            f"{self.name}: for at most {self.most} columns, and these are {columns}: a grid would "
            "have more cells than records could fill"
        )


def _kmeans(method: str, most: int = 8192) -> Contender:
    words = (("method", method),)
    return Contender(f"DPKMeans-{method}", "central", "centres", DPKMeans, words, most=most)


def _wave(technique: str) -> Contender:
    name = f"DPWaveCluster-{technique}"
    words = (("technique", technique),)
    return Contender(name, "central", "cells", DPWaveCluster, words, most=MOST_WAVE_COLUMNS)


CONTENDERS = (
    _kmeans("grid", MOST_GRID_COLUMNS),
    _kmeans("lsh"),
    _kmeans("lloyd"),
    _kmeans("kccm"),
    *map(_wave, ("oneshot", "thr", "thr-em", "qt", "baseline", "density")),
    Contender("Laplace", "metric", "reports", Laplace, noise_aware=True),
    Contender("PlanarLaplace", "metric", "reports", PlanarLaplace, (), 2, 2, noise_aware=True),
    Contender(
        "SphericalLaplace", "metric", "reports", SphericalLaplace, (), 3, 3, noise_aware=True
    ),
    Contender("KdLaplace-grid", "metric", "reports", KdLaplace, (("remap", "grid"),)),
    Contender("KdLaplace-bayes", "metric", "reports", KdLaplace, (("remap", "bayes"),)),
    Contender("Piecewise", "local", "reports", Piecewise, noise_aware=True),
    Contender("Hybrid", "local", "reports", Hybrid),
    Contender("Duchi", "local", "reports", Duchi),
    Contender("SquareWave", "local", "reports", SquareWave),
)


class Chosen(NamedTuple):
    """The methods that are compared, and why others are not."""

    contenders: tuple[Contender, ...]
    left_out: tuple[str, ...]


def choose_contenders(columns: int, only: Sequence[str] | None = None) -> Chosen:
    """Choose the methods for a number of columns.

    Parameters
    ----------
    columns : int
        Number of columns.
    only : sequence of str, optional
        Names of methods, in any case, or the part of a name before its hyphen for all of these;
        all that fit by default.

    Returns
    -------
    chosen : Chosen
        At least one.

    Raises
    ------
    ParameterError
        If there is no such method, or none that is asked for fits the columns.

    Examples
    --------
    >>> [one.name for one in choose_contenders(2, ["laplace", "DPKMeans"]).contenders]
    ['DPKMeans-grid', 'DPKMeans-lsh', 'DPKMeans-lloyd', 'DPKMeans-kccm', 'Laplace']
    """
    wanted = CONTENDERS if only is None else _named(only)
    fitting = tuple(one for one in wanted if one.misfit(columns) is None)
    reasons = tuple(why for one in wanted if (why := one.misfit(columns)) is not None)
    if not fitting:
        raise ParameterError(f"--only must name a method that fits the columns, got {reasons[0]}")
    return Chosen(fitting, reasons)


def _named(only: Sequence[str]) -> tuple[Contender, ...]:
    asked = [name.lower() for name in only]
    found = {one.name: {one.name.lower(), one.name.partition("-")[0].lower()} for one in CONTENDERS}
    known = ", ".join(found)
    if not asked:
        raise ParameterError(f"--only must name at least one of {known}, got none")
    for name, plain in zip(only, asked, strict=True):
        if not any(plain in names for names in found.values()):
            raise ParameterError(f"--only must be among {known}, got {name!r}")
    return tuple(one for one in CONTENDERS if found[one.name] & set(asked))
