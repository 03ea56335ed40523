"""The promises, as functions of a subject that raise AssertionError.

``@contract(tags)`` says to which rows of tests/subjects.py a promise is made; pytest pairs them
(test_promises.py). tests/planted breaks shoal on purpose and expects these very functions to
notice. The matrix of subjects and contracts:

    PYTHONPATH=src:tests python -m contracts.promises
"""

import copy
import math
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from contracts.tape import MeddlingLedger, Order, TapedLedger, TapedSource
from helpers import sizes
from helpers.ledgers import roomy_ledger, spent
from helpers.noise_recorder import recording
from shoal.audit import ReplayAudit
from shoal.exceptions import BudgetExceededError, DataError, LedgerPicklingError, ShoalError
from shoal.noise import observed
from shoal.privacy import Guarantee, Release
from shoal.reports import label_on_device
from subjects import SUBJECTS, VALUES, Subject

__all__ = [
    "CONTRACTS",
    "LARGE",
    "LEAST",
    "OTHER_SETTINGS",
    "RECORDS_AT_THE_END",
    "Contract",
    "contract",
    "pairs",
    "roomy_limits",
    "warnings_differ",
]


class Contract(NamedTuple):
    """A promise, and the tags of the subjects that make it."""

    check: Callable[[Subject], None]
    tags: tuple[frozenset[str], ...]
    heavy: tuple[str, ...] = ()  # subjects for which only `make test-full` looks

    def applies(self, subject: Subject) -> bool:
        """Return whether a subject has all tags of one of the groups."""
        return any(group <= subject.tags for group in self.tags)


CONTRACTS: list[Contract] = []


def contract(
    *groups: str, heavy: tuple[str, ...] = ()
) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Register a promise of the subjects that have all tags of a group, joined by plus signs."""

    def register(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
        tags = tuple(frozenset(one.split("+")) for one in groups)
        CONTRACTS.append(Contract(check, tags, heavy))
        return check

    return register


def pairs() -> list[tuple[Contract, Subject]]:
    """Return each promise with each subject that makes it."""
    return [(one, row) for one in CONTRACTS for row in SUBJECTS if one.applies(row)]


@contextmanager
def expects(kind: type[Exception]) -> Iterator[None]:
    """Assert that a ``with`` block raises an error of this kind."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"no {kind.__name__} was raised")


def refusal(call: Callable[[], object]) -> ShoalError | None:
    """Return the error of ours that a call ends in, or None."""
    try:
        call()
    except ShoalError as error:
        return error
    return None


# Ledgers


def roomy_limits(subject: Subject) -> dict[str, object]:
    """Return limits that nothing in these tests reaches."""
    delta = getattr(subject.make(), "delta", 0.0)
    limits = {"epsilon": 1e6, "metric_epsilon": 1e6, "metric_unit": "m"}
    return {**limits, "delta": delta} if delta else limits


# Warnings


LARGE, LEAST = 1.7e308, 5e-324  # two of the large one add up to infinity
RECORDS_AT_THE_END = (
    (LARGE, LARGE),
    (-LARGE, -LARGE),
    (LARGE, -LARGE),
    (-LARGE, LARGE),
    (LEAST, -LEAST),
    (LARGE, LEAST),
    (math.inf, -math.inf),
    (-math.inf, -math.inf),
    (math.inf, 0.0),
)


@contract("estimator", "central", "contribution", "device")
def warns_of_no_record(subject: Subject) -> None:
    """Numpy warns of the same with and without one record, of whatever size: it would be logged."""
    warnings_differ(subject, under="ignore")


def warnings_differ(subject: Subject, *, under: Literal["ignore", "warn"]) -> None:
    """Compare warnings where large records are in the table; numpy is silent of underflow."""
    usual, ended = numpy_warnings(subject, without_record(subject), under=under)
    assert ended
    for record in RECORDS_AT_THE_END:
        found, ended = numpy_warnings(subject, with_record(subject, record), under=under)
        if ended:
            assert found == usual, record
        else:  # a record that is refused: what comes after it warns of nothing
            assert not math.isfinite(record[0]), record
            assert found <= usual, record


