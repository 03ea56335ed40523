"""An experiment as data: what is crossed with what, how often, and what is measured."""

import hashlib
import json
import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from reprlib import repr as short
from typing import Any

from shoal import __version__, _numbers
from shoal.exceptions import ParameterError
from shoal.experiments.trial import Component, Trial, check_name

__all__ = ["ExperimentSpec"]

QUICK_EPSILONS = 3
QUICK_REPEATS = 2
NEEDED = ("name", "datasets", "mechanisms", "epsilons")


@dataclass(frozen=True, kw_only=True)
class ExperimentSpec:
    """An experiment: all combinations of data sets, dimensions, methods, epsilons and repeats.

    Parameters
    ----------
    name : str
        Name of the experiment.
    datasets : sequence of str
        Names of data sets, at least one.
    mechanisms : sequence of Component
        Private mechanisms or estimators, at least one, as components or names.
    epsilons : sequence of float
        Values of epsilon > 0, at least one; infinity is without privacy.
    clusterers : sequence of Component, default=()
        Clusterers of the reports; empty if the mechanisms cluster themselves, as central estimators
        do.
    dimensions : sequence of int, default=()
        Numbers of columns to use; empty for all columns.
    repeats : int, default=1
        Number of runs of each combination, each with new noise.
    measures : sequence of str, default=()
        Names of what each trial measures. All measures of a trial see the same noise.
    seed : int, default=0
        Seed of the whole experiment.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or names something twice.

    Examples
    --------
    >>> spec = ExperimentSpec(
    ...     name="small", datasets=("heart", "seeds"), mechanisms=("Laplace",), repeats=10,
    ...     clusterers=(Component("KMeans", n_clusters=3),), epsilons=(0.5, 1.0, 2.0, 4.0),
    ... )
    >>> len(spec.trials()), len(spec.quick().trials())
    (80, 12)
    >>> spec.trials()[0].key
    'heart | all columns | Laplace | KMeans(n_clusters=3) | epsilon 0.5 | repeat 0'
    """

    name: str
    datasets: tuple[str, ...]
    mechanisms: tuple[Component, ...]
    epsilons: tuple[float, ...]
    clusterers: tuple[Component, ...] = ()
    dimensions: tuple[int, ...] = ()
    repeats: int = 1
    measures: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "name": check_name("name", self.name),
            "datasets": _several("datasets", self.datasets, check_name),
            "mechanisms": _several("mechanisms", self.mechanisms, Component.parse),
            "epsilons": _several("epsilons", self.epsilons, _epsilon),
            "clusterers": _several("clusterers", self.clusterers, Component.parse),
            "dimensions": _several("dimensions", self.dimensions, _numbers.count),
            "repeats": _numbers.count("repeats", self.repeats),
            "measures": _several("measures", self.measures, check_name),
            "seed": _seed(self.seed),
        }
        for key, value in checked.items():
            if key in NEEDED and not value:
                raise ParameterError(f"{key} must hold at least one value, got none")
            object.__setattr__(self, key, value)

    def trials(self) -> tuple[Trial, ...]:
        """Return all trials in a fixed order: repeats change fastest, data sets slowest.

        Returns
        -------
        trials : tuple of Trial
            The trials, each with another key and seed.
        """
        return tuple(
            Trial(dataset, columns, mechanism, clusterer, epsilon, repeat, self.measures, self.seed)
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
        """Return a smaller experiment with roughly the same results.

        Of more than three epsilons the smallest, the middle and the largest are kept (of an even
        number, the larger one of the two in the middle), and of more than two repeats, two.
        Everything else stays, so its trials are trials of this experiment with the same noise.

        Returns
        -------
        spec : ExperimentSpec
            The smaller experiment, or this one if it is small already.
        """
        ranked = sorted(self.epsilons)
        if len(ranked) > QUICK_EPSILONS:
            ranked = [ranked[0], ranked[len(ranked) // 2], ranked[-1]]
        kept = tuple(epsilon for epsilon in self.epsilons if epsilon in ranked)
        return replace(self, epsilons=kept, repeats=min(self.repeats, QUICK_REPEATS))

    @property
    def fingerprint(self) -> str:
        """Hash of the experiment and of shoal's version, in hexadecimal digits."""
        return hashlib.sha256(f"{__version__}\n{self._text()}".encode()).hexdigest()

    def _text(self) -> str:
        """Write the experiment as text, for its fingerprint: equal specs are written alike."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        components = {key: content[key] for key in ("mechanisms", "clusterers") if content[key]}
        lines = [
            f"{key} = {_value(value)}" for key, value in content.items() if key not in components
        ]
        for key, several in components.items():
            for one in several:
                lines += ["", f"[[{key}]]", f"name = {_value(one.name)}"]
                lines += [f"{name} = {_value(value)}" for name, value in one.pairs]
        return "\n".join(lines) + "\n"


def _several(key: str, values: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    # A string is a sequence too, but of letters.
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{key} must be a list, got {short(values)}")
    checked = tuple(check(key, value) for value in values)
    for index, value in enumerate(checked):
        if value in checked[:index]:
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


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(item) for item in value)}]"
    return repr(value)
