"""All attacks that fit a target, on the user's own records, beside a control without privacy."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from shoal import _numbers
from shoal._numbers import readable
from shoal._typing import Floats
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
from shoal.audit._detached import detached
from shoal.datasets import Table
from shoal.exceptions import ParameterError
from shoal.experiments.promise_audit import promise_of

__all__ = ["ATTACKS", "AttackRow", "AttackSuite", "attack_suite"]

ATTACKS = ("centers", "shadow", "yeom", "label-only")
MIN_GAPS = 2  # runs for an interval
FOREST = ("shadow", "yeom", "label-only")
MAX_RECORDS = 2000  # the attack on centers fits all of them many times
CONTROL_CLUSTERS = 8

Progress = Callable[[int, int], None]
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class AttackRow:
    """One attack, and the same attack without privacy.

    Parameters
    ----------
    attack : str
        Which of :data:`ATTACKS`.
    result : AttackResult
        On what the target gives away.
    control : AttackResult
        On the same without privacy.
    ceiling : float or None
        The largest advantage that the promise allows; None where it covers something else.
    seen, without : str
        What the attacker sees, and the same without privacy, in words.
    """

    attack: str
    result: AttackResult
    control: AttackResult
    ceiling: float | None
    seen: str = "this release"
    without: str = "k-means without privacy"

    @property
    def has_power(self) -> bool:
        """Return whether the attack is surely better than guessing where nothing is protected."""
        return self.control.interval()[0] > 0

    @property
    def tells_apart(self) -> bool:
        """Return whether it surely does worse than without privacy: what privacy took from it."""
        return self.result.interval()[1] < self.control.interval()[0]

    @property
    def sentence(self) -> str:
        """Return whether the attack has power at all, and what its result is worth."""
        name = self.result.attack[:1].upper() + self.result.attack[1:]
        first = f"{name}: the same attack on {self.without} is right in {right(self.control)}"
        found = f"{right(self.result)} on {self.seen}"
        if not self.has_power:
            return (
                f"{first}: it has no power here, so what it gets, {found}, says nothing about "
                "privacy."
            )
        if not self.tells_apart:
            return (
                f"{first}, so it has some power here; it gets {found}, which these runs cannot "
                "tell from no privacy at all."
            )
        return f"{first}, so it has power here; it gets {found}, where guessing gets 50."


@dataclass(frozen=True, eq=False)
class AttackSuite:
    """What attackers found out about the user's own records; for the curator only.

    Parameters
    ----------
    target : str
        What was attacked, with its parameters.
    guarantee : str
        Its promise in a sentence.
    records, columns : int
        Size of the table.
    rows : tuple of AttackRow
        Membership attacks.
    reconstruction : Reconstruction or None
        Best guesses of whole records, for reports.
    attribute, attribute_control : AttributeInference or None
        Best guesses of one column, and the same from a release without privacy.
    notes : tuple of str
        What was left out, and why.
    """

    target: str
    guarantee: str
    records: int
    columns: int
    rows: tuple[AttackRow, ...]
    reconstruction: Reconstruction | None
    attribute: AttributeInference | None
    attribute_control: AttributeInference | None
    notes: tuple[str, ...]

    @property
    def has_power(self) -> bool:
        """Return whether any membership attack beats guessing where nothing is protected."""
        return any(row.has_power for row in self.rows)

    @property
    def tells_apart(self) -> bool:
        """Return whether any membership attack does surely worse here than without privacy."""
        return any(row.tells_apart for row in self.rows)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the attacks are worth on these records first, then what they and the promise say."""
        found = [row.sentence for row in self.rows]
        if not self.has_power:
            found.insert(
                0,
                "No attack on membership that was run has power on these records, even without "
                "privacy: their results say nothing about privacy.",
            )
        elif not self.tells_apart:
            found.insert(
                0,
                "No attack on membership that was run does surely worse here than without privacy: "
                "their results do not show what privacy changes.",
            )
        for ceiling in {row.ceiling for row in self.rows if row.ceiling is not None}:
            found.append(
                f"No attack on the release, known or not, is right in more than "
                f"{50 + 50 * ceiling:.0f} of 100: this is the promise, not a measurement."
            )
        return tuple(found)

    @property
    def guesses(self) -> tuple[str, ...]:
        """What is guessed about records and columns, after what the same guess gets unprotected."""
        found = []
        if self.reconstruction is not None:
            found.append("a report without noise would be the record itself")
            found += str(self.reconstruction).splitlines()
        if self.attribute is not None:
            found.append(_attribute_power(self.attribute, self.attribute_control))
            found += str(self.attribute).splitlines()
        return tuple(found)


