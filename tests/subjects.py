"""Everything that promises privacy, one row each: how it is made, run, and measured.

Contracts (tests/contracts/promises.py) are functions of a row; pytest pairs them by tags. What
differs between classes is a field of the row, so that no contract asks which class it holds. Rows
of estimators and mechanisms come from the registry: a new method is held to all contracts without
being listed here.

Records are in public bounds that are wide, and epsilon is large where scikit-learn's checks run on
a row: they ask for clusters in 50 records, not for privacy.
"""

import functools
import importlib
import inspect
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from helpers.campaigns import KEY, signed_campaign
from helpers.draw_costs import draw_cost
from helpers.noise_recorder import Draw, Statistic, Tape
from shoal._build import load_class
from shoal._registry import METHODS, Method
from shoal.audit import Neighbors, ReplayAudit, replay_estimator
from shoal.client import Device
from shoal.cluster import ClusterProfile, DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.cluster.wavecluster._band import band_of
from shoal.mechanisms import Hybrid, Laplace, Piecewise
from shoal.privacy import PrivacyUnit, epsilon_to_gdp
from shoal.schema import Category, Field, Flag, Number, Schema

__all__ = ["BY_NAME", "SUBJECTS", "Subject", "classes", "having", "subject"]

WIDE = (-20.0, 20.0)
BOX = (-1.0, 1.0)
RECORDS = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))
OF_RECORD = PrivacyUnit()
RECORDS_3D = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))


class People(Neighbors):
    """Two tables, of any form; the rows that only one of them has belong to one person.

    They come first: the order promises nothing, and what is taken from the first rows shows.
    """

    def __init__(self, name: str, records: Any, added: Any) -> None:
        for key, value in {"name": name, "records": records, "added": added}.items():
            object.__setattr__(self, key, value)

    @property
    def with_added(self) -> Any:
        """The table with the person."""
        if isinstance(self.records, pd.DataFrame):
            return pd.concat([self.added, self.records], ignore_index=True)
        return np.vstack([self.added, self.records])


@dataclass(frozen=True)
class Checks:
    """How scikit-learn's checks run: with other parameters, and failures that have a reason."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """One thing that promises.

    Parameters
    ----------
    name : str
        Its name in the matrix of subjects and contracts.
    make : callable
        ``make(**changes)`` returns it new and unfitted, with other parameters where they are given.
    run : callable
        ``run(model, table)`` lets it release, and returns the released values as numbers.
    table : array-like or data frame
        Records that it accepts.
    price : callable or None
        ``price(model, tape)`` returns what the draws on a tape cost, in parts of what is promised;
        each must be the whole. Sensitivities come from the proofs or from brute force, never from
        the estimator's own plan.
    pairs : tuple of Neighbors
        Tables of which one lacks one person, for replays.
    published : callable or None
        All that leaves the curator, for replays; None is ``release_.values``.
    tight : float
        Smallest part of the budget that a replay on these pairs measures. Pairs that show nothing
        would clear anything.
    unit : PrivacyUnit
        Whom the guarantee must say that it protects.
    columns : tuple of str
        Columns that an entry in the ledger names after a fit on "east" and "north".
    reported : tuple of str
        Columns of the reports of "east" and "north".
    checks : Checks or None
        How scikit-learn's checks run on it, if they do.
    public_draws : bool
        Whether random words that are about no record are drawn outside of the door (first centers,
        seeds of k-means on released values).
    tags : frozenset of str
        What contracts ask for.
    """

    name: str
    make: Callable[..., Any]
    run: Callable[[Any, Any], Any]
    table: Any = field(default=None, compare=False)
    price: Callable[[Any, Tape], Iterable[float]] | None = None
    pairs: tuple[Neighbors, ...] = ()
    published: Callable[[Any], Any] | None = None
    tight: float = 0.9
    unit: PrivacyUnit = OF_RECORD
    columns: tuple[str, ...] = ("east", "north")
    reported: tuple[str, ...] = ("east", "north")
    checks: Checks | None = None
    public_draws: bool = False
    tags: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Tag the rows that contracts about a price, pairs or bounds can be held to."""
        given = {
            "priced": self.price is not None,
            "replayed": bool(self.pairs),
            "checked": self.checks,
            "bounded": "device" not in self.tags
            and isinstance(getattr(self.make(), "bounds", None), tuple),
        }
        more = {tag for tag, holds in given.items() if holds}
        object.__setattr__(self, "tags", self.tags | more)

    def __str__(self) -> str:
        return self.name

    def output(self, model: Any = None, table: Any = None) -> Any:
        """Return what it releases about a table; a new one, and its own table by default."""
        chosen = self.table if table is None else table
        return self.run(self.make() if model is None else model, chosen)

    def seeded(self, seed: int = 0) -> Any:
        """Return a new one that repeats itself; a device never does."""
        return self.make() if "device" in self.tags else self.make(random_state=seed)

    def effect(self, repeats: int = 1, **kwargs: Any) -> ReplayAudit:
        """Measure what one person changes: by replay of the pairs, without a look at any plan."""
        return replay_estimator(
            self.make(), self.pairs, repeats=repeats, published=self.published, **kwargs
        )


