"""One trial of an experiment: its components, its key, and the seed that repeats it."""

import hashlib
import re
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError

__all__ = ["Component", "Trial", "check_name"]

# A trial's key is taken apart at bars, a component in it at parentheses.
APART = re.compile(r"[|()]")
# scikit-learn takes seeds of 32 bits.
SEED_BYTES = 4


@dataclass(frozen=True, init=False)
class Component:
    """A mechanism or clusterer of an experiment: a name and parameters of plain values.

    Equal components have the same text. The function that runs the trials decides what the name
    stands for.

    Parameters
    ----------
    name : str
        Name of the mechanism or clusterer.
    **kwargs : str, bool, int, float, or list of these
        Parameters of the component; lists become tuples.

    Attributes
    ----------
    pairs : tuple of (str, value)
        Parameters by name, in alphabetical order.

    Examples
    --------
    >>> component = Component("DPKMeans", n_clusters=3, method="lloyd")
    >>> print(component)
    DPKMeans(method='lloyd', n_clusters=3)
    >>> component.kwargs
    {'method': 'lloyd', 'n_clusters': 3}
    """

    name: str
    pairs: tuple[tuple[str, Any], ...]

    def __init__(self, name: str, /, **kwargs: Any) -> None:
        check_name("name", name)
        if APART.search(name):
            raise ParameterError(f"name must be without | and parentheses, got {short(name)}")
        for key in kwargs:
            if key == "name" or not key.isidentifier():
                raise ParameterError(
                    f"parameters of {name} must have Python names other than name, got {key!r}"
                )
        pairs = tuple((key, _frozen(f"{name}.{key}", kwargs[key])) for key in sorted(kwargs))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "pairs", pairs)

    def __str__(self) -> str:
        if not self.pairs:
            return self.name
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.pairs)})"

    @property
    def kwargs(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.pairs)

    @classmethod
    def parse(cls, key: str, value: "Component | str") -> "Component":
        """Return a component unchanged, or make one from a name; ``key`` is for messages."""
        if isinstance(value, Component):
            return value
        if not isinstance(value, str):
            raise ParameterError(f"{key} must be names or components, got {short(value)}")
        try:
            return cls(value)
        except ParameterError as error:
            raise ParameterError(f"{key}: {error}") from None


@dataclass(frozen=True)
class Trial:
    """One run of an experiment: what is run, and the seed that makes it repeatable.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    columns : int or None
        Number of columns to use, from the first on; None for all.
    mechanism : Component
        The private mechanism or estimator.
    clusterer : Component or None
        Clusterer of the reports; None if the mechanism clusters itself.
    epsilon : float
        Epsilon of the mechanism; infinity is without privacy.
    repeat : int
        Number of the repeat, from 0.
    measures : tuple of str
        Names of what to measure. Not part of the key, so that other measures see the same noise.
    spec_seed : int
        Seed of the experiment. Not part of the key either.

    Examples
    --------
    >>> trial = Trial("heart", 2, Component("Laplace"), Component("KMeans", n_clusters=4), 0.5, 0)
    >>> trial.key
    'heart | 2 columns | Laplace | KMeans(n_clusters=4) | epsilon 0.5 | repeat 0'
    >>> trial.seed
    2601776893
    """

    dataset: str
    columns: int | None
    mechanism: Component
    clusterer: Component | None
    epsilon: float
    repeat: int
    measures: tuple[str, ...] = ()
    spec_seed: int = 0

    @property
    def key(self) -> str:
        """Text that identifies the trial within its experiment; the same in every process."""
        columns = "all" if self.columns is None else str(self.columns)
        clusterer = "no clusterer" if self.clusterer is None else str(self.clusterer)
        return (
            f"{self.dataset} | {columns} columns | {self.mechanism} | {clusterer} | "
            f"epsilon {self.epsilon!r} | repeat {self.repeat}"
        )

    @property
    def seed(self) -> int:
        """Seed of 32 bits that depends only on the experiment's seed and on the key.

        A trial therefore keeps its noise when others are added or removed.
        """
        digest = hashlib.sha256(f"{self.spec_seed} | {self.key}".encode()).digest()
        return int.from_bytes(digest[:SEED_BYTES], "big")

    @property
    def fields(self) -> dict[str, str | int | float | None]:
        """First columns of each record of the trial: the parts of its key."""
        return {
            "dataset": self.dataset,
            "columns": self.columns,
            "mechanism": str(self.mechanism),
            "clusterer": None if self.clusterer is None else str(self.clusterer),
            "epsilon": self.epsilon,
            "repeat": self.repeat,
        }


def check_name(key: str, value: Any) -> str:
    """Return a name that can be part of a key: text on one line, without bars."""
    good = isinstance(value, str) and value.isprintable() and value == value.strip() != ""
    if not good or "|" in value:
        raise ParameterError(f"{key} must be text on one line without |, got {short(value)}")
    return str(value)


def _frozen(key: str, value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_frozen(key, item) for item in value)
    if isinstance(value, str) and not value.isprintable():
        raise ParameterError(f"{key} must be text on one line, got {short(value)}")
    if not isinstance(value, str | bool | int | float):
        raise ParameterError(
            f"{key} must be text, a number, true, false, or a list of these, got {short(value)}"
        )
    return value
