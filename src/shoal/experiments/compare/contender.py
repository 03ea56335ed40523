"""What can be compared: the methods of the registry, and those of the user, by name."""

import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from sklearn.base import clone

from shoal._build import detached, import_object, load_class, parameter_names
from shoal._registry import MAX_COLUMNS, METHODS, Method, Notion, TrustModel
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.experiments.compare.equal_privacy import (
    Batch,
    amplified,
    own_epsilon,
    report_epsilon,
    worst_case,
)
from shoal.experiments.promise_audit import promise_of_fitted
from shoal.experiments.trial import Component
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Guarantee

__all__ = ["CONTENDERS", "WAVE_CELLS", "WAVE_THRESHOLD", "Chosen", "Contender", "choose_contenders"]

BOX = (-1.0, 1.0)
WAVE_CELLS = {1: 128, 2: 64, 3: 32, 4: 16}  # cells a column of WaveCluster's public grid
WAVE_THRESHOLD = 0.3

MADE_UP_RECORDS = 64  # that a promise is read off: it depends on no record
NEEDED = ("epsilon", "bounds", "random_state")

Output = Literal["centers", "cells", "reports"]


@dataclass(frozen=True)
class Contender:
    """A method that takes part in a comparison.

    Parameters
    ----------
    name : str
        Name of the method, as ``--only`` takes it.
    notion : {"central", "local", "metric"}
        Notion of its guarantee, which says what its epsilon means.
    output : {"centers", "cells", "reports"}
        What it releases.
    make : callable
        Its class.
    kwargs : mapping
        Parameters of the class.
    min_columns, max_columns : int
        Smallest and largest number of columns that it accepts.
    noise_aware : bool
        Whether clusterers can correct its reports for their known noise.
    factor : float or None
        For a method of your own: worst-case epsilon divided by its epsilon. None computes it from
        the notion.
    digest : str
        Digest of the code of a method of your own; empty for methods of shoal.
    shuffles : bool
        Whether it is also run behind a shuffler.
    batch : Batch or None
        The batch in which its reports are shuffled; None if they come straight from the devices.
    trial_label : str
        Text that stands for it in the keys of trials, from which their seeds come: it stays when
        the method gets another name. Empty takes the name.

    Examples
    --------
    >>> from shoal.experiments.compare import choose_contenders
    >>> contender = choose_contenders(2, ["laplace"]).contenders[0]
    >>> contender.name, contender.notion, contender.output
    ('Laplace', 'metric', 'reports')
    """

    name: str
    notion: Notion
    output: Output
    make: Callable[..., Any]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    min_columns: int = 1
    max_columns: int = MAX_COLUMNS
    noise_aware: bool = False
    factor: float | None = None
    digest: str = ""
    shuffles: bool = False
    batch: Batch | None = None
    trial_label: str = ""

    @classmethod
    def from_method(cls, method: Method) -> "Contender":
        """Make a contender of a method of shoal."""
        return cls(
            method.name,
            method.notion,
            cast(Output, method.output),
            load_class(method.location),
            dict(method.kwargs),
            method.min_columns,
            method.max_columns,
            method.noise_aware,
            shuffles=method.shuffled,
            trial_label=method.label,
        )

    @property
    def model(self) -> TrustModel:
        """The trust model."""
        if self.batch is not None:
            return "shuffled"
        return "central" if self.notion == "central" else "local"

    @property
    def component(self) -> Component:
        """Name in trials; a shuffled method has another one."""
        label = self.trial_label or self.name
        return Component(label, **({} if self.batch is None else self.batch._asdict()))

    @property
    def label(self) -> str:
        """Name in tables."""
        return self.name if self.batch is None else f"{self.name} (shuffled)"

    def behind_shuffler(self, batch: Batch) -> "Contender":
        """Return the same mechanism with its reports in a shuffled batch."""
        return replace(self, batch=batch, shuffles=False)

    def build(self, worst: float, columns: int, clusters: int, *, seed: int | None) -> Any:
        """Make the estimator or mechanism with a given worst-case epsilon, not fitted.

        Parameters
        ----------
        worst : float
            Worst-case epsilon.
        columns, clusters : int
            Number of columns and of clusters.
        seed : int or None
            Its ``random_state``.

        Returns
        -------
        method : estimator or mechanism
            The method, for columns scaled to [-1, 1].
        """
        kwargs = dict(self.kwargs)
        if self.output != "cells" and "n_clusters" in parameter_names(self.make):
            kwargs["n_clusters"] = clusters
        if self.output == "cells" and "grid" in parameter_names(self.make):
            kwargs |= {"grid": WAVE_CELLS[columns], "threshold": WAVE_THRESHOLD}
        epsilon = own_epsilon(self.notion, worst, columns)
        if self.factor is not None:
            epsilon = worst / self.factor
        if self.batch is not None:
            epsilon = _report_epsilon(self.make, worst, self.batch)
        return self.make(epsilon=epsilon, bounds=BOX, random_state=seed, **kwargs)

    def promise(self, worst: float, columns: int, clusters: int) -> Guarantee:
        """Return its guarantee, as read from a fit to synthetic records.

        Parameters
        ----------
        worst : float
            Worst-case epsilon.
        columns, clusters : int
            Number of columns and of clusters.

        Returns
        -------
        guarantee : Guarantee
            The guarantee with secure randomness, for a shuffled method that of the batch; of notion
            "none" if the method has no ``guarantee_``.
        """
        method = self.build(worst, columns, clusters, seed=None)
        promise = _promise(method, columns)
        if self.batch is None:
            return promise
        return amplified(promise, columns, self.batch, n_colors=_colors(method))

    def shuffled_epsilon(
        self, worst: float, columns: int, clusters: int, batch: Batch
    ) -> float | None:
        """Return the epsilon of its shuffled reports; None if they have no local epsilon."""
        if self.model == "central":
            return None
        method = self.build(worst, columns, clusters, seed=None)
        try:
            promise = _promise(method, columns)
            return amplified(promise, columns, batch, n_colors=_colors(method)).epsilon
        except GuaranteeError:
            return None

    def misfit(self, columns: int) -> str | None:
        """Return why it cannot run on this number of columns; None if it can."""
        if self.min_columns <= columns <= self.max_columns:
            return None
        if self.min_columns == self.max_columns:
            return f"{self.name}: for {self.max_columns} columns only, and these are {columns}"
        return (
            f"{self.name}: for at most {self.max_columns} columns, and these are {columns}: "
            "a grid would have more cells than records could fill"
        )