# Ways to run


def reports_of(model: Any, X: Any) -> Any:
    """Return one report a record."""
    return np.asarray(model.fit_transform(X))


def centers_of(model: Any, X: Any) -> Any:
    """Return centers."""
    return model.fit(X).cluster_centers_


def band_and_threshold_of(model: Any, X: Any) -> Any:
    """Return noisy values of a band and the threshold."""
    model.fit(X)
    return np.append(model.release_.values["band"], model.threshold_)


def counts_of(model: Any, X: Any) -> Any:
    """Return noisy counts: how many there are is noisy, too."""
    model.fit(X)
    strata = model.release_.values.get("strata", [model.release_.values])
    counts = np.concatenate([np.ravel(one["counts"]) for one in strata])
    return np.append(np.resize(counts, 64), model.n_records_)


def sample_of(model: Any, X: Any) -> Any:
    """Return made-up records: the output itself is a draw, from what was released."""
    made = model.fit(X).sample(60, random_state=0)
    return made if made.dtype != object else made.astype(str)


def refined_cells_of(model: Any, X: Any) -> Any:
    """Return the cells of fewer clusters, found in counts that were released before."""
    refined = model.fit(X).refine(n_clusters=1)
    return np.append(np.resize(refined.release_.values["counts"], 64), refined.n_records_)


def profile_of(model: Any, X: Any) -> Any:
    """Return all noisy numbers of a profile."""
    return np.array([one["value"] for one in model.fit(X).to_frame().to_dict("records")])


def bytes_of(device: Device, values: Any) -> Any:
    """Return the bytes that a device would send."""
    reports = [device.draw(value).report for value in values]
    return np.frombuffer(b"".join(reports), dtype=np.uint8)


# What leaves the curator


def public_state(model: Any) -> Any:
    """All that a fitted estimator carries, beside what it was given."""
    given = {*model.get_params(deep=False), "guarantee_", "release_"}
    state = {name: value for name, value in vars(model).items() if name not in given}
    return {"release_": dict(model.release_.values), **state}


# Prices: what the draws on a tape cost, in parts of the promise


def price_of_lattice_noise(model: Any, tape: Tape) -> Iterable[float]:
    """A metric mechanism: noise of scale s on a lattice of this step has epsilon 1 / (s * step)."""
    step = float(model.lattice(model.n_features_in_).step[0])
    # Conditioning on the box costs as much again.
    share = 0.5 if getattr(model, "truncate", None) else 1.0
    return [1.0 / (draw.scale * step) / (share * model.epsilon) for draw in tape.draws]


def price_of_own_mechanism(model: Any, tape: Tape) -> Iterable[float]:
    """KdLaplace: the mechanism that it makes for itself draws all of its noise."""
    return price_of_lattice_noise(model.mechanism_, tape)


def price_of_response(model: Any, tape: Tape) -> Iterable[float]:
    """Which partition answers is drawn without the record and costs nothing."""
    (response,) = [draw for draw in tape.draws if draw.sampler == "randomized_response"]
    assert response.shape == (len(RECORDS),)
    return [response.scale / model.epsilon]


