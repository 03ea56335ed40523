"""Make the vectors of reports: words in, bytes out, for every mechanism that a campaign can name.

``python tools/report_vectors.py [FOLDER]`` writes ``reports.json`` to ``clients/vectors``. Clients
in other languages must draw the same report from the same words, and use as many of them.
Words are given as they are (``"ff*3"``: three times ff) and followed by those of SplitMix64 where
there is a seed. Among them are words that leave a result undecided, so that further ones are asked
for: they are found by bisection, on the bits of one uniform, of the boundary between two results.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._bounds import public_box
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)
from shoal.noise import keep_threshold, odds_between
from shoal.partitions import AxisGrids, NearestSeeds, Partitions, box_axes
from shoal.schema import Number, Place, Schema

FOLDER = Path(__file__).resolve().parent.parent / "clients" / "vectors"
WORD = 64
WORDS = 1 << WORD
EDGES = (0, 1, WORDS - 1)
MANY = 64  # columns, of which a few reports will do
KNOWN = 63  # bits that noise uses of a first word
WIDTH = 2**22 + 1  # cells of a window


class GivenWords:
    """Words from a list, then those of a seed; without a seed it ends."""

    seeded = True

    def __init__(self, words: Sequence[int], seed: int | None = None) -> None:
        self._words, self._state = list(words), seed
        self.used = 0

    @classmethod
    def read(cls, vector: dict[str, Any]) -> "GivenWords":
        """Return the words of a vector."""
        runs = (text.partition("*") for text in vector["words"])
        given = [int(word, 16) for word, _, count in runs for _ in range(int(count or 1))]
        return cls(given, vector["seed"])

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next words."""
        return np.array([self._next() for _ in range(count)], dtype=np.uint64)

    def _next(self) -> int:
        self.used += 1
        if self.used <= len(self._words):
            return self._words[self.used - 1]
        if self._state is None:
            raise LookupError("there are no more words")
        self._state = (self._state + 0x9E3779B97F4A7C15) % WORDS
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORDS
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORDS
        return z ^ (z >> 31)


class Case:
    """One mechanism and some of its reports."""

    def __init__(self, kind: Any, width: int, **parameters: Any) -> None:
        self.parameters = {"bounds": (0.0, 1.0), **parameters}
        if "schema" in parameters:
            del self.parameters["bounds"]
        self._kind, self._width = kind, width
        self.mechanism = self._made(None)
        self.reports: list[dict[str, Any]] = []

    def draw(self, record: Any, words: Sequence[int], seed: int | None = None) -> tuple[Any, int]:
        """Return the report that words give, and how many of them it took."""
        source = GivenWords(words, seed)
        return self._made(source).randomize(record), source.used

    def add(self, note: str, record: Any, words: Sequence[int] = (), seed: int | None = 1) -> int:
        """Add the report of a record from words; return how many it took."""
        report, used = self.draw(record, words, seed)
        encoded = self.mechanism.encode(report)
        runs = [(word, len(list(run))) for word, run in groupby(words)]
        entry = {
            "note": note,
            "record": self.mechanism.clip_record(record).tolist(),
            "words": [f"{word:x}" if count == 1 else f"{word:x}*{count}" for word, count in runs],
            "seed": seed,
            "used": used,
            "report": encoded.hex(),
        }
        if not self.reports:
            entry["points"] = self.mechanism.decode(encoded)[0].tolist()
        self.reports.append(entry)
        return used

    def add_plain(self, words: int) -> "Case":
        """Add records all over the box, its corners, and the first and last words."""
        low, high = self._corners()
        middles = [low + (high - low) * share for share in (0.5, 0.3)]
        records = [low, high, *middles, low - 1, high + 1e9]
        for seed, record in enumerate(records if self._width < MANY else records[:2]):
            self.add("any words", record.tolist(), seed=seed)
        for word in EDGES:
            self.add(f"first words {word:x}", middles[1].tolist(), [word] * words)
        return self

    def add_boundary(self, note: str, words: Sequence[int], uniform: int, rounds: int) -> None:
        """Add reports that are decided only after so many further words of each uniform."""
        low, high = self._corners()
        record = ((low + high) / 2).tolist()
        bits = KNOWN + WORD * rounds

        def laid_out(number: int) -> list[int]:
            laid = [*words]
            laid[uniform] = number >> (WORD * rounds) << 1
            for i in reversed(range(rounds)):
                further = [0] * len(words)
                further[uniform] = number >> (WORD * i) & (WORDS - 1)
                laid += further
            return laid

        def report(number: int) -> Any:
            return self.draw(record, laid_out(number) + [0] * 1000)[0][0]

        start = (words[uniform] >> 1) << (bits - KNOWN)
        number = _last_before(report, start, start + (1 << (bits - 8)))
        if self.add(note, record, laid_out(number)) < len(words) * (rounds + 2):
            raise AssertionError("the words must leave the report undecided")
        self.add(f"{note}, zeros", record, laid_out(number) + [0] * len(words), seed=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "mechanism": self.mechanism.to_dict(),
            "report_format": self.mechanism.report_format().to_dict(),
            "reports": self.reports,
        }

    def _made(self, source: GivenWords | None) -> Any:
        mechanism = self._kind(**self.parameters, random_state=source)
        if "bounds" in self.parameters:
            mechanism.n_features_in_ = self._width
        return mechanism

    def _corners(self) -> tuple[Any, Any]:
        ends = self.parameters["bounds"]
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), self._width) for end in ends)
        return low, high


