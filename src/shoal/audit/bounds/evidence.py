"""The numbers behind a bound: what an audit's picture shows."""

from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats

__all__ = ["Evidence"]


MAX_VALUES = 2_000  # of each side: enough for a histogram, and small enough to keep


@dataclass(frozen=True, eq=False)
class Evidence:
    """Values of the score that was cut, in the half of the outputs that was counted.

    Parameters
    ----------
    score : str
        What was compared, in plain words.
    relation : str
        One of ``>=``, ``<``, ``>``, ``<=``.
    threshold : float
        What the score was compared with: the event is "score relation threshold".
    first, second : ndarray of float64
        The score under each of the two inputs (for an estimator: without and with the added
        record), at most 2,000 values each; ``-inf`` where the score was no number.

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