def price_of_choices(model: Any, tape: Tape, *, coins: int = 0) -> Iterable[float]:
    """Columns are independent, so the epsilons of a row's choices add up."""
    choices = [draw for draw in tape.draws if draw.sampler == "two_level"][coins:]
    (choice,) = choices
    reported = choice.shape[1] if len(choice.shape) == 2 else 1
    return [reported * choice.scale / model.epsilon]


def price_after_a_coin(model: Any, tape: Tape) -> Iterable[float]:
    """Hybrid: its coin is drawn first, looks at no record and costs nothing."""
    return price_of_choices(model, tape, coins=1)


def price_of_statistics(model: Any, tape: Tape, *, unit: float = 1) -> Iterable[float]:
    """The central model: each draw by what a person changes in the statistic before it."""
    costs, statistic = [], None
    for entry in tape.entries:
        if isinstance(entry, Statistic):
            statistic = entry
        elif isinstance(entry, Draw):
            assert statistic is not None, "noise on nothing"
            costs.append(float(draw_cost(entry, statistic, unit)))
    return [sum(costs) / whole_budget(model, tape)]


def price_of_a_band(model: Any, tape: Tape) -> Iterable[float]:
    """WaveCluster: what a record changes in the band is found by moving it through all cells."""
    moved, touched = one_record_in_the_band(model)
    whole_band = model.technique in ("oneshot", "density")
    costs, statistic = [], None
    for entry in tape.entries:
        if isinstance(entry, Statistic):
            statistic = entry
        elif isinstance(entry, Draw):
            assert statistic is not None, "noise on nothing"
            if statistic.name != "grid_counts":
                costs.append(float(draw_cost(entry, statistic)))
            elif entry.sampler == "exponential_choice":
                costs.append(2 * touched * entry.scale)
            elif whole_band:
                costs.append(moved / entry.scale)
            else:  # counts, or the number of values that are not positive
                costs.append((touched if entry.shape == (1,) else 1) / entry.scale)
    return [sum(costs) / whole_budget(model, tape)]


def one_record_in_the_band(model: Any, columns: int = 2) -> tuple[int, int]:
    """Move one record through all cells: most that the band changes, and most values that do."""
    band = band_of(model.wavelet, model.level, model.grid_, columns)
    changes = []
    for cell in np.ndindex(*[model.grid_] * columns):
        counts = np.zeros([model.grid_] * columns, dtype=np.int64)
        counts[cell] = 1
        changes.append(band.dense(counts))
    return (
        max(int(np.abs(change).sum()) for change in changes),
        max(int((change != 0).sum()) for change in changes),
    )


def whole_budget(model: Any, tape: Tape) -> float:
    """What is promised, in the privacy measure of the noise that was drawn."""
    approximate = model.guarantee_.delta > 0
    assert {draw.sampler == "rounded_gaussian" for draw in tape.draws} == {approximate}
    return epsilon_to_gdp(model.epsilon, model.delta) ** 2 if approximate else model.epsilon


# Rows of estimators and mechanisms


def remade(instance: BaseEstimator) -> Callable[..., Any]:
    """Return what makes copies of an estimator with other parameters."""
    return lambda **changes: clone(instance).set_params(**changes)


SETTINGS: dict[str, dict[str, Any]] = {
    "central": {"epsilon": 1e4},
    "metric": {"epsilon": 1e4, "unit": "m"},
    "local": {"epsilon": 10.0},
}
# A smaller epsilon: noise on counts alone would be 0.
OF_CLASS: dict[str, dict[str, Any]] = {
    "DPDensity": {"epsilon": 1.5},
    "DPWaveCluster": {"epsilon": 1.5, "grid": 8},
    "PrivateCopy": {"epsilon": 1.5},
}
# What a class does by default in few columns: made without naming the method.
DEFAULTS = {"DPKMeans-grid": "DPKMeans", "KdLaplace-bayes": "KdLaplace"}
# What sees reports only spends nothing and draws no noise: tests/remap and tests/reports hold these
# to scikit-learn's checks and to bad input.
POST_PROCESSING = {
    load_class(method.location)
    for method in METHODS
    if method.location.startswith(("shoal.remap:", "shoal.reports:"))
}
# Methods whose first centers, or k-means on released points, take words that are about no record.
PUBLIC_DRAWS = ("centered", "ball", "mixed", "lloyd", "kccm", "baseline")


