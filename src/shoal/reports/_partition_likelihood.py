"""The likelihood of partition responses: from weights of atoms to probabilities of reports.

A report (j, s) has probability keep * (weight of the atoms of color s in partition j) + (1 - keep)
/ n_colors, given j. The law of j does not matter, so reports of several rounds are one table. Atoms
are any public points: a grid, finer where the records are, or drawn.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.partitions import Partitions

__all__ = ["ColorChannel", "EMStep", "Tally", "em_step", "tally"]

PAIR = 2  # columns of a report


class Tally(NamedTuple):
    """How often each pair of a partition and a color was reported, for those that were."""

    pairs: Ints  # partition * n_colors + color, increasing
    counts: Floats

    def halves(self, rng: np.random.RandomState) -> tuple[Floats, Floats]:
        """Divide the reports in two at random; return the counts of both."""
        first = rng.binomial(self.counts.astype(np.int64), 0.5).astype(np.float64)
        return first, self.counts - first


class EMStep(NamedTuple):
    """Weights after a step, and the log-likelihood before it."""

    weights: Floats
    log_likelihood: float


def tally(reports: Floats, partitions: Partitions, times: Ints | None = None) -> Tally:
    """Count reports; those that no device of this campaign can have sent are refused.

    Each report came so many times, or once.
    """
    n, colors = partitions.n_partitions, partitions.n_colors
    if reports.shape[1] != PAIR:
        raise ParameterError(
            f"reports must have two columns, partition and color, got {reports.shape[1]}",
            parameter="reports",
            code="columns",
        )
    partition, color = reports.T
    whole = (partition == np.rint(partition)) & (color == np.rint(color))
    if not (whole & (partition >= 0) & (partition < n) & (color >= 0) & (color < colors)).all():
        raise ParameterError(
            f"reports must be whole numbers, partition below {n} and color below {colors}: these "
            "are from another mechanism or campaign; pass the mechanism that made them",
            parameter="reports",
            code="whole",
        )
    pairs = partition.astype(np.int64) * colors + color.astype(np.int64)
    counts = np.bincount(pairs, weights=times, minlength=n * colors)
    seen = np.flatnonzero(counts)
    return Tally(seen, counts[seen].astype(np.float64))


@dataclass(frozen=True, eq=False)
class ColorChannel:
    """From distributions on atoms to the probabilities of the reports that were seen.

    Parameters
    ----------
    members : csr_array of shape (pairs, atoms)
        1 where the atom has the color in the partition.
    keep : float
        Probability that a report holds the color of the record as such.
    n_colors : int
        Number of colors.
    """

    members: Any
    keep: float
    n_colors: int

    @classmethod
    def of(cls, partitions: Partitions, keep: float, atoms: Floats, pairs: Ints) -> Self:
        """Look up the colors of atoms, for the pairs of partition and color that were seen."""
        colors = partitions.n_colors
        table = partitions.color_table(atoms)
        used, first = np.unique(pairs // colors, return_index=True)
        indices, lengths = [], []
        for j, own in zip(used, np.split(pairs, first[1:]), strict=True):
            order = np.argsort(table[j], kind="stable").astype(np.int32)
            sizes = np.bincount(table[j], minlength=colors)
            wanted = np.zeros(colors, dtype=bool)
            wanted[own - j * colors] = True
            indices.append(order if wanted.all() else order[np.repeat(wanted, sizes)])
            lengths.append(sizes[wanted])
        ends = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        columns = np.concatenate(indices)
        shape = (len(pairs), len(atoms))
        return cls(csr_array((np.ones(len(columns)), columns, ends), shape=shape), keep, colors)

    def forward(self, weights: Floats) -> Floats:
        """Return the probability of each seen pair, given its partition."""
        probabilities: Floats = self.keep * (self.members @ weights)
        probabilities += (1.0 - self.keep) / self.n_colors
        return probabilities

    def backward(self, values: Floats) -> Floats:
        """Return the transpose of ``forward`` (of weights that sum to 1), applied to values."""
        sums: Floats = self.keep * (self.members.T @ values)
        sums += (1.0 - self.keep) / self.n_colors * values.sum()
        return sums

    def log_likelihood(self, counts: Floats, weights: Floats) -> float:
        """Return the log-likelihood of so many reports of each seen pair, given the partitions."""
        return float(counts @ np.log(self.forward(weights)))


def em_step(channel: ColorChannel, counts: Floats, weights: Floats, power: float = 1.0) -> EMStep:
    """Update the weights of the atoms once: f <- f b^power, with b of the EM algorithm.

    With power 1 the likelihood never falls; where little of each report is true, larger powers take
    fewer steps.
    """
    probabilities = channel.forward(weights)
    ratios = channel.backward(counts / probabilities) / counts.sum()
    updated = weights * (ratios if power == 1.0 else ratios**power)
    return EMStep(updated / updated.sum(), float(counts @ np.log(probabilities)))