def report_vectors() -> list[dict[str, Any]]:
    """Return mechanisms with their report formats, and reports with the words that gave them."""
    cases = [*_metric_cases(), *_window_cases(), *_hybrid_cases(), *_duchi_cases()]
    return [case.to_dict() for case in [*cases, *_partition_cases(), *_schema_cases()]]


def _last_before(report: Callable[[int], Any], low: int, high: int) -> int:
    """Return a number that has another report than the next one."""
    below = report(low)
    if report(high) == below:
        raise AssertionError("the report must change somewhere")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if report(middle) == below else (low, middle)
    return low


def _metric_cases() -> Iterator[Case]:
    for columns in (1, 2, 3, 4, 5, 64):
        case = Case(Laplace, columns, epsilon=1.5, bounds=(-2.0, 3.0))
        yield case.add_plain((columns + 1) // 2 + columns)
    for columns, kind in ((2, PlanarLaplace), (3, SphericalLaplace)):
        yield Case(kind, columns, epsilon=0.7, bounds=(-30.0, 41.5)).add_plain(5)
    yield Case(
        Laplace, 2, level=2.0, radius=0.3, unit="km", bounds=([0.0, -5.0], [0.1, 7.0])
    ).add_plain(3)
    # Fine lattices, on which doubles decide nothing, and coarse ones.
    for epsilon in (1e-9, 1e6):
        yield Case(Laplace, 2, epsilon=epsilon, bounds=(100.0, 101.0)).add_plain(3)
    for columns in (1, 2, 3):
        case = Case(Laplace, columns, epsilon=2.0, truncate="resample")
        yield case.add_plain(256)
    yield _half_steps()
    yield from _undecided_noise()


def _half_steps() -> Case:
    """Return records in the middle between two lattice points: they go to the even one."""
    case = Case(Laplace, 1, epsilon=1.0, bounds=(-8.0, 8.0))
    step = float(case.mechanism.lattice(1).step[0])
    for steps in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1000.5, 1001.5):
        case.add(f"{steps} steps from zero", [steps * step], [5 << 60, 3 << 62], None)
    return case


def _undecided_noise() -> Iterator[Case]:
    words = [0x3123456789ABCDEF, 0x7123456789ABCDEF, 0x5123456789ABCDEF, 0x4123456789ABCDEF]
    for columns in (1, 2, 3):
        case = Case(Laplace, columns, epsilon=1.0, bounds=(-1.0, 1.0))
        pairs = (columns + 1) // 2
        given = (2 * words)[: pairs + columns]
        for rounds in (0, 1, 2):
            case.add_boundary(f"undecided after {rounds + 1} words", given, len(given) - 1, rounds)
        yield case
    for columns, kind, count, uniform in ((2, PlanarLaplace, 2, 1), (3, SphericalLaplace, 5, 4)):
        case = Case(kind, columns, epsilon=1.0, bounds=(-1.0, 1.0))
        for rounds in (0, 1):
            given = (2 * words)[:count]
            case.add_boundary(f"undecided after {rounds + 1} words", given, uniform, rounds)
            case.add_boundary(f"undecided turn, {rounds + 1} words", given, 0, rounds)
        yield case
    yield _undecided_redraw()