# No pair of these tables moves the exponential mechanism's scores and its counts at once.
LOOSE = {"thr-em": 0.8}


def corners(table: Any = RECORDS, reach: float = 20.0) -> tuple[Neighbors, ...]:
    """One record more at a corner, among others, or beside an equal one."""
    center = table[0]
    low, high, middle = (np.full(len(center), one) for one in (-reach, reach, 0.1))
    mixed, edge = high.copy(), low.copy()
    mixed[1::2], edge[1::2] = -reach, 0.35 * reach
    return (
        Neighbors("corner", table, mixed),
        Neighbors("among others", table, middle),
        Neighbors("edge", table, edge),
        Neighbors("corner, one other", center[None], low),
        Neighbors("beside an equal one", center[None], center),
    )


# Weights are bounded by a public limit that scales the noise, so that a record of weight 2 is not
# the same as the record twice.
NO_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "noise is scaled to weight_limit",
    "check_sample_weight_equivalence_on_sparse_data": "sparse tables are refused",
}
# A table of all cells in ten columns is refused: only "oneshot" has a sparse form.
TOO_MANY_CELLS = dict.fromkeys(("check_dtype_object", "check_fit2d_1sample"), "16^10 cells")
# A density has at most four columns; these have five and ten.
TOO_MANY_COLUMNS = {**TOO_MANY_CELLS, "check_estimators_dtypes": "five columns"}
# The checks look for three clusters among 50 standardized records.
NEAR = {"epsilon": 1e3, "bounds": (-3.0, 3.0), "threshold": 0.0, "min_samples": 2, "grid": 16}
# One of each class, and what fits or refuses in a way of its own.
CHECKED: dict[str, Checks] = {
    **dict.fromkeys(
        ("DPKMeans", "DPKMeans-kccm", "DPKMeans-lloyd-gaussian", "DPKMeans-ball"),
        Checks(expected=NO_WEIGHTS),
    ),
    "DPWaveCluster-oneshot": Checks(NEAR),
    "DPWaveCluster-thr": Checks(NEAR, TOO_MANY_CELLS),
    "DPDensity": Checks({"bounds": (-3.0, 3.0)}, TOO_MANY_COLUMNS),
}


CENTRAL_RUNS: dict[str, dict[str, Any]] = {
    "DPKMeans": {"run": centers_of, "price": price_of_statistics},
    "DPWaveCluster": {"run": band_and_threshold_of, "price": price_of_a_band},
    "DPDensity": {"run": counts_of, "price": price_of_statistics},
    "PrivateCopy": {"run": sample_of, "price": price_of_statistics},
}
LOCAL_PRICES: dict[str, Callable[[Any, Tape], Iterable[float]]] = {
    "KdLaplace": price_of_own_mechanism,
    "Hybrid": price_after_a_coin,
    "PartitionResponse": price_of_response,
}
NOTION_PRICES = {"metric": price_of_lattice_noise, "local": price_of_choices}


def estimator_row(name: str, instance: Any, notion: str, **fields: Any) -> Subject:
    """Return the row of an estimator or mechanism, by its class and notion."""
    kind = type(instance).__name__
    tags = {"estimator", notion}
    if "schema" in inspect.signature(type(instance)).parameters:
        tags.add("schema")
    if hasattr(instance, "transform") or hasattr(instance, "predict"):
        tags.add("asked")
    if hasattr(instance, "min_cluster_size"):
        tags.add("sized")
    if notion == "central":
        tags.add("clusterer" if hasattr(instance, "predict") else "synthesizer")
        if kind != "DPKMeans":
            tags.add("cells")
        word = getattr(instance, "technique", getattr(instance, "method", ""))
        if word in LOOSE:
            fields = {"tight": LOOSE[word], **fields}
        fields = {
            **CENTRAL_RUNS[kind],
            "pairs": corners(),
            "published": public_state,
            "public_draws": word in PUBLIC_DRAWS,
            **fields,
        }
    else:
        tags.add("transformer")
        if kind == "KdLaplace":
            # A mechanism of its own draws for it, from arrays without names.
            fields = {"columns": (), **fields}
        if kind == "PartitionResponse":
            fields = {"reported": ("partition", "color"), **fields}
        fields = {
            "run": reports_of,
            "price": LOCAL_PRICES.get(kind, NOTION_PRICES[notion]),
            **fields,
        }
    tags |= fields.pop("tags", set())
    checks = CHECKED.get(name, Checks() if "class" in tags else None)
    return Subject(
        name,
        remade(instance),
        **{"table": RECORDS, "checks": checks, **fields},
        tags=frozenset(tags),
    )


