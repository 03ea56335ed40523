"""Likelihood ratio of "in" against "out" from shadow releases, for every target its own.

After LiRA (Carlini et al. 2022): Gaussians with and without the record, of equal covariance, so the
logarithm of the ratio is linear in the features. A few dozen shadow releases say little about one
record, so three things are shared among targets: part of each variance, the correlations, and, as
far as the targets agree, how many standard deviations being in moves a feature.
"""

from typing import NamedTuple, Self

import numpy as np

from shoal._typing import Bools, Floats

__all__ = ["LikelihoodRatio"]


PRIOR_FITS = 4.0  # shadow releases that the variance of all targets together counts for
RIDGE = 1e-3  # of a variance of 1, so that features which say the same are weighed alike


class LikelihoodRatio(NamedTuple):
    """A linear score for each target; at 0 both answers are equally likely.

    Parameters
    ----------
    middle : ndarray of float64, shape (t, f)
        Features halfway between a release with the target and one without it.
    weights : ndarray of float64, shape (t, f)
        What a unit of each feature adds to the logarithm of the ratio.
    """

    middle: Floats
    weights: Floats

    @classmethod
    def learn(cls, features: Floats, members: Bools) -> Self:
        """Learn the scores from releases whose members are known.

        Parameters
        ----------
        features : ndarray of float64, shape (s, t, f)
            Of each shadow release and target.
        members : ndarray of bool, shape (s, t)
            Whether the target was in; each was and was not at least once.

        Returns
        -------
        ratio : LikelihoodRatio
            Of each target.
        """
        fits = len(features)
        inside = members[:, :, None].astype(np.float64)
        counts = inside.sum(axis=0), fits - inside.sum(axis=0)
        means = (
            (features * inside).sum(axis=0) / counts[0],
            (features * (1.0 - inside)).sum(axis=0) / counts[1],
        )
        rest = features - np.where(members[:, :, None], *means)
        own = (rest**2).sum(axis=0)
        shared = own.mean(axis=0) / (fits - 2)
        deviations = np.sqrt((own + PRIOR_FITS * shared) / (fits - 2 + PRIOR_FITS))
        # A feature that never moves says nothing, whatever it is divided by.
        deviations[deviations == 0] = 1.0
        rest /= deviations
        cases = fits * rest.shape[1]
        correlations = np.einsum("sti,stj->ij", rest, rest, optimize=True) / cases
        correlations += RIDGE * np.eye(rest.shape[2])
        noise = (1.0 / counts[0] + 1.0 / counts[1]).mean()
        shifts = _shrunken((means[0] - means[1]) / deviations, noise)
        weights = np.linalg.solve(correlations, shifts.T).T / deviations
        return cls((means[0] + means[1]) / 2, weights)

    def __call__(self, features: Floats) -> Floats:
        """Score releases, shape (r, t, f) to (r, t)."""
        scores: Floats = np.einsum("rtf,tf->rt", features - self.middle, self.weights)
        return scores


def _shrunken(shifts: Floats, noise: float) -> Floats:
    """Draw shifts of single targets to that of all, as far as they differ by chance alone."""
    if len(shifts) < 2:
        return shifts
    common = shifts.mean(axis=0)
    spread = np.maximum(((shifts - common) ** 2).mean(axis=0) - noise, 0.0)
    shrunken: Floats = common + spread / (spread + noise) * (shifts - common)
    return shrunken
