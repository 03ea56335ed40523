"""Tables made up from a schema alone: segments that overlap, to try a release on.

A made-up table has the parts of the schema's encoded space, each as a plain column of its own, so
that one record moves in the same body as a real one does.
"""

import itertools
import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal._typing import Bools, Floats, Ints
from shoal.metrics import cost_ratio
from shoal.schema import Category, EncodedSpace, Field, Number, Part, Schema

__all__ = [
    "CentersFound",
    "MadeUpTable",
    "Trials",
    "flat_schema",
    "made_up_table",
    "plain_centers",
    "stands_for",
]

MAX_ROWS = 10_000  # of a made-up table
MIN_SEGMENT = 8  # records of the smallest segment that is looked for
HALVINGS = 5  # of the sizes between the smallest and the largest segment
ODD_TABLES = 3  # in which a segment shrinks: each is clustered many times
STARTS = 8  # of k-means without privacy
SKEW = 2.0  # of the Dirichlet distribution of segment sizes: the smaller, the less equal
FEW_LEVELS = 0.5  # the same of categories: most records of a segment share a few
CENTERS, SPREADS = (0.1, 0.9), (0.03, 0.15)  # of numbers in a segment, in widths of the bounds
GAPS = (0.5, 8.0)  # of the beta distribution of missing rates: most are small
ODD_SPREAD, ODD_SHARE = 0.03, 0.9
MATCH = 0.5  # a center stands for a segment if their records overlap by more (Jaccard)
MISSING_FLAG = " missing"  # ends the name of a column that says whether a number is missing


class MadeUpTable(NamedTuple):
    """Records of a flat schema, the same encoded, and the segment of each."""

    columns: dict[str, Any]
    encoded: Floats
    segments: Ints


class CentersFound(NamedTuple):
    """Centers in the encoded space, and which of them are more than noise."""

    centers: Floats
    certain: Bools


Centers = Callable[[MadeUpTable], CentersFound]


