"""Releases of many fits as tables of numbers: one row a fit, one named column a number.

Only ``release_.values`` is read, which is all that leaves the curator. Columns computed from
centers and sizes do not depend on the order of the centers, which a fit is free to change.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.audit.estimators.neighbors import Neighbors
from shoal.exceptions import ParameterError

Statistic = Callable[[Any, Neighbors], npt.ArrayLike]


class Ragged(NamedTuple):
    """The numbers of one released value in many fits, of which each may hold another number."""

    numbers: Floats
    lengths: Ints


class Table(NamedTuple):
    """One row a fit; the names of the columns in plain words."""

    names: list[str]
    values: Floats


def fit_many(
    model: Any,
    records: Floats,
    seeds: Sequence[int | None],
    pair: Neighbors,
    statistic: Statistic | None,
) -> dict[str, Ragged]:
    """Fit one estimator again and again, and keep what each fit releases."""
    seeded = hasattr(model, "random_state")
    fitted = []
    for seed in seeds:
        if seeded:
            # What set_params does, without reading the constructor's signature every time.
            model.random_state = seed
        release = model.fit(records).release_
        fitted.append(release.values if statistic is None else {"": statistic(release, pair)})
    rows = [dict(leaves("", values)) for values in fitted]
    empty = np.empty(0)
    released = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        parts = [row.get(name, empty) for row in rows]
        lengths = np.array([part.size for part in parts], dtype=np.int64)
        released[name] = Ragged(np.concatenate(parts), lengths)
    return released


def as_tables(
    without: list[dict[str, Ragged]], with_added: list[dict[str, Ragged]], added: Floats
) -> tuple[Table, Table]:
    """Put the fits of both tables of a pair side by side, in the same columns."""
    pieces = without + with_added
    fits = [len(next(iter(piece.values())).lengths) for piece in pieces]
    names: list[str] = []
    blocks: list[Floats] = []
    padded: dict[str, Floats] = {}
    for name in dict.fromkeys(name for piece in pieces for name in piece):
        ragged = [
            piece.get(name, Ragged(np.empty(0), np.zeros(count, dtype=np.int64)))
            for piece, count in zip(pieces, fits, strict=True)
        ]
        lengths = np.concatenate([part.lengths for part in ragged])
        padded[name] = _pad(np.concatenate([part.numbers for part in ragged]), lengths)
        width = padded[name].shape[1]
        names += [f"{name}[{index}]" for index in range(width)] if width != 1 else [name]
        blocks.append(padded[name])
        if np.ptp(lengths) > 0:
            names.append(f"number of values in {name}")
            blocks.append(lengths[:, None].astype(np.float64))
    if "centers" in padded and padded["centers"].shape[1] % added.size == 0:
        for name, block in _summaries(padded["centers"], padded.get("sizes"), added).items():
            wide = block.reshape(len(block), -1)
            width = wide.shape[1]
            names += [f"{name}, {index}" for index in range(width)] if width > 1 else [name]
            blocks.append(wide)
    values = np.hstack(blocks)
    half = sum(fits[: len(without)])
    return Table(names, values[:half]), Table(names, values[half:])


def leaves(name: str, value: Any) -> Iterator[tuple[str, Floats]]:
    """Take nested values apart; a name is the path to an array or a single value."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(f"{name}.{key}" if name else key, item)
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        for index, item in enumerate(value):
            yield from leaves(f"{name}.{index}", item)
    else:
        yield name or "statistic", _as_numbers(value)


def _as_numbers(value: Any) -> Floats:
    array = np.ravel(value)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind not in "UO":
        raise ParameterError(
            f"estimator must release numbers, text or None, got values of type {array.dtype}"
        )
    # Words may leak as numbers do; a checksum keeps different ones apart.
    return np.array([zlib.crc32(str(item).encode()) for item in array], dtype=np.float64)


def _pad(numbers: Floats, lengths: Ints) -> Floats:
    """One row a fit, filled up with nan behind its numbers."""
    width = int(lengths.max())
    if (lengths == width).all():
        return numbers.reshape(lengths.size, width)
    padded = np.full((lengths.size, width), np.nan)
    padded[np.arange(width) < lengths[:, None]] = numbers
    return padded


def _summaries(centers: Floats, sizes: Floats | None, added: Floats) -> dict[str, Floats]:
    """Columns that stay the same when a fit lists its centers in another order.

    "At least j centers within t of the added record" is a cut of the j-th distance at t, so the
    sorted distances stand for the numbers of centers near the record at every scale.
    """
    fits = np.arange(len(centers))
    points = centers.reshape(len(centers), -1, added.size)
    offsets = points - added
    distances = np.sqrt((offsets**2).sum(axis=2))
    nearest = np.argmin(np.where(np.isnan(distances), np.inf, distances), axis=1)
    summaries = {
        "distance from the added record to the centers, sorted": np.sort(distances, axis=1),
        "center nearest to the added record": points[fits, nearest],
        "first column of the centers, sorted": np.sort(points[:, :, 0], axis=1),
        "lowest column of a center": np.fmin.reduce(points, axis=1),
        "highest column of a center": np.fmax.reduce(points, axis=1),
    }
    if sizes is not None and sizes.shape == distances.shape:
        # Size times offset is about the noisy sum that the center was computed from.
        sums = sizes[:, :, None] * offsets
        summaries |= {
            "size of the center nearest to the added record": sizes[fits, nearest],
            "sum around the center nearest to the added record": sums[fits, nearest],
            "sum around all centers": np.nansum(sums, axis=1),
            "total size": np.nansum(sizes, axis=1),
            "smallest size": np.fmin.reduce(sizes, axis=1),
            "largest size": np.fmax.reduce(sizes, axis=1),
        }
    return summaries


def released(model: Any) -> Any:
    """Return the values that a fitted estimator releases, or refuse one without."""
    if not hasattr(getattr(model, "release_", None), "values"):
        raise ParameterError(
            f"estimator must have release_.values after fit, got {type(model).__name__} without",
            parameter="estimator",
            code="unsupported",
            in_python="audit a function with epsilon_lower_bound",
        )
    return model.release_.values
