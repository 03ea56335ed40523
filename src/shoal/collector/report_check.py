"""Checks of reports that arrive: on the lattice, in the possible range, of the right shape.

One report is checked with whole numbers of Python, in a few microseconds; a batch by the arrays of
:class:`shoal.mechanisms.ReportFormat`. Both give the same answer, and a refused batch is looked
through report by report for its reason.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from shoal._json_text import read_json
from shoal.exceptions import ParameterError
from shoal.mechanisms import ReportFormat
from shoal.service import RefusedError

__all__ = ["ReportCheck", "ShuffledCheck"]

FEW = 16  # reports: up to here Python is faster than arrays
EXACT = 2**53  # whole numbers up to here are doubles

OUT_OF_RANGE = "A report lies outside the range of the campaign's mechanism."
OFF_LATTICE = "A report is no point of the lattice of the campaign's mechanism."
RELAY_ONLY = "Reports of this campaign are shuffled before they come here; nothing was stored."
NOT_JSON = 'The body must be JSON text such as {"reports": [[0.5, 1.5]]}, with numbers alone.'


class _Field(NamedTuple):
    """Where a column stands in a report, and which values it has."""

    shift: int
    mask: int
    levels: int
    first: int
    stride: int
    origin: float
    step: float


class ReportCheck:
    """Refuses what cannot be reports of one campaign.

    Parameters
    ----------
    report_format : ReportFormat
        Of the campaign's mechanism.
    max_batch : int
        Most reports in one request.
    """

    def __init__(self, report_format: ReportFormat, max_batch: int) -> None:
        self._format = report_format
        self._width = report_format.width
        self._bits = report_format.bits
        self._reported = report_format.reported
        self._max_batch = max_batch
        shift = report_format.bits
        fields = []
        for column in report_format.columns:
            shift -= column.bits
            fields.append(
                _Field(
                    shift,
                    (1 << column.bits) - 1,
                    column.levels,
                    column.first,
                    column.stride,
                    column.origin,
                    column.step,
                )
            )
        self._fields = tuple(fields)

    def check_bytes(self, body: bytes) -> int:
        """Return how many reports bytes hold; RefusedError if they are none of the campaign."""
        count, rest = divmod(len(body), self._width)
        if rest or not count:
            raise RefusedError(
                "wrong-shape",
                f"A report has {self._width} bytes; the body must hold one or more whole reports.",
            )
        self._check_count(count)
        if count > FEW:
            try:
                self._format.decode(body)
            except ParameterError:
                self._check_each(body)
                raise RefusedError("malformed-reports", OUT_OF_RANGE) from None
        else:
            self._check_each(body)
        return count

    def encode_json(self, body: bytes) -> tuple[bytes, int]:
        """Return the reports of a JSON body as bytes, and how many there are."""
        columns = len(self._fields)
        # Counted in the text: a million brackets are read in no time, their lists are not.
        self._check_count(body.count(b"[") - 1)
        self._check_count(body.count(b",") // columns)
        rows = _read_json(body)
        if not rows:
            raise RefusedError("malformed-reports", NOT_JSON)
        self._check_count(len(rows))
        for row in rows:
            if len(row) != columns:
                raise RefusedError("wrong-shape", f"A report has {columns} numbers.")
        if len(rows) > FEW:
            try:
                return self._format.encode(self._format.check(rows)), len(rows)
            except ParameterError:
                for row in rows:
                    self._pack(row)
                raise RefusedError("malformed-reports", OFF_LATTICE) from None
        return b"".join([self._pack(row) for row in rows]), len(rows)

    def _check_count(self, count: int) -> None:
        if count > self._max_batch:
            raise RefusedError(
                "too-large", f"A request may hold {self._max_batch} reports, got {count}."
            )

    def _check_each(self, body: bytes) -> None:
        """Refuse the first report that cannot be, with its reason."""
        width = self._width
        for start in range(0, len(body), width):
            number = int.from_bytes(body[start : start + width], "little")
            if number >> self._bits:
                raise RefusedError("out-of-range", OUT_OF_RANGE)
            reported = 0
            for shift, mask, levels, first, stride, _, _ in self._fields:
                level = number >> shift & mask
                if level >= levels:
                    raise RefusedError("out-of-range", OUT_OF_RANGE)
                if first + stride * level:
                    reported += 1
            self._check_reported(reported)

    def _pack(self, row: Sequence[float]) -> bytes:
        """Return one report as bytes, or refuse it with its reason."""
        number, reported = 0, 0
        for value, (shift, _, levels, first, stride, origin, step) in zip(
            row, self._fields, strict=True
        ):
            position = (value - origin) / step
            index = round(position) if math.isfinite(position) else first - 1
            if not first <= index <= first + stride * (levels - 1):
                raise RefusedError("out-of-range", OUT_OF_RANGE)
            level, rest = divmod(index - first, stride)
            if rest or origin + step * index != value:
                raise RefusedError("off-lattice", OFF_LATTICE)
            number |= level << shift
            if index:
                reported += 1
        self._check_reported(reported)
        return number.to_bytes(self._width, "little")

    def _check_reported(self, reported: int) -> None:
        if self._reported is not None:
            fewest, most = self._reported
            if not fewest <= reported <= most:
                raise RefusedError(
                    "wrong-shape", f"A report holds {most} reported columns, one has another count."
                )


class ShuffledCheck:
    """Refuses every submission to a campaign whose reports come through a relay."""

    def check_bytes(self, body: bytes) -> int:
        """Refuse bytes."""
        raise RefusedError("relay-only", RELAY_ONLY)

    def encode_json(self, body: bytes) -> tuple[bytes, int]:
        """Refuse numbers."""
        raise RefusedError("relay-only", RELAY_ONLY)


def _read_json(body: bytes) -> list[list[float]]:
    """Return the rows of a JSON body, strictly: no other field, no text, no NaN, no true."""
    try:
        plain = read_json(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RefusedError("malformed-reports", NOT_JSON) from None
    if not isinstance(plain, dict) or set(plain) != {"reports"}:
        raise RefusedError("malformed-reports", NOT_JSON)
    rows = plain["reports"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise RefusedError("malformed-reports", NOT_JSON)
    return [[_number(value) for value in row] for row in rows]


def _number(value: object) -> float:
    """Return a number as a double, exactly; bool is no number."""
    if type(value) is float:
        return value
    if type(value) is int and -EXACT <= value <= EXACT:
        return float(value)
    raise RefusedError("malformed-reports", NOT_JSON)