def right(found: AttackResult) -> str:
    """Write how often an attack is right.

    Parameters
    ----------
    found : AttackResult
        What it got.

    Returns
    -------
    text : str
        Of 100 guesses, with the interval of 95%.

    Examples
    --------
    >>> right(AttackResult.from_runs("loss", [([1.0], [0.0])] * 3, threshold=0.5))
    '100 of 100 (95%: 100.0 to 100.0)'
    """
    low, high = (50 + 50 * limit for limit in found.interval())
    return f"{100 * found.right:.0f} of 100 (95%: {low:.1f} to {high:.1f})"


def _attribute_power(found: AttributeInference, control: AttributeInference | None) -> str:
    """Say first whether being in the data changes the guess where nothing is protected."""
    if control is None:
        return f"a report without noise would give {found.column} itself"
    first = f"without privacy, being in the data costs a record {readable(control.difference or 0)}"
    if len(control.gaps) < MIN_GAPS:
        return f"{first} in {found.column}; a single run cannot tell whether this is chance"
    low, high = control.interval()
    first += f" in {found.column} (95%: {readable(low)} to {readable(high)})"
    if low > 0:
        return f"{first}, so the guess has power here"
    return f"{first}: the guess has no power here, so it says nothing about privacy"


def attack_suite(
    target: Any,
    table: Table,
    *,
    attacks: Sequence[str] | None = None,
    column: str | None = None,
    runs: int = 10,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AttackSuite:
    """Run the attacks.

    Parameters
    ----------
    target : estimator or mechanism
        Central estimator, or local mechanism. It is cloned without its ledger: nothing is spent, so
        what is found is for the curator only.
    table : Table
        Raw records; its labels, if any, are the classes that forests learn.
    attacks : sequence of str, optional
        Some of :data:`ATTACKS`; all that fit the target by default.
    column : str, optional
        A column to guess from the others.
    runs : int, default=10
        Runs of each attack.
    n_jobs : int, default=1
        Number of processes.
    random_state : int, optional
        Repeats the attacks.
    progress : callable, optional
        ``progress(done, total)`` as attacks are finished.

    Returns
    -------
    suite : AttackSuite
        What they found.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> from shoal.datasets import Table
    >>> table = Table(("a", "b"), np.random.default_rng(0).uniform(-1.0, 1.0, (64, 2)))
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
    seen = target if central else _channel(target, table.X.shape[1])
    if seen is not target:
        notes.append("guesses from reports: before the remap, which can only blur them")
    work = _Work(seen, table, _numbers.count("runs", runs), n_jobs, random_state)
    without = _control(target) if central else None
    rows = []
    for attack in chosen:
        result = steps.done(work.attack(attack, target))
        control = steps.done(work.attack(attack, without))
        # A forest learns raw records, or classes that nobody perturbed: no promise covers it.
        allowed = ceiling if attack == "centers" else None
        rows.append(AttackRow(attack, result, control, allowed, *_words(attack, without)))
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
    """Counts what is done, and tells."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def done(self, found: Found) -> Found:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
        return found


@dataclass(frozen=True, eq=False)
class _Work:
    """The attacks on one table; target and control are attacked with the same coins.

    ``seen`` is what single reports or releases come from.
    """

    seen: Any
    table: Table
    runs: int
    n_jobs: int | None
    seed: int | None

    @property
    def some(self) -> Floats:
        """All records, or a random part that attacks on each single one can go through."""
        X = self.table.X
        if len(X) <= MAX_RECORDS:
            return X
        chosen = np.random.default_rng(self.seed).choice(len(X), MAX_RECORDS, replace=False)
        return X[chosen]

    def attack(self, attack: str, target: Any) -> AttackResult:
        if attack == "centers":
            return attack_centers(
                target, self.some, runs=self.runs, n_jobs=self.n_jobs, random_state=self.seed
            )
        return membership_inference(
            target,
            self.table.X,
            attack=attack,
            y=self.table.labels,
            runs=self.runs,
            n_jobs=self.n_jobs,
            random_state=self.seed,
        )

    def reconstruction(self) -> Reconstruction:
        return reconstruct(self.seen, self.some, prior="records", random_state=self.seed)

    def attribute(self, target: Any, column: str, *, bounds: Any = None) -> AttributeInference:
        found = infer_attribute(
            target,
            self.some,
            self.table.names.index(column),
            bounds=bounds,
            runs=self.runs,
            random_state=self.seed,
        )
        return replace(found, column=column)


def _chosen(attacks: Sequence[str] | None, central: bool) -> tuple[list[str], list[str]]:
    fitting = ATTACKS if central else FOREST
    notes = []
    if attacks is None:
        chosen = list(fitting)
        if importlib.util.find_spec("art") is None:
            chosen.remove("shadow")
            notes.append("shadow models left out: run `pip install 'shoal[attacks]'`")
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
    """Return the mechanism whose law is known: a remap works on what its own mechanism reports."""
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


def _words(attack: str, without: Any) -> tuple[str, str]:
    """Name what an attacker sees, and the same without privacy."""
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
