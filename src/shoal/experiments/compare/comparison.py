"""A comparison: all methods x epsilons x runs, and the attacks; a run that was stopped goes on."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.experiments.compare.baseline import Baseline, ComparedTable
from shoal.experiments.compare.contender import Chosen, Contender
from shoal.experiments.compare.equal_privacy import Batch, checked_delta
from shoal.experiments.compare.measurements import (
    AttackWork,
    UtilityWork,
    attack_without_privacy,
    clustered_reports,
)
from shoal.experiments.compare.method_rows import MethodRow, OnRows, RowMaker
from shoal.experiments.record_store import Record, RecordStore
from shoal.experiments.runner import Progress, offset_progress, run_spec
from shoal.experiments.spec import ExperimentSpec

__all__ = ["DELTA", "ENOUGH_RUNS", "MIN_RUNS", "Comparison", "MethodRow", "compare_methods"]

MIN_RUNS = 5  # with fewer, an interval of the mean is wider than anything it could decide
ENOUGH_RUNS = 10  # what is advised instead
DELTA = 1e-6  # of a shuffled batch
MEASURES = ("cost", "ami", "ami_label", "seconds")


@dataclass(frozen=True)
class Comparison:
    """Results of all methods on one table; for raw records, they are for the curator only.

    Parameters
    ----------
    baseline : Baseline
        The clusters without privacy that methods are compared with.
    rows : tuple of MethodRow
        Results, ordered by method, then epsilon.
    epsilons : tuple of float
        Worst-case epsilons, ascending.
    runs : int
        Number of fits of each method at each epsilon.
    control : mapping
        Result of the attack on k-means without privacy; empty without attacks.
    left_out : tuple of str
        Methods that were not compared, and why.
    delta : float
        Delta of the guarantee of a shuffled batch.

    Examples
    --------
    >>> from shoal.experiments import Estimate
    >>> from shoal.experiments.compare import Baseline, Comparison, MethodRow, TrivialCosts
    >>> baseline = Baseline(
    ...     names=("a", "b"),
    ...     label=None,
    ...     low=(0.0, 0.0),
    ...     high=(1.0, 1.0),
    ...     n_clusters=2,
    ...     n_records=100,
    ...     centers=((0.0, 0.0), (1.0, 1.0)),
    ...     trivial_costs=TrivialCosts(middle=9.0, even=6.0, mean=5.0),
    ...     even_ami=0.1,
    ...     kmeans_label=None,
    ...     wave_label=None,
    ...     density_label=None,
    ... )
    >>> cost = Estimate(1.2, 1.1, 1.3)
    >>> row = MethodRow("DPKMeans", "DPKMeans", "central", 1.0, 1.0, cost, None, None, 0.1, {})
    >>> comparison = Comparison(baseline, (row,), (1.0,), 10, {}, ())
    >>> comparison.rows[0].cost.mean
    1.2
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
        """Whether there are enough runs for intervals and a recommendation."""
        return self.runs >= MIN_RUNS

    @property
    def middle(self) -> float:
        """Epsilon of the recommendation: the middle one, or of two in the middle the larger."""
        return self.epsilons[len(self.epsilons) // 2]

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def at(self, epsilon: float, model: str | None = None) -> list[MethodRow]:
        """Return the rows of one epsilon, optionally of a single trust model."""
        return [row for row in self.rows if row.epsilon == epsilon and model in (None, row.model)]

    def ranked(self, epsilon: float, model: str) -> list[MethodRow]:
        """Return the rows with centers and the worst-case epsilon asked for, by increasing cost."""
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
    attacks: bool = True,
    on_rows: OnRows | None = None,
) -> Comparison:
    """Compare methods of all trust models at equal worst-case privacy.

    The worst-case epsilon is about exchanging one record for any other, under every notion.

    Parameters
    ----------
    table : ComparedTable
        The records, from :meth:`ComparedTable.from_table`.
    chosen : Chosen
        The methods, from :func:`choose_contenders`.
    epsilons : sequence of float
        Worst-case epsilons to compare at.
    runs : int, default=10
        Number of fits of each method at each epsilon.
    delta : float, default=1e-6
        Delta of the guarantee of a shuffled batch, whose size is the public number of reports.
    seed : int, default=0
        Seed of all fits and attacks.
    store : Path, optional
        An existing folder for results (never records): the same comparison, started again,
        continues from there.
    n_jobs : int, default=1
        Number of processes.
    progress : callable, optional
        Called as ``progress(done, total)`` as fits and attacks are finished.
    attacks : bool, default=True
        Whether to attack the methods too, which takes longer than the fits.
    on_rows : callable, optional
        Called with the rows of a method and epsilon after its last run, before any attack; not for
        results that are in the store already.

    Returns
    -------
    comparison : Comparison
        The results, with intervals over the runs.

    Raises
    ------
    ParameterError
        If epsilons, runs or seed are out of range, or the folder cannot be written to.
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
    utility, attacked = _specs(baseline, contenders, epsilons, runs, seed)
    specs = (utility, attacked) if attacks else (utility,)
    before, total = len(utility.trials()), sum(len(spec.trials()) for spec in specs)
    rows = RowMaker(contenders, baseline, delta)
    # First of all: it refuses more clusters than halves of the records can have.
    control = attack_without_privacy(table) if attacks else {}
    with ExitStack() as stack:
        kept: list[RecordStore | None] = [None] * len(specs)
        if store is not None:
            inputs = _inputs(table, chosen)
            kept = [stack.enter_context(_store(store, spec, inputs)) for spec in specs]
        fits = run_spec(
            utility,
            UtilityWork(table, contenders),
            kept[0],
            n_jobs=n_jobs,
            progress=offset_progress(progress, 0, total),
            on_records=None if on_rows is None else rows.collector(runs, on_rows),
        )
        attack_records: list[Record] = []
        if attacks:
            attack_records = run_spec(
                attacked,
                AttackWork.of_table(table, contenders),
                kept[1],
                n_jobs=n_jobs,
                progress=offset_progress(progress, before, total),
            )
    return Comparison(
        baseline=baseline,
        rows=rows.all(fits, attack_records),
        epsilons=tuple(sorted(utility.epsilons)),
        runs=utility.repeats,
        control=control,
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
