"""What a draw of noise costs by what it hides, from the proofs' sensitivities and in fractions."""

import math
from fractions import Fraction

import mpmath
import numpy as np

from shoal.engines import MOMENT_UNIT, SECOND_UNIT


def draw_cost(draw, statistic, contribution=1, *, first=True):  # noqa: PLR0911
    """Return epsilon of pure noise, mu^2 of Gaussian noise; ``first`` of a row's boxes or not."""
    if draw.sampler == "tree_shape":
        levels, decay = draw.shape
        return contribution * shape_cost(levels, decay, draw.scale)
    if statistic.name == "window_statistics":
        return windows_cost(draw, statistic.radii, contribution)
    if statistic.name == "second_moments":
        diagonal, off = max(draw.scales), min(draw.scales)
        assert Fraction(off) ** 2 * 2 >= Fraction(diagonal) ** 2
        return Fraction(contribution * SECOND_UNIT**2) ** 2 / Fraction(diagonal) ** 2
    offsets = statistic.name == "nearest_statistics"
    clip_radius = (statistic.clip_radius or 2**19) if offsets else 1
    if draw.sampler == "box_norm":
        moves = [contribution * clip_radius] * len(draw.scales)
        if first:
            moves[0] = contribution  # the count; further blocks hold sums alone
        return max(Fraction(m) / Fraction(s) for m, s in zip(moves, draw.scales, strict=True))
    sums = offsets and len(draw.shape) == 2
    columns = draw.shape[1] if sums else 1
    if draw.sampler == "discrete_laplace":
        return Fraction(contribution * columns * (clip_radius if sums else 1)) / Fraction(
            draw.scale
        )
    assert draw.sampler == "rounded_gaussian"
    if not draw.scales:
        move = contribution * (clip_radius if sums else 1)
        return Fraction(move) ** 2 / Fraction(draw.scale) ** 2
    counts, *offsets = (Fraction(scale) for scale in draw.scales)
    assert len(set(offsets)) == 1
    squares = clip_radius**2 * (len(offsets) if statistic.shape == "cube" else 1)
    return contribution**2 * (1 / counts**2 + squares / offsets[0] ** 2)


def windows_cost(draw, radii, contribution):
    """Price counts, sums and moments of windows: of the row where a person shows most."""
    scales = np.reshape(draw.scales, (len(radii), -1))
    squares = []
    for radius, (counts, *sums, moments) in zip(radii, scales.tolist(), strict=True):
        assert len(set(sums)) == 1
        moves = (1, Fraction(counts)), (radius, Fraction(sums[0]))
        moves = (*moves, (Fraction(MOMENT_UNIT, 2), Fraction(moments)))
        squares.append(sum((contribution * move / scale) ** 2 for move, scale in moves))
    most = max(squares)
    if draw.sampler == "rounded_gaussian":
        return most
    assert draw.sampler == "elliptic_k_norm"
    return Fraction(math.isqrt(int(most * 10**60)) + 1, 10**30)


def shape_cost(levels, decay, scale):
    """Price the shape of a tree: the nodes of the worst path, from proofs/tree.md, to 60 digits."""
    with mpmath.workdps(60):
        q = mpmath.exp(-1 / mpmath.mpf(scale))

        def reaches(b):
            return q ** (1 - b) / (1 + q) if b <= 1 else 1 - q**b / (1 + q)

        path = [1 - decay + j * decay for j in range(levels)]
        return Fraction(str(sum(mpmath.log(reaches(b) / reaches(b - 1)) for b in path)))
