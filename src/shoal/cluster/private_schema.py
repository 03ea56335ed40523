"""What a schema still lacks, learned from the records for a price.

* **Bounds** of numbers and dates, from two histograms (:mod:`shoal.cluster._learned_ends`). Days
  are counted from 2000 on, where powers of two are close together for most dates.
* **Categories**: those that enough people have (:mod:`shoal.cluster._partitions`), for a delta.

Adjacency: add or remove one row, or one user with their first ``records_per_user`` rows. The budget
is divided equally among the fields that lack something. Proof: proofs/partitions.md.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._typing import RandomState
from shoal.cluster._budget import check_epsilon, check_ledger, drawn_by_seed
from shoal.cluster._contributions import bounded_contributions, check_same_rows
from shoal.cluster._learned_ends import release_ends, up_to_zero
from shoal.cluster._noise import BudgetedNoise, PureNoise, noise_for
from shoal.cluster._partitions import select_partitions, selection_noise
from shoal.cluster.kmeans._private_bounds import FALSE_BINS
from shoal.exceptions import DataError, ParameterError
from shoal.noise import RandomSource, as_source
from shoal.privacy import (
    Adjacency,
    ApproximateEvent,
    Guarantee,
    Ledger,
    PrivacyUnit,
    Receipt,
    Release,
)
from shoal.schema import (
    Category,
    Date,
    Field,
    Number,
    Schema,
    named_columns,
    parse_day,
    raw_columns,
    to_texts,
)
from shoal.schema.values import same_category
from shoal.tables import ArrayTable, read_columns

__all__ = ["LearnedSchema", "learn_schema"]

WIDEST = 2.0**60  # magnitudes beyond are clipped
ORIGIN = (date(2000, 1, 1) - date(1970, 1, 1)).days
FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"
MAX_CATEGORIES = 1000  # of a field, as a schema allows


@dataclass(frozen=True)
class LearnedSchema:
    """A schema completed from the records, with the guarantee of what was learned.

    Parameters
    ----------
    schema : Schema
        The template with what was learned; a field that too few people fill may still lack its
        bounds or categories.
    guarantee_ : Guarantee
        The privacy guarantee of all that was learned.
    release_ : Release
        What may be published: the schema, and noisy counts of the learned categories.

    Examples
    --------
    >>> from shoal.cluster import learn_schema
    >>> from shoal.schema import Number, Schema
    >>> template = Schema([Number("age", minimum=0)])
    >>> learn_schema({"age": [30, 41, 67] * 100}, template, epsilon=1.0).guarantee_.epsilon
    1.0
    """

    schema: Schema
    guarantee_: Guarantee
    release_: Release


def learn_schema(
    X: Any,
    template: Schema,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: Ledger | None = None,
    user_ids: Any = None,
    records_per_user: int = 1,
    random_state: RandomState = None,
) -> LearnedSchema:
    """Learn the bounds and categories that a schema lacks from the records, for a budget.

    What the template declares is kept and costs nothing. It must declare the type of each field and
    the order of ordered categories, which are known without the records.

    Parameters
    ----------
    X : data frame, dict of columns, rows in the order of the fields, or path
        The table; a path is that of a CSV or Parquet file. Columns of categories to learn hold
        text, whole numbers or truths. In frames and arrays, whose types often depend on other
        rows, text that is a whole number is learned as one, 01001 as 1001; columns of a CSV file
        by its path, and lists, are learned as written. Floating-point numbers and times are
        refused: they are what whole numbers become in a column with a gap, and dates where all can
        be read. Read such columns as text; do not convert them back (``convert_dtypes``), as large
        numbers are others by then.
    template : Schema
        A schema with fields that lack bounds or categories (``template.lacking()``).
    epsilon : float
        Privacy budget, divided equally among these fields.
    delta : float, default=0.0
        The delta of the guarantee; categories need it above 0.
    ledger : Ledger, default=None
        Keeps account of what was spent; charged before any noise is drawn.
    user_ids : array-like of shape (n,), default=None
        User of each row, as for :class:`DPKMeans`; by default, the template's field with the role
        ``"user"``, if it has one. The guarantee then protects users.
    records_per_user : int, default=1
        How many rows of each user count: the first ones.
    random_state : int, default=None
        A seed makes the result repeatable and the guarantee void.

    Returns
    -------
    learned : LearnedSchema
        The schema, its guarantee and its release. Fields that too few people fill still lack their
        bounds or categories: see ``learned.schema.lacking()``.

    Raises
    ------
    ParameterError
        If a field lacks what cannot be learned, or a parameter is out of range; nothing is spent.
    DataError
        If a column is missing, or holds other values than its field allows; nothing is spent.

    Examples
    --------
    >>> from shoal.cluster import learn_schema
    >>> from shoal.schema import Category, Number, Schema
    >>> template = Schema([Number("age", minimum=0), Category("city")])
    >>> table = {"age": [30, 41, 67, 88] * 100, "city": ["A", "B", "A", "A"] * 100}
    >>> learned = learn_schema(table, template, epsilon=2.0, delta=1e-6, random_state=0)
    >>> learned.schema["age"].maximum, learned.schema["city"].categories
    (92.0, ('A', 'B'))
    """
    wanted = _wanted(template)
    check_epsilon(epsilon)
    _numbers.probability("delta", delta)
    _numbers.count("records_per_user", records_per_user)
    check_ledger(ledger)
    source = as_source(random_state)
    if not wanted:
        free = Guarantee("central", 0.0, seeded=template.seeded)
        return LearnedSchema(template, free, _release(template, {}, free, None))
    table = _read(X, template, wanted, user_ids, int(records_per_user))
    plan = _plan(wanted, float(epsilon), float(delta), table.contribution)
    promise = Guarantee(
        "central",
        epsilon=float(epsilon),
        delta=float(delta) if plan.delta or plan.noise.approximate else 0.0,
        adjacency=Adjacency.ADD_REMOVE,
        seeded=drawn_by_seed(source, template),
        privacy_unit=table.privacy_unit,
        mu=None if plan.delta else plan.noise.mu,
    )
    receipt = _charge(ledger, plan, promise, wanted)
    counts: dict[str, dict[str, int]] = {}
    learned: dict[str, Field] = {}
    for field in wanted:
        if isinstance(field, Category):
            learned[field.name], counts[field.name] = _categories(field, table, plan, source)
        else:
            learned[field.name] = _bounds(field, table, plan, source)
    fields = [learned.get(field.name, field) for field in template]
    schema = replace(template, fields=fields, seeded=promise.seeded)
    shown = replace(promise, uncounted=ledger is None)
    return LearnedSchema(schema, shown, _release(schema, counts, promise, receipt))


def _wanted(template: Any) -> list[Field]:
    """Return the fields that lack what can be learned; refuse those that lack something else."""
    if not isinstance(template, Schema):
        raise ParameterError(
            f"template must be a Schema, got {type(template).__name__}: load it from its file",
            parameter="template",
            code="type",
        )
    wanted = [field for field in template if field.lacking]
    for field in wanted:
        if not isinstance(field, Number | Date | Category):
            raise ParameterError(
                f"field {field.name!r} of the template must have {field.lacking}, which is not "
                "learned from records: declare it",
                parameter="template",
                code="incomplete",
            )
        if isinstance(field, Category):
            _refuse_same_names(field, template)
    return wanted


def _refuse_same_names(field: Category, template: Schema) -> None:
    """Refuse a field whose learned categories may be encoded under the name of another column."""
    for other in template:
        names = [other.name, *(name for shape in other.shapes for name in shape.names)]
        if other is not field and any(name.startswith(f"{field.name}=") for name in names):
            raise ParameterError(
                f"field {other.name!r} of the template must not be named as a category of field "
                f"{field.name!r} would be, nor a category of it: rename one of them",
                parameter="template",
                code="duplicate",
            )


class _Table(NamedTuple):
    """What is read of the records, and how much one person may add."""

    values: Mapping[str, Any]  # doubles of a number or date, NaN for none; text of a category
    users: npt.NDArray[np.integer[Any]] | None
    contribution: int
    privacy_unit: PrivacyUnit


def _read(
    X: Any, template: Schema, wanted: Sequence[Field], user_ids: Any, records_per_user: int
) -> _Table:
    """Read the columns, and keep the rows that count."""
    own = template.user if user_ids is None else None
    names = [field.name for field in wanted]
    if isinstance(X, str | os.PathLike):
        X = read_columns(X, [*names, *([] if own is None else [own.name])])
    raw = raw_columns(X, names, others=template.all_columns)
    columns = named_columns(raw, names)
    if own is not None:
        user_ids = template.read_users(X)
    check_same_rows(X, user_ids)
    rows = len(columns[names[0]].values)
    if not rows:
        raise DataError("X must hold at least one record, got none", code="empty")
    given = bounded_contributions(
        ArrayTable(np.empty((rows, 0))),
        sample_weight=None,
        weight_limit=1.0,
        user_ids=user_ids,
        records_per_user=records_per_user,
        user_column="" if own is None else own.name,
    )
    kept = np.arange(rows) if given.rows is None else given.rows
    values: dict[str, Any] = {}
    for field in wanted:
        words = (*template.missing_values, *field.missing_values)
        if isinstance(field, Category):
            # A list has no type that other records could have decided, as a column of CSV here.
            texts = to_texts(
                columns[field.name],
                words,
                name=field.name,
                as_written=isinstance(raw[field.name], list | tuple),
            )
            values[field.name] = [texts[row] for row in kept]
        else:
            values[field.name] = _unbounded(field).read(columns, words)[kept]
    return _Table(values, given.users, given.max_contribution, given.privacy_unit)


def _unbounded(field: Field) -> Number | Date:
    """Return a field that reads values as they are, missing ones as NaN."""
    if isinstance(field, Date):
        return Date(field.name, minimum=FIRST_DAY, maximum=LAST_DAY, format=field.format)
    return Number(field.name, minimum=-WIDEST, maximum=WIDEST)


class _Plan(NamedTuple):
    """Noise of all releases, and the price of each field; from public numbers alone."""

    noise: BudgetedNoise
    budget: float  # of each field
    delta: float  # of all selections together, and of each
    each_delta: float
    threshold: float  # how many people a category or a bin needs, about


def _plan(wanted: Sequence[Field], epsilon: float, delta: float, contribution: int) -> _Plan:
    """Choose Laplace or normal noise: whichever shows what fewer people have."""
    selections = [field.name for field in wanted if isinstance(field, Category)]
    if selections and not delta:
        raise ParameterError(
            f"delta must be above 0 to learn the categories of field {selections[0]!r}, got 0: "
            "take about 1e-6, or declare them",
            parameter="delta",
            code="range",
        )
    plans: list[tuple[BudgetedNoise, float]] = [(PureNoise(epsilon), delta if selections else 0.0)]
    if delta:
        part = delta / 2 if selections else delta
        plans.append((noise_for(epsilon, part), delta - part))
    options = [_priced(noise, own, selections, wanted, contribution) for noise, own in plans]
    return min(options, key=lambda option: option.threshold)


def _priced(
    noise: BudgetedNoise,
    delta: float,
    selections: Sequence[str],
    wanted: Sequence[Field],
    contribution: int,
) -> _Plan:
    budget = noise.total_budget / len(wanted)
    each = delta / max(len(selections), 1)
    if selections:
        chosen = selection_noise(noise, budget, max_keys=contribution, delta=each)
        threshold = float(chosen.threshold)
    else:
        threshold = noise.count_tail(budget, FALSE_BINS, contribution=contribution)
    return _Plan(noise, budget, delta, each, threshold)


def _charge(
    ledger: Ledger | None, plan: _Plan, promise: Guarantee, wanted: Sequence[Field]
) -> Receipt | None:
    if ledger is None:
        return None
    what = ", ".join(f"{field.lacking} of {field.name}" for field in wanted)
    event = plan.noise.event(what)
    if plan.delta:
        event = ApproximateEvent(epsilon=promise.epsilon, delta=promise.delta, purpose=what)
    return ledger.spend(
        event,
        purpose=f"learn_schema: {what}",
        privacy_unit=promise.privacy_unit,
        seeded=promise.seeded,
        columns=[field.name for field in wanted],
    ).receipt


def _categories(
    field: Category, table: _Table, plan: _Plan, source: RandomSource
) -> tuple[Field, dict[str, int]]:
    """Release the categories that enough people have; of too many, those with most."""
    texts = table.values[field.name]
    chosen = select_partitions(
        [() if text is None else (text,) for text in texts],
        plan.noise,
        plan.budget,
        max_keys=table.contribution,
        delta=plan.each_delta,
        source=source,
        users=table.users,
    )
    order = np.argsort(-chosen.counts, kind="stable")[:MAX_CATEGORIES]
    # What no page can show counts as other; of spellings of one category, that of most counts.
    same: dict[str, int] = {}
    for i in order.tolist():
        if _numbers.is_printable(chosen.keys[i]):
            same.setdefault(same_category(chosen.keys[i]), i)
    kept = {chosen.keys[i]: int(chosen.counts[i]) for i in sorted(same.values())}
    return replace(field, categories=tuple(kept)), kept


def _bounds(field: Field, table: _Table, plan: _Plan, source: RandomSource) -> Field:
    """Release two histograms, and fill in the ends that are lacking."""
    assert isinstance(field, Number | Date)
    values = table.values[field.name]
    values = values[~np.isnan(values)] - (ORIGIN if isinstance(field, Date) else 0)
    ends = release_ends(
        values, plan.noise, plan.budget, contribution=table.contribution, source=source
    )
    if ends is None:
        return field
    if isinstance(field, Date):
        days = np.clip(np.array(_whole(*ends)) + ORIGIN, *_unbounded(field).limits)
        return _filled(field, *np.datetime_as_string(days.astype("datetime64[D]")).tolist())
    low, high = up_to_zero(*ends)
    return _filled(field, *(_whole(low, high) if field.whole else (low, high)))


def _filled(field: Number | Date, low: Any, high: Any) -> Field:
    """Return the field with the ends that it lacks; as it is where they do not fit the others."""
    if isinstance(field, Number) and field.role == "sample_weight":
        low = field.minimum
    low = low if field.minimum is None else field.minimum
    high = high if field.maximum is None else field.maximum
    if isinstance(field, Date):
        fit = parse_day(str(low)) < parse_day(str(high))
    else:  # halves, as a field asks: declared ends may be the smallest doubles
        fit = (low or 0.0) / 2 < high / 2
    return replace(field, minimum=low, maximum=high) if fit else field


def _whole(low: float, high: float) -> tuple[int, int]:
    return math.floor(low), math.ceil(high)


def _release(
    schema: Schema,
    counts: Mapping[str, Mapping[str, int]],
    promise: Guarantee,
    paid: Receipt | None,
) -> Release:
    values = {
        "schema": schema.to_dict(),
        # Names from records and schemas are values: as keys they could be those of the encoding.
        "category_counts": [
            {"field": name, "categories": list(found), "counts": list(found.values())}
            for name, found in counts.items()
        ],
    }
    return Release("learn_schema", values, promise, ledger=paid)
