"""One cell of an experiment: what is run, and the seed that repeats it."""

import hashlib
from dataclasses import dataclass

from shoal.experiments.choice import Choice

__all__ = ["Cell"]

# scikit-learn takes seeds of 32 bits.
SEED_BYTES = 4


@dataclass(frozen=True)
class Cell:
    """One cell of an experiment.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    columns : int or None
        How many of its first columns; None = all.
    mechanism : Choice
        What makes it private.
    clusterer : Choice or None
        What clusters the reports; None where the mechanism does it itself.
    epsilon : float
        Its epsilon; infinity = without privacy.
    repeat : int
        Number of the repeat, from 0.
    measures : tuple of str
        What to measure. Not part of the key: another measure changes no noise.
    spec_seed : int
        Seed of the experiment. Not part of the key either.

    Examples
    --------
    >>> cell = Cell("heart", 2, Choice("Laplace"), Choice("KMeans", n_clusters=4), 0.5, 0)
    >>> cell.key
    'heart | 2 columns | Laplace | KMeans(n_clusters=4) | epsilon 0.5 | repeat 0'
    >>> cell.seed
    2601776893
    """

    dataset: str
    columns: int | None
    mechanism: Choice
    clusterer: Choice | None
    epsilon: float
    repeat: int
    measures: tuple[str, ...] = ()
    spec_seed: int = 0

    @property
    def key(self) -> str:
        """What tells it from the other cells of an experiment; the same in every process."""
        columns = "all" if self.columns is None else str(self.columns)
        clusterer = "no clusterer" if self.clusterer is None else str(self.clusterer)
        return (
            f"{self.dataset} | {columns} columns | {self.mechanism} | {clusterer} | "
            f"epsilon {self.epsilon!r} | repeat {self.repeat}"
        )

    @property
    def seed(self) -> int:
        """Seed of 32 bits that depends on the experiment's seed and on the key, on nothing else.

        Other cells can come or go, and this one keeps its noise.
        """
        digest = hashlib.sha256(f"{self.spec_seed} | {self.key}".encode()).digest()
        return int.from_bytes(digest[:SEED_BYTES], "big")

    @property
    def fields(self) -> dict[str, str | int | float | None]:
        """What each record of the cell begins with: the parts of its key."""
        return {
            "dataset": self.dataset,
            "columns": self.columns,
            "mechanism": str(self.mechanism),
            "clusterer": None if self.clusterer is None else str(self.clusterer),
            "epsilon": self.epsilon,
            "repeat": self.repeat,
        }
