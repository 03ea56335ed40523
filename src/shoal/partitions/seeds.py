"""Cells of the nearest seed: Voronoi partitions of public points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from shoal import _numbers
from shoal._bounds import public_box
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.partitions.hashing import check_public_numbers, next_prime, public_words

__all__ = ["NearestSeeds"]

TABLE = 2  # dimensions of one
BLOCK_VALUES = 1 << 15  # products held at a time: they stay in the cache
MAX_CHOSEN = 2**26  # seeds in all partitions
MAX_RATIO = 1e150  # of a coordinate to its scale: its square is a number
FACTOR, OFFSET = range(2)  # what a public word is for


@dataclass(frozen=True, eq=False)
class NearestSeeds:
    """Partitions by the nearest of a few seeds; each takes other seeds from a public pool.

    Partition j takes ``n_seeds`` points of the pool: those with indices (factor t + offset) mod
    prime for t = 0, 1, ..., skipping indices beyond the pool, with a public factor and offset for
    each partition and the least prime that is at least the size of the pool. The t-th of them has
    the color t mod ``n_colors``. The pool should be in random order.

    Parameters
    ----------
    pool : array-like of shape (m, columns)
        Public points, or points released from reports; m is at least ``n_seeds``.
    n_partitions : int
        Number of partitions.
    n_colors : int
        Number of colors, at least 2.
    n_seeds : int
        Number of seeds of each partition.
    low, high : array-like of shape (columns,)
        Corners of the public box.
    scale : array-like of shape (columns,), default=None
        Columns are divided by it before distances are measured; None takes the sides of the box.
    seed : int, default=0
        Seed of the public random numbers, from 0 to 2^32 - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.partitions import NearestSeeds
    >>> pool = np.random.default_rng(0).uniform(size=(500, 2))
    >>> cells = NearestSeeds(pool, 128, 16, n_seeds=64, low=[0, 0], high=[1, 1])
    >>> cells.color_table(np.full((3, 2), 0.5)).shape
    (128, 3)
    """

    pool: Any
    n_partitions: int
    n_colors: int
    n_seeds: int
    low: Any
    high: Any
    scale: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers: they may come from a file."""
        pool = _table("pool", self.pool)
        if pool.ndim != TABLE or not np.isfinite(pool).all():
            raise ParameterError(
                "pool must be a table of finite numbers, one row for each point",
                parameter="pool",
                code="finite",
            )
        box = public_box((self.low, self.high), pool.shape[1])
        scale = box.high - box.low if self.scale is None else _table("scale", self.scale)
        if scale.shape != box.low.shape or not (np.isfinite(scale).all() and (scale > 0).all()):
            raise ParameterError(
                "scale must have one positive number for each column",
                parameter="scale",
                code="shape",
            )
        # Then the distance of any record in the box is a number, and none is refused later.
        corner = np.maximum(np.abs(box.low), np.abs(box.high))
        largest = np.maximum(np.abs(pool).max(axis=0, initial=0.0), corner)
        if not (largest / MAX_RATIO <= scale).all():
            raise ParameterError(
                "scale must be at least 1e-150 of the pool and the box, got less",
                parameter="scale",
                code="range",
            )
        check_public_numbers(self.n_partitions, self.n_colors, self.seed)
        if _numbers.count("n_seeds", self.n_seeds) > MAX_CHOSEN // self.n_partitions:
            raise ParameterError(
                f"n_seeds must leave at most 2^26 seeds in all partitions, got {self.n_seeds!r}",
                parameter="n_seeds",
                code="size",
            )
        if self.n_seeds > len(pool):
            raise ParameterError(
                f"n_seeds must be at most the size of the pool, {len(pool)}, got {self.n_seeds!r}",
                parameter="n_seeds",
                code="range",
            )
        checked = {"pool": pool, "low": box.low, "high": box.high, "scale": scale}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def columns(self) -> int:
        """Number of columns of a point."""
        return int(self.pool.shape[1])

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Public box that the partitions divide."""
        return self.low, self.high

    def colors(self, points: Floats, index: Ints) -> Ints:
        """Return the color of each point in the partition given for it."""
        scaled = np.clip(points, self.low, self.high) / self.scale
        colors = np.empty(len(points), dtype=np.int64)
        order = np.argsort(index, kind="stable")
        distinct, starts = np.unique(index[order], return_index=True)
        for j, mine in zip(distinct, np.split(order, starts[1:]), strict=True):
            colors[mine] = self._nearest(scaled[mine], int(j))
        return colors

    def color(self, point: Sequence[float], index: int) -> int:
        """Return the color of one point in one partition, faster than ``colors``."""
        scaled = np.clip(point, self.low, self.high) / self.scale
        return int(self._nearest(scaled[None], index)[0])

    def color_table(self, points: Floats) -> Ints:
        """Return the color of every point in every partition, shape (n_partitions, points)."""
        scaled = np.clip(points, self.low, self.high) / self.scale
        kind = np.uint16 if self.n_colors <= 2**16 else np.int64
        table = np.empty((self.n_partitions, len(points)), dtype=kind)
        for j in range(self.n_partitions):
            table[j] = self._nearest(scaled, j)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as values that JSON can hold."""
        return {
            "kind": "NearestSeeds",
            "pool": self.pool.tolist(),
            "n_partitions": int(self.n_partitions),
            "n_colors": int(self.n_colors),
            "n_seeds": int(self.n_seeds),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "scale": self.scale.tolist(),
            "seed": int(self.seed),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the partitions that :meth:`to_dict` described."""
        fields = {"kind", "pool", "n_partitions", "n_colors", "n_seeds"}
        fields |= {"low", "high", "scale", "seed"}
        if set(plain) != fields:
            raise ParameterError(f"nearest seeds must have the fields {sorted(fields)}")
        return cls(**{name: value for name, value in plain.items() if name != "kind"})

    @cached_property
    def _chosen(self) -> Ints:
        """Numbers of the seeds of every partition, shape (n_partitions, n_seeds)."""
        size = len(self.pool)
        prime = next_prime(size)
        index = np.arange(self.n_partitions)
        factors = 1 + public_words(self.seed, FACTOR, index) % max(prime - 1, 1)
        offsets = public_words(self.seed, OFFSET, index) % prime
        steps = np.arange(min(self.n_seeds + prime - size, prime))
        numbers = (factors[:, None] * steps + offsets[:, None]) % prime
        order = np.argsort(numbers >= size, axis=1, kind="stable")[:, : self.n_seeds]
        return np.take_along_axis(numbers, order, axis=1)

    def _nearest(self, scaled: Floats, j: int) -> Ints:
        seeds = self.pool[self._chosen[j]] / self.scale
        if len(scaled) == 1:
            # Squares are added one column after the other, as a client in any language does.
            squares = np.cumsum((seeds - scaled) ** 2, axis=1)[:, -1]
            nearest = np.array([squares.argmin()])
        else:
            # Around their mean, so that no square is much larger than the distances are.
            middle = seeds.mean(axis=0)
            seeds = seeds - middle
            squares = 0.5 * np.einsum("ij,ij->i", seeds, seeds)
            nearest = np.empty(len(scaled), dtype=np.int64)
            rows = max(1, BLOCK_VALUES // len(seeds))
            for start in range(0, len(scaled), rows):
                part = scaled[start : start + rows] - middle
                nearest[start : start + rows] = (part @ seeds.T - squares).argmax(axis=1)
        return np.asarray(nearest % self.n_colors, dtype=np.int64)


def _table(name: str, values: Any) -> Floats:
    """Return numbers of a file as an array of doubles."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"{name} must be numbers, as many in each row, got {type(values).__name__}",
            parameter=name,
            code="shape",
        ) from None
