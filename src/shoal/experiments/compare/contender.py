"""What can be compared: every estimator and mechanism of both trust models, by name."""

import functools
import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from shoal.audit._detached import detached
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.experiments.compare.equal_privacy import Notion, own_epsilon, worst_case
from shoal.experiments.promise_audit import promise_of_fitted
from shoal.experiments.targets import import_object, parameter_names
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
from shoal.privacy import Guarantee

__all__ = ["CONTENDERS", "WAVE_CELLS", "WAVE_THRESHOLD", "Chosen", "Contender", "choose_contenders"]

BOX = (-1.0, 1.0)
WAVE_CELLS = {1: 128, 2: 64, 3: 32, 4: 16}  # cells a column of WaveCluster's public grid
MAX_WAVE_COLUMNS = max(WAVE_CELLS)
WAVE_THRESHOLD = 0.3
MAX_GRID_COLUMNS = 32

MADE_UP_RECORDS = 64  # that a promise is read off: it depends on no record
NEEDED = ("epsilon", "bounds", "random_state")

Kind = Literal["centers", "cells", "reports"]


@dataclass(frozen=True)
class Contender:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As ``--only`` takes it.
    notion : {"central", "local", "metric"}
        What its epsilon means.
    kind : {"centers", "cells", "reports"}
        What it gives away.
    make : callable
        The class.
    words : tuple of (str, value)
        Its parameters.
    fewest, most : int
        Numbers of columns that it is for.
    noise_aware : bool
        Whether its noise can be taken out of its reports again.
    factor : float or None
        Worst-case epsilon for each unit of its own, of a method of the user's; None follows from
        the notion.
    digest : str
        Of the user's own code; empty for methods of shoal.
    """

    name: str
    notion: Notion
    kind: Kind
    make: Callable[..., Any]
    words: tuple[tuple[str, Any], ...] = ()
    fewest: int = 1
    most: int = 8192
    noise_aware: bool = False
    factor: float | None = None
    digest: str = ""

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
        if self.kind == "centers" and "n_clusters" in parameter_names(self.make):
            words["n_clusters"] = clusters
        if self.kind == "cells":
            words |= {"grid": WAVE_CELLS[columns], "threshold": WAVE_THRESHOLD}
        epsilon = own_epsilon(self.notion, worst, columns)
        if self.factor is not None:
            epsilon = worst / self.factor
        return self.make(epsilon=epsilon, bounds=BOX, random_state=seed, **words)

    def promise(self, worst: float, columns: int, clusters: int) -> Guarantee:
        """Read its promise off a fit to made-up records.

        Parameters
        ----------
        worst : float
            Worst-case epsilon.
        columns, clusters : int
            Sizes.

        Returns
        -------
        guarantee : Guarantee
            That of secure randomness; of notion "none" where the method has no ``guarantee_``.
        """
        return _promise(self.build(worst, columns, clusters, seed=None), columns)

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
    return Contender(f"DPKMeans-{method}", "central", "centers", DPKMeans, words, most=most)


def _wave(technique: str) -> Contender:
    name = f"DPWaveCluster-{technique}"
    words = (("technique", technique),)
    return Contender(name, "central", "cells", DPWaveCluster, words, most=MAX_WAVE_COLUMNS)


CONTENDERS = (
    _kmeans("grid", MAX_GRID_COLUMNS),
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
        ``"module:Class"`` for the user's own; all methods of shoal that fit by default.

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
    if only is None:
        wanted = CONTENDERS
    else:
        named = [name for name in only if ":" not in name]
        own = [own_contender(name, columns) for name in dict.fromkeys(only) if ":" in name]
        wanted = (*(_named(named) if named or not own else ()), *own)
    fitting = tuple(one for one in wanted if one.misfit(columns) is None)
    reasons = tuple(why for one in wanted if (why := one.misfit(columns)) is not None)
    if not fitting:
        raise ParameterError(f"--only must name a method that fits the columns, got {reasons[0]}")
    return Chosen(fitting, reasons)


def own_contender(name: str, columns: int) -> Contender:
    """Take a method of the user's own into the comparison.

    Parameters
    ----------
    name : str
        ``"module:Class"``, or ``"module:object"``: an estimator with the parameters epsilon, bounds
        and random_state that gives ``cluster_centers_``, or a mechanism with ``log_density``.
    columns : int
        Number of columns.

    Returns
    -------
    contender : Contender
        Its epsilon is chosen by its own ``guarantee_``. Without one it runs at the epsilon of a
        central method, and is never recommended.

    Raises
    ------
    ParameterError
        If it cannot be imported, lacks a parameter, or gives neither centers nor reports.
    """
    found = import_object(name)
    given = parameter_names(found) if hasattr(found, "get_params") else ()
    missing = [one for one in NEEDED if one not in given]
    if missing:
        raise ParameterError(
            f"--only {name} must be an estimator with the parameters {', '.join(NEEDED)}, got one "
            f"without {', '.join(missing)}"
        )
    make = found if isinstance(found, type) else functools.partial(_copy, found)
    try:
        model = make(epsilon=1.0, bounds=BOX, random_state=0).fit(_made_up(columns))
        promise = _promise(model, columns)
    except Exception as error:  # noqa: BLE001 - the user's class may fail in any way
        why = " ".join(str(error).split())
        raise ParameterError(
            f"--only {name} must fit {MADE_UP_RECORDS} made-up records in {columns} columns within "
            f"-1 and 1: {why}"
        ) from None
    kind: Kind = "centers"
    if not hasattr(model, "cluster_centers_"):
        kind = "reports"
        if not hasattr(model, "log_density"):
            raise ParameterError(
                f"--only {name} must give cluster_centers_, or be a mechanism with log_density, "
                "got neither"
            )
    notion: Notion = "central" if kind == "centers" else "local"
    factor = None
    if promise.notion != "none":
        factor = worst_case(promise, columns)
        if promise.notion in ("local", "metric"):
            notion = promise.notion
    return Contender(name, notion, kind, make, factor=factor, digest=_digest(found))


def _copy(found: Any, **words: Any) -> Any:
    """Set the parameters of a copy of the user's object."""
    return clone(found).set_params(**words)


def _made_up(columns: int) -> Any:
    return np.random.default_rng(0).uniform(*BOX, (MADE_UP_RECORDS, columns))


def _promise(model: Any, columns: int) -> Guarantee:
    return promise_of_fitted(detached(model).fit(_made_up(columns)))


def _digest(found: Any) -> str:
    """Hash the file of the user's class: what was measured with other code is measured again."""
    kind = found if isinstance(found, type) else type(found)
    try:
        content = Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):  # made in memory
        content = repr(found).encode()
    return hashlib.sha256(content + repr(found).encode()).hexdigest()


def _named(only: Sequence[str]) -> tuple[Contender, ...]:
    asked = [name.lower() for name in only]
    found = {one.name: {one.name.lower(), one.name.partition("-")[0].lower()} for one in CONTENDERS}
    known = ", ".join(found)
    if not asked:
        raise ParameterError(f"--only must name at least one of {known}, got none")
    for name, plain in zip(only, asked, strict=True):
        if not any(plain in names for names in found.values()):
            raise ParameterError(
                f"--only must be among {known}, or module:Class of your own, got {name!r}"
            )
    return tuple(one for one in CONTENDERS if found[one.name] & set(asked))
