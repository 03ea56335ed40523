"""Is the promise kept? The replay, the samples, one verdict, and its report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from shoal._bounds import bounded_columns
from shoal._build import detached
from shoal._numbers import rounded_up
from shoal.audit import (
    EstimatorAudit,
    MechanismAudit,
    ReplayAudit,
    audit_estimator,
    audit_mechanism,
    neighboring_datasets,
    replay_estimator,
)
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import Picture, draw_audit
from shoal.privacy import Guarantee

__all__ = [
    "PromiseAudit",
    "audit_promise",
    "audit_report",
    "draw_promise",
    "promise_of",
    "promise_of_fitted",
]

NO_GUARANTEE = "it has no guarantee_, so nothing is promised"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PromiseAudit:
    """The result of an audit: the claimed guarantee, the measurements, and the verdict.

    Parameters
    ----------
    target : str
        The estimator or mechanism that was audited, with its parameters.
    guarantee : str
        Its guarantee as a sentence.
    sampling : EstimatorAudit or MechanismAudit
        Lower bounds on epsilon from many releases.
    replay : ReplayAudit or None
        Result of replaying fits; None for mechanisms, which have no fits.

    Examples
    --------
    >>> from shoal.experiments import audit_promise
    >>> from shoal.mechanisms import Laplace
    >>> audit = audit_promise(Laplace(2.0, bounds=(-1.0, 1.0)), samples=2_000, random_state=0)
    >>> audit.claimed, audit.broken
    (2.0, False)
    """

    target: str
    guarantee: str
    sampling: EstimatorAudit | MechanismAudit
    replay: ReplayAudit | None

    @property
    def claimed(self) -> float | None:
        """Epsilon of the guarantee, per unit of distance if it is metric."""
        return self.sampling.claimed

    @property
    def unit(self) -> str:
        """Unit of distance that the epsilons are per, if there is one."""
        metric = isinstance(self.sampling, MechanismAudit) and self.sampling.notion == "metric"
        return " per unit of distance" if metric else ""

    @property
    def event(self) -> str:
        """The event that best tells the two inputs of the worst pair apart."""
        if isinstance(self.sampling, MechanismAudit):
            return self.sampling.result.event
        return self.sampling.results[self.sampling.worst].event

    @property
    def searched(self) -> dict[str, float]:
        """Estimates of epsilon for all pairs that were tried."""
        if isinstance(self.sampling, MechanismAudit):
            return {name: bound.epsilon for name, bound in self.sampling.searched.items()}
        return dict(self.sampling.searched)

    @property
    def broken(self) -> bool:
        """Return whether the audit showed that the guarantee is broken."""
        over = self.claimed is not None and self.sampling.exceeds()
        return over or (self.replay is not None and self.replay.broken)

    @property
    def verdict(self) -> str:
        """The verdict in a sentence or two."""
        if self.claimed is None:
            measured = self.sampling.epsilon
            return f"Nothing is promised; at least epsilon {measured:.3g}{self.unit} was measured."
        claim = f"epsilon {rounded_up(self.claimed, 4)}{self.unit}"
        if not self.broken:
            replayed = (
                ""
                if self.replay is None
                else f" One record cost at most {self.replay.privacy_measure} "
                f"{self.replay.loss:.4g} of "
                f"{self.replay.budget:.4g} in replayed fits."
            )
            return (
                f"The promise of {claim} was not seen to be broken: at least "
                f"{self.sampling.epsilon:.3g} was measured.{replayed}"
            )
        reasons = []
        if self.sampling.exceeds():
            reasons.append(
                f"at least {self.sampling.epsilon:.3g} was measured, with confidence "
                f"{100 * self.sampling.confidence:.10g}%"
            )
        if self.replay is not None and self.replay.broken:
            count = len(self.replay.findings)
            reasons.append(f"replayed fits show {count} thing{'s' * (count > 1)} no promise allows")
        return f"The promise of {claim} is BROKEN: {'; '.join(reasons)}."


def audit_promise(
    target: Any,
    *,
    columns: int = 2,
    claim: Guarantee | None = None,
    pairs: Sequence[str] | None = None,
    runs: int | None = None,
    samples: int | None = None,
    search: int | None = None,
    repeats: int = 5,
    confidence: float = 0.999,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    resume: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PromiseAudit:
    """Audit an estimator by replay and by sampling, or a mechanism by sampling.

    Parameters
    ----------
    target : estimator or mechanism
        What to audit. It is cloned, and no ledger is charged.
    columns : int, default=2
        Number of columns of the synthetic records, if the bounds do not fix it.
    claim : Guarantee, optional
        The claimed guarantee, if it is not that of the target.
    pairs : sequence of str, optional
        For an estimator: names of the pairs of :func:`shoal.audit.neighboring_datasets` to sample
        fits on; by default all. The replay always uses all of them.
    runs : int, optional
        For an estimator: number of fits on each table of the worst pair.
    samples : int, optional
        For a mechanism: number of reports of each record of the worst pair.
    search : int, optional
        Number of fits or reports of each pair in the first round of the search for the worst pair.
    repeats : int, default=5
        For an estimator: number of replays of each pair.
    confidence : float, default=0.999
        Probability that the bound is true.
    n_jobs : int, default=1
        Number of processes for fits.
    random_state : int, optional
        Seed that makes the audit repeatable; None audits the secure randomness of real releases.
    resume : path-like, optional
        For an estimator: folder for finished fits, from which an audit that was stopped continues.
    progress : callable, optional
        Called as ``progress(done, total)``: first over the pairs of the replay, then, starting
        anew, over the fits or reports.

    Returns
    -------
    audit : PromiseAudit
        The result; see its :attr:`~PromiseAudit.verdict`.

    Examples
    --------
    >>> from shoal.experiments import audit_promise
    >>> from shoal.mechanisms import Laplace
    >>> audit = audit_promise(Laplace(2.0, bounds=(-1.0, 1.0)), samples=20_000, random_state=0)
    >>> audit.broken
    False
    """
    kwargs: dict[str, Any] = {
        "confidence": confidence,
        "random_state": random_state,
        "progress": progress,
    }
    if getattr(target, "bounds", None) is None:
        raise MissingBoundsError(
            "the target must have public bounds to be audited: made-up records are put inside them",
            parameter="bounds",
            in_python="give it bounds",
        )
    wide = bounded_columns(target.bounds, default=columns)
    guarantee = str(promise_of(target, wide) if claim is None else claim)
    if hasattr(target, "transform"):
        if runs is not None or resume is not None or pairs is not None:
            raise ParameterError(
                "pairs, runs and resume must be left out for a mechanism",
                parameter="runs",
                code="unexpected",
                in_python="pass samples",
            )
        if samples is not None:
            kwargs["samples"] = samples
        if search is not None:
            kwargs["search_samples"] = search
        reports = audit_mechanism(target, columns=wide, claim=claim, **kwargs)
        return PromiseAudit(repr(target), guarantee, reports, None)
    if samples is not None:
        raise ParameterError(
            "samples must be left out for an estimator",
            parameter="samples",
            code="unexpected",
            in_python="pass runs",
        )
    known = {pair.name: pair for pair in neighboring_datasets(target.bounds, columns=wide)}
    sampled = list(known) if pairs is None else list(pairs)
    for name in sampled:
        if name not in known:
            raise ParameterError(f"pairs must be names of neighboring_datasets, got {name!r}")
    if runs is not None:
        kwargs["runs"] = runs
    if search is not None:
        kwargs["search_runs"] = search
    held_to: dict[str, Any] = (
        {} if claim is None else {"claimed": claim.epsilon, "delta": claim.delta}
    )
    replay = replay_estimator(target, known.values(), repeats=repeats, progress=progress, **held_to)
    fits = audit_estimator(
        target,
        [known[name] for name in sampled],
        claim=claim,
        n_jobs=n_jobs,
        resume=resume,
        **kwargs,
    )
    return PromiseAudit(repr(target), guarantee, fits, replay)


def promise_of(target: Any, columns: int) -> Guarantee:
    """Read the promise of a target off a fit to one made-up record: it depends on no record."""
    return promise_of_fitted(detached(target).fit(np.zeros((1, columns))))


def promise_of_fitted(model: Any) -> Guarantee:
    """Read the promise of a fitted object: of notion "none" where it has no ``guarantee_``."""
    promise = getattr(model, "guarantee_", None)
    return promise if isinstance(promise, Guarantee) else Guarantee.none(NO_GUARANTEE)


def audit_report(path: Path, audit: PromiseAudit, *, picture: Picture, made: Provenance) -> Path:
    """Write the result of an audit as an HTML report.

    Parameters
    ----------
    path : Path
        File to write.
    audit : PromiseAudit
        The result.
    picture : Picture
        Chart of the worst pair, from :func:`draw_promise`.
    made : Provenance
        Command and seed behind the numbers.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.experiments import Provenance, audit_promise, audit_report, draw_promise
    >>> from shoal.mechanisms import Laplace
    >>> audit = audit_promise(Laplace(2.0, bounds=(-1.0, 1.0)), samples=2_000, random_state=0)
    >>> made = Provenance("shoal audit Laplace", 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "audit.html"
    ...     audit_report(page, audit, picture=draw_promise(audit), made=made).name
    'audit.html'
    """
    sampling = audit.sampling
    report = Report("Is the promise kept?")
    report.lead("Measured on made-up records: no real data was read, and nothing was spent.")
    report.verdict(audit.verdict, bad=audit.broken)
    report.text(f"Audited: {audit.target}.")
    report.text(f"Its promise: {audit.guarantee}.")
    report.section("What was measured")
    claim = "nothing" if audit.claimed is None else f"{rounded_up(audit.claimed, 4)}{audit.unit}"
    report.table(
        ["", "epsilon"],
        [
            ["claimed", claim],
            [
                f"measured, at least ({100 * sampling.confidence:.10g}% sure)",
                f"{sampling.epsilon:.4g}{audit.unit}",
            ],
        ],
    )
    report.picture(picture, says="The worst pair, the event that tells it apart, and the bounds")
    report.text(
        f"Worst pair: {sampling.worst}. The event: {audit.event}. It was chosen on one half of the "
        "releases and counted on the other, so the bound is true however many events were tried. "
        "A bound below the claim proves nothing; a bound above it proves the claim wrong."
    )
    _search(report, audit)
    _replay(report, audit)
    return report.provenance(made).write(path)


def draw_promise(audit: PromiseAudit, *, path: Path | None = None) -> Picture:
    """Draw the worst pair of an audit, its event, and its bounds.

    Parameters
    ----------
    audit : PromiseAudit
        The result.
    path : Path, default=None
        File to write the chart to as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart; its records are synthetic.

    Examples
    --------
    >>> from shoal.experiments import audit_promise, draw_promise
    >>> from shoal.mechanisms import Laplace
    >>> audit = audit_promise(Laplace(2.0, bounds=(-1.0, 1.0)), samples=2_000, random_state=0)
    >>> type(draw_promise(audit)).__name__
    'Picture'
    """
    sampling = audit.sampling
    if isinstance(sampling, EstimatorAudit):
        sides = "without the record", "with it"
        records, added = np.empty((0, 2)), np.empty((0, 2))
        if sampling.pair is not None:
            records, added = sampling.pair.records, sampling.pair.added[None]
        points = {f"records of both tables ({len(records)})": records, "the added record": added}
    else:
        sides = "one record", "another record"
        points = {sides[0]: sampling.pair.first[None], sides[1]: sampling.pair.second[None]}
    return draw_audit(
        points=points,
        sides=sides,
        evidence=sampling.evidence,
        searched=audit.searched,
        measured=sampling.epsilon,
        claimed=audit.claimed,
        unit=audit.unit,
        path=path,
    )


def _search(report: Report, audit: PromiseAudit) -> None:
    if not audit.searched:
        return
    report.section("Where was looked")
    report.text(
        "Estimates from few releases, good only to find the worst pair: some are above the claim "
        "by chance."
    )
    ranked = sorted(audit.searched.items(), key=lambda item: -item[1])
    report.table(["pair", f"estimate of epsilon{audit.unit}"], [[n, f"{v:.3g}"] for n, v in ranked])


def _replay(report: Report, audit: PromiseAudit) -> None:
    replay = audit.replay
    if replay is None:
        return
    report.section("What one record costs, release by release")
    report.text(
        "The estimator was fitted on a table, and again on the table with one record more, where "
        "it was shown the same noisy values. Whatever differed came from the record itself."
    )
    worst = replay.pairs[replay.worst]
    report.table(
        ["release", "noise", f"declared ({replay.privacy_measure})", "privacy loss"],
        [
            [str(index), release.noise, f"{release.declared:.4g}", f"{release.loss:.4g}"]
            for index, release in enumerate(worst.releases, start=1)
        ],
        text=2,
    )
    total = "" if replay.budget is None else f" of {replay.budget:.4g} claimed"
    report.text(f"Together {replay.loss:.4g}{total}, on the pair: {replay.worst}.")
    if replay.findings:
        report.section("What no promise allows")
        report.points(replay.findings)
