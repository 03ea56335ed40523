"""A private copy that a comparison runs on: released once, and kept beside the report."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal._numbers import rounded_up
from shoal.exceptions import ParameterError, ReleaseError, ShoalError

if TYPE_CHECKING:
    from shoal.privacy import Guarantee, Ledger
    from shoal.tables import ArrayTable

__all__ = [
    "ReleasedCopy",
    "check_private_copy",
    "open_private_copy",
]

RELEASE, COPY = "private-copy.json", "private-copy.csv"
MEASURES = "records-*.csv"  # of compare_methods
EARLIER = "An earlier run paid for it, and it reflects the records as they were then."


class ReleasedCopy(NamedTuple):
    """A copy that is there: its table, its promise, and who paid."""

    file: Path
    guarantee: "Guarantee"
    paid: str


@dataclass(frozen=True, eq=False)
class CopyRequest:
    """What a copy is to be made with; everything was checked, nothing was spent."""

    model: Any
    table: "ArrayTable"
    data: Path


def check_private_copy(
    table: "ArrayTable",
    bounds: Any,
    *,
    data: Path,
    out: Path,
    epsilon: float | None,
    ledger: "Ledger | None",
    seed: int | None,
) -> CopyRequest | None:
    """Check what a private copy needs, before anything is written or spent."""
    from shoal import _numbers
    from shoal._bounds import public_box
    from shoal.cluster import PrivateCopy

    public_box(bounds, len(table.names))
    _check_apart(out, raw=epsilon is None)
    if epsilon is None:
        return None
    _numbers.positive("--private-copy", epsilon)
    model = PrivateCopy(epsilon, bounds=bounds, ledger=ledger, random_state=seed)
    return CopyRequest(model, table, data)


def open_private_copy(request: CopyRequest | None, folder: Path) -> ReleasedCopy | None:
    """Return the copy that is in the folder, or release one and keep it there."""
    if request is None:
        return None
    file = folder / COPY
    if (folder / RELEASE).exists():
        return ReleasedCopy(file, _kept(request, folder), EARLIER)
    from shoal.tables import write_table

    names = request.table.names
    request.model.fit(request.table.X)
    try:
        seed = request.model.random_state
        write_table(file, names, request.model.sample(random_state=seed))
        # The copy counts once its release is there too.
        release = request.model.release_
        values = {**release.values, "table": request.data.name}
        replace(release, values=values).save(folder / RELEASE)
    except (OSError, ShoalError) as failure:
        why = (failure.strerror if isinstance(failure, OSError) else None) or failure
        raise ReleaseError(
            f"the copy cannot be written to {str(folder)!r}: {why}; the budget was spent anyway, "
            "and nothing was released"
        ) from None
    paid = "No ledger was charged for it."
    if request.model.ledger is not None:
        paid = (
            f"Its epsilon of {rounded_up(request.model.epsilon)} was charged to "
            f"{Path(request.model.ledger.path).name}, which then had "
            f"{request.model.release_.ledger}."
        )
    return ReleasedCopy(file, request.model.guarantee_, paid)


def _check_apart(out: Path, *, raw: bool) -> None:
    """Keep measures of raw records out of a folder whose report may be shared."""
    copied = (out / RELEASE).exists()
    if raw and copied:
        raise ParameterError(
            f"--out must be another folder without --private-copy, got {str(out)!r} with a private "
            "copy"
        )
    if not (raw or copied) and any(out.glob(MEASURES)):
        raise ParameterError(
            f"--out must be another folder with --private-copy, got {str(out)!r} with measures of "
            "raw records"
        )


def _kept(request: CopyRequest, folder: Path) -> "Guarantee":
    """Read the promise of the copy that is there; a run that goes on pays nothing again."""
    from shoal._bounds import public_box
    from shoal.privacy import Release

    release = Release.load(folder / RELEASE)
    # By its name, not by a digest of the records, which would leave with the copy.
    if release.values.get("table") != request.data.name:
        raise ParameterError(
            f"--out must be a new folder for a copy of {request.data.name!r}, got {str(folder)!r} "
            "with a copy of another file: choose another folder"
        )
    try:
        header = _header(folder / COPY)
    except OSError as failure:
        raise ReleaseError(
            f"the copy in {str(folder)!r} cannot be read: {failure.strerror}"
        ) from None
    names = request.table.names
    box = public_box(request.model.bounds, len(names))
    same = (
        release.guarantee.epsilon == request.model.epsilon
        and release.guarantee.seeded == (request.model.random_state is not None)
        and np.array_equal(release.values["low"], box.low)
        and np.array_equal(release.values["high"], box.high)
        and header == names
    )
    if not same:
        raise ParameterError(
            f"--out must be a new folder for another private copy, got {str(folder)!r} with a "
            "copy that has other columns, bounds, epsilon or seed: choose another folder"
        )
    return release.guarantee


def _header(file: Path) -> tuple[str, ...]:
    """Read the names of a copy, which :func:`open_private_copy` wrote."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple(next(csv.reader(lines), ()))