def without_record(subject: Subject) -> Any:
    """Return the records of a subject with a large one; a device has a single one."""
    return VALUES[:1] if "device" in subject.tags else with_record(subject, (LARGE, LARGE), to=None)


def with_record(subject: Subject, values: tuple[float, float], *, to: Any = ()) -> Any:
    """Return that table with one record more, in front; or, ``to`` None, the subject's own."""
    if "device" in subject.tags:
        return [values]
    table = subject.table if to is None else without_record(subject)
    if isinstance(table, pd.DataFrame):
        return pd.concat([table[:1].assign(x=values[0]), table], ignore_index=True)
    row = np.array(table[:1], dtype=float)
    columns = 2 if "contribution" in subject.tags else row.shape[1]  # ids and weights before
    row[0, -columns:] = np.resize(values, columns)
    return np.vstack([row, table])


def numpy_warnings(
    subject: Subject, table: Any, *, under: Literal["ignore", "warn"]
) -> tuple[set[tuple[str, str, int]], bool]:
    """Return what numpy warns of, and where, while a subject releases; and whether it did."""
    ended = True
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn", under=under):
        warnings.simplefilter("always")
        try:
            subject.output(subject.seeded(3), table)
        except DataError:
            ended = False
    return {
        (str(one.message), one.filename, one.lineno)
        for one in caught
        if issubclass(one.category, RuntimeWarning)
    }, ended


# Settings of scikit-learn, which are not ours: they switch its checks off, and change its ways


OTHER_SETTINGS: dict[str, Any] = {
    "assume_finite": True,
    "skip_parameter_validation": True,
    "working_memory": 1,
    "enable_cython_pairwise_dist": False,
}


@contract("estimator", "central", "contribution", "device")
def checks_under_all_settings_of_scikit_learn(subject: Subject) -> None:
    """A value that is missing or infinite is refused before the spend, whatever is switched off."""
    device, described = "device" in subject.tags, isinstance(subject.table, pd.DataFrame)
    # By a schema, an infinite value counts as the largest.
    for value in (math.nan,) if described else (math.nan, math.inf):
        table = with_record(subject, (value, value))
        ledger = {} if device else {"ledger": roomy_ledger(**roomy_limits(subject))}
        with config_context(**OTHER_SETTINGS):
            model = subject.make(**ledger)
            error = refusal(lambda model=model, table=table: subject.output(model, table))
        assert error is not None, f"{value} was taken for a number"
        assert error.code == ("records" if described else "finite"), error
        spent_for = model.status()[0].epsilon if device else len(model.ledger)
        assert spent_for == 0, "budget was spent on records that are refused"


# What it says


@contract("estimator", "central", "contribution")
def has_a_guarantee(subject: Subject) -> None:
    """The guarantee is that of the parameters; a seed voids it, and it says so."""
    fitted = subject.make(random_state=None)
    subject.output(fitted)
    guarantee = fitted.guarantee_
    assert isinstance(guarantee, Guarantee)
    assert guarantee.holds
    assert guarantee.epsilon == fitted.epsilon
    assert guarantee.privacy_unit == subject.unit
    # A method that finds pure noise to be the smaller one may leave the delta unused.
    assert guarantee.delta in (0.0, getattr(fitted, "delta", 0.0))
    seeded = subject.seeded()
    subject.output(seeded)
    assert not seeded.guarantee_.holds
    assert str(seeded.guarantee_).endswith("seeded: for tests and experiments only")


