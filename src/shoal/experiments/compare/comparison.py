"""A comparison: all methods x epsilons x runs, and the attacks; a run that was stopped goes on."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal._registry import TrustModel
from shoal.experiments.compare.baseline import Baseline, ComparedTable
from shoal.experiments.compare.contender import Chosen, Contender
from shoal.experiments.compare.equal_privacy import Batch, checked_delta, keeps_worst_case
from shoal.experiments.compare.measurements import (
    AttackWork,
    UtilityWork,
    attack_without_privacy,
    clustered_reports,
)
from shoal.experiments.estimate import Estimate
from shoal.experiments.record_store import RecordStore
from shoal.experiments.runner import Progress, Work, offset_progress, run_spec
from shoal.experiments.spec import ExperimentSpec

__all__ = ["DELTA", "ENOUGH_RUNS", "MIN_RUNS", "Comparison", "MethodRow", "compare_methods"]

MIN_RUNS = 5  # with fewer, an interval of the mean is wider than anything it could decide
ENOUGH_RUNS = 10  # what is advised instead
DELTA = 1e-6  # of a shuffled batch
MEASURES = ("cost", "ami", "ami_label", "seconds")


@dataclass(frozen=True)
class MethodRow:
    """A method at one epsilon.

    Parameters
    ----------
    method : str
        Mechanism and clusterer.
    contender : str
        The mechanism or estimator alone, as ``--only`` takes it.
    model : {"central", "shuffled", "local"}
        The trust model.
    epsilon, own_epsilon : float
        The worst case, and what the method was given for it; of a shuffled batch, that of a report.
    cost : Estimate or None
        Cost over that of k-means without privacy; None for clusters without centers.
    ami, ami_label : Estimate or None
        Agreement with the same clusters without privacy, and with the label.
    seconds : float
        Mean time of a fit.
    attack : mapping
        The row of the attack; empty for a shuffled batch, which nothing attacks.
    guarantee : str
        The promise at its own epsilon, in a sentence.
    equal : bool
        Whether that promises the worst case which is asked for; a method that promises less, or
        nothing, is shown and never recommended.
    shuffled_epsilon : float or None
        Worst-case epsilon of the same reports behind a shuffler; None for what is no report, or
        has no local epsilon.
    better_than_blind : float or None
        Share of the runs whose reports told that the centers are better than points spread over
        the box; None where nobody asked the reports.
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


@dataclass(frozen=True)
class Comparison:
    """All methods on one table; of raw records, for the curator only.

    Parameters
    ----------
    baseline : Baseline
        What they were compared with.
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
    delta : float
        Of the promise of a shuffled batch.
    """

    baseline: Baseline
    rows: tuple[MethodRow, ...]
    epsilons: tuple[float, ...]
    runs: int
    control: Mapping[str, Any]
    left_out: tuple[str, ...]
    delta: float = DELTA

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


