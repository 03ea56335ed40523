"""Reports of cells as bytes: ``partition * n_colors + color``, little-endian, nothing else."""

from typing import Any

import numpy as np

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.partitions import Partitions

__all__ = ["decode_reports", "encode_reports"]

TABLE = 2  # dimensions of one
PAIR = 2  # columns of a report


def encode_reports(reports: Any, partitions: Partitions) -> bytes:
    """Return the bytes of reports, equally many each, or refuse what are none."""
    numbers = _checked_reports(reports, partitions) @ [partitions.n_colors, 1]
    little = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return little[:, : _bytes(partitions)].tobytes()


def decode_reports(encoded: Any, partitions: Partitions) -> Floats:
    """Return the reports that bytes hold, or refuse what are none."""
    width = _bytes(partitions)
    if not isinstance(encoded, bytes | bytearray | memoryview):
        raise ParameterError(f"encoded must be bytes, got {type(encoded).__name__}")
    flat = np.frombuffer(encoded, dtype=np.uint8)
    if flat.size % width:
        raise ParameterError(
            f"encoded must hold {width} bytes for each report, got {flat.size} bytes"
        )
    padded = np.zeros((flat.size // width, 8), dtype=np.uint8)
    padded[:, :width] = flat.reshape(-1, width)
    numbers = padded.view("<u8").ravel()
    if (numbers >= partitions.n_partitions * partitions.n_colors).any():
        raise ParameterError(
            f"encoded must hold reports of {partitions.n_partitions} partitions and "
            f"{partitions.n_colors} colors, got larger ones: it is from another mechanism"
        )
    pairs = np.divmod(numbers.astype(np.int64), partitions.n_colors)
    return np.column_stack(pairs).astype(np.float64)


def _checked_reports(reports: Any, partitions: Partitions) -> Ints:
    """Return reports as whole numbers, or refuse them."""
    try:
        table = np.atleast_2d(np.asarray(reports, dtype=np.float64))
    except (TypeError, ValueError):
        table = np.empty((1, 0))
    ends = np.array([partitions.n_partitions, partitions.n_colors])
    shaped = table.ndim == TABLE and table.shape[1] == PAIR
    if not (shaped and ((table >= 0) & (table < ends) & (table == np.floor(table))).all()):
        raise ParameterError(
            "reports must be rows of two whole numbers, a partition below "
            f"{partitions.n_partitions} and a color below {partitions.n_colors}, got others: "
            "encode what this mechanism drew"
        )
    return table.astype(np.int64)


def _bytes(partitions: Partitions) -> int:
    """Return the number of bytes of one report."""
    largest = partitions.n_partitions * partitions.n_colors - 1
    return max(1, (largest.bit_length() + 7) // 8)