@contract("profile")
def promises_nothing_of_clusters_that_a_seed_drew(subject: Subject) -> None:
    """What describes a release holds where the release does, and the ledger says the same."""
    release = subject.make().release
    for seeded in (False, True):
        given = replace(release, guarantee=replace(release.guarantee, seeded=seeded))
        model = subject.make(release=given, ledger=roomy_ledger(**roomy_limits(subject)))
        subject.output(model)
        assert model.guarantee_.holds is not seeded
        assert model.release_.guarantee == model.guarantee_
        assert [entry.seeded for entry in model.ledger.entries] == [seeded]


@contract("estimator", "central")
def repeats_with_a_seed(subject: Subject) -> None:
    """A seed gives the same bits, and another seed gives others."""
    one, two = (subject.output(subject.seeded(7)) for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, subject.output(subject.seeded(8)))


@contract("estimator", "central")
def differs_without_a_seed(subject: Subject) -> None:
    """Three fits are not all alike.

    Sixteen noisy counts of a band at epsilon 1.5 are those of another fit with probability 1e-6,
    and of two others with 1e-12.
    """
    assert len({np.asarray(subject.output()).tobytes() for _ in range(3)}) > 1


@contract("device")
def differs_from_other_devices(subject: Subject) -> None:
    """Two devices do not report the same of sixteen values.

    Two reports of Duchi's mechanism are alike with a probability of at most 0.4, sixteen with 4e-7.
    """
    values = VALUES[:-1]
    one, two = (subject.output(table=values) for _ in range(2))
    assert not np.array_equal(one, two)


# What it spends, and when it draws


@contract("estimator", "central", "contribution")
def spends_before_it_draws(subject: Subject) -> None:
    """One spend, of what the guarantee says, before the first random word."""
    order = Order()
    ledger = TapedLedger(order, **roomy_limits(subject))
    charged = subject.make(ledger=ledger, random_state=TapedSource(order))
    subject.output(charged)
    assert order.words, "no noise was drawn"
    assert order.entries[0] in order.spends, "random words were drawn before the spend"
    assert len(ledger) == len(order.spends) == 1
    assert math.isclose(spent(ledger), charged.guarantee_.epsilon, rel_tol=1e-9)
    entry = ledger.entries[0]
    assert entry.privacy_unit == charged.guarantee_.privacy_unit
    assert entry.seeded == charged.guarantee_.seeded
    if hasattr(charged, "release_"):
        assert charged.release_.ledger == entry.receipt, "the release must say which entry paid"


@contract("estimator", "central")
def draws_nothing_when_the_spend_is_refused(subject: Subject) -> None:
    """A ledger that lacks the budget stops it before a record or a random word is touched."""
    order = Order()
    delta = getattr(subject.make(), "delta", 0.0)
    limits = {"epsilon": 0.9, "delta": delta, "metric_epsilon": 0.9, "metric_unit": "m"}
    ledger = TapedLedger(order, **limits)
    refused = subject.make(ledger=ledger, random_state=TapedSource(order))
    with recording() as tape, expects(BudgetExceededError):
        subject.output(refused)
    assert tape.entries == []
    assert order.entries == []
    assert spent(ledger) == 0.0
    assert not hasattr(refused, "release_")


@contract("metric")
def charges_for_rounding_too(subject: Subject) -> None:
    """Two records next to each other may be a step apart in every column; reports add that up."""
    ledger = roomy_ledger(**roomy_limits(subject))
    model = subject.make(ledger=ledger)
    with recording() as tape:
        subject.output(model)
    subject.output(model)
    # Conditioning on the box costs as much again.
    share = 0.5 if getattr(model, "truncate", None) else 1.0
    diagonal = math.sqrt(model.n_features_in_)
    one = model.guarantee_.slack
    assert one >= max(diagonal / (share * draw.scale) for draw in tape.draws)
    charged = [entry.event.slack for entry in ledger.entries]
    assert len(charged) >= 2
    assert set(charged) == {one}
    (total,) = ledger.spent
    assert total.slack >= math.fsum(charged)


