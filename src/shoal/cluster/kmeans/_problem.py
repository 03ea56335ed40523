"""What every method is given, and what it gives back."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

from shoal._typing import Floats, Ints
from shoal.cluster._noise import Noise
from shoal.engines import Engine
from shoal.noise import RandomSource

__all__ = ["Found", "Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """The records behind their engine, and all that is public or already noisy.

    Parameters
    ----------
    engine : Engine
        Exact statistics of the lattice records.
    half : int
        Records and centers lie in -half .. half.
    n_clusters : int or None
        How many centers to find; None lets the method choose from what it releases.
    most_clusters : int
        How many at most where the method chooses.
    n : float
        Number of records, declared or noisy, in units of what one person may add.
    unit : int
        The most that one person can add to a count.
    noise : Noise
        The privacy measure.
    share : float
        What the method may spend of it, all of it.
    source : RandomSource
        Where random words come from.
    """

    engine: Engine
    half: int
    n_clusters: int | None
    most_clusters: int
    n: float
    unit: int
    noise: Noise
    share: float
    source: RandomSource

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.engine.columns

    @property
    def expected_clusters(self) -> int:
        """How many clusters to plan for before they are counted."""
        return self.n_clusters or self.most_clusters

    def spending(self, share: float) -> Self:
        """Return the same problem with another share."""
        return replace(self, share=share)

    def looking_for(self, n_clusters: int) -> Self:
        """Return the same problem with the number of clusters settled."""
        return replace(self, n_clusters=n_clusters)


@dataclass(frozen=True, eq=False)
class Found:
    """What a method released, all of it noisy or post-processing.

    Parameters
    ----------
    centers : ndarray of int64, shape (k, d)
        Lattice centers.
    counts : ndarray of float64, shape (k,)
        Noisy sizes, in units of a record's weight.
    radii : ndarray of float64, shape (k,)
        95% confidence radius of each center, in lattice steps; infinite where it would be the box.
    noise_probability : ndarray of float64, shape (k,)
        For each center, a bound of the probability that any one of the clusters that hold nobody
        shows a count so unlikely under the noise (proofs/kmeans.md).
    rounds : int
        Passes over the records whose centers were released.
    details : dict
        What else may be published: the grid, the leaves.
    """

    centers: Ints
    counts: Floats
    radii: Floats
    noise_probability: Floats
    rounds: int
    details: dict[str, Any] = field(default_factory=dict)
