"""How much better than chance an attacker tells members from others."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError


def adversary_advantage(guesses_members: Any, guesses_others: Any) -> float:
    """Share of the members called members minus the share of the others called members.

    TPR - FPR (Yeom et al. 2018). If half of the records asked about are members, an attacker with
    advantage a is right in (1 + a) / 2 of the guesses; without a release it is 0 on average.

    Parameters
    ----------
    guesses_members, guesses_others : array-like of bool, or of 0 and 1, shape (n,)
        Whether the attacker calls each record a member: for records that were in the data, and for
        records that were not.

    Returns
    -------
    advantage : float
        From -1 (always wrong) to 1 (always right).

    Raises
    ------
    ParameterError
        If the guesses are not two arrays of one or more bools.

    Examples
    --------
    >>> adversary_advantage([True, True, True, False], [True, False, False, False])
    0.5
    """
    found = _share_called("guesses_members", guesses_members)
    return found - _share_called("guesses_others", guesses_others)


def _share_called(name: str, values: Any) -> float:
    guesses = _as_guesses(name, values)
    return int(np.count_nonzero(guesses)) / guesses.size


def _as_guesses(name: str, values: Any) -> npt.NDArray[np.bool_]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(f"{name} must be one bool a record, got uneven lists") from None
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"{name} must be one bool a record, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ParameterError(f"{name} must be bools, got {array.dtype}")
    guesses = array.astype(np.bool_)
    if not np.array_equal(guesses, array):
        raise ParameterError(f"{name} must be bools or 0 and 1: compare scores with a threshold")
    return guesses