@contract("estimator", "central", "contribution")
def draws_and_promises_what_was_charged(subject: Subject) -> None:
    """Parameters that are changed after the charge count for the next call alone.

    With one seed, outputs, release and promise are those of a run where nothing was changed.
    """
    one = subject.make(random_state=7, ledger=roomy_ledger(**roomy_limits(subject)))
    expected = subject.output(one)
    for named in (("epsilon",), ()):
        ledger = MeddlingLedger(**roomy_limits(subject))
        ledger.target = two = subject.make(random_state=7, ledger=ledger)
        ledger.named, given = named, two.get_params(deep=False)
        try:
            found = subject.output(two)
        except Exception as failure:  # other parameters may make no sense
            raise AssertionError("parameters were read again after the charge") from failure
        assert np.array_equal(found, expected)
        assert ledger.entries[0].event == one.ledger.entries[0].event
        assert two.epsilon != one.epsilon, "parameters are those that were set last"
        # The promise of a mechanism is that of the next report too.
        two.set_params(**given)
        assert two.guarantee_ == one.guarantee_
        if hasattr(one, "release_"):
            assert replace(two.release_, ledger=None) == replace(one.release_, ledger=None)


@contract("device")
def draws_by_the_document_that_was_agreed_to(subject: Subject) -> None:
    """What an app does to a campaign that a device handed out changes no report and no charge."""
    device = subject.make()
    agreed = device.status()[0].campaign
    one = agreed.mechanism.guarantee_.epsilon
    device.status()[0].campaign.mechanism.set_params(epsilon=30.0)
    with recording() as tape:
        subject.output(device)
    if subject.price is not None:
        assert max(subject.price(device, tape)) <= 1 + 1e-12
    assert device.status()[0].campaign == agreed
    assert device.status()[0].epsilon == one


class Repeating:
    """An observer that writes down what is released, and releases the same the next time."""

    def __init__(self, kept: list[Any]) -> None:
        self._kept = kept
        self._script = iter(list(kept))

    def release(self, exact: Any, noise: Any, cost: float, released: Any) -> Any:
        """Return the value of before, if there is one."""
        found = next(self._script, released)
        self._kept.append(found)
        return found


@contract("central")
def draws_noise_inside_the_door_only(subject: Subject) -> None:
    """Random words outside of ``privatize`` are about no record, and no sampler of noise takes any.

    Every word that the source hands out is counted, whoever asks for it. With one person more and
    the same released values, as many are drawn outside of the door.
    """
    order = Order()
    released: list[Any] = []
    tables = [pair.records for pair in subject.pairs[:1]] or [subject.table]
    with observed(Repeating(released)):
        subject.output(subject.make(random_state=TapedSource(order, seed=3)), tables[0])
    assert order.total(inside=True) > 0, "no noise was drawn at the door"
    outside = [one for one in order.words if not one.inside]
    samplers = {one.module for one in outside if one.module.startswith("shoal.noise.")}
    assert not samplers, f"{samplers} drew outside of privatize"
    assert bool(outside) <= subject.public_draws, f"{outside} were drawn outside of privatize"
    for pair in subject.pairs[:1]:
        again = Order()
        with observed(Repeating(released)):
            model = subject.make(random_state=TapedSource(again, seed=3))
            subject.output(model, pair.with_added)
        assert again.total(inside=False) == order.total(inside=False)


@contract("estimator+class")
def notes_columns_and_seed(subject: Subject) -> None:
    """An entry of the ledger names the columns, and says whether a seed drew."""
    frame = pd.DataFrame(subject.table, columns=["east", "north"])
    for seed in (None, 7):
        ledger = roomy_ledger(**roomy_limits(subject))
        charged = subject.make(ledger=ledger, random_state=seed).fit(frame)
        if hasattr(charged, "transform"):
            charged.transform(frame)
        assert ledger.entries
        for entry in ledger.entries:
            assert entry.columns == subject.columns
            assert entry.seeded == (seed is not None)