def instance_of(method: Method) -> Any:
    """Return an unfitted estimator of a method of the registry."""
    kwargs = {} if method.name in DEFAULTS else method.kwargs
    settings = {**SETTINGS[method.notion], **OF_CLASS.get(method.class_name, {}), **kwargs}
    return load_class(method.location)(bounds=WIDE, **settings)


def from_registry() -> Iterable[Subject]:
    """Return a row for each method; of fixed numbers of columns, on a table of as many."""
    classes: set[str] = set()
    rows = []
    named = [one for one in METHODS if load_class(one.location) not in POST_PROCESSING]
    # The default of a class stands for it where only the class matters.
    for method in sorted(named, key=lambda one: one.name not in DEFAULTS):
        fields: dict[str, Any] = {}
        fixed = method.min_columns == method.max_columns
        if fixed:
            fields["table"] = RECORDS if method.max_columns == 2 else RECORDS_3D
        any_columns = {"any columns"} if not fixed else set()
        one_of_class = {"class"} if method.class_name not in classes and not fixed else set()
        classes.add(method.class_name)
        fields["tags"] = any_columns | one_of_class
        rows.append(
            estimator_row(
                DEFAULTS.get(method.name, method.name), instance_of(method), method.notion, **fields
            )
        )
    order = [DEFAULTS.get(one.name, one.name) for one in named]
    return sorted(rows, key=lambda row: order.index(row.name))


def variant(name: str, instance: Any, **fields: Any) -> Subject:
    """Return the row of a method with other settings."""
    notions = {"Laplace": "metric", "Piecewise": "local", "Hybrid": "local"}
    notion = notions.get(type(instance).__name__, "central")
    return estimator_row(name, instance, notion, **{"tags": {"any columns"}, **fields})


VARIANTS = (
    # Few records in wide bounds: "auto" takes the tree.
    variant("DPKMeans-grid", DPKMeans(epsilon=1e4, bounds=WIDE, method="grid"), public_draws=True),
    variant("DPKMeans-delta", DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE)),
    variant(
        "DPKMeans-grid-gaussian", DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="grid")
    ),
    variant(
        "DPKMeans-lloyd-analytic",
        DPKMeans(epsilon=1e4, bounds=WIDE, method="lloyd", split="analytic"),
    ),
    variant(
        "DPKMeans-lloyd-gaussian", DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="lloyd")
    ),
    variant(
        "DPKMeans-kccm-gaussian",
        DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="kccm", noise="gaussian"),
    ),
    variant(
        "DPKMeans-ball-gaussian", DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="ball")
    ),
    variant("DPWaveCluster-auto", DPWaveCluster(epsilon=1.5, bounds=WIDE, grid="auto")),
    variant(
        "DPWaveCluster-threshold",
        DPWaveCluster(epsilon=1.5, bounds=WIDE, grid=8, threshold="auto", n_public=60),
    ),
    # A record in the worst cell of this filter would cost all; those of the pairs are elsewhere.
    variant(
        "DPWaveCluster-db2",
        DPWaveCluster(epsilon=1.5, bounds=WIDE, grid=8, wavelet="db2"),
        tight=0.7,
    ),
    variant("PrivateCopy-public", PrivateCopy(epsilon=1.5, bounds=WIDE, n_public=60)),
    variant("Laplace-resample", Laplace(epsilon=1e4, unit="m", bounds=WIDE, truncate="resample")),
    variant("Piecewise-sample", Piecewise(epsilon=3.0, bounds=WIDE, columns="sample")),
    variant("Hybrid-sample", Hybrid(epsilon=3.0, bounds=WIDE, columns="sample")),
)


PACKAGES = ("shoal.mechanisms", "shoal.remap", "shoal.reports", "shoal.cluster")


