"""Reports as bytes: the wire format between a device and a collector.

Every report is a point of a public lattice, so it is sent as whole numbers. Column c holds one of
``levels`` values, ``origin + step * (first + stride * level)``, and its level is written in the
fewest bits that hold ``levels - 1``. The bit fields of the columns follow one another, the last
column in the lowest bits, and the number that they form is written little-endian in the fewest
whole bytes; bits beyond are 0. There is no header: reports of one mechanism are equally long, and a
batch is one after the other. What a report cannot be has no encoding or is refused.

Noise of the Laplace family has no end. Such reports are clipped, after the noise, to a public range
that they leave with a probability below 10^-27; clipping is post-processing and costs nothing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.noise import Lattice

__all__ = ["ReportColumn", "ReportFormat"]

VERSION = 1
WORD = 64  # bits of a machine word: reports that fit are packed without a table of bits
TABLE = 2  # dimensions of one
Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class ReportColumn:
    """Possible values of one column of a report.

    Parameters
    ----------
    origin, step : float
        Value at lattice index 0, and distance between neighboring lattice points.
    first : int
        Lattice index of level 0.
    stride : int
        Number of lattice steps from one level to the next.
    levels : int
        Number of values that the column can have.

    Examples
    --------
    >>> ReportColumn(origin=0.5, step=0.1, first=-1, stride=2, levels=2).bits
    1
    """

    origin: float
    step: float
    first: int
    stride: int
    levels: int

    @property
    def bits(self) -> int:
        """Length of the column's bit field."""
        return (self.levels - 1).bit_length()