class Trials:
    """Made-up tables on which centers are tried, with noise and without."""

    def __init__(self, space: EncodedSpace, n: int, k: int, tables: int, seed: int) -> None:
        self.rows = max(min(n, MAX_ROWS), k + 1)
        self._scale, self._k = n / self.rows, k
        self._step: Callable[[], None] = lambda: None
        seeds = np.random.SeedSequence(seed).generate_state(tables + ODD_TABLES).tolist()
        makers = [partial(made_up_table, space, self.rows, k, one) for one in seeds]
        self._tables = [make() for make in makers[:tables]]
        self._references = [plain_centers(k, table).centers for table in self._tables]
        self._odd = makers[tables:]

    def report(self, progress: Callable[[int, int], None] | None, *, epsilons: int) -> None:
        """Call this after each step: a table that was clustered, or an odd segment found."""
        total = epsilons * len(self._tables) + (epsilons + 1) * len(self._odd)
        numbers = itertools.count(1)
        if progress is not None:
            self._step = lambda: progress(next(numbers), total)

    def cost_ratios(self, find: Centers) -> list[float]:
        """Return the cost over that of k-means without privacy, of each table."""
        ratios = []
        for table, best in zip(self._tables, self._references, strict=True):
            ratios.append(cost_ratio(table.encoded, find(table).centers, reference=best))
            self._step()
        return ratios

    def smallest_seen(self, find: Centers) -> float:
        """Return the records of the smallest odd segment that a center stands for; or infinity."""
        sizes = []
        for make in self._odd:
            sizes.append(self._smallest(find, make))
            self._step()
        return float(np.median(sizes)) * self._scale

    def _smallest(self, find: Centers, make: Callable[..., MadeUpTable]) -> float:
        def seen(size: int) -> bool:
            table = make(odd=size)
            found = find(table)
            return stands_for(table, found.centers, found.certain, int(table.segments.max()))

        low, high = min(MIN_SEGMENT, self.rows // 2), max(self.rows // max(self._k, 2), 1)
        if not seen(high):
            return math.inf
        for _ in range(HALVINGS):
            middle = round(math.sqrt(low * high))
            low, high = (low, middle) if seen(middle) else (middle, high)
        return high


def plain_centers(k: int, table: MadeUpTable) -> CentersFound:
    """Return the centers of k-means without privacy."""
    with warnings.catch_warnings():
        # Records of few categories may be fewer than clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = KMeans(k, n_init=STARTS, random_state=0).fit(table.encoded)
    return CentersFound(plain.cluster_centers_, np.ones(k, dtype=np.bool_))


def flat_schema(space: EncodedSpace) -> Schema:
    """Return a schema of plain numbers and categories with the same encoded space."""
    fields: list[Field] = []
    for part in space.parts:
        if part.kind == "interval":
            number = Number(
                _name(part), minimum=0.0, maximum=1.0, weight=part.width**2, missing="refuse"
            )
            fields.append(number)
        else:
            levels = _levels(part)
            category = Category(
                _name(part), levels, other=levels[0], weight=2 * part.width**2, missing="refuse"
            )
            fields.append(category)
    return Schema(fields)


def made_up_table(
    space: EncodedSpace,
    rows: int,
    k: int,
    seed: int,
    *,
    odd: int | None = None,
    least: float = 0.0,
) -> MadeUpTable:
    """Draw k segments; the last has `odd` records, and differs from the others in every field.

    Parameters
    ----------
    space : EncodedSpace
        Of a schema.
    rows : int
        Number of records.
    k : int
        Number of segments.
    seed : int
        The same segments for each size of the odd one.
    odd : int, default=None
        Records of the odd segment; None: all segments are alike.
    least : float, default=0.0
        Share of the records that each of the other segments has at least.

    Returns
    -------
    table : MadeUpTable
        Nobody's records.
    """
    rng = np.random.default_rng(seed)
    others = k if odd is None else max(k - 1, 1)
    shares = least + (1.0 - others * least) * rng.dirichlet(np.full(others, SKEW))
    segments = rng.choice(others, rows, p=shares)
    if odd is not None:
        segments[rng.permutation(rows)[:odd]] = others
    columns = {
        _name(part): _drawn(part, space, segments, rng, odd=odd is not None) for part in space.parts
    }
    return MadeUpTable(columns, flat_schema(space).encode(columns), segments)


def stands_for(table: MadeUpTable, centers: Floats, certain: Bools, segment: int) -> bool:
    """Return whether a certain center has most of the records of a segment, and few others."""
    squares = (centers**2).sum(axis=1) - 2 * table.encoded @ centers.T
    nearest = squares.argmin(axis=1)
    inside = table.segments == segment
    both = np.bincount(nearest[inside], minlength=len(centers))
    either = np.bincount(nearest, minlength=len(centers)) + inside.sum() - both
    return bool(((both > MATCH * either) & certain).any())


def _drawn(
    part: Part, space: EncodedSpace, segments: Ints, rng: np.random.Generator, *, odd: bool
) -> npt.NDArray[Any]:
    """Return the values of one part; those of the last segment are far from the others if odd."""
    count = int(segments.max()) + 1
    if part.kind == "simplex":
        levels = _levels(part)
        shares = rng.dirichlet(np.full(len(levels), FEW_LEVELS), count)
        if odd:
            shares[-1] *= 1 - ODD_SHARE
            shares[-1, shares[:-1].sum(axis=0).argmin()] += ODD_SHARE
        above = rng.random(len(segments))[:, None] > shares.cumsum(axis=1)[segments]
        codes = np.minimum(above.sum(axis=1), len(levels) - 1)
        return np.array([levels[code] for code in codes], dtype=object)
    if space.names[part.start].endswith(MISSING_FLAG):
        return (rng.random(len(segments)) < rng.beta(*GAPS, count)[segments]).astype(np.float64)
    middles, spreads = rng.uniform(*CENTERS, count), rng.uniform(*SPREADS, count)
    if odd:
        middles[-1] = 1 - ODD_SPREAD if middles[:-1].mean() < 0.5 else ODD_SPREAD
        spreads[-1] = ODD_SPREAD
    noise = rng.standard_normal(len(segments))
    return np.clip(middles[segments] + spreads[segments] * noise, 0.0, 1.0)


def _levels(part: Part) -> list[str]:
    return [str(level) for level in range(part.stop - part.start)]


def _name(part: Part) -> str:
    return f"part {part.start}"