# What it costs


@contract("priced")
def noise_pays_for(subject: Subject) -> None:
    """The scales that were drawn with add up to the promise, by sensitivities found apart."""
    assert subject.price is not None
    fitted = subject.seeded()
    with recording() as tape:
        subject.output(fitted)
    parts = list(subject.price(fitted, tape))
    assert parts, "no noise was drawn"
    for part in parts:
        assert part <= 1 + 1e-12
        assert part >= 1 - 1e-9, "budget left unused"


@contract("estimator+replayed")
def replays_on_neighbors(subject: Subject) -> None:
    """One record more costs at most what is declared, and nothing else may differ."""
    clears(subject, subject.effect(repeats=sizes.draws(2, quick=1)))


@contract("contribution", "described")
def costs_a_person_no_more_than_declared(subject: Subject) -> None:
    """A whole user with more rows than count, the largest weight, a record of any stratum.

    Their cost is measured by replay, and holds for users, weights and strata as for records.
    """
    clears(subject, subject.effect())


def clears(subject: Subject, audit: ReplayAudit) -> None:
    """Assert that a replay finds nothing, and that its pairs would have shown a broken promise."""
    assert not audit.broken, str(audit)
    assert audit.loss <= audit.budget * (1 + 1e-9)
    assert audit.loss >= subject.tight * audit.budget, f"the pairs show little: {audit}"


# Public bounds at the ends of the doubles


BOUNDS_AT_THE_ENDS = {
    "all doubles": (-LARGE, LARGE),
    "half of them": (-LARGE / 2, LARGE / 2),
    "the largest": (1e300, LARGE),
    "large and close": (1e300, 1.0000000001e300),
    "one step apart": (1.0, math.nextafter(1.0, 2.0)),
    "the least": (0.0, LEAST),
    "small": (1e-300, 2e-300),
    "uneven": (-LARGE, 1e-280),
}


@contract("bounded")
def works_in_bounds_or_refuses_them(subject: Subject) -> None:
    """Finite bounds of any size make a release, or are refused by us before the spend."""
    for name, (low, high) in BOUNDS_AT_THE_ENDS.items():
        table = subject.table.copy()
        columns = 2 if "contribution" in subject.tags else table.shape[1]  # ids and weights before
        share = np.abs(table[:, -columns:]) / np.abs(table[:, -columns:]).max()
        table[:, -columns:] = (1 - share) * low + share * high
        model = subject.make(bounds=(low, high), ledger=roomy_ledger(**roomy_limits(subject)))
        released: list[Any] = []
        try:
            error = refusal(
                lambda model=model, table=table, released=released: released.append(
                    subject.output(model, table)
                )
            )
        except Exception as failure:
            raise AssertionError(f"no refusal of ours: {name}") from failure
        assert np.isfinite(released).all(), name
        if error is not None:
            assert error.parameter in ("bounds", "truncate"), (name, error)
            assert len(model.ledger) == 0, f"budget was spent in bounds that are refused: {name}"


# What leaves


@contract("estimator+clusterer")
def labels_follow_from_the_release(subject: Subject) -> None:
    """In a box that is no square, labels on a device are those of predict, ties included."""
    low, high = np.array([-30.0, 0.01]), np.array([10.0, 0.03])
    X = low + (subject.table + 1.0) / 2 * (high - low)
    fitted = subject.make(bounds=(low, high), random_state=0).fit(X)
    release = Release.from_json(fitted.release_.to_json())
    corners = np.array([low, high, (low + high) / 2, low - 1e9, high + 1e9])
    asked = np.concatenate([X, corners])
    assert (label_on_device(release, asked) == fitted.predict(asked)).all()


