"""Labels of any names as whole numbers from 0 on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.metrics._contingency import NOISE

Codes = npt.NDArray[np.int32]  # Half the memory of int64: they stay for the whole of a scoring.


def label_codes(name: str, labels: Any, *, n: int) -> Codes:
    """Return the clusters of a labeling numbers.

    Parameters
    ----------
    name : str
        Name of the parameter, for messages.
    labels : array-like of integers or strings, shape (n,)
        Label of each record; the integer -1 is noise.
    n : int
        Number of records.

    Returns
    -------
    codes : ndarray of int32, shape (n,)
        -1 for noise, and 0, 1 ... for the clusters in the order of their names.

    Raises
    ------
    ParameterError
        If the labels are something else.

    Examples
    --------
    >>> label_codes("labels", [7, -1, 3, 7], n=4).tolist()
    [1, -1, 0, 1]
    >>> label_codes("labels", ["b", "a", "b"], n=3).tolist()
    [1, 0, 1]
    """
    array = _as_names(name, labels)
    if array.shape != (n,):
        raise ParameterError(
            f"{name} must be one label for each of the {n} records, got shape {array.shape}"
        )
    names, places = np.unique(array, return_inverse=True)
    noise = names == NOISE if names.dtype.kind == "i" else np.zeros(len(names), dtype=np.bool_)
    numbers = np.where(noise, NOISE, np.cumsum(~noise) - 1).astype(np.int32)
    codes: Codes = numbers[places]
    return codes


def _as_names(name: str, labels: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(labels)
    except ValueError:
        raise ParameterError(f"{name} must be one label a record, got uneven lists") from None
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        return array.astype(np.str_)
    # A list of numbers and words would become words without a sound.
    mixed = array.dtype.kind in "US" and not isinstance(labels, np.ndarray)
    if array.dtype.kind not in "iuUST" or (mixed and not _all_words(labels)):
        raise ParameterError(f"{name} must be integers or strings, one kind, got {array.dtype}")
    return array


def _all_words(labels: Any) -> bool:
    return all(isinstance(label, str | bytes) for label in labels)