@dataclass(frozen=True)
class ReportFormat:
    """Byte format of the reports of one mechanism, which follows from public parameters alone.

    Parameters
    ----------
    columns : sequence of ReportColumn
        Possible values of each column.
    reported : tuple of two int, default=None
        Smallest and largest number of columns whose lattice index is not 0, for mechanisms that
        report only some columns of a record; None allows any number.
    clips : bool, default=False
        Whether the noise is unbounded, so that :meth:`encode` clips reports to the range.

    Examples
    --------
    >>> from shoal.mechanisms import Piecewise
    >>> mechanism = Piecewise(2.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    >>> report = mechanism.randomize([0.2, 0.7])
    >>> format = mechanism.report_format()
    >>> bool((format.decode(format.encode(report))[0] == report).all())
    True
    """

    columns: tuple[ReportColumn, ...]
    reported: tuple[int, int] | None = None
    clips: bool = False

    @classmethod
    def of_lattice(
        cls,
        lattice: Lattice,
        *,
        stride: int = 1,
        reported: tuple[int, int] | None = None,
        clips: bool = False,
    ) -> "ReportFormat":
        """Return the format of reports with lattice indices ``low, low + stride, ... high``."""
        ends = zip(lattice.origin, lattice.step, lattice.low, lattice.high, strict=True)
        columns = tuple(
            ReportColumn(
                float(origin), float(step), int(low), stride, (int(high) - int(low)) // stride + 1
            )
            for origin, step, low, high in ends
        )
        return cls(columns, reported, clips)

    @cached_property
    def bits(self) -> int:
        """Bits of one report."""
        return sum(column.bits for column in self.columns)

    @cached_property
    def width(self) -> int:
        """Bytes of one report."""
        return max(1, (self.bits + 7) // 8)

    def encode(self, reports: Any) -> bytes:
        """Write reports as bytes.

        Parameters
        ----------
        reports : array-like of shape (n, c), or (c,) for one
            Reports of the mechanism.

        Returns
        -------
        encoded : bytes
            ``width`` bytes for each report, one after the other.

        Raises
        ------
        ParameterError
            If this mechanism cannot have made these reports.
        """
        return self._pack(self._levels(self._table(reports), clip=self.clips))

    def decode(self, encoded: Any) -> Floats:
        """Read the reports that :meth:`encode` wrote.

        Parameters
        ----------
        encoded : bytes-like
            One or more complete reports.

        Returns
        -------
        reports : ndarray of shape (n, c)
            The reports, identical to the last bit.

        Raises
        ------
        ParameterError
            If this mechanism cannot have made these reports.
        """
        if not isinstance(encoded, bytes | bytearray | memoryview):
            raise ParameterError(
                f"encoded must be bytes, got {type(encoded).__name__}",
                parameter="encoded",
                code="type",
            )
        raw = np.frombuffer(encoded, dtype=np.uint8)
        if raw.size % self.width:
            raise ParameterError(
                f"encoded must hold {self.width} bytes for each report, got {raw.size} bytes",
                parameter="encoded",
                code="format",
            )
        levels = self._unpack(raw.reshape(-1, self.width))
        if levels is None or (levels >= self._limits).any():
            raise ParameterError(
                "encoded must hold reports within the range of their mechanism, got others: they "
                "are of another mechanism",
                parameter="encoded",
                code="range",
            )
        indices = self._firsts + self._strides * levels
        self._check_reported(indices)
        return self._decoded(indices)

    def check(self, reports: Any) -> Floats:
        """Refuse numbers that this mechanism cannot report, such as those beyond its range.

        Parameters
        ----------
        reports : array-like of shape (n, c), or (c,) for one
            Numbers that should be reports.

        Returns
        -------
        reports : ndarray of shape (n, c)
            The same numbers as float64.

        Raises
        ------
        ParameterError
            If one of them is off the lattice, out of range or of another shape.
        """
        table = self._table(reports)
        self._levels(table, clip=False)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the format as values that JSON can hold, for clients in any language.

        Returns
        -------
        document : dict
            Version, bytes per report, columns, how many of them are reported, and whether a
            report beyond the range is clipped to it.
        """
        return {
            "version": VERSION,
            "bytes": self.width,
            "columns": [asdict(column) for column in self.columns],
            "reported": None if self.reported is None else list(self.reported),
            "clips": self.clips,
        }

    @cached_property
    def _firsts(self) -> Ints:
        return np.array([column.first for column in self.columns], dtype=np.int64)

    @cached_property
    def _strides(self) -> Ints:
        return np.array([column.stride for column in self.columns], dtype=np.int64)

    @cached_property
    def _limits(self) -> Ints:
        return np.array([column.levels for column in self.columns], dtype=np.int64)

    @cached_property
    def _origins(self) -> Floats:
        return np.array([column.origin for column in self.columns])

    @cached_property
    def _steps(self) -> Floats:
        return np.array([column.step for column in self.columns])

    @cached_property
    def _shifts(self) -> tuple[int, ...]:
        """Lowest bit of each column's field."""
        shifts, below = [], 0
        for column in reversed(self.columns):
            shifts.append(below)
            below += column.bits
        return tuple(reversed(shifts))

    def _decoded(self, indices: Ints) -> Floats:
        """Return the points of lattice indices, by the operations of :class:`Lattice`."""
        return np.asarray(self._origins + self._steps * indices)

    def _table(self, reports: Any) -> Floats:
        try:
            table = np.atleast_2d(np.asarray(reports, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            table = np.empty((1, 0))
        if table.ndim != TABLE or table.shape[1] != len(self.columns):
            raise ParameterError(
                f"reports must be rows of {len(self.columns)} numbers, got another shape: encode "
                "what this mechanism drew",
                parameter="reports",
                code="shape",
            )
        return table

    def _levels(self, reports: Floats, *, clip: bool) -> Ints:
        """Return the level of each number, or refuse what is no report."""
        last = self._firsts + self._strides * (self._limits - 1)
        with np.errstate(invalid="ignore", over="ignore"):
            nearest = np.rint((reports - self._origins) / self._steps)
        inside = (nearest >= self._firsts) & (nearest <= last)
        if not (np.isfinite(nearest).all() and (clip or inside.all())):
            raise ParameterError(
                "reports must lie within the range of their mechanism, got others: they are of "
                "another mechanism, or raw records",
                parameter="reports",
                code="range",
            )
        if not (self._decoded(nearest) == reports).all():
            raise self._off_lattice()
        indices = np.clip(nearest, self._firsts, last).astype(np.int64)
        self._check_reported(indices)
        levels, rest = np.divmod(indices - self._firsts, self._strides)
        if rest.any():
            raise self._off_lattice()
        return levels

    def _check_reported(self, indices: Ints) -> None:
        if self.reported is None:
            return
        fewest, most = self.reported
        counts = np.count_nonzero(indices, axis=1)
        if ((counts < fewest) | (counts > most)).any():
            raise ParameterError(
                f"reports must hold {most} reported columns, got another number: they are of "
                "another mechanism",
                parameter="reports",
                code="format",
            )

    @staticmethod
    def _off_lattice() -> ParameterError:
        return ParameterError(
            "reports must lie on the lattice of their mechanism, got others: they are of another "
            "mechanism, rounded, or raw records",
            parameter="reports",
            code="format",
        )

    def _pack(self, levels: Ints) -> bytes:
        if self.bits <= WORD:
            numbers = np.zeros(len(levels), dtype="<u8")
            for column, shift in zip(levels.T.astype(np.uint64), self._shifts, strict=True):
                numbers |= column << np.uint64(shift)
            return numbers.view(np.uint8).reshape(-1, 8)[:, : self.width].tobytes()
        bits = np.zeros((len(levels), 8 * self.width), dtype=np.uint8)
        for column, shift, field in self._fields(levels):
            for bit in range(field.bits):
                bits[:, shift + bit] = column >> bit & 1
        return np.packbits(bits, axis=1, bitorder="little").tobytes()

    def _unpack(self, raw: Bits) -> Ints | None:
        """Return the levels that bytes hold; None where a bit beyond the fields is set."""
        levels = np.zeros((len(raw), len(self.columns)), dtype=np.int64)
        if self.bits <= WORD:
            padded = np.zeros((len(raw), 8), dtype=np.uint8)
            padded[:, : self.width] = raw
            numbers = padded.view("<u8").ravel()
            if self.bits < WORD and (numbers >> np.uint64(self.bits)).any():
                return None
            for i, (field, shift) in enumerate(zip(self.columns, self._shifts, strict=True)):
                mask = np.uint64(2**field.bits - 1)
                levels[:, i] = numbers >> np.uint64(shift) & mask
            return levels
        bits = np.unpackbits(raw, axis=1, bitorder="little")
        if bits[:, self.bits :].any():
            return None
        for i, (field, shift) in enumerate(zip(self.columns, self._shifts, strict=True)):
            for bit in range(field.bits):
                levels[:, i] |= bits[:, shift + bit].astype(np.int64) << bit
        return levels

    def _fields(self, levels: Ints) -> Sequence[tuple[Ints, int, ReportColumn]]:
        return list(zip(levels.T, self._shifts, self.columns, strict=True))
