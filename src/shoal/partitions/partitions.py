"""Public partitions one after the other: what a device chooses from and a server decodes with."""

import bisect
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.partitions.grids import AxisGrids
from shoal.partitions.seeds import NearestSeeds

__all__ = ["Block", "Partitions"]


class Block(Protocol):
    """Protocol of partitions of one kind, numbered from 0.

    Examples
    --------
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import AxisGrids, Block, box_axes
    >>> block: Block = AxisGrids(box_axes(public_box((0.0, 1.0), 3)), 64, 4, cells=8, size=1)
    >>> block.n_partitions, block.n_colors, block.columns
    (64, 4, 3)
    """

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""

    @property
    def n_colors(self) -> int:
        """Number of colors of the cells."""

    @property
    def columns(self) -> int:
        """Number of columns of a point."""

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Public box that the partitions divide."""

    def colors(self, points: Floats, index: Ints) -> Ints:
        """Return the color of each point in the partition given for it."""

    def color(self, point: Sequence[float], index: int) -> int:
        """Return the color of one point in one partition, faster than ``colors``."""

    def color_table(self, points: Floats) -> Ints:
        """Return the color of every point in every partition, shape (n_partitions, points)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as values that JSON can hold."""


_KINDS: dict[str, Any] = {"AxisGrids": AxisGrids, "NearestSeeds": NearestSeeds}


class Partitions:
    """A list of public partitions of one box, each cell of which has one of a few colors.

    ``first + second`` concatenates two lists: partitions of a second round follow those of the
    first.

    Parameters
    ----------
    blocks : sequence of AxisGrids or NearestSeeds
        Each block holds partitions of one kind; all have the same columns and number of colors.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal._bounds import public_box
    >>> from shoal.partitions import AxisGrids, Partitions, box_axes
    >>> axes = box_axes(public_box((0.0, 1.0), 2))
    >>> grids = AxisGrids(axes, n_partitions=256, n_colors=8, cells=8, seed=1)
    >>> partitions = Partitions([grids])
    >>> partitions.n_partitions, partitions.color_table(np.full((1, 2), 0.5)).shape
    (256, (256, 1))
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)
        if not self.blocks:
            raise ParameterError(
                "blocks must hold at least one block of partitions, got none",
                parameter="blocks",
                code="empty",
            )
        for name in ("n_colors", "columns"):
            values = {getattr(block, name) for block in self.blocks}
            if len(values) > 1:
                raise ParameterError(
                    f"blocks must have equal {name}, got {sorted(values)}: a campaign has one box "
                    "and one number of colors",
                    parameter="blocks",
                    code="conflict",
                )
        low, high = self.bounds
        for block in self.blocks[1:]:
            if not (np.array_equal(block.bounds[0], low) and np.array_equal(block.bounds[1], high)):
                raise ParameterError(
                    "blocks must divide one box, got several", parameter="blocks", code="conflict"
                )
        self._starts = np.cumsum([0, *(block.n_partitions for block in self.blocks)])
        self._firsts: list[int] = self._starts[:-1].tolist()

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return int(self._starts[-1])

    @property
    def n_colors(self) -> int:
        """Number of colors of the cells of a partition."""
        return self.blocks[0].n_colors

    @property
    def columns(self) -> int:
        """Number of columns of a point."""
        return self.blocks[0].columns

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Public box that the partitions divide, in the form of the parameter ``bounds``."""
        return self.blocks[0].bounds

    def colors(self, points: Floats, index: Ints) -> Ints:
        """Return the color of each point in its own partition.

        Parameters
        ----------
        points : ndarray of float64, shape (n, columns)
            Points; those outside the box are clipped.
        index : ndarray of int64, shape (n,)
            Index of a partition for each point.

        Returns
        -------
        colors : ndarray of int64, shape (n,)
            Color, from 0 to ``n_colors`` - 1.
        """
        if len(self.blocks) == 1:
            return self.blocks[0].colors(points, index)
        colors = np.empty(len(points), dtype=np.int64)
        owner = np.searchsorted(self._starts, index, side="right") - 1
        for i, block in enumerate(self.blocks):
            mine = np.flatnonzero(owner == i)
            if mine.size:
                colors[mine] = block.colors(points[mine], index[mine] - self._starts[i])
        return colors

    def color(self, point: Sequence[float], index: int) -> int:
        """Return the color of one point in one partition, faster than ``colors``.

        Parameters
        ----------
        point : sequence of float
            One number for each column, clipped to the box.
        index : int
            Index of the partition.

        Returns
        -------
        color : int
            Color, from 0 to ``n_colors`` - 1.
        """
        owner = bisect.bisect_right(self._firsts, index) - 1
        return self.blocks[owner].color(point, index - self._firsts[owner])

    def color_table(self, points: Floats) -> Ints:
        """Return the color of every point in every partition.

        Parameters
        ----------
        points : ndarray of float64, shape (m, columns)
            Public points, such as the atoms of a distribution.

        Returns
        -------
        colors : ndarray of int, shape (n_partitions, m)
            Color, from 0 to ``n_colors`` - 1.
        """
        return np.concatenate([block.color_table(points) for block in self.blocks])

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold, from which :meth:`from_dict` makes the same list."""
        return {"blocks": [block.to_dict() for block in self.blocks]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the partitions that :meth:`to_dict` described; invalid input is an error.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        partitions : Partitions
            The same partitions.
        """
        listed = isinstance(plain, Mapping) and isinstance(plain.get("blocks"), list)
        if not listed or set(plain) != {"blocks"}:
            raise ParameterError(
                "partitions must have a list of blocks and no other field",
                parameter="partitions",
                code="format",
            )
        blocks = []
        for block in plain["blocks"]:
            kind = block.get("kind") if isinstance(block, Mapping) else None
            _numbers.choice("kind", kind, sorted(_KINDS))
            blocks.append(_KINDS[str(kind)].from_dict(block))
        return cls(blocks)

    def __add__(self, other: Self) -> Self:
        return type(self)([*self.blocks, *other.blocks])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partitions) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.n_partitions, self.n_colors, self.columns))

    def __repr__(self) -> str:
        return (
            f"Partitions({self.n_partitions} partitions with {self.n_colors} colors, "
            f"{self.columns} columns)"
        )
