"""An experiment as data: what is crossed with what, how often, and what is measured."""

import hashlib
import math
import numbers
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import product
from reprlib import repr as short
from typing import Any

from shoal import __version__, _numbers
from shoal.exceptions import ParameterError
from shoal.experiments._spec_toml import read_toml, toml_text, write_toml
from shoal.experiments.cell import Cell
from shoal.experiments.choice import Choice, check_name

__all__ = ["ExperimentSpec"]

QUICK_EPSILONS = 3
QUICK_REPEATS = 2
NEEDED = ("name", "datasets", "mechanisms", "epsilons")


@dataclass(frozen=True, kw_only=True)
class ExperimentSpec:
    """Data sets x dimensions x mechanisms x clusterers x epsilons x repeats, and measures.

    Parameters
    ----------
    name : str
        Name of the experiment.
    datasets : sequence of str
        Names of data sets, at least one.
    mechanisms : sequence of Choice
        What makes the clusters private, at least one; names alone do as well.
    epsilons : sequence of float
        At least one, each > 0; infinity = without privacy.
    clusterers : sequence of Choice, default=()
        What clusters reports; none where mechanisms do it themselves, as central estimators.
    dimensions : sequence of int, default=()
        Numbers of columns; none = all columns.
    repeats : int, default=1
        Runs of each combination, each with noise of its own.
    measures : sequence of str, default=()
        What is measured in each cell. Measures of one cell see the same noise.
    seed : int, default=0
        Seed of everything.

    Raises
    ------
    ParameterError
        If one of them breaks its rule, or names something twice.

    Examples
    --------
    >>> spec = ExperimentSpec(
    ...     name="small", datasets=("heart", "seeds"), mechanisms=(Choice("Laplace"),),
    ...     clusterers=(Choice("KMeans", n_clusters=3),), epsilons=(0.5, 1.0, 2.0, 4.0), repeats=10,
    ... )
    >>> len(spec.cells()), len(spec.quick().cells())
    (80, 12)
    >>> spec.cells()[0].key
    'heart | all columns | Laplace | KMeans(n_clusters=3) | epsilon 0.5 | repeat 0'
    """

    name: str
    datasets: tuple[str, ...]
    mechanisms: tuple[Choice, ...]
    epsilons: tuple[float, ...]
    clusterers: tuple[Choice, ...] = ()
    dimensions: tuple[int, ...] = ()
    repeats: int = 1
    measures: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "name": check_name("name", self.name),
            "datasets": _several("datasets", self.datasets, check_name),
            "mechanisms": _several("mechanisms", self.mechanisms, Choice.parse),
            "epsilons": _several("epsilons", self.epsilons, _epsilon),
            "clusterers": _several("clusterers", self.clusterers, Choice.parse),
            "dimensions": _several("dimensions", self.dimensions, _numbers.count),
            "repeats": _numbers.count("repeats", self.repeats),
            "measures": _several("measures", self.measures, check_name),
            "seed": _seed(self.seed),
        }
        for key, value in checked.items():
            if key in NEEDED and not value:
                raise ParameterError(f"{key} must hold at least one value, got none")
            object.__setattr__(self, key, value)

    def cells(self) -> tuple[Cell, ...]:
        """List the cells in a fixed order: repeats change fastest, data sets slowest.

        Returns
        -------
        cells : tuple of Cell
            Each with a key and a seed of its own.
        """
        return tuple(
            Cell(dataset, columns, mechanism, clusterer, epsilon, repeat, self.measures, self.seed)
            for dataset, columns, mechanism, clusterer, epsilon, repeat in product(
                self.datasets,
                self.dimensions or (None,),
                self.mechanisms,
                self.clusterers or (None,),
                self.epsilons,
                range(self.repeats),
            )
        )

    def quick(self) -> "ExperimentSpec":
        """Make a smaller experiment that shows the same things, roughly.

        Of more than three epsilons the smallest, the middle and the largest are kept (of an even
        number, the larger one of the two in the middle), and of more than two repeats, two.
        Everything else stays, so its cells are cells of this experiment with the same noise.

        Returns
        -------
        spec : ExperimentSpec
            The same if this one is as small already.
        """
        ranked = sorted(self.epsilons)
        if len(ranked) > QUICK_EPSILONS:
            ranked = [ranked[0], ranked[len(ranked) // 2], ranked[-1]]
        kept = tuple(epsilon for epsilon in self.epsilons if epsilon in ranked)
        return replace(self, epsilons=kept, repeats=min(self.repeats, QUICK_REPEATS))

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digits that change with anything in it, and with shoal's version."""
        return hashlib.sha256(f"{__version__}\n{self._text()}".encode()).hexdigest()

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> "ExperimentSpec":
        """Read an experiment from a TOML file.

        Parameters
        ----------
        path : path-like
            As :meth:`to_toml` writes it. Choices without parameters may be written as plain names.

        Returns
        -------
        spec : ExperimentSpec
            Checked.

        Raises
        ------
        ParameterError
            If the file cannot be read, or something in it breaks a rule.
        """
        content = read_toml(path)
        known = [field.name for field in fields(cls)]
        try:
            for key in content:
                if key not in known:
                    raise ParameterError(f"keys must be among {', '.join(known)}, got {short(key)}")
            for key in NEEDED:
                if key not in content:
                    raise ParameterError(f"{key} must be given, got nothing")
            return cls(**content)
        except ParameterError as error:
            raise ParameterError(f"{os.fspath(path)}: {error}") from None

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment to a TOML file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to; a file that is there is replaced.

        Raises
        ------
        ParameterError
            If it cannot be written.
        """
        write_toml(path, self._text())

    def _text(self) -> str:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return toml_text(
            {
                key: [{"name": choice.name, **choice.words} for choice in value]
                if key in ("mechanisms", "clusterers")
                else value
                for key, value in plain.items()
            }
        )


def _several(key: str, values: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    # A string is a sequence too, but of letters.
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{key} must be a list, got {short(values)}")
    checked = tuple(check(key, value) for value in values)
    for place, value in enumerate(checked):
        if value in checked[:place]:
            raise ParameterError(f"{key} must not repeat a value, got {value!s} twice")
    return checked


def _epsilon(key: str, value: Any) -> float:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if number and math.isinf(value) and value > 0:
        return math.inf
    return _numbers.positive(key, value)


def _seed(value: Any) -> int:
    seed = _numbers.seed("seed", value)
    if seed is None:
        raise ParameterError("seed must be an integer >= 0, got None")
    return seed