def _undecided_redraw() -> Case:
    """Return reports of which the first of 256 draws is undecided: its words follow the block."""
    case = Case(Laplace, 1, epsilon=1.0, truncate="resample")
    alone = Case(Laplace, 1, epsilon=0.5, bounds=(0.0, 1.0))
    if alone.mechanism.lattice(1).step != case.mechanism.lattice(1).step:
        raise AssertionError("both must have one scale")
    turn, chance = 5 << 60, 0x7123456789ABCDEF
    block = [turn] * 256 + [chance] * 256

    def report(number: int) -> Any:
        return alone.draw([0.5], [turn, number << 1] + [0] * 100)[0][0]

    number = _last_before(report, chance >> 1, (chance >> 1) + (1 << 58))
    # The second one lies far outside, so that the next draw of the block counts.
    for first in (number << 1, 1):
        block[256] = first
        for seed in range(2):
            case.add("the first draw asks for further words", [0.5], block, seed)
    return case


def _window_cases() -> Iterator[Case]:
    for kind, columns, epsilon in (
        (Piecewise, 1, 0.5),
        (Piecewise, 2, 4.0),
        (Piecewise, 5, 60.0),
        (SquareWave, 1, 0.5),
        (SquareWave, 3, 9.0),
    ):
        case = Case(kind, columns, epsilon=epsilon, bounds=(-3.0, 4.5)).add_plain(columns)
        _add_levels(case, columns, Fraction(epsilon) / columns)
        yield case
    for columns, epsilon in ((5, 6.0), (4, 1.0), (3, 100.0)):
        case = Case(Piecewise, columns, epsilon=epsilon, columns="sample")
        yield case.add_plain(columns)
    yield _products_of_inverses()
    # An epsilon so small that the doubles' bound is wider than the chance.
    tiny = Case(Piecewise, 1, epsilon=2.0**-40).add_plain(3)
    for word in EDGES:
        tiny.add("first level", [0.3], [7, word])
    yield tiny


