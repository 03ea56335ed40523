"""Run a comparison: all methods x epsilons x runs, and the attacks; it goes on where it stopped."""

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from shoal.experiments.compare.attack_work import AttackWork, attack_without_privacy
from shoal.experiments.compare.comparison import Comparison, method_rows
from shoal.experiments.compare.contender import Chosen
from shoal.experiments.compare.frame import Frame
from shoal.experiments.compare.utility_work import UtilityWork
from shoal.experiments.record_store import RecordStore
from shoal.experiments.runner import Progress, Work, offset_progress, run_spec
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Component

__all__ = ["compare_methods"]

MEASURES = ("cost", "ami", "ami_label", "seconds")


def compare_methods(
    frame: Frame,
    chosen: Chosen,
    *,
    epsilons: Sequence[float],
    runs: int = 10,
    seed: int = 0,
    store: Path | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods at equal worst-case privacy.

    Parameters
    ----------
    frame : Frame
        The table.
    chosen : Chosen
        The methods.
    epsilons : sequence of float
        Worst-case epsilons.
    runs : int, default=10
        Fits of each method at each epsilon.
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
    >>> import tempfile
    >>> import numpy as np
    >>> from shoal.experiments.compare import choose_contenders, open_frame
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "places.csv"
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 500, axis=0)
    >>> np.savetxt(file, X + np.random.default_rng(0).normal(0, 0.1, X.shape), delimiter=",")
    >>> names = ("x", "y")  # the file has no header line
    >>> frame = open_frame(file, columns=names, header=names, bounds=(-1.0, 1.0), clusters=2)
    >>> found = compare_methods(
    ...     frame, choose_contenders(2, ["DPKMeans-grid"]), epsilons=[1.0], runs=2
    ... )
    >>> found.rows[0].own_epsilon, found.rows[0].cost.mean < 1.1
    (0.5, True)
    >>> folder.cleanup()
    """
    utility, attacks = _specs(frame, chosen, epsilons, runs, seed)
    contenders = chosen.contenders
    fits, total = len(utility.trials()), len(utility.trials()) + len(attacks.trials())
    with ExitStack() as stack:
        kept: list[RecordStore | None] = [None, None]
        if store is not None:
            inputs = _inputs(frame, chosen)
            kept = [stack.enter_context(_store(store, spec, inputs)) for spec in (utility, attacks)]
        works: tuple[Work, Work] = UtilityWork(frame, contenders), AttackWork(frame, contenders)
        found = [
            run_spec(
                spec,
                work,
                records,
                n_jobs=n_jobs,
                progress=offset_progress(progress, before, total),
            )
            for spec, work, records, before in zip(
                (utility, attacks), works, kept, (0, fits), strict=True
            )
        ]
    return Comparison(
        frame=frame,
        rows=method_rows(contenders, *found, columns=frame.columns, clusters=frame.clusters),
        epsilons=tuple(sorted(utility.epsilons)),
        runs=utility.repeats,
        control=attack_without_privacy(frame),
        left_out=chosen.left_out,
    )


def _specs(
    frame: Frame, chosen: Chosen, epsilons: Sequence[float], runs: int, seed: int
) -> tuple[ExperimentSpec, ExperimentSpec]:
    mechanisms = tuple(Component(one.name) for one in chosen.contenders)
    # Clusters and columns are part of the name: another number is another experiment.
    name = f"compare {frame.clusters} clusters in {frame.columns} columns"
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
        mechanisms=mechanisms,
        epsilons=tuple(epsilons),
        seed=seed,
    )
    return utility, attacks


def _inputs(frame: Frame, chosen: Chosen) -> str:
    """Name what the records depend on besides the spec: the table and the user's own code."""
    content = hashlib.sha256(Path(frame.file).read_bytes()).hexdigest()
    own = "".join(f" {one.digest}" for one in chosen.contenders if one.digest)
    return f"{content} {frame.names} {frame.label} {frame.low} {frame.high}{own}"


def _store(folder: Path, spec: ExperimentSpec, inputs: str) -> RecordStore:
    # Another comparison has files of its own, so that each can be gone on with.
    digest = hashlib.sha256(f"{spec.fingerprint} {inputs}".encode()).hexdigest()
    return RecordStore(folder / f"records-{digest[:12]}.csv", spec, inputs=inputs)
