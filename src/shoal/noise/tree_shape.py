"""The shape of a tree whose nodes are split by noisy counts, exact (PrivTree).

After Zhang, Xiao & Xie (2016), for pure epsilon under add/remove, on integers. A box is halved
again and again; a node that holds c records and is i halvings below the roots is split where

    max(c - i * decay, -decay) + N >= 1,    N discrete Laplace noise of a public scale,

down to a public depth. Every node whose parent is split is visited, those without records too. The
shape is all that is released: a noisy count decides one split and is forgotten.

Why one scale hides whole paths (proofs/tree.md): one record is on one path. Counts do not grow
along a path while the threshold rises by ``decay`` a level, so nearly all nodes of the path are
decided by far more than one record, and the last ones lie at the lower limit, where they no longer
tell of the record. What one record can change of the log probability of any shape adds up to
:func:`tree_shape_loss`, whatever the depth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.noise.distributions import SparseCounts, is_whole, whole
from shoal.noise.laplace_sampler import check_scale, discrete_laplace
from shoal.noise.releases import PrivacyMeasure
from shoal.noise.source import RandomSource, SeededSource

__all__ = ["TreeShape", "TreeShapeNoise", "tree_shape_loss"]

MAX_DEPTH = 62  # codes of nodes are int64, with room for sums of two
HALVINGS = 200  # of the search for the least scale
MARGIN = 2.0**-40  # a scale is this much larger than computed: doubles err by far less


@dataclass(frozen=True, eq=False)
class TreeShape:
    """The leaves of a tree of halved cells.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Smallest code of the finest cells in each leaf, ascending.
    depths : ndarray of int64, shape (m,)
        Number of halvings that led to each leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import TreeShape
    >>> shape = TreeShape(np.array([0, 4]), np.array([1, 1]))  # one halving of eight finest cells
    >>> len(shape.codes)
    2
    """

    codes: Ints
    depths: Ints


@dataclass(frozen=True)
class TreeShapeNoise:
    """Noise that decides which nodes of a tree are split (PrivTree); only the leaves are released.

    The exact values are the counts of the finest cells, by their codes. A code has ``depth`` bits:
    bit l, from the highest on, says in which half a cell lies after l halvings.

    Parameters
    ----------
    roots : int
        Number of halvings that are always made: the tree begins with 2^roots nodes.
    depth : int
        Largest number of halvings, 1 to 62.
    scale : float
        Scale of the discrete Laplace noise of each decision.
    decay : int
        How much larger a count must be for each further halving; at least 1.

    Examples
    --------
    >>> from shoal.noise import SeededSource
    >>> noise = TreeShapeNoise(roots=0, depth=3, scale=1.0, decay=4)
    >>> shape = noise.sample(SparseCounts(np.array([5]), np.array([1000])), SeededSource(1))
    >>> [(int(c), int(t)) for c, t in zip(shape.codes, shape.depths) if t == 3]
    [(4, 3), (5, 3)]
    """

    roots: int
    depth: int
    scale: float
    decay: int

    def __post_init__(self) -> None:
        check_scale("scale", self.scale)
        if not 0 <= self.roots < self.depth <= MAX_DEPTH:
            raise ParameterError(
                f"depth must be above roots and at most {MAX_DEPTH}, got {self.depth!r}"
            )
        if self.decay < 1:
            raise ParameterError(f"decay must be at least 1, got {self.decay!r}")

    def __str__(self) -> str:
        return (
            f"shape of a tree of {self.depth} levels, discrete Laplace noise, scale "
            f"{self.scale:.4g}, decay {self.decay:,}"
        )

    @classmethod
    def for_budget(
        cls, epsilon: float, *, contribution: int, roots: int, depth: int, min_decay: int = 1
    ) -> "TreeShapeNoise":
        """Return the smallest noise with which the tree shape costs at most this epsilon.

        The decay is ln 2 times the scale, rounded up, and at least ``min_decay``: a node without
        records is then split with a probability of at most 1/4.
        """
        wanted, levels = epsilon / contribution, depth - roots
        scale = _least_scale(wanted, levels, lambda scale: _decay(scale, min_decay))
        # The decay is whole: at this one, a little less noise may do.
        decay = _decay(scale, min_decay)
        scale = _least_scale(wanted, levels, lambda _: decay)
        return cls(roots, depth, scale * (1 + MARGIN), decay)

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the privacy measure: epsilon."""
        return "epsilon"

    def sample(self, exact: SparseCounts, source: RandomSource) -> TreeShape:
        """Draw which nodes are split, level by level, and return the leaves."""
        # How many words it takes tells of the records. A seeded source gives the same ones to
        # whoever comes next, as if the shape had taken a fixed number.
        source = SeededSource(source.words(2).tobytes()) if source.seeded else source
        totals = _running_totals(exact)
        nodes = np.arange(1 << self.roots, dtype=np.int64)
        codes, depths = [], []
        for depth in range(self.roots, self.depth + 1):
            shift = self.depth - depth
            split = np.zeros(len(nodes), dtype=bool)
            if shift:
                counts = _node_counts(exact, totals, nodes, shift)
                noise = discrete_laplace(len(nodes), scale=self.scale, source=source)
                split = self._lowered(counts, depth) + noise >= 1
            codes.append(nodes[~split] << shift)
            depths.append(np.full(len(codes[-1]), depth, dtype=np.int64))
            nodes = np.add.outer(2 * nodes[split], [0, 1]).ravel()
        leaves = np.concatenate(codes)
        order = np.argsort(leaves)
        return TreeShape(leaves[order], np.concatenate(depths)[order])

    def privacy_loss(self, exact: SparseCounts, other: SparseCounts) -> float:
        """Return the largest log ratio of the probabilities of a shape, in either direction.

        Infinite if a value is not an integer, or a code is out of range.
        """
        for counts in (exact, other):
            if not is_whole(counts.values) or not self._inside(counts.codes):
                return math.inf
        return max(self._largest_ratio(exact, other), self._largest_ratio(other, exact))

    def _largest_ratio(self, exact: SparseCounts, other: SparseCounts) -> float:
        # From the finest nodes up: the worst shape below a node is that it is a leaf, or that it
        # is split and both halves have their worst shape.
        totals, others = _running_totals(exact), _running_totals(other)
        nodes = _changed(exact, other)
        losses: Floats = np.zeros(len(nodes))
        for depth in range(self.depth - 1, -1, -1):
            nodes, parents = np.unique(nodes >> 1, return_inverse=True)
            halves = np.zeros(len(nodes))
            np.add.at(halves, parents.ravel(), losses)
            losses = halves
            if depth < self.roots:
                continue
            shift = self.depth - depth
            counts = self._lowered(_node_counts(exact, totals, nodes, shift), depth)
            changed = self._lowered(_node_counts(other, others, nodes, shift), depth)
            split = log_ratio(counts, changed, self.scale)
            # A noisy value stays below 1 as often as the mirrored one reaches it.
            kept = log_ratio(1 - counts, 1 - changed, self.scale)
            losses = np.maximum(kept, split + losses)
        return float(max(losses.sum(), 0.0))

    def _lowered(self, counts: Ints, depth: int) -> Ints:
        return np.maximum(counts - (depth - self.roots) * self.decay, -self.decay)

    def _inside(self, codes: Ints) -> bool:
        return len(codes) == 0 or bool(codes.min() >= 0 and codes.max() < 1 << self.depth)