def _products_of_inverses() -> Case:
    """Return records whose position is that of a product with 1/step, not of a quotient."""
    case = Case(Piecewise, 1, epsilon=60.0, bounds=(-3.0, 4.5))
    cells = case.mechanism.report_format().columns[0].levels
    center, step = 0.75, 3.75 * (1 / ((cells - WIDTH) // 2))
    records = np.random.default_rng(0).uniform(-3.0, 4.5, 10_000)
    products, quotients = (records - center) * (1 / step), (records - center) / step
    for record in records[np.rint(products) != np.rint(quotients)][:3].tolist():
        case.add("a product, not a quotient", [record], [7, 0, 5], None)
    return case


def _add_levels(case: Case, columns: int, epsilon: Fraction) -> None:
    """Add words that leave the choice of a level undecided."""
    cells = case.mechanism.report_format().columns[0].levels
    levels = _level_words(epsilon, Fraction(cells - WIDTH, WIDTH))
    record = [0.1] * columns
    start = [WORDS // 3] * columns
    last = [WORDS // 5] * (columns - 1)
    for rounds in (1, 2):
        known = [*start, *last, levels[0], *levels[1:rounds]]
        for word in EDGES:
            case.add(f"level undecided after {rounds} words", record, [*known, word])
    excess = WORDS % cells
    if excess:
        refused = WORDS - excess
        case.add("first cell refused twice", record, [refused, *start[1:], WORDS - 1, refused - 1])
    case.add("first offset refused", record, [*start, *[0] * columns, WORDS - 1])


def _level_words(epsilon: Fraction, rest: Fraction) -> list[int]:
    """Return the first words of the chance of the high level."""
    odds = odds_between(epsilon)
    least, most = (int((1 - q) / (1 + rest * q) * (1 << (3 * WORD))) for q in reversed(odds))
    if least != most:
        raise AssertionError("the digits must be known")
    return [least >> (WORD * i) & (WORDS - 1) for i in (2, 1, 0)]


def _hybrid_cases() -> Iterator[Case]:
    for columns, epsilon, chosen in (
        (1, 0.5, "all"),
        (1, 0.61, "all"),
        (1, 0.62, "all"),
        (2, 3.0, "all"),
        (3, 1.5, "all"),
        (5, 400.0, "all"),
        (4, 0.6, "sample"),
        (4, 6.0, "sample"),
        (1, 2000.0, "all"),
    ):
        case = Case(Hybrid, columns, epsilon=epsilon, columns=chosen)
        case.add_plain(3 * columns)
        reported = case.mechanism.reported_columns(columns)
        if reported == columns:
            distribution = case.mechanism._distribution(Fraction(epsilon) / columns)
            record = [0.5] * columns
            for word in (distribution.truthful - 1, distribution.truthful):
                # The record's sign is plus, the fair one minus.
                words = [0] * (2 * columns) + [word] * columns
                case.add("chance of a truthful sign", record, words)
            coin = _level_words(Fraction(epsilon) / columns / 2, Fraction(0))
            for word in EDGES:
                case.add("coin undecided", record, [*[9] * (3 * columns), *coin[:1], word])
        yield case


def _duchi_cases() -> Iterator[Case]:
    # A box whose corners have no finite sum.
    yield Case(Duchi, 1, epsilon=5.0, bounds=(1e308, 1.7e308)).add_plain(3)
    for columns in (1, 2, 3, 4, 64):
        case = Case(Duchi, columns, epsilon=1.0, bounds=(-1.0, 1.0)).add_plain(3 * columns)
        for steps in (2.5, 3.5) if columns < MANY else ():
            # Records in the middle between two positions, and chances at them.
            for chance in (2, 3, 4):
                words = [2**30 + chance] * columns + [1] * columns + [0]
                case.add(f"{steps} steps, chance {chance}", [steps * 2.0**-30] * columns, words)
        yield case


def _partition_cases() -> Iterator[Case]:
    axes = box_axes(public_box((0.0, 1.0), 4))
    grids = AxisGrids(axes, n_partitions=256, n_colors=3, cells=3, size=2, seed=1)
    pool = np.arange(30.0).reshape(10, 3) / 30.0
    seeds = NearestSeeds(
        pool,
        n_partitions=40,
        n_colors=5,
        n_seeds=6,
        low=np.zeros(3),
        high=np.ones(3),
        scale=np.ones(3),
        seed=3,
    )
    cases = [
        Case(PartitionResponse, 2, epsilon=2.0, n_clusters=15),
        Case(PartitionResponse, 1, epsilon=2000.0, n_clusters=4),
        Case(
            PartitionResponse, 4, epsilon=0.5, partitions=Partitions([grids]), first_partition=100
        ),
        Case(PartitionResponse, 3, epsilon=1.5, partitions=Partitions([seeds]), first_partition=3),
    ]
    for case in cases:
        mechanism = case.mechanism
        case.add_plain(1)
        columns, colors = mechanism._columns, mechanism.n_colors
        record = [0.4] * columns
        threshold = keep_threshold(mechanism.epsilon, colors)
        for word in (threshold - 1, threshold):
            for color in range(2):
                case.add("word at the threshold", record, [77, word, color])
        choices = mechanism.partitions_.n_partitions - mechanism.first_partition
        for below, first in ((choices, 0), (colors, 2)):
            words = [11, 13, 17]
            words[first : first + 1] = [WORDS - 1, WORDS - 1 - WORDS % below, 19]
            case.add("a uniform word refused", record, words)
        yield case


def _schema_cases() -> Iterator[Case]:
    table = Schema([Number("age", minimum=0, maximum=90), Number("income", minimum=0, maximum=1e5)])
    place = Schema([Place("home", radius=20.0, center=(24.94, 60.17), missing="refuse")])
    for kind, schema, record in (
        (Laplace, table, {"age": 33.0, "income": 41000.0}),
        (Piecewise, table, {"age": 33.0, "income": 41000.0}),
        (PlanarLaplace, place, {"home": "24.9, 60.2"}),
    ):
        case = Case(kind, 2, epsilon=3.0, schema=schema)
        for seed in range(3):
            case.add("a schema", record, seed=seed)
        yield case


def main(folder: Path = FOLDER) -> None:
    """Write the file."""
    lines = ",\n".join(
        json.dumps(case, allow_nan=False, separators=(",", ":")) for case in report_vectors()
    )
    (folder / "reports.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