@contract("central")
def releases_all_that_leaves(subject: Subject) -> None:
    """A release travels as text, says its guarantee, and has no labels."""
    fitted = subject.make()
    subject.output(fitted)
    release = Release.from_json(fitted.release_.to_json())
    assert release == fitted.release_
    assert "labels" not in release.values
    assert release.guarantee == fitted.guarantee_


@contract("sized")
def has_no_cluster_below_the_smallest_size(subject: Subject) -> None:
    """Sizes, cells, labels and release speak of the same clusters, each as large as was asked."""
    rng = np.random.default_rng(0)
    blobs = [rng.normal(middle, 0.9, (n, 2)) for middle, n in ((-8, 90), (0, 150), (8, 700))]
    X = np.vstack(blobs)
    any_size = subject.make(random_state=0).fit(X)
    assert any_size.n_clusters_ > 1
    # Some sizes lie between those of a part with and without its rim.
    for least in (*np.linspace(60, 160, 11), 2.0 * len(X)):
        fitted = subject.make(random_state=0, min_cluster_size=least).fit(X)
        assert (fitted.cluster_sizes_ >= least).all(), (fitted.cluster_sizes_, least)
        found = np.bincount(
            fitted.cells_[fitted.cells_ >= 0],
            weights=fitted.density_[fitted.cells_ >= 0],
            minlength=fitted.n_clusters_,
        )
        assert np.allclose(found, fitted.cluster_sizes_)
        assert len(fitted.cluster_nodes_) == fitted.n_clusters_
        release = Release.from_json(fitted.release_.to_json())
        assert list(release.values["sizes"]) == fitted.cluster_sizes_.tolist()
        assert (label_on_device(release, X) == fitted.predict(X)).all()
        assert (fitted.labels_ == fitted.predict(X)).all()
        assert fitted.predict(X).max() < fitted.n_clusters_
        again = any_size.refine(min_cluster_size=least)
        assert np.array_equal(again.cells_, fitted.cells_)


# Devices


@contract("device")
def charges_each_value_once(subject: Subject) -> None:
    """A value keeps its bytes and costs once; another costs again."""
    device = subject.make()
    mechanism = device.status()[0].campaign.mechanism
    first = device.draw(VALUES[0])
    assert device.draw(VALUES[0]).report == first.report
    assert device.status()[0].epsilon == mechanism.guarantee_.epsilon
    device.draw(VALUES[1])
    status = device.status()[0]
    assert status.epsilon == 2 * mechanism.guarantee_.epsilon
    assert status.slack == 2 * mechanism.guarantee_.slack
    every = status.campaign.reports_per_device
    assert status.campaign.guarantee.slack == every * mechanism.guarantee_.slack


@contract("device")
def draws_nothing_beyond_the_campaign(subject: Subject) -> None:
    """One value more than is allowed is refused before a draw; one of before costs no draw."""
    device = subject.make()
    subject.output(device, VALUES[:-1])
    spent_before = device.status()[0].epsilon
    with recording() as tape, expects(BudgetExceededError):
        device.draw(VALUES[-1])
    assert device.draw(VALUES[0]).duplicate
    assert tape.entries == []
    assert device.status()[0].epsilon == spent_before


# How it travels, and what it reads


@contract("estimator+class")
def shares_the_ledger_with_copies(subject: Subject) -> None:
    """A copy of an estimator charges the same ledger."""
    one = subject.make(ledger=roomy_ledger())
    for entries, copier in enumerate([clone, copy.copy, copy.deepcopy], start=1):
        twin = copier(one)
        assert twin.ledger is one.ledger
        subject.output(twin)
        assert len(one.ledger) == entries
    assert spent(one.ledger) > 0


@contract("estimator+class", "described")
def pickles_without_key_and_labels(subject: Subject) -> None:
    """A pickle holds neither the key of its noise nor labels, and works."""
    fitted = subject.make(random_state=None)
    subject.output(fitted)
    twin = pickle.loads(pickle.dumps(fitted))
    assert not hasattr(twin, "labels_")
    assert not hasattr(twin, "_source")
    assert str(twin.guarantee_) == str(fitted.guarantee_)
    assert set(vars(twin)) <= set(vars(fitted))
    subject.output(twin)