def tree_shape_loss(scale: float, decay: int, levels: int) -> float:
    """Return the privacy loss of a tree shape: how much one record changes its log probability.

    Parameters
    ----------
    scale : float
        Scale of the noise of each decision.
    decay : int
        How much larger a count must be for each further halving.
    levels : int
        Number of levels of nodes that may be split.

    Returns
    -------
    loss : float
        Largest change of the log probability of any shape: the sum over the nodes of the worst
        path.

    Examples
    --------
    >>> from shoal.noise import tree_shape_loss
    >>> round(tree_shape_loss(26.1, 19, 40), 3)  # below 2.61 / scale: of many nodes, a few count
    0.098
    """
    # The last node of the worst path is just above the lower limit, those above it a decay apart.
    worst = 1 - decay + decay * np.arange(levels, dtype=np.int64)
    return float(log_ratio(worst, worst - 1, scale).sum())


def log_ratio(values: Ints, others: Ints, scale: float) -> Floats:
    """Return log p(value) - log p(other), p(v) the probability that v with noise is at least 1.

    With q = e^(-1/scale): p(v) = q^(1 - v) / (1 + q) for v <= 1, and 1 - q^v / (1 + q) for v >= 0.
    Written so that small differences keep their digits.
    """
    low, high = np.minimum(values, others), np.maximum(values, others)
    below = (np.minimum(high, 1) - np.minimum(low, 1)) / scale
    low, high = np.maximum(low, 1), np.maximum(high, 1)
    with np.errstate(under="ignore"):
        rest = np.exp(-low / scale)
        above = rest * -np.expm1((low - high) / scale) / (1.0 + math.exp(-1.0 / scale) - rest)
    return np.where(values >= others, 1.0, -1.0) * (below + np.log1p(above))


def _least_scale(wanted: float, levels: int, decay: Callable[[float], int]) -> float:
    """Find the least scale, to a double, at which a record costs no more than is wanted."""
    low, high = 0.5 / wanted, 4.0 / wanted
    while tree_shape_loss(high, decay(high), levels) > wanted:
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if tree_shape_loss(middle, decay(middle), levels) > wanted:
            low = middle
        else:
            high = middle
    return high


def _decay(scale: float, least: int) -> int:
    return max(least, 1, math.ceil(scale * math.log(2)))


def _running_totals(counts: SparseCounts) -> Ints:
    return np.concatenate([[0], np.cumsum(whole(counts.values))])


def _node_counts(counts: SparseCounts, totals: Ints, nodes: Ints, shift: int) -> Ints:
    """Add up the counts of the finest cells of each node."""
    first = np.searchsorted(counts.codes, nodes << shift)
    last = np.searchsorted(counts.codes, (nodes + 1) << shift)
    added: Ints = totals[last] - totals[first]
    return added


def _changed(exact: SparseCounts, other: SparseCounts) -> Ints:
    """Return the codes of the finest cells whose counts differ."""
    codes, index = np.unique(np.concatenate([exact.codes, other.codes]), return_inverse=True)
    gap = np.zeros(len(codes), dtype=np.int64)
    np.add.at(gap, index.ravel(), np.concatenate([whole(exact.values), -whole(other.values)]))
    changed: Ints = codes[gap != 0]
    return changed