def compare_methods(
    table: ComparedTable,
    chosen: Chosen,
    *,
    epsilons: Sequence[float],
    runs: int = 10,
    delta: float = DELTA,
    seed: int = 0,
    store: Path | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods at equal worst-case privacy.

    Parameters
    ----------
    table : ComparedTable
        The records.
    chosen : Chosen
        The methods.
    epsilons : sequence of float
        Worst-case epsilons.
    runs : int, default=10
        Fits of each method at each epsilon.
    delta : float, default=1e-6
        Of the promise of a shuffled batch, whose size is the public number of reports.
    seed : int, default=0
        Seed of everything.
    store : Path, optional
        An existing folder for measures, never records: another run of the same comparison finds
        what is done there, and goes on.
    n_jobs : int, default=1
        Number of processes.
    progress : callable, optional
        ``progress(done, total)`` as fits and attacks are finished.

    Returns
    -------
    comparison : Comparison
        With intervals over the runs.

    Raises
    ------
    ParameterError
        If epsilons, runs or seed break their rule, or the folder cannot be written to.
    TrialError
        If a method fails.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.tables import ArrayTable
    >>> from shoal.experiments.compare import ComparedTable, choose_contenders
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 500, axis=0)
    >>> places = ArrayTable(X + np.random.default_rng(0).normal(0, 0.1, X.shape), ("x", "y"))
    >>> table = ComparedTable.from_table(
    ...     places, file=Path("places.csv"), bounds=(-1.0, 1.0), n_clusters=2
    ... )
    >>> comparison = compare_methods(
    ...     table, choose_contenders(2, ["DPKMeans-grid"]), epsilons=[1.0], runs=2
    ... )
    >>> comparison.rows[0].own_epsilon, comparison.rows[0].cost.mean < 1.1
    (0.5, True)
    """
    baseline = table.baseline
    contenders = _with_shuffled(chosen.contenders, baseline.n_records, checked_delta(delta))
    utility, attacks = _specs(baseline, contenders, epsilons, runs, seed)
    fits, total = len(utility.trials()), len(utility.trials()) + len(attacks.trials())
    with ExitStack() as stack:
        kept: list[RecordStore | None] = [None, None]
        if store is not None:
            inputs = _inputs(table, chosen)
            kept = [stack.enter_context(_store(store, spec, inputs)) for spec in (utility, attacks)]
        works: tuple[Work, Work] = (
            UtilityWork(table, contenders),
            AttackWork.of_table(table, contenders),
        )
        records = [
            run_spec(
                spec,
                work,
                file,
                n_jobs=n_jobs,
                progress=offset_progress(progress, before, total),
            )
            for spec, work, file, before in zip(
                (utility, attacks), works, kept, (0, fits), strict=True
            )
        ]
    return Comparison(
        baseline=baseline,
        rows=_method_rows(contenders, *records, baseline=baseline, delta=delta),
        epsilons=tuple(sorted(utility.epsilons)),
        runs=utility.repeats,
        control=attack_without_privacy(table),
        left_out=chosen.left_out,
        delta=delta,
    )


def _with_shuffled(
    contenders: tuple[Contender, ...], n_records: int, delta: float
) -> tuple[Contender, ...]:
    """Add mechanisms whose reports are worth running behind a shuffler too."""
    shuffled = (
        one.behind_shuffler(Batch(clustered_reports(one, n_records), delta))
        for one in contenders
        if one.shuffles
    )
    return (*contenders, *shuffled)


def _specs(
    baseline: Baseline,
    contenders: Sequence[Contender],
    epsilons: Sequence[float],
    runs: int,
    seed: int,
) -> tuple[ExperimentSpec, ExperimentSpec]:
    mechanisms = tuple(one.component for one in contenders)
    # Clusters and columns are part of the name: another number is another experiment.
    name = f"compare {baseline.n_clusters} clusters in {baseline.n_columns} columns"
    utility = ExperimentSpec(
        name=name,
        datasets=("records",),
        mechanisms=mechanisms,
        epsilons=tuple(epsilons),
        repeats=runs,
        measures=MEASURES,
        seed=seed,
    )
    attacks = ExperimentSpec(
        name=f"{name}, attacks",
        datasets=("records",),
        # Who sees a shuffled batch does not know whose report is whose.
        mechanisms=tuple(one.component for one in contenders if one.batch is None),
        epsilons=tuple(epsilons),
        seed=seed,
    )
    return utility, attacks


def _inputs(table: ComparedTable, chosen: Chosen) -> str:
    """Return what the records depend on besides the spec: the table and the user's own code."""
    content = hashlib.sha256(Path(table.file).read_bytes()).hexdigest()
    base = table.baseline
    own = "".join(f" {one.digest}" for one in chosen.contenders if one.digest)
    return f"{content} {base.names} {base.label} {base.low} {base.high}{own}"


def _store(folder: Path, spec: ExperimentSpec, inputs: str) -> RecordStore:
    # Another comparison has files of its own, so that each can be gone on with.
    digest = hashlib.sha256(f"{spec.fingerprint} {inputs}".encode()).hexdigest()
    return RecordStore(folder / f"records-{digest[:12]}.csv", spec, inputs=inputs)


def _method_rows(
    contenders: Sequence[Contender],
    utility: Iterable[Mapping[str, Any]],
    attacks: Iterable[Mapping[str, Any]],
    *,
    baseline: Baseline,
    delta: float,
) -> tuple[MethodRow, ...]:
    """Put the records of both experiments together, by method, then epsilon."""
    columns, k = baseline.n_columns, baseline.n_clusters
    by_name = {str(one.component): one for one in contenders}
    attacked = {(row["mechanism"], row["epsilon"]): row for row in attacks}
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for record in utility:
        groups.setdefault((record["method"], record["epsilon"]), []).append(record)
    rows = []
    for (method, epsilon), records in groups.items():
        name = records[0]["mechanism"]
        contender = by_name[name]
        promise = contender.promise(epsilon, columns, k)
        batch = Batch(clustered_reports(contender, baseline.n_records), delta)
        rows.append(
            MethodRow(
                method=method,
                contender=contender.name,
                model=contender.model,
                epsilon=epsilon,
                own_epsilon=records[0]["own_epsilon"],
                cost=_estimate(records, "cost", lowest=0.0),
                ami=_estimate(records, "ami"),
                ami_label=_estimate(records, "ami_label"),
                seconds=float(np.mean([record["seconds"] for record in records])),
                attack=attacked.get((name, epsilon), {}),
                guarantee=str(promise),
                equal=keeps_worst_case(
                    promise, epsilon, columns, delta=0.0 if contender.batch is None else delta
                ),
                shuffled_epsilon=contender.shuffled_epsilon(epsilon, columns, k, batch),
                better_than_blind=_share(records, "better_than_blind"),
            )
        )
    order = {method: index for index, method in enumerate(dict.fromkeys(m for m, _ in groups))}
    return tuple(sorted(rows, key=lambda row: (order[row.method], row.epsilon)))


def _estimate(
    records: Sequence[Mapping[str, Any]], measure: str, *, lowest: float = -np.inf
) -> Estimate | None:
    values = [record[measure] for record in records if record[measure] is not None]
    return Estimate.of(values, lowest=lowest) if values else None


def _share(records: Sequence[Mapping[str, Any]], measure: str) -> float | None:
    values = [record[measure] for record in records if record[measure] is not None]
    return float(np.mean(values)) if values else None
