"""Labels where the record is: the published centres travel to the device, the label does not."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances_argmin

from shoal._records import validate_records
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import Release

__all__ = ["label_on_device"]

TABLE = 2  # dimensions of one


def label_on_device(release: Any, x: Any) -> int | npt.NDArray[np.int32]:
    """Find the nearest published centre of a true record, on the device that holds it.

    There is no ledger, because nothing is released: the label is as private as the record. It is
    free for as long as the label, and behaviour that others can see and that depends on it, stay
    on the device. A label that is sent back tells which cell of the centres the record lies in.

    Parameters
    ----------
    release : Release or array-like of shape (k, d)
        A release with centres, of ``NoiseAwareKMeans`` or ``DPKMeans``; or the centres themselves.
    x : array-like of shape (d,) or (n, d)
        The record, or all records on the device.

    Returns
    -------
    label : int, or ndarray of shape (n,)
        Index of the nearest centre; the lowest among equals.

    Raises
    ------
    ParameterError
        If the release holds no centres.
    DataError
        If the record is not made of finite numbers, as many as the centres have columns.

    Examples
    --------
    >>> label_on_device([[0.0, 0.0], [1.0, 1.0]], [0.9, 0.7])
    1
    """
    centres = _centres(release)
    single = np.ndim(x) == 1
    records = validate_records(np.asarray(x)[None, :] if single else x)
    if records.shape[1] != centres.shape[1]:
        raise DataError(
            f"X must have the {centres.shape[1]} columns of the centres, got {records.shape[1]}"
        )
    labels: npt.NDArray[np.int32] = pairwise_distances_argmin(records, centres).astype(np.int32)
    return int(labels[0]) if single else labels


def _centres(release: Any) -> npt.NDArray[np.float64]:
    if isinstance(release, Release):
        if "centres" not in release.values:
            raise ParameterError(
                f"release must hold centres, got {sorted(release.values)} of {release.kind}"
            )
        release = release.values["centres"]
    try:
        centres = np.array(release, dtype=np.float64)
    except (TypeError, ValueError):
        centres = np.empty(0)
    if centres.ndim != TABLE or not centres.size or not np.isfinite(centres).all():
        raise ParameterError(
            "release must be a Release with centres or a table of finite centres, one a row, "
            f"got {type(release).__name__}"
        )
    return centres
