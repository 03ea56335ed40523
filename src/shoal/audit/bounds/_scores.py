"""Scores: what an output is reduced to before a threshold turns it into an event.

The scores of this file are fixed before any output is seen; :mod:`shoal.audit.bounds._learned`
holds those that are learned from outputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

CustomScore = Callable[[Floats, Any, Any], npt.ArrayLike]

NO_BIT = 2000  # Exponent given to zero, inf and nan: above that of any set bit.


@dataclass(frozen=True)
class Score:
    """One or more numbers computed from an output, each with a name in plain words.

    Parameters
    ----------
    names : tuple of str
        One name a column of what `function` returns.
    function : callable
        Maps outputs (n, d) to scores (n, len(names)).
    learned : bool
        Whether it was learned from the first half of the search outputs.
    """

    names: tuple[str, ...]
    function: Callable[[Floats], Floats]
    learned: bool = False

    def __call__(self, outputs: Floats) -> Floats:
        """Score outputs; nan (an output such as nan, or inf - inf) becomes -inf."""
        scores = self.function(outputs)
        return np.where(np.isnan(scores), -np.inf, scores)


def fixed_scores(
    mechanism: Any, first: Floats | None, second: Floats | None, columns: int
) -> list[Score]:
    """Scores that need no learning.

    Parameters
    ----------
    mechanism : object
        Its ``log_density(z, x)`` is used where it has one.
    first, second : ndarray of shape (d,) or None
        The two records where they are vectors, else None.
    columns : int
        Number of columns of the outputs.

    Returns
    -------
    scores : list of Score
    """
    scores = [
        Score(_columns("output", columns), lambda outputs: outputs),
        Score(
            _columns(f"exponent of the lowest set bit ({NO_BIT} for zero)", columns), _bits_score
        ),
    ]
    if first is None or second is None:
        return scores
    if hasattr(mechanism, "log_density"):
        scores.append(_density_score(mechanism, first, second))
    if first.size == second.size == columns:
        scores.append(_distance_score(first, second))
        if columns > 1:
            # Angles drawn with the wrong law pile reports up near an axis through the record.
            scores.append(_direction_score(first, "first"))
            scores.append(_direction_score(second, "second"))
    return scores


def custom_score(score: CustomScore, first: Any, second: Any, *, flat: bool) -> Score:
    """Wrap the caller's ``score(outputs, first, second)``.

    Parameters
    ----------
    score : callable
        Gives one number an output.
    first, second : object
        The records as the caller passed them.
    flat : bool
        Whether the mechanism gave outputs of shape (n,).

    Returns
    -------
    score : Score

    Raises
    ------
    ParameterError
        When it is called and does not give one number an output.
    """

    def function(outputs: Floats) -> Floats:
        values = np.asarray(score(outputs[:, 0] if flat else outputs, first, second))
        if values.shape != (len(outputs),) or values.dtype.kind not in "biuf":
            raise ParameterError(
                f"score must give one number an output, shape {(len(outputs),)}, "
                f"got {values.dtype} of shape {values.shape}"
            )
        return values.astype(np.float64)[:, None]

    return Score(("score",), function)


def lowest_bits(outputs: Floats) -> Ints:
    """Exponent of the lowest set bit of each number: 0.75 = 2^-1 + 2^-2 gives -2.

    A sum of doubles keeps only the bits its larger term has, so these exponents show how large the
    terms were (Mironov, CCS 2012): a naive float Laplace gives itself away by them.

    Parameters
    ----------
    outputs : ndarray of float64
        Numbers of any shape.

    Returns
    -------
    exponents : ndarray of int64
        ``NO_BIT`` for zero, inf and nan.

    Examples
    --------
    >>> lowest_bits(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0, -2, 1, 2000]
    """
    usable = np.isfinite(outputs) & (outputs != 0)
    fraction, exponent = np.frexp(np.where(usable, outputs, 1.0))
    digits = np.ldexp(fraction, 53).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(usable, exponent.astype(np.int64) - 53 + lowest, NO_BIT)


def _columns(name: str, columns: int) -> tuple[str, ...]:
    if columns == 1:
        return (name,)
    return tuple(f"{name} of column {column}" for column in range(columns))


def _bits_score(outputs: Floats) -> Floats:
    return lowest_bits(outputs).astype(np.float64)


def _density_score(mechanism: Any, first: Floats, second: Floats) -> Score:
    def log_density(outputs: Floats, record: Floats) -> Floats:
        tiled = np.broadcast_to(record, (len(outputs), record.size))
        density = np.asarray(mechanism.log_density(outputs, tiled), dtype=np.float64)
        total: Floats = density.reshape(len(outputs), -1).sum(axis=1, keepdims=True)
        return total

    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return log_density(outputs, first) - log_density(outputs, second)

    return Score(("log-density ratio",), function)


def _distance_score(first: Floats, second: Floats) -> Score:
    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            far = np.linalg.norm(outputs - second, axis=1, keepdims=True)
            near = np.linalg.norm(outputs - first, axis=1, keepdims=True)
            return np.asarray(far - near, dtype=np.float64)

    return Score(("distance to the second record minus distance to the first",), function)


def _direction_score(record: Floats, name: str) -> Score:
    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            offset = outputs - record
            radius = np.linalg.norm(offset, axis=1, keepdims=True)
            return np.asarray(offset / np.where(radius > 0, radius, 1.0), dtype=np.float64)

    return Score(_columns(f"direction cosine from the {name} record", record.size), function)
