"""Membership inference: was this record in? Asked of a forest, or of released centers."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal import _numbers
from shoal._processes import ignore_sigint, run_parallel
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.audit.attacks._forests import (
    MIN_RECORDS,
    ClassLabels,
    Scorer,
    check_target,
    is_clusterer,
    learn_label_attack,
    learn_loss_attack,
    number_classes,
    split_records,
    train_target,
)
from shoal.audit.attacks._shadow_releases import Progress
from shoal.audit.attacks._toolbox import SHADOW_THRESHOLD, learn_shadow_attack
from shoal.audit.attacks.centers import attack_centers
from shoal.audit.attacks.result import AttackResult
from shoal.exceptions import DataError, ParameterError

__all__ = ["membership_inference"]

LARGEST = 1e30  # Trees count in single precision.


class Attack(NamedTuple):
    """How an attack on a forest is learned, and its threshold for a member."""

    name: str
    learn: Callable[..., Scorer]
    threshold: float


ATTACKS = {
    "shadow": Attack("shadow models", learn_shadow_attack, SHADOW_THRESHOLD),
    "yeom": Attack("threshold on the loss", learn_loss_attack, 0.0),
    "label-only": Attack("label only", learn_label_attack, 0.0),
}
CENTERS = "centers"


def membership_inference(
    target: Any,
    X: Any,
    *,
    attack: str = "shadow",
    y: Any = None,
    runs: int = 10,
    shadow_models: int = 3,
    max_records: int | None = 2500,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AttackResult:
    """Measure how often a membership attack guesses right whether a record was in the data.

    In each run an eighth of the records are members, an eighth are non-members, and the attacker
    has the rest. The target is run on the members, a random forest is trained on its output, and
    the attacker, who sees the forest, guesses which of the members and non-members are members (the
    setup of the kd-Laplace thesis). The result is computed from raw records and has no privacy
    guarantee: it is for the curator only. The target is cloned without its ledger, so nothing is
    spent.

    Parameters
    ----------
    target : mechanism, estimator or None
        What is attacked. With a local mechanism or remap, members send reports, and the forest is
        trained on these with the members' classes, which are not perturbed. A clusterer with
        ``predict`` is fitted on the members, and the forest is trained on the members with their
        clusters as classes. With None the forest is trained on raw records: a control without
        privacy.
    X : array-like of shape (n, d)
        Raw records, at least 8.
    attack : {"shadow", "yeom", "label-only", "centers"}, default="shadow"
        ``"shadow"`` is the attack of Shokri et al. (2017), which needs the extra ``attacks``;
        ``"yeom"`` that of Yeom et al. (2018); ``"label-only"`` that of Choquette-Choo et al.
        (2021). ``"centers"`` uses no forest but attacks the release of a central estimator
        directly (:func:`shoal.audit.attack_centers`).
    y : array-like of shape (n,), default=None
        Classes that the forest learns. None takes four k-means clusters of the raw records. Not
        used if the target is a clusterer, whose clusters are the classes.
    runs : int, default=10
        Number of runs, each with a new split, new noise and new models.
    shadow_models : int, default=3
        Number of models that the attacker trains; not used by ``"centers"``.
    max_records : int or None, default=2500
        Number of records, drawn at random, that a run uses, so that it takes seconds; None uses
        all. Not used by ``"centers"``.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. The result does not depend on it when
        `random_state` is given.
    random_state : int, optional
        Seed of splits, noise and models. None draws new ones; noise then uses the secure randomness
        of real releases.
    progress : callable, optional
        Called as ``progress(done, total)`` as work is done.

    Returns
    -------
    result : AttackResult
        The attacker's scores and guesses, and their advantage.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    DataError
        If `X` or `y` cannot be used.
    MissingPackageError
        If ``attack="shadow"`` and adversarial-robustness-toolbox is not installed.

    See Also
    --------
    shoal.audit.attack_centers : Attack on the release of a central estimator.

    Notes
    -----
    If the target is a clusterer, the forest is trained on raw records: the attack then measures
    what publishing the forest would reveal, and does not test the guarantee of the clustering,
    which covers its release only. ``"centers"`` attacks the release.

    Shadow models are trained on raw records, as in the thesis: training them on reports did not
    improve attacks on forests that were trained on reports (heart and seeds, two columns).

    Examples
    --------
    Classes that nobody can predict are learned by heart, and a forest on plain records shows it;
    on reports it has little to show:

    >>> import numpy as np
    >>> from shoal.audit.attacks import membership_inference
    >>> from shoal.mechanisms import Laplace
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.uniform(-1.0, 1.0, (160, 2)), rng.integers(2, size=160)
    >>> settings = {"attack": "yeom", "y": y, "runs": 2, "random_state": 0}
    >>> membership_inference(None, X, **settings).advantage > 0.3
    True
    >>> mechanism = Laplace(epsilon=1.0, bounds=(-1.0, 1.0))
    >>> abs(membership_inference(mechanism, X, **settings).advantage) < 0.2
    True
    """
    if attack not in (*ATTACKS, CENTERS):
        known = ", ".join([*ATTACKS, CENTERS])
        raise ParameterError(f"attack must be one of {known}, got {attack!r}")
    check_target(target)
    if attack == CENTERS:
        return attack_centers(
            target, X, runs=runs, n_jobs=n_jobs, random_state=random_state, progress=progress
        )
    _check(runs, shadow_models, max_records, random_state)
    records = _check_records(X)
    root = np.random.SeedSequence(random_state)
    labels = None
    if not is_clusterer(target):
        labels = number_classes(y, records, seed=int(root.generate_state(1)[0]))
    how = ATTACKS[attack]
    run = partial(
        _run,
        target,
        records,
        labels,
        learn=partial(how.learn, shadow_models=shadow_models),
        max_records=max_records,
        seeded=random_state is not None,
    )
    work = ignore_sigint(run)
    tasks = (delayed(work)(seed=seed) for seed in root.spawn(runs))
    scores = []
    # Records are sent through pipes: joblib would write larger tables to a temporary folder.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    for pair in run_parallel(parallel, tasks):
        scores.append(pair)
        if progress is not None:
            progress(len(scores), runs)
    return AttackResult.from_runs(how.name, scores, threshold=how.threshold)


def _run(
    target: Any,
    records: Floats,
    labels: ClassLabels | None,
    *,
    learn: Callable[..., Scorer],
    max_records: int | None,
    seeded: bool,
    seed: np.random.SeedSequence,
) -> tuple[Floats, Floats]:
    """Return the scores of members and of others in one run."""
    rng = np.random.default_rng(seed)
    if max_records is not None and len(records) > max_records:
        rows = rng.choice(len(records), max_records, replace=False)
        records = records[rows]
        labels = None if labels is None else labels._replace(values=labels.values[rows])
    # The clusters of a clusterer are known after the split, so nothing is shared out by class.
    strata = np.zeros(len(records), dtype=np.int64) if labels is None else labels.values
    split = split_records(strata, rng)
    clusters = getattr(target, "n_clusters", 1)
    if isinstance(clusters, int) and clusters > len(split.members):
        raise ParameterError(
            f"n_clusters must be at most the {len(split.members)} members of a run, an eighth of "
            f"the records, got {clusters}: take fewer clusters, or leave the attack out",
            parameter="n_clusters",
            code="range",
        )
    noise, forest, own = rng.integers(1 << 32, size=3).tolist()
    trained = train_target(
        target,
        records,
        split.members,
        labels,
        noise_seed=noise if seeded else None,
        forest_seed=forest,
    )
    classes, n_classes = trained.labels
    shadow = split.shadow
    scorer = learn(records[shadow], classes[shadow], n_classes, seed=own)
    asked = np.concatenate([split.members, split.others])
    members, others = np.split(scorer(trained.forest, records[asked], classes[asked]), 2)
    return members, others


def _check(runs: Any, shadow_models: Any, max_records: Any, random_state: Any) -> None:
    _numbers.count("runs", runs)
    _numbers.count("shadow_models", shadow_models)
    if max_records is not None and _numbers.count("max_records", max_records) < MIN_RECORDS:
        raise ParameterError(
            f"max_records must be None or at least {MIN_RECORDS}, got {max_records}"
        )
    _numbers.seed("random_state", random_state)


def _check_records(X: Any) -> Floats:
    records = validate_records(X)
    if len(records) < MIN_RECORDS:
        raise DataError(f"X must hold at least {MIN_RECORDS} records, got {len(records)}")
    if np.abs(records).max() > LARGEST:
        raise DataError(f"X must lie within -{LARGEST:g} and {LARGEST:g}: rescale its columns")
    return records
