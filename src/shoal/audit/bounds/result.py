"""The result of an audit, and the numbers behind it."""

import numbers
from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats
from shoal.exceptions import ParameterError

__all__ = ["Evidence"]


@dataclass(frozen=True)
class Frequency:
    """Frequency of the chosen event in the held-out half of the outputs.

    Parameters
    ----------
    value : float
        Observed frequency.
    low, high : float
        Clopper-Pearson limits of the probability; each is wrong with probability at most
        ``(1 - confidence) / 2``.

    Examples
    --------
    >>> print(Frequency(value=0.5, low=0.48, high=0.52))
    0.5 (0.48 to 0.52)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
class AuditResult:
    """A lower bound on epsilon and the event that it comes from; prints as one sentence.

    Parameters
    ----------
    epsilon : float
        The lower bound, at least 0; per unit of distance when `distance` is given.
    confidence : float
        Probability with which the bound is true, over the randomness of the mechanism.
    samples : int
        Number of outputs drawn for each of the two records.
    event : str
        The event in plain words.
    p_first, p_second : Frequency
        Frequency of the event for each record, in the half of the outputs that was not used to
        choose it.
    distance : float or None
        Euclidean distance between the two records, for a metric bound.
    claimed : float or None
        Epsilon of the mechanism's own guarantee, if it has one.

    Examples
    --------
    >>> half = Frequency(value=0.5, low=0.48, high=0.52)
    >>> tenth = Frequency(value=0.1, low=0.08, high=0.12)
    >>> result = AuditResult(1.386, 0.999, 10_000, "output >= 1", half, tenth, claimed=1.0)
    >>> print(result)
    at 99.9% confidence epsilon is at least 1.386 (claimed 1)
    >>> result.exceeds(1.0)
    True
    """

    epsilon: float
    confidence: float
    samples: int
    event: str
    p_first: Frequency
    p_second: Frequency
    distance: float | None = None
    claimed: float | None = None

    def exceeds(self, claimed: float | None = None) -> bool:
        """Return whether the bound shows that a claimed epsilon is too small.

        Parameters
        ----------
        claimed : float, optional
            The claimed epsilon, per unit of distance for a metric bound; by default that of the
            guarantee of what was audited.

        Returns
        -------
        exceeds : bool
            True if the bound is above the claim; False proves nothing.

        Raises
        ------
        ParameterError
            If there is no claim, or it is not a number >= 0.
        """
        claim = self.claimed if claimed is None else claimed
        if claim is None:
            raise ParameterError(
                "claimed must be given, got None: what was audited claims no epsilon"
            )
        number = isinstance(claim, numbers.Real) and not isinstance(claim, bool)
        if not number or not claim >= 0:
            raise ParameterError(f"claimed must be a number >= 0, got {claim!r}")
        return bool(self.epsilon > claim)

    def __str__(self) -> str:
        unit = "" if self.distance is None else " per unit of distance"
        claim = "" if self.claimed is None else f" (claimed {self.claimed:.4g})"
        confidence = f"{100 * self.confidence:.10g}%"
        return f"at {confidence} confidence epsilon is at least {self.epsilon:.4g}{unit}{claim}"


MAX_VALUES = 2_000  # of each side: enough for a histogram, and small enough to keep


@dataclass(frozen=True, eq=False)
class Evidence:
    """The scores behind a bound, in the half of the outputs that was counted.

    Parameters
    ----------
    score : str
        What the score is, in plain words.
    relation : str
        One of ``>=``, ``<``, ``>``, ``<=``.
    threshold : float
        What the score is compared with: the event is "score relation threshold".
    first, second : ndarray of float64
        Scores of outputs of each of the two inputs (for an estimator: without and with the added
        record), at most 2,000 each; ``-inf`` if a score was NaN.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = Evidence("total size", ">=", 1.5, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> evidence.event
    'total size >= 1.5'
    """

    score: str
    relation: str
    threshold: float
    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        """Keep a copy of the first values of each side, which are as good as any others."""
        for name in ("first", "second"):
            values = np.array(getattr(self, name)[:MAX_VALUES], dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def event(self) -> str:
        """The event in plain words."""
        # Adding 0.0 turns -0.0 into 0.0.
        return f"{self.score} {self.relation} {self.threshold + 0.0:.6g}"
