"""A table of customers as companies have it: numbers, categories, a date, text, and gaps.

Nobody's records: everything is drawn from the five segments below. They overlap as in life, and no
column tells them apart alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._typing import Bools, Floats, Ints
from shoal.datasets._described import described
from shoal.datasets.dataset import GENERATED, Dataset, seeded_generator

__all__ = ["SEGMENTS", "make_customers"]

FIRST_DAY, LAST_DAY = np.datetime64("2010-01-01"), np.datetime64("2025-12-31")
YEAR = 365.25  # days
IDS = 10**6  # customer numbers have seven digits, in no order
MIN_AGE, MAX_AGE = 16, 100
MAX_VISITS = 120
MAX_INCOME = 1_000_000.0
TAIL, TAIL_SHARE = 1.6, 0.02  # index of the Pareto tail of incomes, and who is in it
MEAN_ROWS, MAX_ROWS = 2.5, 12  # of a person: three years of quarters at most
COMMENTED = 0.4  # rows with a comment

CITIES = (
    "Aldford",
    "Brightwater",
    "Carrow",
    "Dunmere",
    "Eastholm",
    "Fernley",
    "Granton",
    "Harwick",
    "Ivybridge",
    "Kelso",
)
# Too small for the list of the schema, where they count as "other".
VILLAGES = tuple(
    f"{first}{last}"
    for first in ("Ash", "Birch", "Clover", "Elm", "Fox", "Heath")
    for last in ("by", "combe", "dale", "ham", "worth")
)

SMALL_TALK = (
    "friendly staff",
    "long queue",
    "delivery was late",
    "good prices",
    "easy to find",
    "could not find a parking space",
    "website is slow",
    "nice shop, thank you",
)


@dataclass(frozen=True)
class Segment:
    """One kind of customer: what is usual, and how far people are from it."""

    name: str
    share: float
    age: tuple[float, float]  # mean, standard deviation
    income: tuple[float, float]  # median, standard deviation of the logarithm
    visits: tuple[float, float]  # mean a quarter, spread between people
    years: tuple[float, float]  # as a customer: mean, shape of the gamma distribution
    female: float
    member: float
    cities: tuple[float, ...]  # weights of CITIES, then of all villages together
    says: tuple[str, ...]
    silent: float  # who does not say their income


SEGMENTS = (
    Segment(
        name="students",
        share=0.18,
        age=(22.5, 3.0),
        income=(9_500.0, 0.45),
        visits=(7.0, 0.5),
        years=(1.8, 2.0),
        female=0.55,
        member=0.35,
        cities=(2, 9, 7, 1, 1, 1, 1, 1, 1, 1, 1),
        says=("student discount please", "open longer at night", "vegan snacks", "cheap coffee"),
        silent=0.25,
    ),
    Segment(
        name="professionals",
        share=0.23,
        age=(33.0, 6.0),
        income=(47_000.0, 0.38),
        visits=(4.0, 0.5),
        years=(4.0, 2.0),
        female=0.47,
        member=0.4,
        cities=(9, 4, 2, 5, 1, 1, 1, 1, 1, 1, 1),
        says=("order by app", "self checkout is quick", "good wine", "pick up after work"),
        silent=0.12,
    ),
    Segment(
        name="families",
        share=0.27,
        age=(41.0, 6.5),
        income=(38_000.0, 0.45),
        visits=(15.0, 0.4),
        years=(6.5, 3.0),
        female=0.6,
        member=0.75,
        cities=(3, 1, 1, 3, 6, 6, 3, 1, 1, 1, 3),
        says=("diapers in bulk", "trolleys for children", "school lunch boxes", "family packs"),
        silent=0.1,
    ),
    Segment(
        name="retired",
        share=0.2,
        age=(71.0, 7.0),
        income=(23_000.0, 0.4),
        visits=(10.0, 0.5),
        years=(11.0, 6.0),
        female=0.57,
        member=0.6,
        cities=(1, 1, 1, 1, 2, 2, 2, 5, 5, 3, 6),
        says=("a bench to rest", "large print labels", "fresh bread early", "help with bags"),
        silent=0.15,
    ),
    Segment(
        name="traders",
        share=0.12,
        age=(48.0, 10.0),
        income=(66_000.0, 0.75),
        visits=(38.0, 0.35),
        years=(8.0, 4.0),
        female=0.4,
        member=0.8,
        cities=(5, 2, 2, 4, 2, 2, 4, 2, 1, 1, 2),
        says=("invoice by mail", "bulk discount", "loading bay", "open at six"),
        silent=0.3,
    ),
)
GAPS = {"age": 0.02, "sex": 0.03, "city": 0.04, "joined": 0.05, "member": 0.08}


def make_customers(
    n_samples: int = 20_000,
    *,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate customers of five segments, with one row for each person and quarter.

    Columns are the customer's number, age, yearly income (with a heavy tail), visits in the
    quarter, sex, city (small cities are not in the schema's list), the date of joining, whether
    the customer is a member, and a comment. A person has one or more rows, which differ in visits
    and comment. Some values are missing, incomes more often in some segments than in others.

    Parameters
    ----------
    n_samples : int, default=20_000
        Number of rows.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Rows in random order. ``table`` has all columns, ``X`` the numbers, and ``y`` the segment,
        an index into students, professionals, families, retired, traders.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> customers = make_customers(1000, random_state=0)
    >>> list(customers.table)
    ['customer', 'age', 'income', 'visits', 'sex', 'city', 'joined', 'member', 'comment']
    >>> len(set(customers.table["customer"].tolist())) < 1000
    True
    """
    n_samples = _numbers.count("n_samples", n_samples)
    rng = seeded_generator(random_state)
    person = _rows(n_samples, rng)
    people = int(person[-1]) + 1
    segment = rng.choice(len(SEGMENTS), size=people, p=[each.share for each in SEGMENTS])
    drawn = _people(segment, rng)
    visits = _visits(drawn.pop("visits")[person], rng)
    columns = {name: values[person] for name, values in drawn.items()}
    columns |= {"visits": visits, "comment": _comments(segment[person], rng)}
    order = rng.permutation(n_samples)
    description = described("customers")
    table = {name: columns[name][order] for name in description.names}
    limits = np.array(list(description.limits.values()))
    return Dataset(
        name="customers",
        X=description.numbers(table),
        y=segment[person][order].astype(np.int64),
        bounds=(limits[:, 0].copy(), limits[:, 1].copy()),
        columns=tuple(description.limits),
        license=GENERATED,
        source="shoal.datasets.make_customers",
        table=table,
        table_schema=description.content,
    )