def promising_classes() -> set[type[BaseEstimator]]:
    """Return the estimator classes that packages export and that see records."""
    exported = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            estimator = inspect.isclass(value) and issubclass(value, BaseEstimator)
            if estimator and not inspect.isabstract(value):
                exported.add(value)
    assert exported >= POST_PROCESSING
    return exported - POST_PROCESSING


# Rows of users, weights and strata: what one person changes is more than one record


class OfUsers(DPKMeans):
    """Takes the first column for ids of users."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(X[:, 1:], user_ids=X[:, 0].astype(np.int64))


class Weighted(DPKMeans):
    """Takes the first column for weights."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(X[:, 1:], sample_weight=X[:, 0])


class WeightedOfUsers(DPKMeans):
    """Takes the first column for ids of users, and the second for weights."""

    def fit(self, X: Any, y: Any = None) -> Any:
        ids = X[:, 0].astype(np.int64)
        return super().fit(X[:, 2:], user_ids=ids, sample_weight=X[:, 1])


ROWS, HEAVY = 3, 2.0  # limits of a user's rows and of a weight
STEPS = 256  # of a weight, from 0 to its limit: a record of the largest weight counts as so many
OF_USER = PrivacyUnit.user("", max_rows=ROWS)
METHODS_OF_KMEANS: dict[str, dict[str, Any]] = {
    "auto": {},
    "grid-gaussian": {"method": "grid", "delta": 1e-6},
    "tree": {"method": "tree"},
    "centered": {"method": "centered"},
    "centered-gaussian": {"method": "centered", "delta": 1e-6},
    "ball": {"method": "ball"},
    "ball-gaussian": {"method": "ball", "delta": 1e-6},
    "mixed": {"method": "mixed"},
    "mixed-gaussian": {"method": "mixed", "delta": 1e-6},
    "lloyd": {"method": "lloyd", "max_iter": 2},
    "lloyd-gaussian": {"method": "lloyd", "max_iter": 2, "delta": 1e-6},
    "kccm": {"method": "kccm", "max_iter": 2},
    "kccm-gaussian": {"method": "kccm", "max_iter": 2, "noise": "gaussian", "delta": 1e-6},
    "private-k": {"n_clusters": "private", "method": "lloyd"},
    "private-bounds": {"bounds": "private"},
}


def person(rows: Sequence[float], times: int, *before: float) -> Any:
    """Return a person's rows, all alike, with an id or a weight in front of each."""
    return np.tile([*before, *rows], (times, 1))


def user_pairs(*weight: float) -> tuple[Neighbors, ...]:
    """A user with more rows than count, in the corner of few others and among many.

    A limit of rows that the noise does not know of shows as a cost of several people.
    """
    others = np.repeat(np.arange(6.0), 2)
    few = np.column_stack([others, *(np.full(12, one) for one in weight), np.zeros((12, 2))])
    ids = np.arange(20.0)
    many = np.column_stack([np.repeat(ids, 3), *(np.full(60, one) for one in weight), RECORDS[:60]])
    return (
        People("a user alone in a corner", few, person([1.0, 1.0], ROWS + 2, 99.0, *weight)),
        People("a user among others", many, person([-1.0, 1.0], ROWS + 2, 99.0, *weight)),
    )


def weight_pairs() -> tuple[Neighbors, ...]:
    """A record of the largest weight, and one beyond it, which counts as much."""
    light = np.column_stack([np.ones(12), np.zeros((12, 2))])
    many = np.column_stack([np.linspace(0.0, HEAVY, 60), RECORDS])
    return (
        Neighbors("the heaviest, alone in a corner", light, [HEAVY, 1.0, 1.0]),
        Neighbors("heavier than counts, among others", many, [50.0, -1.0, 1.0]),
    )


def contribution_rows() -> Iterable[Subject]:
    """Return rows of every method of k-means, with users, with weights, and with both."""
    of_users, heavy = {"records_per_user": ROWS}, {"weight_limit": HEAVY}
    kinds: dict[str, tuple[type[DPKMeans], dict[str, Any], tuple[Neighbors, ...], int]] = {
        "users": (OfUsers, of_users, user_pairs(), ROWS),
        "weights": (Weighted, heavy, weight_pairs(), STEPS),
        "weights of users": (
            WeightedOfUsers,
            {**of_users, **heavy},
            user_pairs(HEAVY),
            ROWS * STEPS,
        ),
    }
    for method, settings in METHODS_OF_KMEANS.items():
        for kind, (cls, limits, pairs, moved) in kinds.items():
            yield Subject(
                f"DPKMeans-{method}, {kind}",
                remade(cls(**{"n_clusters": 2, "bounds": BOX, **limits, **settings})),
                run=centers_of,
                table=pairs[-1].records,
                price=functools.partial(price_of_statistics, unit=moved),
                pairs=pairs,
                unit=OF_RECORD if cls is Weighted else OF_USER,
                tags=frozenset({"contribution"}),
            )


