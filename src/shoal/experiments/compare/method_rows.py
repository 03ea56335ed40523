"""A row of a comparison: one method at one epsilon, over all of its runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._registry import TrustModel
from shoal.experiments.compare.baseline import Baseline
from shoal.experiments.compare.contender import Contender
from shoal.experiments.compare.equal_privacy import Batch, keeps_worst_case
from shoal.experiments.compare.measurements import clustered_reports
from shoal.experiments.estimate import Estimate
from shoal.experiments.record_store import Record

__all__ = ["MethodRow", "OnRows", "RowMaker"]


@dataclass(frozen=True)
class MethodRow:
    """The results of one method at one epsilon, over all runs.

    Parameters
    ----------
    method : str
        Names of the mechanism and the clusterer.
    contender : str
        Name of the mechanism or estimator alone, as ``--only`` takes it.
    model : {"central", "shuffled", "local"}
        The trust model.
    epsilon, own_epsilon : float
        The worst-case epsilon, and the one that the method was run with; for a shuffled batch, the
        epsilon of each report.
    cost : Estimate or None
        Cost divided by that of k-means without privacy; None for clusters without centers.
    ami, ami_label : Estimate or None
        Adjusted mutual information with the same clusters without privacy, and with the label.
    seconds : float
        Mean time of a fit.
    attack : mapping
        Result of the attack; empty for a shuffled batch, which is not attacked, and without
        attacks.
    guarantee : str
        The guarantee at ``own_epsilon``, as a sentence.
    equal : bool
        Whether this guarantee has the worst-case epsilon asked for. A method with a weaker one, or
        none, is shown but never recommended.
    shuffled_epsilon : float or None
        Worst-case epsilon of the same reports behind a shuffler; None if the method makes no
        reports, or they have no local epsilon.
    better_than_blind : float or None
        Share of the runs in which the reports themselves showed that the centers are better than
        points spread over the bounds; None if this was not tested.

    Examples
    --------
    >>> from shoal.experiments import Estimate
    >>> from shoal.experiments.compare import MethodRow
    >>> cost = Estimate(1.2, 1.1, 1.3)
    >>> row = MethodRow("DPKMeans", "DPKMeans", "central", 1.0, 1.0, cost, None, None, 0.1, {})
    >>> row.method, row.cost.mean
    ('DPKMeans', 1.2)
    """

    method: str
    contender: str
    model: TrustModel
    epsilon: float
    own_epsilon: float
    cost: Estimate | None
    ami: Estimate | None
    ami_label: Estimate | None
    seconds: float
    attack: Mapping[str, Any]
    guarantee: str = ""
    equal: bool = True
    shuffled_epsilon: float | None = None
    better_than_blind: float | None = None


OnRows = Callable[[Sequence[MethodRow]], None]


@dataclass(frozen=True)
class RowMaker:
    """Makes the rows of a comparison from the records of its runs.

    Parameters
    ----------
    contenders : sequence of Contender
        The methods, those behind a shuffler included.
    baseline : Baseline
        What they are compared with.
    delta : float
        Of the promise of a shuffled batch.
    """

    contenders: Sequence[Contender]
    baseline: Baseline
    delta: float

    def all(
        self, utility: Iterable[Mapping[str, Any]], attacks: Iterable[Mapping[str, Any]]
    ) -> tuple[MethodRow, ...]:
        """Put the records of both experiments together, by method, then epsilon."""
        attacked = {(row["mechanism"], row["epsilon"]): row for row in attacks}
        groups = _grouped(utility)
        order = {method: index for index, method in enumerate(dict.fromkeys(m for m, _ in groups))}
        rows = (
            self.row(records, attacked.get((records[0]["mechanism"], epsilon), {}))
            for (_, epsilon), records in groups.items()
        )
        return tuple(sorted(rows, key=lambda row: (order[row.method], row.epsilon)))

    def row(
        self, records: Sequence[Mapping[str, Any]], attack: Mapping[str, Any] | None = None
    ) -> MethodRow:
        """Summarize all runs of one method at one epsilon."""
        columns, k = self.baseline.n_columns, self.baseline.n_clusters
        first = records[0]
        epsilon = first["epsilon"]
        (contender,) = (one for one in self.contenders if str(one.component) == first["mechanism"])
        promise = contender.promise(epsilon, columns, k)
        batch = Batch(clustered_reports(contender, self.baseline.n_records), self.delta)
        return MethodRow(
            method=first["method"],
            contender=contender.name,
            model=contender.model,
            epsilon=epsilon,
            own_epsilon=first["own_epsilon"],
            cost=_estimate(records, "cost", lowest=0.0),
            ami=_estimate(records, "ami"),
            ami_label=_estimate(records, "ami_label"),
            seconds=float(np.mean([record["seconds"] for record in records])),
            attack=attack or {},
            guarantee=str(promise),
            equal=keeps_worst_case(
                promise, epsilon, columns, delta=0.0 if contender.batch is None else self.delta
            ),
            shuffled_epsilon=contender.shuffled_epsilon(epsilon, columns, k, batch),
            better_than_blind=_share(records, "better_than_blind"),
        )

    def collector(self, runs: int, on_rows: OnRows) -> Callable[[Sequence[Record]], None]:
        """Return what collects trials until all runs of a method and epsilon are there."""
        waiting: dict[tuple[Any, Any], list[Record]] = {}

        def collect(records: Sequence[Record]) -> None:
            key = records[0]["mechanism"], records[0]["epsilon"]
            waiting.setdefault(key, []).extend(records)
            groups = _grouped(waiting[key]).values()
            if all(len(group) == runs for group in groups):
                # Processes finish in any order; a mean is that of the runs in theirs.
                ordered = (sorted(group, key=lambda record: record["repeat"]) for group in groups)
                on_rows([self.row(group) for group in ordered])

        return collect


def _grouped(
    records: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, float], list[Mapping[str, Any]]]:
    """Group records by method and epsilon, in their order."""
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["method"], record["epsilon"]), []).append(record)
    return groups


def _estimate(
    records: Sequence[Mapping[str, Any]], measure: str, *, lowest: float = -np.inf
) -> Estimate | None:
    values = [record[measure] for record in records if record[measure] is not None]
    return Estimate.of(values, lowest=lowest) if values else None


def _share(records: Sequence[Mapping[str, Any]], measure: str) -> float | None:
    values = [record[measure] for record in records if record[measure] is not None]
    return float(np.mean(values)) if values else None
