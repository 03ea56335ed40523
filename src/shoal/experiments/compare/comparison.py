"""What was found: each method at each epsilon, with 95% intervals over the runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.experiments.compare.contender import Contender
from shoal.experiments.compare.equal_privacy import keeps_worst_case
from shoal.experiments.compare.frame import Frame
from shoal.experiments.estimate import Estimate

__all__ = ["ENOUGH_RUNS", "MIN_RUNS", "Comparison", "MethodRow", "method_rows"]

MIN_RUNS = 5  # with fewer, an interval of the mean is wider than anything it could decide
ENOUGH_RUNS = 10  # what is advised instead


@dataclass(frozen=True)
class MethodRow:
    """A method at one epsilon.

    Parameters
    ----------
    method : str
        Mechanism and clusterer.
    contender : str
        The mechanism or estimator alone, as ``--only`` takes it.
    model : str
        "central" or "local".
    epsilon, own_epsilon : float
        The worst case, and what the method was given for it.
    cost : Estimate or None
        Cost over that of k-means without privacy; None for clusters without centers.
    ami, ami_label : Estimate or None
        Agreement with the same clusters without privacy, and with the label.
    seconds : float
        Mean time of a fit.
    attack : mapping
        The row of the attack.
    guarantee : str
        The promise at its own epsilon, in a sentence.
    equal : bool
        Whether that promises the worst case which is asked for; a method that promises less, or
        nothing, is shown and never recommended.
    """

    method: str
    contender: str
    model: str
    epsilon: float
    own_epsilon: float
    cost: Estimate | None
    ami: Estimate | None
    ami_label: Estimate | None
    seconds: float
    attack: Mapping[str, Any]
    guarantee: str = ""
    equal: bool = True


@dataclass(frozen=True)
class Comparison:
    """All methods on one table; of raw records, for the curator only.

    Parameters
    ----------
    frame : Frame
        What they were compared on.
    rows : tuple of MethodRow
        By method, then epsilon.
    epsilons : tuple of float
        Ascending.
    runs : int
        Fits of each method at each epsilon.
    control : mapping
        The attack on k-means without privacy.
    left_out : tuple of str
        What was not compared, and why.
    """

    frame: Frame
    rows: tuple[MethodRow, ...]
    epsilons: tuple[float, ...]
    runs: int
    control: Mapping[str, Any]
    left_out: tuple[str, ...]

    @property
    def decides(self) -> bool:
        """Return whether there are runs enough for intervals and a recommendation."""
        return self.runs >= MIN_RUNS

    @property
    def middle(self) -> float:
        """The epsilon that the recommendation is about: that in the middle, or the next above."""
        return self.epsilons[len(self.epsilons) // 2]

    @property
    def methods(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def at(self, epsilon: float, model: str | None = None) -> list[MethodRow]:
        """List the rows of one epsilon, perhaps of one model."""
        return [row for row in self.rows if row.epsilon == epsilon and model in (None, row.model)]

    def ranked(self, epsilon: float, model: str) -> list[MethodRow]:
        """List the rows with centers and an equal promise, the least cost first."""
        with_cost = [row for row in self.at(epsilon, model) if row.equal and row.cost is not None]
        return sorted(with_cost, key=lambda row: row.cost.mean if row.cost else np.inf)


def method_rows(
    contenders: Sequence[Contender],
    utility: Iterable[Mapping[str, Any]],
    attacks: Iterable[Mapping[str, Any]],
    *,
    columns: int,
    clusters: int,
) -> tuple[MethodRow, ...]:
    """Put the records of both experiments together.

    Parameters
    ----------
    contenders : sequence of Contender
        The methods.
    utility : iterable of mapping
        Records of :class:`UtilityWork`.
    attacks : iterable of mapping
        Records of :class:`AttackWork`.
    columns, clusters : int
        Sizes, for the promises.

    Returns
    -------
    rows : tuple of MethodRow
        In the order of the utility records.
    """
    by_name = {one.name: one for one in contenders}
    attacked = {(row["mechanism"], row["epsilon"]): row for row in attacks}
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for record in utility:
        groups.setdefault((record["method"], record["epsilon"]), []).append(record)
    rows = []
    for (method, epsilon), records in groups.items():
        name = records[0]["mechanism"]
        promise = by_name[name].promise(epsilon, columns, clusters)
        rows.append(
            MethodRow(
                method=method,
                contender=name,
                model=by_name[name].model,
                epsilon=epsilon,
                own_epsilon=records[0]["own_epsilon"],
                cost=_estimate(records, "cost", lowest=0.0),
                ami=_estimate(records, "ami"),
                ami_label=_estimate(records, "ami_label"),
                seconds=float(np.mean([record["seconds"] for record in records])),
                attack=attacked[name, epsilon],
                guarantee=str(promise),
                equal=keeps_worst_case(promise, epsilon, columns),
            )
        )
    order = {method: place for place, method in enumerate(dict.fromkeys(m for m, _ in groups))}
    return tuple(sorted(rows, key=lambda row: (order[row.method], row.epsilon)))


def _estimate(
    records: Sequence[Mapping[str, Any]], measure: str, *, lowest: float = -np.inf
) -> Estimate | None:
    values = [record[measure] for record in records if record[measure] is not None]
    return Estimate.of(values, lowest=lowest) if values else None