def frame(**columns: Any) -> pd.DataFrame:
    """Return a data frame."""
    return pd.DataFrame(columns)


STRATA = Schema([Number("x", minimum=0, maximum=1, missing="refuse"), Flag("c", missing="refuse")])
MIXED = Schema(
    [
        Number("x", minimum=0, maximum=1, missing="refuse"),
        Category("city", ["A", "B"], missing="refuse"),
    ]
)
PROFILED = Schema([*MIXED.fields, Field("who", role="user")])


def strata_table(n: int) -> pd.DataFrame:
    """Return numbers in two strata, of which one has few records."""
    return frame(x=RECORDS[:n, 0] / 2 + 0.5, c=np.arange(n) % 4 == 0)


def mixed_table(n: int) -> pd.DataFrame:
    """Return a number and a city of each record."""
    return frame(x=RECORDS[:n, 0] / 2 + 0.5, city=np.where(np.arange(n) % 3 == 0, "A", "B"))


def of_users(table: pd.DataFrame) -> pd.DataFrame:
    """Add a column of users with two rows each."""
    return table.assign(who=[f"u{index // 2}" for index in range(len(table))])


STRATA_PAIRS = (
    People("in a stratum of many", strata_table(40), frame(x=[1.0], c=[False])),
    People("in a stratum of few", strata_table(40), frame(x=[1.0], c=[True])),
    People("in an empty stratum", frame(x=[0.2] * 5, c=[False] * 5), frame(x=[0.9], c=[True])),
)
MIXED_PAIRS = (
    People("of few", mixed_table(5), frame(x=[1.0], city=["A"])),
    People("of a city nobody knows", mixed_table(40), frame(x=[0.0], city=["elsewhere"])),
)
USERS_OF_PROFILE = (
    People(
        "a user in both clusters, with more rows than count",
        of_users(mixed_table(20)),
        frame(x=[0.0, 1.0, 0.0, 1.0], city=["A", "B", "A", "C"], who=["me"] * 4),
    ),
    People(
        "a user with equal rows",
        of_users(mixed_table(20)),
        frame(x=[1.0] * 4, city=["A"] * 4, who=["me"] * 4),
    ),
)


def profile_rows() -> Iterable[Subject]:
    """Profiles of published clusters: a release that was paid for, and records beside it."""
    # Drawn with a seed, so that rows are the same in each run, and published as if they were not.
    clusters, of_people = (
        replace(one, guarantee=replace(one.guarantee, seeded=False))
        for one in (
            DPKMeans(2, schema=MIXED, random_state=0).fit(mixed_table(60)).release_,
            DPKMeans(2, schema=PROFILED, random_state=0).fit(of_users(mixed_table(60))).release_,
        )
    )
    records, user = OF_RECORD, PrivacyUnit.user("who", max_rows=2)
    for name, release, settings, pairs, unit in (
        ("ClusterProfile", clusters, {"schema": MIXED}, MIXED_PAIRS, records),
        (
            "ClusterProfile-gaussian",
            clusters,
            {"schema": MIXED, "delta": 1e-6},
            MIXED_PAIRS,
            records,
        ),
        (
            "ClusterProfile, users",
            of_people,
            {"schema": PROFILED, "records_per_user": 2},
            USERS_OF_PROFILE,
            user,
        ),
    ):
        yield Subject(
            name,
            remade(ClusterProfile(release, epsilon=1.5, **settings)),
            run=profile_of,
            table=pairs[-1].records,
            pairs=pairs,
            unit=unit,
            tags=frozenset({"central", "described", "profile"}),
        )