@contract("estimator+class")
def pickles_with_a_ledger_in_a_file_only(subject: Subject) -> None:
    """A ledger in memory cannot travel; one in a file is charged by the copy."""
    with expects(LedgerPicklingError):
        pickle.dumps(subject.make(ledger=roomy_ledger()))
    with tempfile.TemporaryDirectory() as folder:
        charged = subject.make(ledger=roomy_ledger(path=Path(folder) / "ledger"))
        subject.output(pickle.loads(pickle.dumps(charged)))
        assert len(charged.ledger) == 1


@contract("estimator+class")
def reads_tables_as_arrays(subject: Subject) -> None:
    """A table of any library gives the bits of an array, and names of columns."""
    expected = subject.output(subject.seeded(1))
    X = subject.table
    for kind in (pd.DataFrame, pl.DataFrame, pa.table):
        fitted = subject.seeded(1)
        table = kind({"height": X[:, 0], "weight": X[:, 1]})
        assert (subject.output(fitted, table) == expected).all()
        assert fitted.feature_names_in_.tolist() == ["height", "weight"]


@contract("transformer+class")
def sets_its_output(subject: Subject) -> None:
    """Reports come in the frames that were asked for, with the names of their columns."""
    for container, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        estimator = subject.make().set_output(transform=container)
        found = estimator.fit_transform(pd.DataFrame(subject.table, columns=["east", "north"]))
        assert isinstance(found, kind)
        assert list(found.columns) == list(subject.reported)


@contract("estimator+central")
def has_no_output_to_set(subject: Subject) -> None:
    """What releases a table has no ``transform``, and so no frame of it."""
    assert not hasattr(subject.make(), "set_output")


@contract("estimator+class")
def ends_a_pipeline(subject: Subject) -> None:
    """It may be the last step of a pipeline."""
    pipeline = make_pipeline(FunctionTransformer(), subject.make()).fit(subject.table)
    assert pipeline[-1].n_features_in_ == 2


@contract("estimator+any columns")
def takes_one_record(subject: Subject) -> None:
    """One record, fewer than there are clusters, is a table like another."""
    assert np.isfinite(subject.output(table=np.zeros((1, 3)))).all()


@contract("estimator+class")
def clips_silently(subject: Subject) -> None:
    """Records beyond the bounds count as those on the edge."""
    far = np.array([[1e308, -1e308], [0.0, 3.0]])
    edge = np.array([[20.0, -20.0], [0.0, 3.0]])
    found, expected = (subject.output(subject.seeded(1), X) for X in (far, edge))
    assert (found == expected).all()


# A random transformer cannot be deterministic, and the array API is switched off.
EXPECTED_SKIPS = {
    "check_array_api_input",
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}


@contract("checked", heavy=("DPKMeans-ball",))
def passes_the_checks_of_scikit_learn(subject: Subject) -> None:
    """All of them, but for those that a row names with the reason."""
    assert subject.checks is not None
    estimator = subject.make(**subject.checks.changes)
    expected = dict(subject.checks.expected)
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= EXPECTED_SKIPS
    assert sum(result["status"] == "passed" for result in results) >= 35


def matrix() -> str:
    """Return the subjects of each promise, and how many promises each subject makes."""
    made = pairs()
    lines = [f"{len(CONTRACTS)} contracts, {len(SUBJECTS)} subjects, {len(made)} cells"]
    for one in CONTRACTS:
        names = [row.name for held, row in made if held is one]
        lines.append(f"{one.check.__name__} ({len(names)}): {'; '.join(names)}")
    for row in SUBJECTS:
        lines.append(f"{row.name}: {sum(held is row for _, held in made)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(matrix() + "\n")
