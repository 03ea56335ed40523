"""All attacks that fit a target, on the user's own records, beside a control without privacy."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from shoal import _numbers
from shoal._build import detached
from shoal._typing import Bounds, Floats
from shoal.audit import (
    AttackResult,
    AttributeInference,
    Reconstruction,
    advantage_ceiling,
    attack_centers,
    infer_attribute,
    membership_inference,
    reconstruct,
)
from shoal.exceptions import ParameterError
from shoal.experiments.attack_results import AttackRow, AttackSuite
from shoal.experiments.promise_audit import promise_of
from shoal.tables import ArrayTable

__all__ = ["ATTACKS", "attack_suite"]

#: Names of the attacks of :func:`attack_suite`.
ATTACKS = ("centers", "shadow", "yeom", "label-only")
FOREST = ("shadow", "yeom", "label-only")
MAX_RECORDS = 2000  # the attack on centers fits all of them many times
CONTROL_CLUSTERS = 8

Progress = Callable[[int, int], None]
Result = TypeVar("Result")


def attack_suite(
    target: Any,
    table: ArrayTable,
    *,
    attacks: Sequence[str] | None = None,
    column: str | None = None,
    runs: int = 10,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AttackSuite:
    """Run all attacks that suit a target, each beside a control without privacy.

    Parameters
    ----------
    target : estimator or mechanism
        Central estimator or local mechanism to attack. It is cloned without its ledger: nothing is
        spent, and the results, which have no guarantee, are for the curator only.
    table : ArrayTable
        Raw records. Its labels, if any, are the classes that forests learn.
    attacks : sequence of str, optional
        Names from ``ATTACKS``; by default all that suit the target.
    column : str, optional
        Name of a column to guess from the others.
    runs : int, default=10
        Number of runs of each attack.
    n_jobs : int, default=1
        Number of processes.
    random_state : int, optional
        Seed that makes the attacks repeatable.
    progress : callable, optional
        Called as ``progress(done, total)`` as attacks proceed.

    Returns
    -------
    suite : AttackSuite
        The results.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> from shoal.tables import ArrayTable
    >>> table = ArrayTable(np.random.default_rng(0).uniform(-1.0, 1.0, (64, 2)), ("a", "b"))
    >>> model = DPKMeans(3, bounds=(-1.0, 1.0), method="lloyd")
    >>> suite = attack_suite(model, table, attacks=["centers"], runs=2, random_state=0)
    >>> round(suite.rows[0].ceiling, 3)  # (e - 1) / (e + 1)
    0.462
    """
    central = not hasattr(target, "transform")
    chosen, notes = _chosen(attacks, central)
    if column is not None and column not in table.names:
        raise ParameterError(
            f"the column to guess must be one of {', '.join(table.names)}, got {column!r}"
        )
    guarantee = promise_of(target, table.X.shape[1])
    ceiling = advantage_ceiling(guarantee)
    guesses = (column is not None) * (1 + central)
    steps = _Steps(2 * len(chosen) + (not central) + guesses, progress)
    channel = target if central else _channel(target, table.X.shape[1])
    if channel is not target:
        notes.append("guesses from reports: before the remap, which can only blur them")
    work = _Work(channel, table, _numbers.count("runs", runs), n_jobs, random_state, steps.within)
    without = _control(target) if central else None
    rows = []
    for attack in chosen:
        result = steps.done(work.attack(attack, target))
        control = steps.done(work.attack(attack, without))
        # A forest learns raw records, or classes that nobody perturbed: no promise covers it.
        allowed = ceiling if attack == "centers" else None
        seen, plain = _seen_by_attacker(attack, without)
        rows.append(AttackRow(attack, result, control, allowed, seen, plain))
    return AttackSuite(
        target=repr(target),
        guarantee=str(guarantee),
        records=table.X.shape[0],
        columns=table.X.shape[1],
        rows=tuple(rows),
        reconstruction=None if central else steps.done(work.reconstruction()),
        attribute=None if column is None else steps.done(work.attribute(work.seen, column)),
        attribute_control=None
        if column is None or without is None
        else steps.done(work.attribute(without, column, bounds=target.bounds)),
        notes=tuple(notes),
    )


class _Steps:
    """Count what is done, and report it."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def done(self, result: Result) -> Result:
        self._done += 1
        self.within(0, 1)
        return result

    def within(self, done: int, total: int) -> None:
        """Report how far the step is that is being done, in hundredths."""
        if self._progress is not None:
            self._progress(100 * self._done + 100 * done // total, 100 * self._total)


@dataclass(frozen=True, eq=False)
class _Work:
    """The attacks on one table; target and control are attacked with the same coins.

    ``seen`` is what single reports or releases come from.
    """

    seen: Any
    table: ArrayTable
    runs: int
    n_jobs: int | None
    seed: int | None
    progress: Progress

    @property
    def some(self) -> Floats:
        """All records, or a random part that attacks on each single one can go through."""
        X = self.table.doubles()
        if len(X) <= MAX_RECORDS:
            return X
        chosen = np.random.default_rng(self.seed).choice(len(X), MAX_RECORDS, replace=False)
        return X[chosen]

    def attack(self, attack: str, target: Any) -> AttackResult:
        if attack == "centers":
            return attack_centers(
                target,
                self.some,
                runs=self.runs,
                n_jobs=self.n_jobs,
                random_state=self.seed,
                progress=self.progress,
            )
        return membership_inference(
            target,
            self.table.X,
            attack=attack,
            y=self.table.labels,
            runs=self.runs,
            n_jobs=self.n_jobs,
            random_state=self.seed,
            progress=self.progress,
        )

    def reconstruction(self) -> Reconstruction:
        return reconstruct(self.seen, self.some, prior="records", random_state=self.seed)

    def attribute(
        self, target: Any, column: str, *, bounds: Bounds | None = None
    ) -> AttributeInference:
        result = infer_attribute(
            target,
            self.some,
            self.table.names.index(column),
            bounds=bounds,
            runs=self.runs,
            random_state=self.seed,
        )
        return replace(result, column=column)


def _chosen(attacks: Sequence[str] | None, central: bool) -> tuple[list[str], list[str]]:
    fitting = ATTACKS if central else FOREST
    notes = []
    if attacks is None:
        chosen = list(fitting)
        if importlib.util.find_spec("art") is None:
            chosen.remove("shadow")
            notes.append(
                "shadow models left out: run `pip install '.[attacks]'` in a clone of shoal"
            )
    else:
        chosen = list(dict.fromkeys(attacks))
        for attack in chosen:
            if attack not in fitting:
                what = "an estimator" if central else "a mechanism"
                raise ParameterError(
                    f"attacks on {what} must be among {', '.join(fitting)}, got {attack!r}"
                )
    if not chosen:
        raise ParameterError("attacks must name at least one attack, got none")
    return chosen, notes


def _channel(target: Any, columns: int) -> Any:
    """Return the mechanism whose distribution is known: that of a remap is the one inside it."""
    if hasattr(target, "log_density"):
        return target
    fitted = detached(target).fit(np.zeros((1, columns)))
    inner = getattr(fitted, "mechanism_", None)
    if not hasattr(inner, "log_density"):
        raise ParameterError(
            "the target must have log_density, or a mechanism_ that has it, to be attacked by its "
            f"reports, got {type(target).__name__}"
        )
    return clone(inner)


def _seen_by_attacker(attack: str, without: Any) -> tuple[str, str]:
    """Describe what an attacker sees, and the same without privacy."""
    if without is None:
        seen = "a forest trained on the members' reports"
        return seen, "a forest trained on their records"
    plain = "k-means" if isinstance(without, KMeans) else "the same method"
    if attack == "centers":
        return "this release", f"{plain} without privacy"
    seen = "a forest trained on the members' records with their clusters"
    return seen, f"a forest trained with those of {plain} without privacy"


def _control(target: Any) -> Any:
    """Return what a user without privacy would run."""
    names = target.get_params(deep=False)
    if "technique" in names:
        return clone(target).set_params(epsilon=np.inf, ledger=None)  # the reference, exact
    clusters = names.get("n_clusters", CONTROL_CLUSTERS)
    return KMeans(CONTROL_CLUSTERS if isinstance(clusters, str) else clusters, n_init=1)