#: All methods of shoal that can be compared.
CONTENDERS = tuple(Contender.from_method(method) for method in METHODS if method.compared)


class Chosen(NamedTuple):
    """The methods to compare, and the reasons why others are left out.

    Examples
    --------
    >>> from shoal.experiments.compare import choose_contenders
    >>> chosen = choose_contenders(2, ["laplace"])
    >>> len(chosen.contenders), chosen.left_out
    (1, ())
    """

    contenders: tuple[Contender, ...]
    left_out: tuple[str, ...]


def choose_contenders(columns: int, only: Sequence[str] | None = None) -> Chosen:
    """Choose the methods to compare for a number of columns.

    Parameters
    ----------
    columns : int
        Number of columns.
    only : sequence of str, optional
        Names of methods, in upper or lower case; the part of a name before its hyphen selects all
        methods that begin with it, and ``"module:Class"`` selects one of your own. By default all
        methods of shoal that accept this number of columns.

    Returns
    -------
    chosen : Chosen
        The methods, at least one.

    Raises
    ------
    ParameterError
        If there is no such method, or none of those asked for accepts this number of columns.

    Examples
    --------
    >>> [one.name for one in choose_contenders(2, ["laplace", "KdLaplace"]).contenders]
    ['Laplace', 'KdLaplace-grid', 'KdLaplace-bayes']
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
    """Take a method of the user's own into the comparison."""
    source = import_object(name)
    given = parameter_names(source) if hasattr(source, "get_params") else ()
    missing = [one for one in NEEDED if one not in given]
    if missing:
        raise ParameterError(
            f"--only {name} must be an estimator with the parameters {', '.join(NEEDED)}, got one "
            f"without {', '.join(missing)}"
        )
    make = source if isinstance(source, type) else functools.partial(_copy, source)
    try:
        model = make(epsilon=1.0, bounds=BOX, random_state=0).fit(_made_up(columns))
        promise = _promise(model, columns)
    except Exception as error:  # noqa: BLE001 - the user's class may fail in any way
        why = " ".join(str(error).split())
        raise ParameterError(
            f"--only {name} must fit {MADE_UP_RECORDS} made-up records in {columns} columns within "
            f"-1 and 1: {why}"
        ) from None
    output: Output = "centers"
    if not hasattr(model, "cluster_centers_"):
        output = "reports"
        if not hasattr(model, "log_density"):
            raise ParameterError(
                f"--only {name} must give cluster_centers_, or be a mechanism with log_density, "
                "got neither"
            )
    notion: Notion = "central" if output == "centers" else "local"
    factor = None
    if promise.notion != "none":
        factor = worst_case(promise, columns)
        if promise.notion in ("local", "metric"):
            notion = promise.notion
    return Contender(
        name,
        notion,
        output,
        make,
        # Colors are no points: only what knows their noise clusters them.
        noise_aware=getattr(model, "noise_kind", None) == "partition",
        factor=factor,
        digest=_digest(source),
    )


def _copy(estimator: Any, **kwargs: Any) -> Any:
    """Set the parameters of a copy of the user's object."""
    return clone(estimator).set_params(**kwargs)


def _made_up(columns: int) -> Any:
    return np.random.default_rng(0).uniform(*BOX, (MADE_UP_RECORDS, columns))


@functools.cache
def _report_epsilon(make: Callable[..., Any], worst: float, batch: Batch) -> float:
    return report_epsilon(worst, batch, lambda own: int(make(own).n_colors))


def _colors(mechanism: Any) -> int | None:
    """Return the number of colors of a randomized response that is proven to be one."""
    return mechanism.n_colors if type(mechanism) is PartitionResponse else None


def _promise(model: Any, columns: int) -> Guarantee:
    return promise_of_fitted(detached(model).fit(_made_up(columns)))


def _digest(source: Any) -> str:
    """Hash the file of the user's class: what was measured with other code is measured again."""
    kind = source if isinstance(source, type) else type(source)
    try:
        content = Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):  # made in memory
        content = repr(source).encode()
    return hashlib.sha256(content + repr(source).encode()).hexdigest()


def _named(only: Sequence[str]) -> tuple[Contender, ...]:
    asked = [name.lower() for name in only]
    known = {one.name: {one.name.lower(), one.name.partition("-")[0].lower()} for one in CONTENDERS}
    listed = ", ".join(known)
    if not asked:
        raise ParameterError(f"--only must name at least one of {listed}, got none")
    for name, plain in zip(only, asked, strict=True):
        if not any(plain in names for names in known.values()):
            raise ParameterError(
                f"--only must be among {listed}, or module:Class of your own, got {name!r}"
            )
    return tuple(one for one in CONTENDERS if known[one.name] & set(asked))