def described_rows() -> Iterable[Subject]:
    """Tables with a schema: categories are strata of cells, or columns of a body."""
    for name, model, run, pairs in (
        ("DPDensity, strata", DPDensity(schema=STRATA), counts_of, STRATA_PAIRS),
        ("PrivateCopy, categories", PrivateCopy(schema=STRATA), sample_of, STRATA_PAIRS),
        ("DPKMeans, schema", DPKMeans(2, schema=MIXED), centers_of, MIXED_PAIRS),
        (
            "DPKMeans-gaussian, schema",
            DPKMeans(2, delta=1e-6, schema=MIXED),
            centers_of,
            MIXED_PAIRS,
        ),
    ):
        yield Subject(
            name,
            remade(model),
            run=run,
            table=pairs[0].records,
            pairs=pairs,
            public_draws=name.startswith("DPKMeans"),
            tags=frozenset({"central", "described"}),
        )
    yield Subject(
        "DPDensity, refined",
        remade(DPDensity(epsilon=1.5, bounds=WIDE)),
        run=refined_cells_of,
        table=RECORDS,
        price=price_of_statistics,
        tags=frozenset({"central"}),
    )


# Rows of devices: no table, no ledger and no seed; one record, and bytes that leave


SQUARE = ([-1.0, -1.0], [1.0, 1.0])
VALUES = [(place / 8 - 1.0, 0.3) for place in range(17)]
PROMISED = 1.0  # epsilon of a report
NOT_ON_DEVICES = ("KdLaplace",)  # its remap is fitted on reports
# The first answers in plain numbers, word by word as a table does, which tests/mechanisms compare;
# of the second, a coin decides for each record which sampler draws.
NOT_TAPED = ("PartitionResponse", "Hybrid")


def device_for(mechanism: Any) -> Callable[..., Device]:
    """Return what makes new devices that joined a campaign with this mechanism.

    It allows one report fewer than there are values.
    """
    signed = signed_campaign(mechanism=mechanism, reports_per_device=len(VALUES) - 1)

    def make(**changes: Any) -> Device:
        folder = tempfile.mkdtemp()
        device = Device(Path(folder) / "device.db", public_key=KEY.public, **changes)
        weakref.finalize(device, shutil.rmtree, folder, ignore_errors=True)
        device.join_envelope(signed.envelope)
        return device

    return make


def price_on_device(mechanism: Any) -> Callable[[Any, Tape], Iterable[float]]:
    """Price the draws of a device by the mechanism of its campaign."""
    fitted = clone(mechanism).fit(np.zeros((1, 2)))
    kind = type(mechanism).__name__
    by_table = LOCAL_PRICES.get(kind, NOTION_PRICES[fitted.guarantee_.notion])
    return lambda device, tape: by_table(fitted, tape)


def device_rows() -> Iterable[Subject]:
    """Return a row for each mechanism that a campaign may have."""
    for method in METHODS:
        if method.output != "reports" or method.class_name in NOT_ON_DEVICES:
            continue
        if not method.min_columns <= 2 <= method.max_columns:
            continue
        unit = {"unit": "km"} if method.notion == "metric" else {}
        mechanism = load_class(method.location)(PROMISED, bounds=SQUARE, **method.kwargs, **unit)
        priced = method.class_name not in NOT_TAPED
        yield Subject(
            f"Device, {method.name}",
            device_for(mechanism),
            run=bytes_of,
            table=VALUES[:1],
            price=price_on_device(mechanism) if priced else None,
            tags=frozenset({"device"}),
        )


SUBJECTS: tuple[Subject, ...] = (
    *from_registry(),
    *VARIANTS,
    *described_rows(),
    *profile_rows(),
    *contribution_rows(),
    *device_rows(),
)
BY_NAME = {one.name: one for one in SUBJECTS}


def subject(name: str, **fields: Any) -> Subject:
    """Return a row by its name, with other fields where they are given."""
    return replace(BY_NAME[name], **fields)


def classes(*tags: str) -> list[type]:
    """Return the classes of rows that have all of these tags, each once."""
    return list(dict.fromkeys(type(one.make()) for one in having(*tags)))


def having(*tags: str) -> list[Subject]:
    """Return the rows that have all of these tags."""
    return [one for one in SUBJECTS if one.tags.issuperset(tags)]