def _rows(n_samples: int, rng: np.random.Generator) -> Ints:
    """Return the person of each row: people have one or more, few have many."""
    rows = np.minimum(rng.geometric(1.0 / MEAN_ROWS, size=n_samples), MAX_ROWS)
    return np.repeat(np.arange(n_samples), rows)[:n_samples].astype(np.int64)


def _people(segment: Ints, rng: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
    """Draw what is the same in all rows of a person, and their usual number of visits."""
    people = len(segment)
    age = rng.normal(_each(segment, "age", 0), _each(segment, "age", 1))
    logs = rng.normal(np.log(_each(segment, "income", 0)), _each(segment, "income", 1))
    tail = np.where(rng.random(people) < TAIL_SHARE, 1.0 + rng.pareto(TAIL, people), 1.0)
    income = np.clip(np.round(np.exp(logs) * tail, -2), 0.0, MAX_INCOME)
    income[rng.random(people) < _each(segment, "silent")] = np.nan
    shape = _each(segment, "years", 1)
    days = np.round(YEAR * rng.gamma(shape, _each(segment, "years", 0) / shape)).astype(np.int64)
    joined = np.maximum(LAST_DAY - days.astype("timedelta64[D]"), FIRST_DAY)
    woman = rng.random(people) < _each(segment, "female")
    member = rng.random(people) < _each(segment, "member")
    missing = {name: rng.random(people) < share for name, share in GAPS.items()}
    spread = _each(segment, "visits", 1)
    return {
        "customer": IDS + rng.choice(9 * IDS, size=people, replace=False),
        "age": np.where(missing["age"], np.nan, np.clip(np.floor(age), MIN_AGE, MAX_AGE)),
        "income": income,
        "visits": _each(segment, "visits", 0) * np.exp(rng.normal(-(spread**2) / 2, spread)),
        "sex": _texts(np.where(woman, "female", "male"), missing["sex"]),
        "city": _texts(_cities(segment, rng), missing["city"]),
        "joined": np.where(missing["joined"], np.datetime64("NaT", "D"), joined),
        "member": _texts(np.where(member, "yes", "no"), missing["member"]),
    }


def _each(segment: Ints, name: str, part: int | None = None) -> Floats:
    """Return a number of everyone's segment."""
    values = [getattr(each, name) for each in SEGMENTS]
    return np.array(values if part is None else [value[part] for value in values])[segment]


def _texts(values: npt.NDArray[Any], missing: Bools) -> npt.NDArray[np.object_]:
    texts = values.astype(object)
    texts[missing] = None
    return texts


def _cities(segment: Ints, rng: np.random.Generator) -> npt.NDArray[np.str_]:
    weights = np.array([each.cities for each in SEGMENTS], dtype=np.float64)
    until = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    until[:, -1] = 1.0
    place = (rng.random(len(segment))[:, None] >= until[segment]).sum(axis=1)
    village = np.array(VILLAGES)[rng.integers(0, len(VILLAGES), size=len(segment))]
    return np.where(place < len(CITIES), np.array((*CITIES, ""))[place], village)


def _visits(usual: Floats, rng: np.random.Generator) -> Ints:
    return np.minimum(rng.poisson(usual), MAX_VISITS).astype(np.int64)


def _comments(segment: Ints, rng: np.random.Generator) -> npt.NDArray[np.object_]:
    """Draw comments of one or two phrases: of the segment, or what anybody says."""
    own = np.array([each.says for each in SEGMENTS])
    rows = len(segment)
    phrases = [
        np.where(
            rng.random(rows) < 0.6,
            own[segment, rng.integers(0, own.shape[1], size=rows)],
            np.array(SMALL_TALK)[rng.integers(0, len(SMALL_TALK), size=rows)],
        )
        for _ in range(2)
    ]
    both = rng.random(rows) < 0.5
    texts = [
        f"{first}, {second}" if two and first != second else str(first)
        for first, second, two in zip(*phrases, both, strict=True)
    ]
    return _texts(np.array(texts), rng.random(rows) >= COMMENTED)
